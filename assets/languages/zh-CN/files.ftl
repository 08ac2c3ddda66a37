### Files and dialogs.

files-use-folder = 使用这个文件夹
files-up = 上一级
files-up-tip = 上一级文件夹。
files-path = 文件夹路径
files-path-tip = 按 Enter 转到此文件夹。
files-folder-unreadable = 无法读取此文件夹：{ $reason }
files-folder-gone = 它不存在
files-folder-forbidden = 没有权限
files-reading = 正在读取…
files-nothing-here = 这里没有可选择的内容。
files-no-folders = 这里没有文件夹。
files-pickle = 请先转换为 .safetensors
files-pickle-tip = 打开这类文件时可能运行任意程序，因此不会读取。
files-save = 保存
files-save-tip = 以此名称保存图像。
files-save-name-tip = 扩展名 .png、.jpg 或 .webp 决定格式。
files-name-taken = 已有同名文件。
files-take-name-tip = 使用此文件的名称。
files-carried = { $count } 个文件
files-not-copied = 无法将文件复制到剪贴板
files-not-copied-advice = 请打开其文件夹并在那里复制。
files-not-copied-gone = 它已被移动或删除。请重新读取图库的文件夹。

## Titles of file dialogs

files-model-file = 打开模型文件
files-model-folder = 打开模型文件夹
files-library-folder = 添加模型文件夹
files-input-image = 选择输入图像
files-styles = 打开风格文件
files-tags = 打开标签文件
files-cuda-engine = 打开用于 NVIDIA GPU 的引擎
files-input-folder = 选择输入图像的文件夹
files-changed-folder = 选择图像和视频的文件夹
files-changed-folder-clips = 选择视频文件夹
files-changed-folder-images = 选择图像文件夹
files-last-image = 选择尾帧图像
files-keyframe = 添加关键帧
files-reference = 添加参考图像
files-control-clip = 选择控制视频
files-control-mask = 选择控制视频的蒙版
files-input-clip = 选择输入视频
files-mask = 打开蒙版
files-adapter = 添加 LoRA
files-refiner = 打开 Refiner
files-redux = 打开 Redux 模型
files-gallery-folder = 向图库添加文件夹
files-export-folder = 选择文件夹
files-save-image = 保存图像
files-download-folder = 选择模型文件夹

## Kinds of files in file dialogs

files-kind-models = 模型
files-kind-images = 图像
files-kind-videos = 视频
files-kind-videos-and-images = 视频和图像
files-kind-loras = LoRA
files-kind-styles = 风格
files-kind-tags = 标签
files-kind-archives = 压缩包
files-kind-all = 所有文件

## What fails

files-file-unusable = 无法使用这个文件
files-mask-not-saved = 无法保存蒙版
files-pasted-not-saved = 无法保存粘贴的图像
files-frame-not-saved = 无法保存该帧
files-image-not-saved = 无法保存图像
files-text-not-saved = 无法保存图像的文本
files-clip-not-exported = 无法导出视频
files-folder-unusable = 无法使用这个文件夹
files-folder-unusable-advice = 请选择另一个图像文件夹。
files-folder-unusable-any-advice = 请选择另一个图像和视频文件夹。
files-folder-unusable-clips-advice = 请选择另一个视频文件夹。
files-folder-not-opened = 无法打开文件夹
files-folder-no-program = 没有程序打开 { $path }。
files-folder-not-opened-advice = 请在文件管理器中打开它。
files-setting-not-saved = 无法保存设置
files-setting-not-saved-advice = 它在窗口关闭之前有效。
files-preset-not-changed = 无法更改预设
files-grid-not-saved = 无法保存网格
files-not-saved-advice = 请释放一些磁盘空间，或在设置中选择另一个输出文件夹。
files-no-frames = { $path } 没有任何帧
files-no-frames-advice = 请选择另一个文件。
files-no-mp4 = { $path } 不是 MP4 文件
files-no-mp4-advice = 请选择一个 MP4 文件。
files-unreadable = 无法读取 { $path }：{ $error }
files-unreadable-advice = 请确认文件仍然存在，并且是完整的 PNG 图像。

## Formats of clips

files-format-mp4 = MP4 视频
files-format-webp = 动态 WebP
files-format-gif = 动态 GIF
files-format-frames = PNG 图像文件夹
files-control-net = 选择 ControlNet
files-control-image = 为 ControlNet 选择图像
files-ip-adapter = 选择 IP-Adapter
files-prompt-image = 选择要读取的图像
files-map-estimator = 选择引导图估计模型
files-segmenter = 选择分割模型
files-detector = 选择检测模型
files-region-mask = 选择区域的蒙版
files-language-model = 选择语言模型
files-upscaler = 选择放大模型
files-interpolator = 选择插帧模型
files-folder-tip = 打开此文件夹。
files-in-folder-tip = 这张图像在该文件夹中。选择的是文件夹本身。
files-file-tip = 选择此文件。
