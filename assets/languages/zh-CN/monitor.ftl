### The memory use of a run: timeline, layers, steps.

monitor-empty = 时间线显示生成图像时的内存使用情况。
monitor-title = 内存
monitor-title-unit = 内存（{ $unit }）
monitor-last-run = 上次运行
monitor-this-run = 本次运行
monitor-close = 关闭时间线
monitor-resume = 继续
monitor-pause = 暂停
monitor-pause-tip = 冻结时间线；运行会继续。
monitor-whole = 整个运行
monitor-whole-tip = 重新显示整个运行。也可以双击时间线。
monitor-weights = 权重
monitor-activations = 激活值
monitor-others = 其他程序
monitor-free = 空闲
monitor-predicted = 预测
monitor-allowed = 上限

## Steps

monitor-steps = 步
monitor-step-took = 共 { $time }
monitor-step-computing = 计算 { $time }
monitor-step-waiting = 等待权重 { $time }
monitor-step-copied = 已复制 { $memory }
monitor-step-skipped = 由步骤缓存跳过
monitor-steps-none = 步，尚未完成任何一步
monitor-steps-summary = 步，已完成 { $count } 步，平均 { $time }，等待 { $share }

## The timeline

monitor-vram = VRAM 随时间的变化，实测峰值 { $memory }
monitor-ram = RAM 随时间的变化，峰值 { $memory }
monitor-run-ram = 运行时 RAM 随时间的变化，实测峰值 { $memory }
monitor-process-ram = Sluice 的 RAM 随时间的变化，峰值 { $memory }
monitor-sample-host = RAM 中的权重 { $memory }
monitor-sample-host-pinned = RAM 中的权重 { $memory }（{ $pinned } 已锁页）
monitor-sample-weights = 权重 { $memory }
monitor-sample-activations = 激活值 { $memory }
monitor-sample-others = 其他程序 { $memory }
monitor-sample-free = 空闲 { $memory }
monitor-sample-process = Sluice 占用的 RAM { $memory }

## Layers

monitor-layers = 层
monitor-layers-none = 层，尚不清楚
monitor-layers-summary =
    { $part ->
        [text-encoder] 文本编码器的层，{ $resident } 个常驻，{ $streamed } 个流式
        [denoiser] 去噪器的层，{ $resident } 个常驻，{ $streamed } 个流式
        [upscaler] 放大模型的层，{ $resident } 个常驻，{ $streamed } 个流式
        [interpolator] 插帧模型的层，{ $resident } 个常驻，{ $streamed } 个流式
        [preprocessor] 预处理器的层，{ $resident } 个常驻，{ $streamed } 个流式
        [segmenter] 分割模型的层，{ $resident } 个常驻，{ $streamed } 个流式
        [detector] 检测模型的层，{ $resident } 个常驻，{ $streamed } 个流式
        [language-model] 语言模型的层，{ $resident } 个常驻，{ $streamed } 个流式
       *[autoencoder] 自编码器的层，{ $resident } 个常驻，{ $streamed } 个流式
    }
monitor-layers-now =
    { $part ->
        [text-encoder] 文本编码器的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [denoiser] 去噪器的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [upscaler] 放大模型的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [interpolator] 插帧模型的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [preprocessor] 预处理器的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [segmenter] 分割模型的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [detector] 检测模型的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
        [language-model] 语言模型的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
       *[autoencoder] 自编码器的层，{ $resident } 个常驻，{ $streamed } 个流式，当前 { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] 文本编码器的块 { $number }
        [denoiser] 去噪器的块 { $number }
        [upscaler] 放大模型的块 { $number }
        [interpolator] 插帧模型的块 { $number }
        [preprocessor] 预处理器的块 { $number }
        [segmenter] 分割模型的块 { $number }
        [detector] 检测模型的块 { $number }
        [language-model] 语言模型的块 { $number }
       *[autoencoder] 自编码器的块 { $number }
    }
monitor-block-resident = { $memory }，在其阶段内常驻
monitor-block-streamed = { $memory }，流式
monitor-block-leaves = { $memory }，逐张量流式
monitor-now-resident = 当前在设备上
monitor-now-in-flight = 当前正在加载或位于槽中
monitor-now-waiting = 当前正在等待权重
monitor-now-computing = 当前正在计算
monitor-now-idle = 当前不在设备上
monitor-not-used = 尚未使用
monitor-from-disk = 从磁盘
monitor-from-ram = 从 RAM
monitor-from-device = 已在设备上
monitor-last-use = 上次使用：{ $from }
monitor-last-use-slot = 上次使用：{ $from }，槽 { $slot }
monitor-time-waiting = 等待 { $time }，平均 { $mean }
monitor-time-loading = 加载 { $time }，平均 { $mean }
monitor-time-computing = 计算 { $time }，平均 { $mean }
monitor-time-evict = 逐出 { $time }，平均 { $mean }
