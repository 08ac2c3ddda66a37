### 文件的设置中有哪些未能采用，提示词中有哪些不会被读取。

note-of-keys-did-not-match-for = { $value2 } 个键中有 { $value } 个不匹配，例如 { $first }。

note-only-a-prompt-was-found-all = 只找到提示词；其他设置均为默认值。
note-is-not-valid-here-the-default = { $name }“{ $value }”在这里无效；将使用默认值。
note-the-sampler-is-not-available-is = 采样器“{ $name }”不可用；将改用 { $chosen }。
note-the-schedule-is-not-available-the = 调度器“{ $value }”不可用；将使用模型的默认调度器。
note-this-image-was-made-from-an = 这张图像由一张输入图像生成，其中不包含该输入图像。
note-the-preprocessor-is-not-available-is = 预处理器“{ $name }”不可用；将改用 { $chosen }。
note-the-preprocessor-is-not-available-choose = 预处理器“{ $name }”不可用；请选择一张已是控制图的图像。
note-the-images-of-controlnets-are-not = 文件中没有 ControlNet 的图像；请重新选择。
note-the-images-of-ip-adapters-are-not = 文件中没有 IP-Adapter 的图像；请重新选择。
note-the-image-was-enlarged-afterwards = 图像之后用“{ $name }”放大；不会恢复。
note-the-prompt-names-a-lora-which = 提示词中指定了 LoRA，Sluice 会按文件名查找。
note-the-graph-has-further-passes = 节点图中还有对图像的其他处理步骤，未恢复。
note-not-taken-over = 未采用的设置：{ $names }。

note-it-was-made-from-an-image = 它由先前生成的图像得到，该图像不会恢复。
note-the-comfyui-graph-has-no-sampler = ComfyUI 的图中没有 Sluice 认识的采样器。
note-it-was-made-from-an-input = 它由一张输入图像生成，其中不包含该输入图像。
note-controlnets-took-part-that-is-not = 使用了 ControlNet；不会恢复。

note-fooocuss-sharpness-and-adm-guidance-are = Fooocus 的锐度和 ADM 引导不可用。

note-took-part-that-is-not-restored = 还使用了 { $what }；不会恢复。
note-regional-guidance = 区域引导

note-the-schedule-is-not-available-the-2 = 调度器“{ $name }”不可用；将使用模型的默认调度器。

note-novelais-and-12-weigh-words-in = NovelAI 的 {"{ }"}、[ ] 和 1.2:: :: 以自己的方式为词加权；它们会原样保留。
note-the-prompts-of-characters-are-appended = 角色的提示词已附加在末尾；角色的位置不会恢复。

note-a-refiner-or-an-upscaler-took = 使用了 Refiner 或放大模型；不会恢复。
note-this-clip-was-made-from-an = 这段视频由模型“{ $model }”的图像生成；将恢复该图像的设置。

note-this-clip-was-made-from-a = 这段视频由首帧图像生成，该图像不会恢复。
note-a-loras-weight-changed-from-step = LoRA 的权重曾逐步变化；不会恢复。

note-it-was-enlarged-times-and-denoised = 它放大了 { $scale } 倍并再次去噪，这里无法做到。
note-the-upscaler-is-not-available-is = 放大模型“{ $name }”不可用；将改用 { $latent }。
note-the-upscaler-is-not-restored-the = 放大模型“{ $name }”不会恢复；将改用 Sluice 自带的放大模型。
note-is-not-restored-the-second-pass = { $name } 不会恢复；第二遍使用与第一遍相同的内容。

note-this-image-was-generated-with-which = 生成这张图像时使用了 { $value }；这是内存设置，不会恢复。

note-ignores-the-last-token = { $encoder } 会忽略最后一个 token。
note-ignores-the-last-tokens = { $encoder } 会忽略最后 { $cut } 个 token。
note-the-detailer-is-not-restored-choose = 细节修复“{ $name }”未恢复；请重新选择其检测模型。

## 文件中模型的组成部分

note-parts-denoisers = { $family }：去噪器
note-parts-denoiser-autoencoder = { $family }：去噪器、自编码器
note-parts-one-encoder = { $family }：去噪器、1 个文本编码器
note-parts-one-encoder-autoencoder = { $family }：去噪器、1 个文本编码器、自编码器
note-parts-encoders = { $family }：去噪器、{ $count } 个文本编码器
note-parts-encoders-autoencoder = { $family }：去噪器、{ $count } 个文本编码器、自编码器
note-part-denoiser = { $family }：去噪器
note-part-redux = 用于 { $family } 的 Redux
note-part-ip-adapter = 用于 { $family } 的 IP-Adapter
note-part-t2i-adapter = 用于 { $family } 的 T2I-Adapter
note-part-control-net = 用于 { $family } 的 ControlNet
note-part-lora = LoRA，{ $matrices }，秩 { $rank }
note-part-lora-for = 用于 { $family } 的 LoRA，{ $matrices }，秩 { $rank }
note-part-loha = LoHa 或 LoKr，{ $matrices }
note-part-loha-for = 用于 { $family } 的 LoHa 或 LoKr，{ $matrices }
note-part-one-matrix = 1 个矩阵
note-part-matrices = { $count } 个矩阵
note-part-upscaler = 放大模型，{ $architecture }，×{ $factor }
note-part-interpolator = 插帧模型，{ $architecture }
note-part-map-estimator = { $maps }估计模型，{ $architecture }，{ $size }
note-part-segmenter = 分割模型，{ $architecture }，{ $size }
note-part-detector = 检测模型，{ $architecture }，{ $size }，{ $classes }
note-part-one-class = 1 个类别
note-part-classes = { $count } 个类别
note-part-of-another-size = 其他大小
note-part-another-size = 其他大小
note-part-text-encoder = { $name } 文本编码器，宽度 { $width }
note-part-image-encoder = { $name } 图像编码器，宽度 { $width }
note-part-text-conditioner = { $family } 的文本调节器，宽度 { $width }
note-part-vision-tower = { $name } 的视觉编码器，宽度 { $width }
note-part-autoencoder = 自编码器，{ $count } 个通道
note-part-autoencoder-of = { $family } 的自编码器，{ $count } 个通道
note-part-stranger = Sluice 不支持的模型
note-part-stranger-known = Sluice 不支持的模型：{ $what }
note-part-preview-clips = TAEHV，用于视频预览的小型自编码器
note-part-preview = TAESD，用于预览的小型自编码器
note-part-an-upscaler = 放大模型
note-part-a-textual-inversion = Textual Inversion
note-part-an-image-encoder = 图像编码器
note-part-a-language-model = 其他类型的语言模型
note-part-for-refiner = Stable Diffusion XL 的 Refiner
note-part-for-width = 提示词宽度为 { $width } 的模型
note-part-for-no-prompts = 没有提示词的模型
note-part-stable-diffusion = Stable Diffusion 1 和 2
note-part-diffusers-folder = diffusers 文件夹
note-part-gguf-files = GGUF，{ $count } 个文件
note-part-safetensors-files = safetensors，{ $count } 个文件
