### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet（{ $count }）
control-nets-tip = 按另一张图像的边缘、深度或姿势引导图像。
control-nets-add = 添加 ControlNet…
control-nets-add-tip = 为此模型选择 ControlNet。
control-nets-library = 模型库中
control-nets-library-tip = 在你的模型文件夹中找到的 ControlNet。
control-nets-library-spoken = 模型库中的 ControlNet
control-nets-remove = 移除 { $name }
control-nets-image = 图像…
control-nets-image-tip = 选择 ControlNet 要遵循的图像。
control-nets-image-remove = 移除 ControlNet 的图像
control-nets-map = ControlNet 看到的图像
control-nets-preprocessor = 预处理器
control-nets-preprocessor-tip = 先从图像得到什么。如果它已经是引导图，请选“无”。
control-nets-preprocessor-none = 无
control-nets-preprocessor-canny = Canny 边缘
control-nets-preprocessor-invert = 反相
control-nets-weight = 权重
control-nets-weight-tip = ControlNet 的作用强度。1 为训练时的强度。
control-nets-start = 开始
control-nets-start-tip = 在此步数比例之前，ControlNet 不起作用。
control-nets-end = 结束
control-nets-end-tip = 在此步数比例之后，ControlNet 不起作用。
control-nets-without = 不使用 ControlNet { $name }
