### The settings, opened with Ctrl+Comma.

settings-title = 设置
settings-search = 搜索设置
settings-nothing-found = 没有与“{ $search }”相关的设置。用更少的词可以找到更多。

## Sections

settings-section-look = 外观
settings-section-saving = 保存
settings-section-folders = 文件夹
settings-section-prompts = 提示词
settings-section-engine = 引擎
settings-section-about = 关于

## Words by which a setting is found, beside those that it shows

settings-words-theme = 主题 深色 浅色 系统 颜色 配色
settings-words-scale = 内容大小 缩放 字体 界面
settings-words-notifications = 通知 桌面 消息
settings-words-motion = 减少动态效果 动画 无障碍
settings-words-previews = 生成时实时预览
settings-words-sound = 声音 静音 视频
settings-words-rendering = 应用渲染 GPU 显卡 集成 独立 显存 VRAM
settings-words-output = 输出文件夹 图像 视频 位置
settings-words-format = 图像格式 png jpeg webp 质量
settings-words-codec = 视频 编码 编解码器 codec h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = 文件名 模板 日期 种子 提示词
settings-words-folders = 模型 lora checkpoint 图库
settings-words-connection = 镜像 代理 令牌 mirror proxy token hugging face 下载 连接
settings-words-styles = 风格 csv json 提示词
settings-words-tags = 标签 csv danbooru 补全 自动补全
settings-words-engine = 计算机 ssh 命令 远程 集群 slurm docker
settings-words-about = 版本 许可证 引擎 数据 日志 报告 问题 支持 隐私 更新
settings-words-language = 语言 翻译 区域 language

## The window

settings-language = 语言
settings-language-of-system = 系统语言
settings-language-without-font = 本机上没有字体包含以下语言的字符：{ $languages }。Noto Sans CJK 包含这些字符。
settings-theme = 主题
settings-theme-system = 跟随系统
settings-theme-dark = 深色
settings-theme-light = 浅色
settings-scale = 内容大小
settings-scale-tip = 缩放文字和控件。快捷键：Ctrl+加号 和 Ctrl+减号
settings-motion = 减少动态效果
settings-motion-system = 跟随系统（{ $now }）
settings-motion-on = 开
settings-motion-off = 关
settings-motion-tip = 面板和弹出窗口立即出现，不再淡入；视频只在手动播放时播放。
settings-notifications = 队列完成时通知
settings-notifications-tip = 当其他窗口在前时，由桌面通知。
settings-previews = 实时预览
settings-previews-tip = 在生成过程中显示图像。
settings-mute = 视频静音
settings-mute-tip = 播放视频时不出声。快捷键：M。
settings-rendering = 应用渲染 GPU
settings-rendering-integrated = 集成
settings-rendering-dedicated = 独立
settings-rendering-hint = 使用集成 GPU 可将独立 GPU 的全部 VRAM 留给模型。重新启动后生效。
settings-rendering-hint-now = 使用集成 GPU 可将独立 GPU 的全部 VRAM 留给模型。重新启动后生效。当前：{ $gpu }。

## Where images and clips are saved

settings-output = 输出文件夹
settings-output-none = 不会保存任何内容：当前用户没有图像文件夹。
settings-output-choose = 选择…
settings-format = 图像格式
settings-format-hint = PNG 保留每个像素。JPEG 和 WebP 更小，略有损失。三者都会保留设置。
settings-codec = 视频编码
settings-codec-tip = 新视频的压缩方式。
settings-codec-hint = H.264 随处可播放，并保留声音。其他编码需要 ffmpeg 程序，且不含声音。
settings-names = 文件名
settings-names-example = 例如 { $name }
settings-folders-models = 模型文件夹…
settings-folders-gallery = 图库文件夹…

## About Sluice

settings-licence = 许可证：{ $licence }。其他计算机无法连接到它。
settings-licences = 随附内容的许可证
settings-licences-tip = 随 Sluice 提供的字体、图标、放大模型和分词器。
settings-licences-of = { $name } 的许可证。
settings-data = 以往的运行、星标和标签
settings-data-open = 打开以往的运行、星标和标签所在的文件夹
settings-cache = 缩略图及其他可重新生成的内容
settings-cache-open = 打开缩略图及其他可重新生成的内容所在的文件夹
settings-logs = 最近几天的日志
settings-logs-open = 打开最近几天的日志所在的文件夹
settings-report = 报告问题
settings-report-hint = 复制机器、模型、设置、最近的消息以及日志末尾。
settings-report-all = 包含路径和提示词
settings-report-all-tip = 否则报告中既没有提示词，也没有你的文件和文件夹的名称。
settings-report-copy = 复制报告
settings-engine = 引擎：{ $engine }
settings-engine-within = 引擎：未在独立进程中运行

## What a field of a template of names becomes

settings-field-name = 文件的名称
settings-field-number = 在导出中的序号，从 1 开始
settings-field-date = 生成日期
settings-field-seed = 种子
settings-field-model = 模型
settings-field-prompt = 提示词的开头
settings-field-width = 每行的像素数
settings-field-height = 行数
settings-field = { $field }：{ $meaning }
settings-language-tip = 窗口的语言，立即切换。
settings-rendering-integrated-tip = 把高速 GPU 的内存留给模型。
settings-rendering-dedicated-tip = 窗口绘制更快，但会占用模型的内存。
settings-format-png-tip = 保留每个像素，文件较大。
settings-format-jpeg-tip = 文件小且随处可开，略有损失。
settings-format-webp-tip = 文件最小，略有损失。
settings-output-choose-tip = 将新的图像和片段保存到其他文件夹。
settings-open-folder-tip = 在文件管理器中显示该文件夹。
settings-names-tip = 为新文件命名；花括号中的内容会被填入。
settings-folders-models-tip = 打开模型页面，可在那里添加文件夹。
settings-folders-gallery-tip = 打开图库，可在那里添加文件夹。
settings-report-copy-tip = 将有助于查找故障的信息复制到剪贴板。
settings-search-tip = 按词查找设置。

settings-words-updates = 更新 版本 新
settings-updates = 启动时检查新版本
settings-updates-tip = 询问发布新版本的页面，只发送程序的名称和版本。
settings-updates-now = 立即检查
settings-updates-now-tip = 查询一次最新版本。
settings-updates-page = 打开页面
settings-updates-asking = 正在检查…
settings-updates-newest = 已是最新版本。
settings-updates-newer = Sluice { $version } 已发布。
settings-updates-nowhere = 此构建不知道新版本在哪里发布。
settings-libraries = 程序库
settings-libraries-tip = 此程序包含的程序库及其许可证。
settings-tags = 标签
settings-tags-open = 添加标签文件…
settings-tags-open-tip = a1111-tagcomplete 的 CSV 文件，输入提示词时自动补全。
settings-tags-count = 输入时提供 { $count } 个标签。
settings-file-remove = 移除 { $name }
