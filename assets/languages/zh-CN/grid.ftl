### The dialog for grids: what varies, and how many images that makes.

grid-title = 网格
grid-hint = 每种取值组合生成一张图像，另外拼成一张带标签的总图。
grid-columns = 列
grid-columns-values = 列的取值
grid-columns-all = 列的所有取值
grid-rows = 行
grid-rows-values = 行的取值
grid-rows-all = 行的所有取值
grid-tables = 表
grid-tables-values = 表的取值
grid-tables-all = 表的所有取值
grid-nothing = 无
grid-setting-tip = 沿这个方向改变的内容。
grid-advice-prompt = 用逗号分隔。在两种提示词中，第一个词会依次被其余每个词替换。含逗号的词请加引号。
grid-advice-lora = 用逗号分隔。如有多个 LoRA，请先写出其中一个的名称：ink: 0.5, 1
grid-advice-names = 用逗号分隔。例如 { $example }。
grid-advice-numbers = 用逗号分隔。1-5 逐一递增，1-10 (+2) 步长为 2，1-10 [4] 取 4 个值。
grid-choose = 选择要改变的内容。
grid-generate = 生成网格
grid-generate-tip = 将所有图像加入队列。快捷键：Ctrl+Enter
grid-cancel-tip = 快捷键：Esc
grid-summary = { $count } 张图像 · { $sides }
grid-summary-time = { $count } 张图像 · { $sides } · 约 { $time }
