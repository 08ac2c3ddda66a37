### The bar at the top: the model, the panels and the settings.

## Panels

top-bar-timeline-tip = 显示一次运行中内存使用的变化。
top-bar-plan-tip = 显示模型如何放入内存，并可更改。
top-bar-gallery-tip = 浏览所有生成的内容。快捷键：G。

## Models

top-bar-models = 模型
top-bar-all-models-detail = 本机上的模型和知名模型，以及是否适合本机（Ctrl+M）
top-bar-all-models-tip = 打开所有模型和 LoRA 的页面。
top-bar-downloads = { $count } 个下载，{ $percent }
top-bar-get-models-detail = 目录、链接和 Hugging Face
top-bar-get-models = 获取模型…
top-bar-get-models-tip = 下载模型。
top-bar-starter-detail = 内置：小图像，用于试用
top-bar-starter-clip-detail = 内置：短视频，用于试用
top-bar-forget-model = 从列表中移除 { $name }
top-bar-path = 模型路径
top-bar-path-example = /path/to/model
top-bar-open = 打开
top-bar-loading = 正在加载…
top-bar-failed = 无法打开
top-bar-model = 模型
top-bar-choose-model = 选择模型
top-bar-component = { $role }：{ $architecture }，{ $weights } 参数，{ $size }
top-bar-starter = 入门模型
top-bar-starter-clip = 视频入门模型
top-bar-choose-model-tip = 从现在起使用此模型生成。
top-bar-upscaler = 内置放大模型
top-bar-path-tip = 输入模型文件或文件夹的路径。
