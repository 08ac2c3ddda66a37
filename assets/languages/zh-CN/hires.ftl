### 高清修复：放大图像后再次去噪。

hires-title = 高清修复
hires-title-tip = 用于大于模型训练尺寸的图像。
hires-on = 放大并再次去噪
hires-on-tip = 按上面的尺寸生成，放大后再次去噪。
hires-scale = 倍数
hires-scale-tip = 宽和高放大到几倍。
hires-strength = 重绘幅度
hires-strength-tip = 第二遍改变多少。使用 Latent 时约需 0.5 以上；用放大模型放大的图像通常 0.2 到 0.4 就够。
hires-steps = 单独的步数
hires-steps-tip = 第二遍的步数，其中一部分会按重绘幅度省去。不设则与第一遍相同。
hires-upscaler = 放大模型
hires-upscaler-tip = 两遍之间用什么放大图像。
hires-latent = Latent
hires-result = { $before } 变为 { $after }
hires-in-force = 高清修复 × { $scale } · { $strength }
hires-without = 不使用高清修复
hires-not-with-input = 高清修复只从提示词开始，不使用输入图像。
hires-in-force-waits = 高清修复等待中
hires-offer = 从 { $width } × { $height } 高清修复
hires-offer-tip = 先生成此尺寸，再放大到所需尺寸并再次去噪。
hires-not-starter = 入门模型无法改善大于 { $width } × { $height } 的图像。请改为放大结果。
