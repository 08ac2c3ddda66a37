### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = 图像提示词
image-prompts-title-used = 图像提示词（{ $count }）
image-prompts-tip = 通过 IP-Adapter，让模型在提示词之外读取图像。
image-prompts-add = 添加 IP-Adapter…
image-prompts-add-tip = 为此模型选择 IP-Adapter。
image-prompts-library = 模型库中
image-prompts-library-tip = 在你的模型文件夹中找到的 IP-Adapter。
image-prompts-library-spoken = 模型库中的 IP-Adapter
image-prompts-remove = 移除 { $name }
image-prompts-image = 添加图像…
image-prompts-image-tip = 选择要读取的图像。读取的是其中央的正方形。
image-prompts-image-remove = 不读取 { $name }
image-prompts-weight = 权重
image-prompts-weight-tip = 图像的作用强度。1 为训练时的强度；越小越依从提示词。
image-prompts-start = 开始
image-prompts-start-tip = 在此步数比例之前，不读取图像。
image-prompts-end = 结束
image-prompts-end-tip = 在此步数比例之后，不读取图像。
image-prompts-without = 不使用 IP-Adapter { $name }
