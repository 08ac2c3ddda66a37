### Notices, failures and names of what was generated.

## Lengths and names

state-still-image = 静态图像
state-clip-length = { $duration }，{ $count } 帧
state-clip-of-seed = 种子为 { $seed } 的视频
state-image-of-seed = 种子为 { $seed } 的图像
state-clip-of-number = 视频 { $number }
state-image-of-number = 图像 { $number }

## The machine

state-device = { $cpu }，{ $ram } RAM，无 NVIDIA GPU
state-device-without-name = 本机，{ $ram } RAM，无 NVIDIA GPU

## How well a model runs

state-fit-well = 运行流畅 · { $time }
state-fit-well-about = 运行流畅 · 约 { $time }
state-fit-streamed = 可流式运行 · { $time }
state-fit-streamed-about = 可流式运行 · 约 { $time }
state-fit-slowly = 运行缓慢 · { $time }
state-fit-slowly-about = 运行缓慢 · 约 { $time }
state-fit-very-slowly = 运行极慢 · { $time }
state-fit-very-slowly-about = 运行极慢 · 约 { $time }
state-fit-too-big-ram = 太大，需要 { $needed } RAM
state-fit-too-big = 太大，需要 { $needed }
state-fit-cannot = 无法运行

## Notices

state-lora-added = 已添加 LoRA { $name }
state-lora-made-for = { $name } 适用于这些设置。
state-model-own-steps = 模型自身的步数和引导系数
state-queue-paused = 队列已暂停
state-queue-paused-detail = 已恢复的任务会等到队列继续运行。
state-cancelled-at = 已完成第 { $step } 步，共 { $steps } 步。
state-cancelled = 已取消
state-jobs-cancelled = 已取消 { $count } 个任务

## Failures

state-engine-stopped-message = 重新启动 Sluice 之前无法生成。
state-engine-stopped-advice = 你的设置已保留。
state-engine-stopped = 引擎已停止
state-not-saved = 图像未能保存到输出文件夹
state-engine-restarted = 引擎已重新启动，正在继续
state-image-goes-on = 图像将从第 { $step } 步之后继续。
state-clip-goes-on = 视频将从第 { $step } 步之后继续。
state-generation-failed = 生成失败
state-upscale-failed = 放大 { $name } 失败
state-interpolation-failed = 对 { $name } 插帧失败
state-detail-failed = 修复 { $name } 的细节失败
state-description-failed = 描述 { $names } 失败
state-map-failed = { $name } 的引导图生成失败
state-mask-failed = { $name } 的蒙版生成失败
state-enhance-failed = 扩写提示词失败
state-model-not-opened = 无法打开这个模型
state-other-model-not-opened = 无法打开 { $name }
state-went-wrong = 出现问题
state-snippet-deleted = 已删除片段：{ $words }
state-negative-snippet-deleted = 已删除反向预设：{ $words }
state-job-edited = 正在编辑任务
state-job-goes-back = 点击“生成”会以这些设置将其放回原位。
state-style-deleted = 已删除风格 { $name }
