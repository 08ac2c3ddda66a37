### The image in the middle, its bars and the list below.

## The middle of the window

viewer-live-preview = 实时预览
viewer-next-clip = 接下来是你的视频
viewer-next-image = 接下来是你的图像
viewer-next-tip = 引擎启动后就会显示在这里。
viewer-describe-image = 在左侧描述你想要的图像，然后点击“生成”。
viewer-describe-image-or-example = 在左侧描述你想要的图像，或者从示例开始。
viewer-describe-clip = 在左侧描述你想要的视频，然后点击“生成”。
viewer-describe-clip-or-example = 在左侧描述你想要的视频，或者从示例开始。
viewer-what-to-create = 你想创作什么？
viewer-model-loading = 正在加载模型…
viewer-model-loading-tip = 请稍候。
viewer-model-missing-tip = 在上方选择一个，或从磁盘打开。
viewer-model-missing = 未加载模型
viewer-model-open = 打开模型文件…
viewer-replanned-dismiss = 关闭新计划的通知
viewer-replanned = 运行将按新计划继续
viewer-replanned-times = 运行将按新计划继续（已更改 { $count } 次）
viewer-dismiss = 关闭
viewer-dismiss-all = 关闭全部 { $count } 条
viewer-copy-message = 复制消息
viewer-more-failures = 还有 { $count } 条
viewer-drop = 拖放图像即可以它为起点，或使用它的设置
viewer-drop-model = 拖放模型或 LoRA 即可加载
viewer-unfinished-question = Sluice 在生成过程中被关闭。要从中断处继续吗？
viewer-unfinished-resume = 继续
viewer-unfinished-discard = 放弃
viewer-unfinished = { $count } 张未完成的图像
viewer-live-thumbnail = 实时预览缩略图

## The bar under the image

viewer-zoom-actual-tip = 图像的一个像素对应屏幕的一个像素。双击图像可切换。
viewer-zoom-fit-tip = 显示整张图像。滚轮缩放，拖动平移。
viewer-zoom-fit = 适合窗口
viewer-compare-tip = 与另一张图像比较，在下方列表中选择。快捷键：C
viewer-compare = 比较
viewer-compare-stop = 停止比较
viewer-compare-stop-tip = 快捷键：Esc
viewer-compare-swap = 交换 A 和 B
viewer-compare-side-by-side = 并排显示
viewer-compare-side-by-side-tip = 将图像并排显示，而不使用分隔线。
viewer-compare-choose = 点击下方的图像进行比较
viewer-copy-frame = 复制当前帧
viewer-save-frame = 将当前帧保存为 PNG
viewer-use-frame = 将当前帧用作输入图像
viewer-use-frame-as-end = 将当前帧用作尾帧图像
viewer-extend-tip = 从播放范围的末尾续写这段视频。
viewer-extend = 续写
viewer-similar-tip = 四张与它相似的图像：相同的种子，加入少量其他种子的噪声。
viewer-variations-tip = 四张设置相同、种子不同的图像。
viewer-use-settings-tip = 加载生成这张图像的提示词、种子和所有其他设置。
viewer-actions = 操作
viewer-actions-spoken = 图像的操作
viewer-export-as = 导出为 { $format }
viewer-export-range = 导出播放范围
viewer-export = 导出
viewer-caption-frames = { $count } 帧
viewer-caption-rate = { $rate } fps
viewer-caption-seed = 种子 { $seed }
viewer-caption-steps = { $count } 步
viewer-caption-guidance = 引导系数 { $guidance }
viewer-caption-took = 耗时 { $time }
viewer-divider = 分隔线
viewer-divider-tip = 拖动或使用方向键进行比较。

## Painting a mask

viewer-mask = 图像上的蒙版
viewer-brush = 画笔
viewer-brush-tip = 画笔大小，以图像像素为单位。
viewer-mask-rectangle = 矩形
viewer-mask-lasso = 套索
viewer-mask-tool = 工具
viewer-mask-tool-tip = 用笔画、矩形或手绘轮廓涂抹。
viewer-brush-size = 画笔大小
viewer-mask-grow = 扩大 { $pixels } 像素
viewer-mask-shrink = 缩小 { $pixels } 像素
viewer-mask-paint = 涂抹
viewer-mask-paint-tip = 标记要改变的区域。
viewer-mask-erase = 擦除
viewer-mask-erase-tip = 取消标记该区域的一部分。
viewer-mask-undo-tip = 撤销上一笔。快捷键：Ctrl+Z
viewer-mask-undo = 撤销笔画
viewer-mask-invert = 反转
viewer-mask-clear = 清除
viewer-mask-apply = 应用蒙版
viewer-mask-discard-tip = 停止涂抹，保留之前的蒙版。
viewer-mask-discard = 放弃

## Playing a clip

viewer-pause = 暂停
viewer-play = 播放
viewer-play-tip = 快捷键：空格
viewer-previous-frame = 上一帧
viewer-previous-frame-tip = 快捷键：←
viewer-next-frame = 下一帧
viewer-next-frame-tip = 快捷键：→
viewer-mute = 静音
viewer-mute-tip = 播放时不出声。只有正常速度正向播放时才有声音。快捷键：M
viewer-boomerang = 往返播放
viewer-boomerang-tip = 正向和反向交替播放。
viewer-play-whole = 播放整段视频
viewer-play-whole-tip = 移除你设置的起点和终点。
viewer-end-here = 到此结束
viewer-end-here-tip = 只播放到这一帧。快捷键：O
viewer-start-here = 从此开始
viewer-start-here-tip = 只从这一帧开始播放。快捷键：I
viewer-speed = 速度
viewer-speed-tip = 播放速度。
viewer-place-tip = 帧与时间。
viewer-range-start = 范围起点
viewer-range-start-tip = 范围起点，第 { $frame } 帧
viewer-range-end = 范围终点
viewer-range-end-tip = 范围终点，第 { $frame } 帧
viewer-frame = 帧
viewer-frame-at = 第 { $frame } 帧 · { $time }
viewer-use-frame-as-end-tip = 下一个片段以此帧结束。
viewer-use-frame-tip = 保存此帧，并从它开始下一幅图像或片段。
viewer-save-frame-tip = 将此帧连同设置保存到输出文件夹。
viewer-copy-frame-tip = 将此帧的像素复制到剪贴板。
viewer-actions-tip = 可对此图像执行的操作。
viewer-export-range-tip = 将播放范围写入新文件。
viewer-upscale = 放大…
viewer-upscale-tip = 用放大模型放大
viewer-unfinished-resume-tip = 从最后完成的步骤起重新排队。
viewer-unfinished-discard-tip = 放弃它们，并用已绘制的部分合成网格。
viewer-dismiss-tip = 隐藏此消息。
viewer-dismiss-all-tip = 隐藏所有消息。
viewer-copy-message-tip = 将消息和处理方法复制到剪贴板。
viewer-live-thumbnail-tip = 显示正在生成的内容。
viewer-frame-tip = 拖动到某一帧，或用方向键逐帧移动。
viewer-mask-apply-tip = 将此蒙版用于输入图像。
