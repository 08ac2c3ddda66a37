### The settings of the next image, on the left.

## Numbers and more settings

side-panel-steps = 步数
side-panel-steps-tip = 去噪步数：步数越多耗时越长，画面也越精细，但有上限。
side-panel-guidance = 引导系数
side-panel-guidance-tip = 图像遵循提示词的程度（CFG Scale）。
side-panel-batch-size = 批次大小
side-panel-batch-size-tip = 一起生成的图像数量。数量越多，需要的内存越多。
side-panel-batch-as-grid = 将批次拼成网格
side-panel-batch-as-grid-tip = 另外把同一批次的图像拼成一张。
side-panel-more = 更多设置
side-panel-sampler = 采样器
side-panel-sampler-tip = 把噪声变成图像的方法。
side-panel-schedule = 调度器
side-panel-schedule-tip = 各步的噪声水平如何分布。
side-panel-schedule-model = 模型默认
side-panel-precision = 精度
side-panel-precision-tip = 计算所用的数值格式。16 位需要的内存更少。
side-panel-precision-32-bit = 32 位
side-panel-precision-16-bit = 16 位（{ $format }）
side-panel-precision-automatic-planned = 自动（{ $format }）
side-panel-precision-automatic = 自动

## Prompts

side-panel-prompt = 提示词
side-panel-negative-prompt = 反向提示词
side-panel-describe-clip = 描述你想要的视频
side-panel-describe-image = 描述你想要的图像
side-panel-what-to-avoid = 不希望出现的内容
side-panel-negative-unused = 引导系数为 0 时不使用。
side-panel-examples = 示例
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }，{ $chunks } 段
side-panel-tokens-spoken = { $prompt }，{ $tokens } / { $room } 个 token
side-panel-history = 历史
side-panel-history-tip = 以前用过的提示词。在空的输入框中按 ↑ 可找回上一条。
side-panel-history-search = 搜索提示词
side-panel-history-nothing = 没有包含这些文字的提示词。
side-panel-tag-images = { $count } 张图像

## Styles

side-panel-styles = 风格
side-panel-styles-tip = 添加到提示词中的命名片段，来自 A1111 和 Fooocus 的文件。
side-panel-styles-search = 搜索风格
side-panel-styles-nothing = 还没有风格。会在模型文件夹的上级目录中查找 A1111 的 styles.csv 和 Fooocus 的 sdxl_styles；也可以打开一个文件。
side-panel-style-negative = 反向提示词：{ $prompt }
side-panel-styles-open = 打开风格文件…
side-panel-styles-open-tip = A1111 的 CSV，或 Fooocus 的 JSON。

## 片段

side-panel-snippets = 片段
side-panel-snippets-tip = 保存下来以便放入提示词的词语。
side-panel-snippets-nothing = 还没有片段。在提示词中选中词语并保存。
side-panel-snippet-delete = 删除片段“{ $words }”
side-panel-snippet-use = 在光标处插入“{ $words }”。
side-panel-snippet-keep-selected = 保存选中的词语
side-panel-snippet-keep-prompt = 保存提示词
side-panel-snippet-keep-tip = 将词语添加到片段。
side-panel-snippet-undo-tip = 重新保存该片段。
side-panel-negative-snippets = 反向预设
side-panel-negative-snippets-tip = 保存下来以便再次避免相同内容的词语。
side-panel-negative-snippets-nothing = 还没有反向预设。写下要避免的内容并保存。
side-panel-negative-snippet-delete = 删除反向预设“{ $words }”
side-panel-negative-snippet-keep-prompt = 保存反向提示词
side-panel-negative-snippet-keep-tip = 将词语添加到反向预设。
side-panel-negative-snippet-undo-tip = 重新保存该反向预设。

## Presets

side-panel-saved-settings = 已保存的设置
side-panel-presets = 预设
side-panel-presets-tip = 给当前设置起个名字保存下来，以便再次使用。
side-panel-presets-nothing = 还没有保存任何内容。预设包含除提示词、种子和输入图像以外的所有设置。
side-panel-reset = 恢复模型的默认设置
side-panel-reset-tip = 除提示词、种子和输入图像以外的所有设置。
side-panel-preset-new-name = { $name } 的新名称
side-panel-rename = 重命名
side-panel-preset-delete = 删除 { $name }
side-panel-preset-rename = 重命名 { $name }
side-panel-preset-use = 使用这些设置：{ $settings }
side-panel-preset-name = 预设名称
side-panel-save = 保存
side-panel-preset-with-model = 包含模型
side-panel-preset-with-model-tip = 使用该预设时会同时打开这个模型。
side-panel-preset-name-tip = 它在数据文件夹中的文件名。同名的预设会被替换。
side-panel-preset-save-tip = 以这个名称保存。

## Size

side-panel-size = 尺寸
side-panel-width = 宽度
side-panel-height = 高度
side-panel-swap-sides = 交换宽度和高度
side-panel-round-size = 调整为可用尺寸
side-panel-round-size-tip = 使用模型能够生成的最接近的尺寸。
side-panel-size-larger = 该模型是以约 { $width } × { $height } 的尺寸训练的。更大的图像会出现重复内容。
side-panel-size-smaller = 该模型是以约 { $width } × { $height } 的尺寸训练的。更小的图像会缺少细节。
side-panel-use-size = 使用 { $width } × { $height }
side-panel-use-size-trained-tip = 最接近模型训练尺寸的大小。
side-panel-aspect-far = 模型适合 { $tallest } 到 { $widest } 之间的视频。其他比例往往会变形。
side-panel-aspect-far-image = 该模型适用于 { $tallest } 到 { $widest } 之间的图像。更宽或更高的图像会重复内容。
side-panel-clip-longer = 该模型适合约 { $length } 的视频。更长的视频会重复内容或失去连贯性。
side-panel-use-length = 使用 { $length }
side-panel-use-length-tip = 模型适合的长度。
side-panel-side-tip = 单位为像素，必须是 { $multiple } 的倍数。

## Clips

side-panel-kind-image = 图像
side-panel-kind-video = 视频
side-panel-duration = 时长
side-panel-duration-tip = 视频的长度。输入秒数，或输入帧数，例如“33 帧”。
side-panel-duration-multiple-tip = 视频的长度：1 帧再加 { $multiple } 的倍数。可输入秒数或帧数。
side-panel-frame-rate = 帧率
side-panel-frame-rate-tip = 每秒帧数。相同的帧会播放得更快或更慢；模型遵循其训练时的帧率。
side-panel-windows = 分窗口生成
side-panel-windows-tip = 以相互重叠的帧窗口生成长视频。只占用一个窗口所需的内存，模型同时看到的帧数也不会超过训练时的数量。
side-panel-window = 窗口
side-panel-window-tip = 一起生成的帧。
side-panel-overlap = 重叠
side-panel-overlap-tip = 一个窗口与前一个窗口共用的帧数。越多过渡越自然，耗时也越长。

## Inputs of clips

side-panel-choose = 选择…
side-panel-replace = 替换…
side-panel-replace-tip = 为这个位置选择另一个文件。
side-panel-file-remove-tip = 文件本身仍保留在原处。
side-panel-start-image-tip = 视频以这张图像开始。也可以将图像拖放到窗口中，或粘贴图像。
side-panel-start-image = 首帧图像
side-panel-start-image-remove = 移除首帧图像
side-panel-end-image-tip = 视频以这张图像结束。
side-panel-end-image = 尾帧图像
side-panel-end-image-remove = 移除尾帧图像
side-panel-input-clip-tip = 修改或续写一段视频。也可以将视频拖放到窗口中。
side-panel-input-clip = 输入视频
side-panel-input-clip-remove = 移除输入视频
side-panel-clip-change = 修改
side-panel-clip-extend = 续写
side-panel-clip-continues = 从它的最后 { $frames } 帧继续。
side-panel-denoising-strength = 重绘幅度
side-panel-denoising-strength-clip-tip = 视频改变的程度。1 表示完全不保留原内容。
side-panel-range-tip = 按结果的帧率计数。
side-panel-first-frame = 起始帧
side-panel-last-frame = 结束帧
side-panel-fit = 适配方式
side-panel-fit-clip-tip = 如何将输入调整为视频的尺寸。
side-panel-keyframes-tip = 视频会在你选择的帧显示这张图像。
side-panel-keyframes = 关键帧
side-panel-keyframe-remove = 移除关键帧 { $name }
side-panel-frame = 帧
side-panel-frame-tip = 显示该图像的帧。
side-panel-control-clip-tip = 结果所遵循的深度、姿态或线稿视频，或者由蒙版指定改变区域的视频。
side-panel-control-clip = 控制视频
side-panel-control-clip-remove = 移除控制视频
side-panel-control = 控制
side-panel-control-remove = 移除控制
side-panel-control-strength = 控制强度
side-panel-control-strength-tip = 结果遵循控制视频和参考图像的程度。1 为训练时的强度。
side-panel-control-preprocessor-tip = 先从每一帧得到什么。如果已经是引导图，请选“无”。
side-panel-control-start-tip = 在此步数比例之前，视频不起作用。
side-panel-control-end-tip = 在此步数比例之后，视频不起作用。
side-panel-control-mask-tip = 白色部分会重新生成，黑色部分保持控制视频的内容。可以是视频，也可以是用于所有帧的一张图像。
side-panel-control-mask = 控制蒙版
side-panel-control-mask-remove = 移除控制蒙版

## Image to image

side-panel-dropped-dismiss = 忽略拖入的图像
side-panel-dropped = { $name } 包含设置
side-panel-dropped-use-settings = 使用设置
side-panel-dropped-use-clip = 用作输入视频
side-panel-dropped-use-image = 用作输入图像
side-panel-image-to-image = 图生图
side-panel-input-image-tip = 从一张图像开始。也可以将图像拖放到窗口中，或粘贴图像。
side-panel-input-folder = 文件夹…
side-panel-input-folder-tip = 用当前设置处理文件夹中的每张图像。结果沿用原图像的名称，已完成的会跳过。
side-panel-reference-folder = 参考图像文件夹…
side-panel-input-image-remove = 移除输入图像
side-panel-denoising-strength-tip = 输入图像改变的程度。1 表示完全不保留原图。
side-panel-fit-tip = 如何将输入图像调整为新图像的尺寸。
side-panel-mask = 重绘蒙版
side-panel-mask-open = 打开…
side-panel-mask-open-tip = 打开一张图像，其中白色部分是输入图像要改变的区域。
side-panel-mask-paint = 涂抹…
side-panel-mask-paint-tip = 涂抹要改变的区域。
side-panel-mask-remove = 移除蒙版
side-panel-mask-keep = 保持蒙版外的区域不变
side-panel-mask-keep-tip = 从输入图像复制蒙版以外的像素。
side-panel-mask-feather = 蒙版羽化（像素）
side-panel-mask-feather-tip = 蒙版边缘与输入图像融合的宽度。
side-panel-reading = 正在读取…
side-panel-fit-crop = 裁剪
side-panel-fit-stretch = 拉伸
side-panel-fit-pad = 填充

## Reference images

side-panel-references =
    { $most ->
       *[other] 参考图像
    }
side-panel-reference-edits-tip = 用提示词说明这张图像如何改变。也可以将图像拖放到窗口中，或粘贴图像。
side-panel-reference-seen-tip = 结果会与它相似；相似程度在下方设置。
side-panel-reference-clip-tip = 会出现在视频中的事物。
side-panel-reference-add = 添加…
side-panel-reference-remove = 移除参考图像 { $number }
side-panel-references-swap = 交换参考图像 { $first } 和 { $second }
side-panel-redux = 通过 { $name } 读取
side-panel-redux-remove = 移除 Redux
side-panel-redux-add = 添加 Redux…
side-panel-redux-add-tip = 选择一个模型，由它根据参考图像决定结果的样子。
side-panel-redux-strength = 参考图像 { $number } 的强度
side-panel-redux-strength-tip = { $name } 相对于提示词的影响程度。

## Seed

side-panel-seed = 种子
side-panel-seed-tip = 相同的种子和设置会再次生成相同的图像。
side-panel-seed-lock = 锁定种子
side-panel-seed-randomize = 随机种子
side-panel-seed-locked = 种子已锁定
side-panel-seed-random = 每次使用随机种子
side-panel-variation-strength = 变异强度
side-panel-variation-strength-tip = 生成与该种子相似的图像：把它的噪声转向第二个种子的噪声。
side-panel-variation-seed = 变异种子
side-panel-variation-seed-tip = 第二个种子。同一批次的图像依次使用这个及之后的种子。

## LoRAs

side-panel-loras = LoRA
side-panel-loras-used = LoRA（{ $count }）
side-panel-lora-add = 添加 LoRA…
side-panel-lora-add-tip = 选择一个 LoRA 文件，或将文件拖放到窗口中。
side-panel-lora-remove = 移除 { $name }
side-panel-lora-weight = { $name } 的权重
side-panel-lora-weight-tip = LoRA 的作用强度。1 为训练时的强度，小于 0 则相反。
side-panel-lora-half = { $name } 会与它一起使用。
side-panel-loras-near = 在模型附近找到
side-panel-loras-near-spoken = 在模型附近找到的 LoRA

## Under More settings

side-panel-shift = 偏移（Shift）
side-panel-shift-tip = 把更多步数用于高噪声阶段，构图和运动在该阶段确定。模型自身的偏移为 { $own }。
side-panel-clip-skip = CLIP 跳过层
side-panel-clip-skip-tip = 从 CLIP 更靠前的层获取提示词。1 为最后一层。
side-panel-clip-skip-without-effect = CLIP 跳过层对 { $family } 无效。
side-panel-refiner = Refiner { $name }
side-panel-refiner-remove = 移除 Refiner
side-panel-refiner-switch = Refiner 切换点
side-panel-refiner-switch-tip = 噪声调度进行到这一比例后由 Refiner 接手。
side-panel-refiner-add = 添加 Refiner…
side-panel-refiner-add-tip = 选择第二个模型，由它完成最后几步并增加细节。
side-panel-guidance-and-speed = 引导与速度
side-panel-guidance-rescale = 引导重缩放
side-panel-guidance-rescale-tip = 抵消高引导系数造成的过浓色彩。
side-panel-guidance-start = 引导起点
side-panel-guidance-start-tip = 在步数进行到这一比例后开始引导。
side-panel-guidance-end = 引导终点
side-panel-guidance-end-tip = 在步数进行到这一比例后结束引导。
side-panel-guidance-interval-hint = 占步数的比例。没有引导的步只需一半的时间。
side-panel-true-cfg = True CFG
side-panel-true-cfg-tip = 大于 1 时，FLUX.1 之类的模型会使用反向提示词。每一步耗时加倍。
side-panel-true-cfg-hint = 用于 FLUX.1 之类模型的反向提示词。耗时加倍。
side-panel-step-cache = 步骤缓存
side-panel-step-cache-tip = 变化不超过这一程度的步会被跳过。0 表示不跳过。
side-panel-step-cache-hint = 跳过相似的步：更快，但图像会略有变化。

## What changes the next image, above Generate

side-panel-without-input-image = 不使用输入图像
side-panel-in-force-mask = 蒙版
side-panel-without-mask = 不使用蒙版
side-panel-in-force-end-image = 尾帧：{ $name }
side-panel-without-end-image = 不使用尾帧图像
side-panel-in-force-keyframe = 第 { $frame } 帧：{ $name }
side-panel-without-keyframe = 不使用关键帧 { $name }
side-panel-without-input-clip = 不使用输入视频
side-panel-in-force-reference = 参考：{ $name }
side-panel-without-reference = 不使用参考图像 { $name }
side-panel-in-force-control = 控制：{ $name }
side-panel-in-force-control-strength = 控制强度 { $strength }
side-panel-without-control = 不使用视频控制
side-panel-in-force-redux = Redux：{ $name }
side-panel-without-redux = 不使用 Redux
side-panel-in-force-refiner = Refiner：{ $name }
side-panel-without-refiner = 不使用 Refiner
side-panel-in-force-seed = 种子 { $seed }
side-panel-without-seed = 不再使用相同的种子
side-panel-in-force-style = 风格：{ $name }
side-panel-chip-show = 在设置中显示
side-panel-chip-show-tip = 打开设置它的部分。
side-panel-chip-copy-tip = 以文本形式复制。
side-panel-chip-copy-seed = 复制种子
side-panel-chip-copy-style = 复制其提示词
side-panel-chip-copy-name = 复制到提示词用
side-panel-chip-off = 关闭
side-panel-chip-off-tip = 留在列表中但不使用。
side-panel-chip-remove-tip = 不再使用它。
side-panel-chip-remove-all = 全部移除
side-panel-chip-remove-all-tip = 移除此处列出的所有内容；可用“撤销”恢复。
side-panel-kept-use = 使用
side-panel-kept-rename = 重命名…
side-panel-kept-duplicate = 复制一份
side-panel-kept-delete = 删除
side-panel-kept-use-tip = 使用，或不再使用。
side-panel-kept-rename-tip = 改用其他名称。
side-panel-kept-duplicate-tip = 以其他名称保存一份副本。
side-panel-kept-delete-tip = 删除；可用“撤销”恢复。
side-panel-style-new-name = { $name } 的新名称
side-panel-style-new-name-tip = 按回车重命名该风格。
side-panel-without-style = 不使用风格 { $name }
side-panel-in-force-variation = 变异 { $strength }
side-panel-without-variation = 不使用变异
side-panel-without-lora = 不使用 LoRA { $name }

## Generate and what it takes

side-panel-notice-dismiss = 关闭通知
side-panel-undo = 撤销
side-panel-undo-tip = 恢复之前的设置。
side-panel-prompt-undo-tip = 恢复之前的提示词。
side-panel-edit-undo-tip = 把任务放回队列，并恢复之前的设置。
side-panel-resume = 继续
side-panel-resume-tip = 从取消的位置继续。
side-panel-generate = 生成
side-panel-grid = 网格…
side-panel-grid-tip = 网格：最多改变三项设置，并把图像拼成一张。
side-panel-engine-stopped = 引擎已停止。请重新启动 Sluice。
side-panel-model-loading = 正在加载模型…
side-panel-model-missing = 请先选择一个模型。
side-panel-cancelling = 正在取消…
side-panel-planning = 正在规划…
side-panel-fits = 可运行 · { $memory } · { $time }
side-panel-fits-about = 可运行 · { $memory } · 约 { $time }
side-panel-fits-up-to = 可运行 · { $memory } · 最多 { $time }
side-panel-fits-about-there = 可运行 · { $memory } · 在该 GPU 上约 { $time }
side-panel-fits-up-to-there = 可运行 · { $memory } · 在该 GPU 上最多 { $time }
side-panel-fits-spoken = 预测：可运行，{ $memory }，{ $time }
side-panel-fits-about-spoken = 预测：可运行，{ $memory }，约 { $time }
side-panel-fits-up-to-spoken = 预测：可运行，{ $memory }，最多 { $time }
side-panel-fits-simulated = 模拟：在这里使用 CPU，耗时更长。
side-panel-fits-simulated-about = 模拟：在本机 CPU 上约需 { $time }。
side-panel-accuracy-tip = 此前对该模型、该精度和该设备的预测有多大偏差：内存峰值和每步的秒数。每次运行都会改进下一次预测。
side-panel-needs-limit = 需要 { $needed }，你设置的上限是 { $allowed }
side-panel-needs = 需要 { $needed }，可用 { $allowed }
side-panel-needs-ram-limit = 需要 { $needed } RAM，你设置的上限是 { $allowed }
side-panel-needs-ram = 需要 { $needed } RAM，可用 { $allowed }
side-panel-needs-spoken = 预测：放不下，{ $reason }
side-panel-remove-limit = 取消我的上限
side-panel-use-recommended = 使用推荐设置
side-panel-use-way = 使用 { $way }
side-panel-use-tiles = 分块解码
side-panel-use-8-bit = 8 位权重
side-panel-use-4-bit = 4 位权重
side-panel-use-size-smaller-tip = 生成更小的图像。
side-panel-use-fewer-frames-tip = 生成更短的视频。
side-panel-accuracy = { $count } 次运行中，内存偏差最多 { $memory }，时间偏差最多 { $time }
side-panel-accuracy-of-memory = { $count } 次运行中，内存偏差最多 { $memory }
side-panel-preset-undo-tip = 将预设放回列表。
side-panel-prompt-tip = 描述要生成的内容；Ctrl+↑ 和 Ctrl+↓ 调整词的权重。
side-panel-negative-prompt-tip = 描述要避免的内容。
side-panel-examples-tip = 显示适合此模型的提示词。
side-panel-example-tip = 将其写入提示词。
side-panel-generate-tip = 以这些设置将图像或片段加入队列。
side-panel-cancel-tip = 取消正在运行的任务；之后可以继续。按键：Esc。
side-panel-cancel-idle-tip = 没有正在运行的任务。
side-panel-kind-image-tip = 使用上次的图像模型。
side-panel-kind-video-tip = 使用上次的片段模型。
side-panel-more-tip = 显示采样器、调度、精度等。
side-panel-guidance-and-speed-tip = 显示细调引导或节省步数的设置。
side-panel-loras-tip = 显示改变模型画法的 LoRA。
side-panel-loras-near-tip = 显示模型旁文件夹中的 LoRA。
side-panel-history-search-tip = 查找包含这些词的提示词。
side-panel-styles-search-tip = 按名称查找风格。
side-panel-remove-limit-tip = 允许 Sluice 使用全部空闲内存。
side-panel-clip-change-tip = 沿其各帧重新生成片段。
side-panel-clip-extend-tip = 从片段的最后一帧继续。
side-panel-mask-only = 仅蒙版区域
side-panel-mask-only-tip = 仅以完整尺寸生成蒙版区域，再放回输入图像，输入图像的尺寸保持不变。
side-panel-mask-padding = 蒙版周围边距（像素）
side-panel-mask-padding-tip = 模型能看到的蒙版区域周围的像素数。
side-panel-accuracy-time-varies = { $count } 次运行中，内存偏差最多 { $memory }；时间波动很大
side-panel-negative-unread = 在这些设置下，模型不会读取它。

## 外绘

side-panel-outpaint = 外绘
side-panel-outpaint-tip = 在图像周围添加像素并生成。拖动边框的边缘。
side-panel-outpaint-left = 左
side-panel-outpaint-top = 上
side-panel-outpaint-right = 右
side-panel-outpaint-bottom = 下
side-panel-outpaint-feather = 外绘羽化 (px)
side-panel-outpaint-feather-tip = 图像与新增部分过渡的距离。
side-panel-outpaint-frame = 输入图像的边框
side-panel-outpaint-edge = 边框边缘：{ $edge }
side-panel-outpaint-edge-tip = 向外拖动以添加像素。
side-panel-outpaint-side-tip = 在这一侧添加多少输入图像的像素。
side-panel-without-outpaint = 不外绘
side-panel-style-name = 新风格的名称
side-panel-style-name-tip = 提示词将以此名称保存。若含有 {"{prompt}"}，应用时会用原提示词替换它。
side-panel-style-save = 保存风格
side-panel-style-save-tip = 将提示词和反向提示词保存为风格，替换同名风格。
side-panel-style-delete = 删除风格 { $name }
side-panel-style-undo-tip = 重新保存该风格。
side-panel-trash-undo-tip = 从回收站恢复文件。
