### The question before clips get more frames.

interpolate-title = 对 { $count } 个片段插帧
interpolate-title-one = 对 { $name } 插帧
interpolate-model = 插帧模型
interpolate-model-tip = 生成中间帧的网络。
interpolate-open-tip = 使用 RIFE 4 的 .safetensors 文件，例如 rife_v4.26。
interpolate-factor = 帧数
interpolate-factor-tip = 在相同时间内帧数为 { $factor }
interpolate-across-cuts = 跨越镜头切换
interpolate-across-cuts-tip = 在两个场景之间也插帧。否则重复场景的最后一帧。
interpolate-start = 开始插帧
interpolate-cancel-tip = 不插帧。
interpolate-choose = 请先选择 RIFE 4 的文件
interpolate-folder-empty = { $name } 中没有视频。
interpolate-no-clip = { $name } 不是片段
interpolate-rates = 每秒 { $before } 帧变为 { $after } 帧
interpolate-chosen = { $name } 是插帧模型：“插帧…”从现在起使用它
interpolate-section = 插帧
interpolate-section-tip = 在相同时间内插入更多帧，使运动更流畅。
interpolate-off = 关
interpolate-without = 不插帧
interpolate-in-force = 帧数 × { $factor }
