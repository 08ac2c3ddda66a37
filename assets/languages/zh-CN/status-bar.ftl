### The bar at the bottom: current activity and hardware.

## What is going on

status-bar-cancelling = 正在取消…
status-bar-per-step = 每步 { $time }
status-bar-engine-stopped = 引擎已停止
status-bar-paused = 已暂停
status-bar-waiting = 正在等待引擎…
status-bar-loading = 正在加载模型…
status-bar-no-model = 未加载模型
status-bar-ready = 就绪
status-bar-preparing = 正在准备
status-bar-encoding-image = 正在编码图像
status-bar-encoding-prompt = 正在编码提示词
status-bar-denoising = 正在去噪
status-bar-step = 第 { $step } 步，共 { $steps } 步
status-bar-decoding = 正在解码

## Weights, while an image is generated

status-bar-link = 传输 { $speed }
status-bar-stall = 等待 { $share }
status-bar-peak = 峰值 { $memory }
status-bar-traffic-tip = 权重到达设备的速度、设备等待权重的时间占比，以及本次运行使用的最多设备内存。

## Hardware

status-bar-cpu-tip = { $name }，{ $threads } 个线程。
status-bar-ram-tip = Sluice 使用了 { $memory }
status-bar-ram-tip-limited = Sluice 使用了 { $memory }；{ $cause } 限制为 { $limit }
status-bar-gpu-tip = { $name }，占用率 { $load }
status-bar-gpu-tip-degrees = { $name }，占用率 { $load }，{ $degrees } °C
status-bar-no-gpu = 没有 NVIDIA GPU
status-bar-no-gpu-tip = 图像由 CPU 计算。AMD、Intel 和 Apple 的 GPU 暂时还不能用于计算。现在可以使用另一台带 NVIDIA GPU 的计算机上的引擎：设置中的引擎。
status-bar-no-gpu-elsewhere-tip = 图像由另一台计算机的 CPU 计算。
status-bar-upscaling = 正在放大
status-bar-interpolating = 正在插帧
status-bar-preprocessing = 正在生成图
status-bar-detecting = 正在检测细节
status-bar-writing = 正在写
status-bar-tile = 图块 { $tile } / { $tiles }
status-bar-frame = 帧 { $frame } / { $frames }
