### The question before images and clips are enlarged.

upscale-title = 放大 { $count } 个文件
upscale-title-one = 放大 { $name }
upscale-model = 放大模型
upscale-model-tip = 用于放大的网络。
upscale-open = 选择文件…
upscale-open-tip = 使用自己的放大模型：ESRGAN、Real-ESRGAN Compact、SPAN、DAT、HAT、SwinIR 或 RealPLKSR 的 .safetensors 文件。
upscale-scale = 倍数
upscale-start = 放大
upscale-start-tip = 像其他任务一样加入队列。
upscale-cancel-tip = 不放大。
upscale-reading = 正在读取文件…
upscale-asking = 正在计算所需时间和内存…
upscale-more-refused = 另有 { $count } 个文件无法放大
upscale-sizes = { $before } 变为 { $after }
upscale-takes = 约需 { $time }，最多占用 { $memory } 内存
upscale-takes-there = 在该 GPU 上约需 { $time }，最多占用 { $memory } 内存
upscale-beside = 结果以新名称保存在原文件旁边
upscale-queued = 正在放大 { $count } 个文件
upscale-built-in = 内置，适合插画
upscale-chosen = { $name } 是放大模型：今后“放大…”会使用它
upscale-scale-tip = 结果的宽和高为原来的 { $scale }。
