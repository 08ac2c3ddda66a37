### 计划的原因。

## 句子

reason-all-streamed = { $why }，{ $role }的全部 { $used } 个块{ $how }。
reason-one-stays = { $why }，{ $role }的 { $used } 个块中有 { $stay } 个留在{ $where }，其余{ $how }。
reason-some-stay = { $why }，{ $role }的 { $used } 个块中有 { $stay } 个留在{ $where }，其余{ $how }。
reason-everything-stays = 整个模型（{ $size }）放得下，全部留在{ $where }。
reason-parts-in-turn = { $why }，模型的每个部分只在使用时位于{ $where }。
reason-part-in-use = { $why }，{ $role }只在使用时位于{ $where }。
reason-parts-in-use = { $why }，{ $roles }只在使用时位于{ $where }。
reason-decoded-in-tiles = 图像在潜空间中以最大 { $width }×{ $height } 的分块解码。
reason-enlarged-in-tiles = 图像以最大 { $width }×{ $height } 像素的分块放大。
reason-interpolated-in-tiles = 插帧以最大 { $width }×{ $height } 像素的图块进行。
reason-uses-per-step = 使用 { $whole } 中的 { $part }，每步 { $time }。
reason-uses = 使用 { $whole } 中的 { $part }，用时 { $time }。
reason-weights-in-8-bits = 权重以 8 位（{ $format }）保存，图像会略有变化。
reason-text-in-8-bits = 文本编码器的权重以 8 位（{ $format }）保存，图像会略有变化。
reason-offer-with-error = “{ $name }”将使用 { $memory }，每步 { $time }，权重偏差为 { $error }。
reason-offer = “{ $name }”将使用 { $memory }，每步 { $time }。

## 放不下的内容

reason-does-not-fit = 无法放在{ $where }：{ $stage }阶段，{ $what }需要 { $needed }，比可用的 { $allowed } 多 { $over }。
reason-not-enough-ram = RAM 不足：加载权重需要 { $needed }，可用 { $allowed }。
reason-allow-or-smaller = { $allow }，或使用更小的图像或批次。
reason-allow-smaller-or-auto = { $allow }，使用更小的图像或批次，或选择自动模式。
reason-smaller = 请使用更小的图像或批次。
reason-smaller-or-auto = 请使用更小的图像或批次，或选择自动模式。
reason-allow-ram = 请再允许使用 { $memory } RAM
reason-allow-vram = 请允许使用至少 { $memory } VRAM
reason-allow-memory = 请允许使用至少 { $memory } 内存
reason-what-everything = 将全部保留在设备上
reason-what-all-but-text = 将文本编码器以外的全部保留在设备上
reason-what-autoencoder = 将自编码器与使用中的部分一起保留
reason-what-largest = 仅最大的部分
reason-what-smallest = 即使最小的布局也

## 权重不留下的原因

reason-because-too-large = 由于全部 { $size } 无法同时放下
reason-because-little-free = 由于保留全部 { $size } 会使剩余内存很少
reason-because-least-memory = 由于要尽量少用内存
reason-because-mode = 由于模式为“{ $mode }”

## 不留下的权重如何处理

reason-how-some-by-tensor = 流式加载，其中 { $blocks } 个逐张量加载
reason-how-by-tensor = 逐张量加载
reason-how-computation = 在计算期间流式加载
reason-how-link = 以传输到 GPU 的速度流式加载
reason-how-disk = 以磁盘的速度流式加载

## 权重的位置

reason-where-memory = 内存中
reason-where-gpu = {" "}GPU 上
reason-where-into-memory = 内存中

## 模型的部件

reason-role-text-encoder = 文本编码器
reason-role-denoiser = 去噪器
reason-role-autoencoder = 自编码器
reason-role-upscaler = 放大模型
reason-role-frame-interpolator = 插帧模型
reason-role-preprocessor = 预处理器
reason-role-segmenter = 分割模型
reason-role-detector = 检测模型
reason-role-language-model = 语言模型
reason-roles-text-and-denoiser = 文本编码器和去噪器
reason-roles-text-and-autoencoder = 文本编码器和自编码器
reason-roles-denoiser-and-autoencoder = 去噪器和自编码器

## 阶段

reason-stage-encode = 编码
reason-stage-encode-image = 图像编码
reason-stage-encode-control-image = 控制图像编码
reason-stage-encode-image-prompt = 图像提示词编码
reason-stage-encode-enlarged-image = 放大图像编码
reason-stage-denoise = 去噪
reason-stage-decode = 解码
reason-stage-upscale = 放大
reason-stage-interpolate = 插帧
reason-stage-make-maps = 生成引导图
reason-stage-detect = 检测
reason-stage-write = 写作
reason-stage-high-noise = 高噪声
reason-stage-low-noise = 低噪声
reason-stage-refine = 精修
reason-stage-denoise-again = 再次去噪
reason-stage-prior = 先验
reason-stage-decoder = 解码器

## 引导图

reason-maps-depth = 深度图
reason-maps-pose = 姿势
reason-maps-segments = 分割
reason-maps-soft-edge = 柔和边缘

## 运行期间计划的变化

reason-ran-out = 内存不足（需要 { $needed }，可用 { $allowed }）。现在：{ $changes }
reason-now-fewer-stay = { $role }有 { $stay } 个块留在设备上，之前为 { $stayed } 个
reason-now-fewer-stay-more = { $role }有 { $stay } 个块留在设备上，之前为 { $stayed } 个，{ $more }
reason-now-enlarged = 图像以 { $width }×{ $height } 像素的分块放大
reason-now-enlarged-more = 图像以 { $width }×{ $height } 像素的分块放大，{ $more }
reason-now-interpolated = 插帧以 { $width }×{ $height } 像素的图块进行
reason-now-interpolated-more = 插帧以 { $width }×{ $height } 像素的图块进行，{ $more }
reason-now-decoded = 图像在潜空间中以 { $width }×{ $height } 的分块解码
reason-now-decoded-more = 图像在潜空间中以 { $width }×{ $height } 的分块解码，{ $more }
reason-now-windows = 视频的各个窗口依次计算
reason-now-windows-more = 视频的各个窗口依次计算，{ $more }
reason-now-fewer-slots = 块通过 { $slots } 个槽流式加载，之前为 { $before } 个
reason-now-fewer-slots-more = 块通过 { $slots } 个槽流式加载，之前为 { $before } 个，{ $more }
reason-now-smaller-pieces = 权重以更小的部分加载
reason-timings-one = 根据第一步的用时，调整了 1 个块的位置
reason-timings = 根据第一步的用时，调整了 { $blocks } 个块的位置
reason-driver-moved = 驱动程序把 GPU 显存中的 { $memory } 移到了内存，每一步都会变慢。请在 NVIDIA 控制面板中将“CUDA - Sysmem Fallback Policy”设为“Prefer No Sysmem Fallback”，或减少允许使用的显存
reason-slow-link = 这台电脑的传输速度为 { $measured }，模拟的连接为 { $simulated }：等待传输的步骤会比在 GPU 上更慢
