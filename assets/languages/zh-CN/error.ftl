### 引擎和下载报告的错误。

error-downloads-stopped = 下载已停止
error-downloads-offline = 无法连接到 { $host }
error-downloads-stalled = { $host } 不再发送数据
error-downloads-dropped = 文件尚未完成，{ $host } 就断开了连接
error-downloads-insecure = 与 { $host } 的安全连接失败：{ $reason }
error-downloads-proxy = 代理无法工作：{ $reason }
error-downloads-busy = 请求过多，{ $host } 要求等待
error-downloads-server = { $host } 目前无法响应（错误 { $status }）
error-downloads-needs-token = { $what } 需要登录才能获取{ $detail }
error-downloads-not-allowed = { $what } 需要接受其条款才能获取
error-downloads-not-found = { $host } 上没有 { $what }
error-downloads-answer = 无法理解 { $host } 的响应：{ $reason }
error-downloads-wrong-hash = { $name } 已损坏或是另一个文件：其 SHA-256 为 { $found }…，应为 { $expected }…
error-downloads-wrong-size = { $name } 的大小与公布的不同：{ $found } 字节，应为 { $expected } 字节
error-downloads-no-space = { $folder } 空间不足：需要 { $needed }，可用 { $allowed }
error-downloads-occupied = { $path } 已存在，但内容不同
error-downloads-in-use = { $path } 已在下载中
error-downloads-file =
    无法{ $doing ->
        [created] 创建
        [written] 写入
        [read] 读取
        [removed] 删除
       *[other] 处理（{ $doing }）
    } { $path }：{ $source }
error-downloads-name = { $name } 不能用作文件名

error-link-empty = 没有链接
error-link-not-a-link = “{ $value }”既不是链接，也不是仓库名称
error-link-no-model = “{ $value }”没有指向模型
error-link-other-file = Sluice 不会打开 { $value }
error-link-no-weights = { $value } 没有 .safetensors 或 .gguf 文件
error-link-several = { $repository } 有 { $count } 个文件；请指明其中一个

error-the-keyring-refuses = 密钥环拒绝访问：{ $error }。

error-the-engine-for-nvidia-gpus-is = 未安装用于 NVIDIA GPU 的引擎：缺少 { $value }。

error-presets-no-folder = 当前用户没有数据文件夹
error-presets-name = { $value } 不能用作预设名称；请使用字母、数字和空格
error-presets-taken = 已有名为 { $value } 的预设
error-presets-missing = 没有名为 { $name } 的预设
error-presets-malformed = { $path } 不是预设：{ $message }

error-adapters-not-an-adapter = { $path } 不是 LoRA，也不是 Sluice 支持的其他适配器；它的第一个张量是 { $first }
error-adapters-layer = { $path }：第 { $layer } 层的张量不匹配：{ $reason }
error-adapters-other-family = { $path }（{ $family }）不适用于此模型（{ $model }）
error-adapters-unknown = 没有名为 { $name } 的 LoRA
error-adapters-tag = 无法解析 <lora:{ $tag }>

error-checkpoint-not-found = 没有文件或文件夹 { $path }
error-checkpoint-not-here = { $name } 不在本机上
error-checkpoint-io = 无法读取 { $path }：{ $source }
error-checkpoint-io-it = 无法读取：{ $source }
error-checkpoint-write = 无法写入 { $path }：{ $source }
error-checkpoint-hollow = { $path } 的权重不在本机上
error-checkpoint-no-model = 在 { $path } 中没有找到模型
error-checkpoint-no-model-it = 其中没有找到模型
error-checkpoint-no-asset = { $name } 是 Sluice 的一部分，但在 { $path } 中没有找到
error-checkpoint-not-a-model-file = { $path } 不是 Sluice 能读取的模型文件
error-checkpoint-not-a-model-file-it = 不是 Sluice 能读取的模型文件
error-checkpoint-not-safetensors = { $path } 不是 safetensors 文件：开头没有文件头
error-checkpoint-not-safetensors-it = 不是 safetensors 文件：开头没有文件头
error-checkpoint-pickle = { $path } 是 pickle 文件，打开时可能执行任意代码
error-checkpoint-pickle-it = 是 pickle 文件，打开时可能执行任意代码
error-checkpoint-empty-file = { $path } 是空文件
error-checkpoint-empty-file-it = 文件为空
error-checkpoint-header-past-end = { $path } 已损坏或不完整：文件头应有 { $header } 字节，但整个文件只有 { $length } 字节
error-checkpoint-header-past-end-it = 文件已损坏或不完整：文件头应有 { $header } 字节，但整个文件只有 { $length } 字节
error-checkpoint-header = { $path } 的文件头已损坏：{ $reason }
error-checkpoint-header-it = 文件头已损坏：{ $reason }
error-checkpoint-truncated = { $path } 不完整：应有 { $expected } 字节，但只有 { $length } 字节
error-checkpoint-truncated-it = 文件不完整：应有 { $expected } 字节，但只有 { $length } 字节
error-checkpoint-json = 无法解析 { $path }：{ $reason }
error-checkpoint-other-task = { $path } 是 Sluice 尚不支持的模型（{ $task }）
error-checkpoint-missing-shard = 缺少 { $index } 引用的 { $shard }
error-checkpoint-missing-shard-it = 缺少所属的 { $shard }
error-checkpoint-missing-part = 缺少 { $model } 的{ $role }：{ $expected }
error-checkpoint-unknown-family = { $path } 是 Sluice 不支持的模型{ $kind }
error-checkpoint-refiner = { $path } 不能用作 Refiner：{ $reason }
error-checkpoint-upscaler = { $path } 不能放大图像：{ $reason }
error-checkpoint-interpolator = { $path } 不能插帧：{ $reason }
error-checkpoint-redux = { $path } 不能用作 Redux：{ $reason }
error-checkpoint-control-net = { $path } 不能用作 ControlNet：{ $reason }
error-checkpoint-ip-adapter = { $path } 不能用作 IP-Adapter：{ $reason }
error-checkpoint-no-image-encoder = 未找到 { $adapter } 的图像编码器：{ $wanted }
error-checkpoint-missing-tensor = { $path } 缺少张量 { $name }
error-checkpoint-shape = { $path } 中张量 { $name } 的形状是 { $found }，应为 { $expected }
error-checkpoint-dtype = { $path } 中的张量 { $name } 以 { $found } 存储，Sluice 在此处不支持
error-checkpoint-quantization = { $path } 的权重以 { $found } 存储，Sluice 不支持
error-checkpoint-quantization-it = 权重以 { $found } 存储，Sluice 不支持
error-checkpoint-config = { $path } 中 { $field } = { $value }，但 { $reason }
error-checkpoint-tokenizer = 无法使用分词器 { $path }：{ $reason }

error-account = 设备内存不足：需要 { $needed }，可用 { $allowed }

error-plan-device = { $stage }阶段，{ $what }需要 { $needed } 内存（{ $device }），但可用的只有 { $allowed }
error-plan-host = 加载权重需要 { $needed } RAM，但可用的只有 { $allowed }

error-output-extension = { $path } 不是以 .png、.jpg 或 .webp 结尾
error-output-clip-extension = { $path } 不是以 { $endings } 结尾
error-output-other-files = 文件夹 { $path } 中有其他文件
error-output-clip-too-large = { $width }×{ $height } 像素的帧对 { $path } 来说太大
error-output-encoder = 无法编码 { $path }：{ $detail }
error-output-no-ffmpeg = 编解码器 { $name } 需要程序 ffmpeg，但它不在 PATH 中
error-output-ffmpeg = ffmpeg 无法写入 { $path }：{ $detail }
error-output-is-folder = { $path } 是文件夹，不是文件名
error-output-not-a-folder = { $path } 是文件，不是文件夹
error-output-create-folder = 无法创建文件夹 { $folder }：{ $cause }
error-output-not-writable = 无法写入文件夹 { $folder }：{ $cause }
error-output-disk-full = 无法写入 { $path }：磁盘已满
error-output-write = 无法写入 { $path }：{ $cause }
error-output-exists = { $path } 已存在
error-output-settings-too-long = 设置太长，无法放入 JPEG 文件：{ $path }
error-output-pixels = 无法写入 { $width }×{ $height } 像素、{ $bytes } 字节的图像
error-output-kept-elsewhere = { $cause }；已改为保存到 { $path }
error-output-read = 无法读取 { $path }：{ $cause }
error-output-not-media = { $path } 不是 PNG、JPEG、WebP、GIF 或 MP4 文件
error-output-truncated = { $path } 不完整
error-output-damaged = { $path } 中的设置已损坏：{ $detail }
error-output-too-large = { $path } 的 { $keyword } 部分太大，不可能是设置
error-output-no-settings = { $path } 不包含生成设置
error-output-newer-version = { $path } 由更新版本的 Sluice 创建：其设置为版本 { $found }，而当前版本最高只能读取版本 { $known }

error-names-empty = 请输入名称，例如 {"{"}name{"}"}
error-names-unknown = 没有字段 {"{"}{ $value }{"}"}；请使用 {"{"}name{"}"}、{"{"}number{"}"}、{"{"}date{"}"}、{"{"}seed{"}"}、{"{"}model{"}"}、{"{"}prompt{"}"}、{"{"}width{"}"} 或 {"{"}height{"}"}
error-names-open = 有一个 {"{"} 没有用 {"}"} 闭合

error-pipeline-card = 无法使用 GPU：{ $value }
error-pipeline-no-such-gpu = 这里没有 GPU { $number }
error-pipeline-unknown-card = 没有名为 { $id } 的模拟 GPU
error-pipeline-unknown-model = 没有名为 { $id } 的已知模型
error-pipeline-initial-latents = 无法使用 { $path } 中的初始 Latent：{ $reason }
error-pipeline-dump = 无法将张量写入 { $path }：{ $reason }
error-pipeline-not-finite = 图像包含无效值（NaN），计算格式为 { $dtype }

error-clip = 请写出第一帧、两个点和最后一帧之后的帧，例如 0..48 或 12..

error-request-size-not-multiple =
    { $side ->
        [width] 宽度
        [height] 高度
       *[other] { $side }
    } { $pixels } 不是 { $multiple } 的倍数；请使用 { $below } 或 { $above }
error-request-side-too-long =
    { $side ->
        [width] 宽度
        [height] 高度
       *[other] { $side }
    } { $pixels } 太大；请使用不超过 { $longest } 的值
error-request-scale = 倍数 { $value } 不在 1 到 4 之间
error-request-only-upscales = 此模型是放大模型，只放大图像，不生成图像；请使用 `sluice upscale`，或窗口中的“放大…”
error-request-no-upscaler = 此模型用于生成图像，不是放大模型
error-request-only-interpolates = 此模型只在片段的帧之间插帧，不生成内容；请使用 `sluice interpolate`，或窗口中的“插帧…”
error-request-no-interpolator = 此模型不能插帧；请选择 RIFE 4 的 .safetensors 文件
error-request-interpolation-factor = 帧数不能变为 { $value } 倍；请使用 { $least } 到 { $most }
error-request-interpolates-image = 图像没有可插帧的帧；请选择片段
error-request-smooths-image = 插帧用于片段；请使用多于 1 帧，或不使用插帧
error-request-nothing-between = 片段只有一帧，帧之间没有内容；请选择更长的片段
error-request-hires-of-clip = 高清修复用于图像，不用于视频；请去掉它，再放大视频
error-request-hires-of-input = 高清修复从提示词开始；请去掉输入图像，或去掉高清修复并使用更大的尺寸
error-request-no-hires = 高清修复需要图生图，而此模型不支持；请去掉它，再放大图像
error-request-no-steps = 0 步只会留下噪声；请使用 1 或更大的值
error-request-no-frames = 0 帧不会生成任何内容；请使用 1 或更大的值
error-request-one-frame-only = 此模型生成图像，不生成视频；请使用 1 帧，而不是 { $value } 帧
error-request-frames-not-multiple = 此模型的帧数为 1 再加 { $multiple } 的倍数，不能是 { $frames }；请使用 { $below } 或 { $above }
error-request-no-such-mode = 此模型不支持以下功能：{ $wanted }；支持的有：{ $modes }
error-request-image-and-clip = 同时指定了输入图像和输入视频；请移除其中一个
error-request-variation = 变异强度 { $value } 无效；请使用 0 到 1
error-request-last-image-alone = 尾帧图像需要首帧图像
error-request-clip-input-of-image = 尾帧图像、关键帧、输入视频和控制用于视频；请使用多于 1 帧，或移除它们
error-request-keyframe-twice = 第 { $value } 帧有两张图像；请移除其中一张
error-request-keyframes-and-clip = 关键帧不能与输入视频一起使用；请移除其中一个
error-request-keyframes-in-windows = 使用此模型时，关键帧和尾帧图像不能用于分窗口生成；请移除图像或窗口
error-request-nothing-controls = 没有任何内容控制视频；请指定控制视频或参考图像
error-request-mask-without-control = 蒙版属于控制视频；请同时指定该视频
error-request-control-strength = 控制强度 { $value } 无效；请使用 0 到 { $strongest-control } 的值
error-request-control-range = 不能在步数的 { $start } 到 { $end } 控制视频；请使用 0 到 1 的值，较小的在前
error-request-preprocessor-without-control = 为控制视频选择了预处理器，但没有控制视频；请指定一个，或不选择预处理器
error-request-control-preprocessor = 预处理器 { $value } 不生成控制视频的引导图；请选择其他预处理器
error-request-no-references = 此模型不使用参考图像；请移除它们，或将其中一张用作输入图像
error-request-too-many-references = 参考图像过多（{ $given } 张）；此模型可用 { $amount }
error-request-reference-side = 参考图像边长 { $value } 无效；请使用 { $least } 到 { $most } 像素
error-request-references-in-windows = 参考图像不能用于分窗口生成；请移除图像或窗口
error-request-nothing-to-fill-in = 此模型用于填充图像的一部分；请指定图像和该部分的蒙版
error-request-mask-of-clip = 蒙版用于图像；请移除它，或使用 1 帧
error-request-nothing-added = { $frames } 帧不会增加任何内容：前 { $overlap } 帧重复输入视频的结尾；请使用 { $least } 或更大的值
error-request-frame-rate = 每秒 { $value } 帧无效；请使用 1 到 60 的值
error-request-windows = { $frames } 帧的窗口共用 { $overlap } 帧，无法向前推进；窗口必须比重叠部分长
error-request-empty-batch = 批次大小 0 不会生成任何内容；请使用 1 或更大的值
error-request-batch-too-large = 批次大小 { $value } 太大；请使用不超过 { $largest-batch } 的值
error-request-no-tokens = 上限为 0 个 token 时提示词会被全部去掉；请使用 1 或更大的值
error-request-guidance = 引导系数 { $value } 无效；请使用 0 或更大的值
error-request-adapter-weight = LoRA 权重 { $value } 不是有限的数值
error-request-too-many-steps = { $value } 步太多；请使用不超过 1000 的值
error-request-clip-skip = CLIP 跳过层 { $value } 超过了 CLIP 的层数；请使用不超过 { $largest-clip-skip } 的值
error-request-step-cache = 步骤缓存阈值 { $value } 无效；请使用 0 或更大的值
error-request-shift = 偏移 { $value } 无效；请使用 0.01 到 { $largest-shift } 的值
error-request-no-shift = 此模型没有偏移；请去掉它
error-request-prompts-only = 此模型只根据提示词生成图像；请去掉输入图像
error-request-no-such-levels = 调度器 { $name } 不适用于此模型
error-request-frame-range = { $value } 中没有帧；第二个数必须大于第一个数
error-request-strength = 重绘幅度 { $value } 无效；请使用大于 0 且不超过 1 的值
error-request-strength-takes-no-step = 重绘幅度 { $strength } 使 { $steps } 步一步不剩；请使用 { $least } 或更大的值，或增加步数
error-request-refiner-switch = Refiner 切换点 { $value } 无效；请使用 0 和 1 之间的值，例如 0.8
error-request-redux-alone = Redux 读取参考图像，但没有指定；请指定一张，或移除 Redux
error-request-redux-strengths = 强度的数量（{ $given }）超过了参考图像：{ $references }
error-request-redux-strength = 参考图像的强度 { $value } 无效；请使用 { $least } 到 { $most } 的值
error-request-control-net-weight = ControlNet 的权重 { $value } 无效；请使用 0 到 { $most } 的值
error-request-control-net-range = ControlNet 不能在步数的 { $start } 到 { $end } 起作用；请使用 0 到 1 的值，较小的在前
error-request-control-net-without-image = ControlNet 没有可遵循的图像；请选择一张，或移除 ControlNet
error-request-control-net-without-mask = ControlNet 遵循去掉蒙版部分的输入图像，但没有带蒙版的输入图像；请添加两者，或选择其他预处理器
error-request-control-net-reads-mask = ControlNet 用于局部重绘并读取蒙版；请为它选择预处理器 inpaint
error-request-control-net-without-mode = ControlNet 遵循多种图像，但未指定是哪一种；请从 { $modes } 中选择
error-request-no-such-control-mode = ControlNet 不遵循 { $mode } 类型的图像；请从 { $modes } 中选择
error-request-control-net-has-no-modes = ControlNet 只遵循一种图像；请不要为它选择类型
error-request-too-many-control-nets = { $value } 个 ControlNet 太多；最多使用 { $most } 个
error-request-image-prompt-without-image = IP-Adapter 没有可读取的图像；请选择一张，或移除 IP-Adapter
error-request-too-many-prompt-images = 为一个 IP-Adapter 指定 { $value } 张图像太多；最多使用 { $most } 张
error-request-too-many-image-prompts = { $value } 个 IP-Adapter 太多；最多使用 { $most } 个
error-request-image-prompt-weight = 图像提示词的权重 { $value } 无效；请使用 0 到 { $most } 的值
error-request-image-prompt-range = 不能在步数的 { $start } 到 { $end } 读取图像提示词；请使用 0 到 1 的值，较小的在前
error-request-mask-blur = 蒙版羽化 { $value } 太大；请使用不超过 { $widest-blur } 的值
error-request-mask-padding = 蒙版周围的边距 { $value } 像素太大；请使用不超过 { $most } 的值

error-grid-nothing = 没有要改变的内容；请选择一项设置及其取值
error-grid-no-setting = { $value } 没有指明设置；请写出设置名称、冒号和取值，例如 `steps: 10, 20, 30`
error-grid-unknown = 没有名为 { $name } 的设置；请使用 { $all }
error-grid-no-values = { $value } 没有取值；请写出一些，例如 1, 2, 3
error-grid-value = { $value } 不是 { $setting } 的有效取值；{ $wanted }
error-grid-twice = { $value } 改变了两次；请为其中一处选择另一项设置
error-grid-too-many = { $count } 张图像对网格来说太多；请使用不超过 { $most } 张
error-grid-not-in-prompt = 提示词和反向提示词都不包含要替换的词 { $value }
error-grid-which-lora = 使用了多个 LoRA；请指明其中一个，例如 `lora { $value }: 0.5, 1`
error-grid-no-style = 没有名为 { $value } 的风格；请从风格列表中选择，或先保存它
error-grid-no-input = 要改变重绘幅度，但没有输入图像，也没有高清修复；请先选择其一
error-grid-unused = { $setting } 在变化，但没有使用 { $what }；请先添加
error-grid-no-part = { $name } 的 { $setting } 在变化，但名称是 { $used }；请使用其中之一或其编号
error-grid-unused-variation = 变异强度
error-grid-unused-control-net = ControlNet
error-grid-unused-clip-control = 控制视频的视频或参考图像
error-grid-unused-ip-adapter = IP-Adapter
error-grid-unused-reference = 参考图像
error-grid-unused-detailer = 细节修复
error-grid-unused-region = 区域
error-grid-unused-input = 输入图像或输入视频
error-grid-unused-mask = 蒙版
error-grid-unused-only-masked = 只生成其区域的蒙版
error-grid-unused-outpainting = 外绘
error-grid-unused-interpolation = 插帧
error-grid-unused-windows = 分窗口生成

error-guidance = 需要两个 0 到 1 的数，例如 0.2..0.8
error-guidance-rescale = 引导重缩放 { $value } 无效；请使用 0 到 1
error-guidance-interval = 引导区间 { $value } 无效；请使用两个 0 到 1 之间递增的数
error-guidance-true-cfg = True CFG { $value } 无效；请使用 1 或更大的值

error-keyframe = 请写出帧号、= 和文件，例如 40=image.png

error-residency-cancelled = 已取消
error-residency-thread = 无法启动加载权重的线程：{ $value }
error-residency-out-of-order = 块 { $block } 的请求顺序有误
error-residency-compute = 计算失败：{ $value }
error-residency-device-lost = GPU 停止工作：{ $value }

error-serve-pipe = 无法读取来自窗口的消息：{ $value }
error-serve-no-hello = 窗口没有以问候开始
error-serve-threads = 无法启动引擎的线程：{ $value }
error-serve-ended = 引擎已结束
error-serve-no-visit = 调用方没有按预期命名其会话
error-serve-folder = 无法使用存放发送到此引擎的文件的文件夹：{ $value }
error-serve-occupied = 断开的连接的引擎仍在运行
error-serve-file = 调用方没有按预期发送文件

error-travel-read = 无法将 { $path } 发送到引擎：{ $cause }
error-travel-folder = { $path } 是文件夹，只能向别处的引擎发送文件
error-travel-too-large = { $path } 太大，无法发送到别处的引擎
error-travel-changed = { $path } 在发送到引擎时被更改
error-travel-report = 别处的引擎无法写入 { $path }
error-travel-not-there = 引擎没有 { $name }：{ $reason }
error-travel-not-sent = 要求引擎使用 { $path }，但该文件未发送给它
error-command-not-started = 无法启动引擎的命令 { $program }：{ $cause }
error-command-ended = 引擎的命令在引擎应答之前结束：{ $how }
error-command-other-words = 引擎的命令输出了引擎不会输出的内容：{ $words }
error-command-silent = 引擎的命令没有应答

error-clip-read = 无法读取视频 { $path }：{ $cause }
error-clip-damaged = 视频 { $path } 已损坏：{ $detail }
error-clip-truncated = 视频 { $path } 不完整：在第 { $readable } 帧之后结束，共应有 { $frames } 帧
error-clip-no-index = 视频 { $path } 不完整：缺少帧列表
error-clip-no-video = { $path } 中没有视频
error-clip-not-aclip = { $path } 不是可读取的视频片段
error-clip-no-frames = { $path } 中的视频没有帧
error-clip-beyond-end = 视频 { $path } 有 { $frames } 帧，因此没有第 { $start } 帧
error-clip-too-short = { $path } 的 { $frames } 帧太少：需要 { $needed } 帧
error-clip-too-long = { $path } 的 { $frames } 帧太多；一次最多读取 { $most } 帧
error-clip-too-large = { $path } 的帧太大：{ $width }×{ $height } 像素
error-clip-needs-ffmpeg = { $path } 是 { $format }，Sluice 需要用程序 ffmpeg 读取，但 ffmpeg 不在 PATH 中
error-clip-ffmpeg = ffmpeg 无法读取 { $path }：{ $detail }

error-source-read = 无法读取图像 { $path }：{ $cause }
error-source-not-apicture = { $path } 不是可读取的图像：{ $detail }
error-source-clip-for-image = { $path } 是视频片段，这里需要图像
error-source-picture-unknown = 格式未知
error-source-picture-large = 太大
error-source-picture-short = 提前结束
error-source-picture-damaged = 已损坏，或是其他类型的文件
error-source-nothing-masked = 蒙版 { $path } 没有选中要重绘的区域：{ $reason }

error-telemetry-same-file = { $path } 不能同时作为遥测文件和跟踪文件
error-telemetry-create = 无法创建遥测文件 { $path }：{ $cause }
error-telemetry-disk-full = 无法将遥测数据写入 { $path }：磁盘已满
error-telemetry-write = 无法将遥测数据写入 { $path }：{ $cause }
error-telemetry-gone = 写入遥测数据时 { $path } 被删除
error-telemetry-stopped = 测量内存的线程提前停止；其余遥测数据已丢失
error-telemetry-not-telemetry = { $path } 不是 Sluice 的遥测文件：第一行不是文件头
error-telemetry-version = { $path } 中的遥测数据为版本 { $found }，而此版本的 Sluice 读取版本 { $known }
error-telemetry-damaged = { $path } 的第 { $line } 行已损坏：{ $detail }

error-styles-read = 无法读取 { $path }：{ $error }
error-styles-too-large = { $path } 太大，不可能是风格文件
error-styles-csv = { $path } 没有风格：{ $error }；A1111 的 styles.csv 包含 name、prompt 和 negative_prompt 列
error-styles-json = { $path } 没有风格：{ $error }；Fooocus 的文件是由 name、prompt 和 negative_prompt 组成的列表

error-wildcards-missing = 没有名为 { $name }.txt 的通配符文件{ $similar }
error-wildcards-unreadable = 无法读取通配符文件 { $path }：{ $error }
error-wildcards-empty = 通配符文件 { $path } 没有可选的行
error-wildcards-endless = 通配符文件 { $name }.txt 引用了自身
error-wildcards-unclosed = 提示词中的花括号没有闭合：{ $text }
error-wildcards-too-few-options = 无法从 { $text } 的 { $options } 个选项中取 { $wanted } 个不同的选项

error-wire-truncated = 连接在消息中途结束
error-wire-too-long = 有一条消息声称有 { $value } 字节，超过任何消息的长度
error-wire-damaged = 有一条消息在传输中损坏
error-wire-not-understood = 无法解析一条消息：{ $value }
error-request-outpaint = 输入图像周围添加 { $value } 像素太多；请使用不超过 { $most } 的值
error-request-control-and-input = 控制不能与输入图像或输入视频一起使用；请移除其中一个，或将图像用作参考图像
error-outpaint-no-sides = 请写出一个用于所有边的像素数，或按 左,上,右,下 写出四个，例如 0,0,256,0
error-grid-no-lora = 没有使用名为 { $name } 的 LoRA；{ $hint }
error-source-nothing-added = { $path } 周围添加的部分不足一个潜空间单位
error-checkpoint-map-estimator = { $path } 不能生成{ $maps }：{ $reason }
error-request-only-makes-maps = 此模型生成引导图，不生成图像；请将它选为 ControlNet 的预处理器
error-request-no-map-estimator = 没有选择生成{ $maps }的模型；请选择 { $networks } 的 .safetensors 文件
error-checkpoint-segmenter = { $path } 不能生成蒙版：{ $reason }
error-request-only-makes-masks = 此模型生成蒙版，不生成图像；请使用 `sluice mask`，或窗口中的蒙版工具
error-request-no-segmenter = 由点生成蒙版需要 Segment Anything；请选择它或 MobileSAM 的 .safetensors 文件
error-request-nothing-to-mask = 没有指出蒙版的对象；请给出其中的一个点，或围绕它的框
error-request-mask-point-outside = 点 { $x },{ $y } 不在 { $width }×{ $height } 像素的图像中
error-request-mask-box = 框 { $left },{ $top },{ $right },{ $bottom } 不是 { $width }×{ $height } 像素的图像中的框；请给出左、上、右、下
error-checkpoint-language-model = { $path } 不能写提示词：{ $reason }
error-checkpoint-image-describer = { $path } 不能描述图像：{ $reason }
error-checkpoint-something-else = { $reason }，而是其他内容：{ $what }
error-checkpoint-no-upscaler = 不是放大模型
error-checkpoint-no-network = 不是 { $network } 网络
error-checkpoint-no-segformer = 不是能识别分割的 SegFormer 网络
error-checkpoint-no-rife = 不是 RIFE 4
error-checkpoint-no-language-model = 不是 Qwen3、Qwen2.5-VL 或 Qwen3-VL 的语言模型
error-checkpoint-no-control-net = 不是 ControlNet
error-checkpoint-no-t2i-adapter = 不是 T2I-Adapter
error-checkpoint-no-ip-adapter = 不是 IP-Adapter：没有图像的键和值
error-checkpoint-no-ip-adapter-alone = 不是 IP-Adapter
error-pipeline-nothing-written = 语言模型在 { $tokens } 个词元内什么也没写
error-request-nothing-to-enhance = 没有可扩写的提示词；请写几个词
error-request-nothing-to-describe = 没有要描述的图像；请给出一张或多张
error-request-sees-no-images = 该语言模型没有视觉编码器，看不到图像
error-request-seen-pixels = 无法描述 { $pixels } 像素的图像；请使用 { $least } 到 { $most }
error-request-too-narrow = { $width }×{ $height } 像素的图像过于狭长，无法描述；请裁剪，使一边不超过另一边的 200 倍
error-request-no-instruction = 语言模型没有指令；省略它即可使用默认指令
error-request-temperature = 温度 { $value } 不在 0 和 2 之间
error-request-top-p = top-p { $value } 不大于 0 且不超过 1
error-request-longest-prompt = 不能写 { $tokens } 个词元的提示词；请使用 1 到 { $most }
error-request-keyframe-at-start = 第 0 帧是视频的开头；请将其图像指定为首帧图像
error-request-keyframe-outside = 视频中没有第 { $frame } 帧；最后一帧是第 { $last } 帧
error-adapters-for-another = 用于其他模型
error-request-one-reference = 一张参考图像
error-request-at-most-references = 最多 { $most } 张参考图像
error-request-1-reference = 1 张参考图像
error-request-references = { $count } 张参考图像
error-checkpoint-task-clips = 由图像生成视频
error-checkpoint-task-layers = 分图层生成图像
error-grid-add-lora = 请先添加一个
error-source-mask-small = 白色区域不足一个潜空间单位
error-source-mask-none = 没有白色区域
error-downloads-token-refused = ，且令牌未被接受

error-checkpoint-detector = { $path } 不能检测人脸或其他内容：{ $reason }
error-request-no-detector = 细节修复没有检测模型；请选择 YOLOv8 的 .safetensors 文件，例如 face_yolov8n
error-request-no-detailer = 没有说明要在图像中检测什么；请指定细节修复
error-request-too-many-detailers = 给出了 { $value } 个细节修复；最多使用 { $most } 个
error-request-detailer-confidence = 置信度 { $value } 无效；请使用 0 与 1 之间的值，例如 0.3
error-request-detailer-boxes = 一幅图像不能重绘 { $value } 个框；请使用 1 到 { $most }
error-request-detailer-growth = 把检测到的区域扩大 { $value } 像素太多；请使用不超过 { $most } 的值
error-request-detailer-of-clip = 细节修复只用于图像；请去掉它，或生成图像
error-request-no-detailing = 此模型不支持局部重绘，因此不能使用细节修复；请去掉它
error-request-detailer-adapter = 细节修复的提示词用到了图像没有的 LoRA { $value }；请写在图像的提示词中
error-request-not-for-details = 重绘已有图像的细节时不使用 { $value }；请去掉它
error-request-details-regions = 区域
error-request-details-hires = 高清修复
error-request-details-refiner = Refiner
error-request-details-batch = 批次
error-request-details-variation = 变异种子
error-request-only-detects = 检测模型只用于检测；请把它用于其他模型的细节修复

error-request-too-many-regions = 指定了 { $value } 个区域；最多使用 { $most } 个
error-request-region-without-prompt = 区域 { $value } 没有提示词；请描述其中的内容，或移除该区域
error-request-region-area = 区域的范围 { $value } 不在图像内；请用 0 到 1 之间的左、上、宽、高，例如 0,0,0.5,1
error-request-region-weight = 区域的权重 { $value } 无效；请使用大于 0 且不超过 { $most } 的值
error-request-region-base = 提示词在区域内的占比不能是 { $value }；请使用 0 到 1
error-request-region-fade = 区域不能在图像的 { $value } 范围内渐变；请使用 0 到 { $most }
error-request-regions-of-part = 仅生成蒙版部分时不能使用区域；请关闭其中一项
error-request-region-adapter = 区域的提示词用到了图像没有的 LoRA { $value }；请写在图像的提示词中
error-source-empty-region = 区域 { $area } 中没有图像的任何部分
error-request-no-area = 应为 0 到 1 之间的左、上、宽、高，例如 0,0,0.5,1，或蒙版文件

## 安装用于 NVIDIA GPU 的引擎

error-cuda-platform = 用于 NVIDIA GPU 的引擎只能安装在 x86-64 的 Linux 上
error-cuda-no-folder = 该用户没有数据文件夹
error-cuda-no-releases = 本程序不知道它的发布在哪里
error-cuda-not-released = { $host } 上没有用于 Sluice { $version } 的引擎
error-cuda-no-index = 缺少引擎列表 { $path }
error-cuda-index = 无法理解引擎列表 { $name }：{ $reason }
error-cuda-path = 有压缩包的名称是路径
error-cuda-no-name = 有一个库没有名称
error-cuda-not-listed = { $name } 不在引擎列表中
error-cuda-unknown-capability = 不知道 NVIDIA GPU 的计算能力
error-cuda-too-old = GPU 的计算能力是 { $found }；引擎需要 { $least }
error-cuda-damaged = { $name } 已损坏：{ $reason }
error-cuda-outside = { $name } 中的 { $inside } 指向其文件夹之外
error-cuda-start = 用于 NVIDIA GPU 的引擎无法启动：{ $reason }
error-cuda-version = 引擎的版本是 { $found }，本程序的版本是 { $own }
error-cuda-larger = 它比声明的要大
error-cuda-without-engine = 其中没有引擎
error-cuda-neither = 其中有既不是文件也不是文件夹的内容
error-cuda-no-answer = 它没有应答
