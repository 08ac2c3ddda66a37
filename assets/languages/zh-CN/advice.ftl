### 出现错误时可以怎么做。

advice-start-it-again-to-go-on = 重新开始即可从中断处继续。
advice-check-the-connection-the-proxy-and = 请检查连接、代理和镜像，然后继续。已下载的部分会保留。
advice-try-again-later-it-goes-on = 请稍后重试：会从已下载的部分继续。
advice-check-the-clock-of-this-computer = 请检查本机的时钟。如果网络使用自己的证书，请在变量 SSL_CERT_FILE 中指定其文件。
advice-write-it-as-http-hostport-or = 请写成 http://host:port 或 http://name:password@host:port，或留空。
advice-accept-the-conditions-on-create-a = 请在 { $page } 上接受条款，在账户设置中创建具有读取权限的令牌，并提供给 Sluice：在窗口的“获取模型”、“连接”中填写，或使用变量 HF_TOKEN。
advice-sign-in-on-the-site-and = 请在网站上登录，并将令牌提供给 Sluice：Civitai 使用变量 CIVITAI_API_TOKEN。
advice-open-with-the-account-of-your = 请用令牌所属的账户打开 { $page } 并接受条款。有些需要人工批准，可能要等几天。
advice-check-the-name-it-may-have = 请检查名称。它可能已改名或被移除。
advice-check-the-mirror-and-the-link = 请检查镜像和链接。可能被网络的登录页面拦截。
advice-download-it-again-if-it-happens = 请重新下载。如果再次发生，则说明那里的文件已被更改，或镜像不可信。
advice-free-some-space-or-choose-a = 请释放一些空间，或选择其他磁盘上的文件夹。
advice-move-that-file-away-or-choose = 请移走该文件，或选择其他文件夹。
advice-wait-until-that-download-ends-or = 请等待该下载结束，或将其停止。
advice-check-that-the-folder-exists-and = 请检查文件夹是否存在且可写入。
advice-choose-another-file = 请选择另一个文件。

advice-use-files-that-end-with-safetensors = 请使用以 .safetensors 或 .gguf 结尾的文件。几乎所有模型都有这种格式。
advice-look-for-another-repository-of-the = 请查找同一模型的其他仓库。
advice-paste-the-link-of-a-file = 请粘贴 Hugging Face 上的文件或仓库链接、Civitai 上的模型链接，或 所有者/名称。

advice-this-system-has-no-keyring-set = 此系统没有密钥环。请改为设置变量 HF_TOKEN，或用 `hf auth login` 登录。

advice-choose-a-safetensors-file-of-a = 请选择 LoRA、LoCon、LoHa、LoKr 或 DoRA 的 .safetensors 文件。
advice-the-file-is-damaged-or-incomplete = 文件已损坏或不完整。请重新下载。
advice-remove-it-or-open-a-model = 请移除它，或打开 { $family } 模型。
advice-remove-it-or-open-the-model = 请移除它，或打开它所适用的模型。
advice-put-its-file-into-a-folder = 请将其文件放入模型旁名为 loras 的文件夹，或通过文件添加该 LoRA。
advice-remove-it-from-the-prompt-or = 请将它从提示词中移除，或将其文件放入 { $value }。
advice-write-loraname-or-loraname08 = 请写成 <lora:name> 或 <lora:name:0.8>。

advice-download-the-model-and-open-its = 请下载该模型并打开其文件夹。
advice-download-it-from-huggingfaceco-and-choose = 请从 huggingface.co/{ $hub } 下载，然后选择文件夹或文件。
advice-check-the-path-or-choose-the = 请检查路径，或重新选择模型。
advice-check-that-you-are-allowed-to = 请检查你是否有权读取该文件，以及其驱动器是否已连接。
advice-check-that-the-folder-exists-that = 请检查文件夹是否存在、是否可写入，以及磁盘是否已满。
advice-choose-a-diffusers-folder-with-modelindexjson = 请选择 diffusers 文件夹（含 model_index.json）、含有 diffusion_models、text_encoders 和 vae 的文件夹，或 .safetensors 或 .gguf 文件。
advice-reinstall-sluice-or-set-sluiceassets-to = 请重新安装 Sluice，或将 SLUICE_ASSETS 设为其 assets 文件夹。
advice-choose-a-safetensors-file-a-gguf = 请选择 .safetensors 文件、.gguf 文件或模型文件夹。
advice-sluice-never-opens-such-files-look = Sluice 绝不打开这类文件。请查找该模型的 .safetensors 版本。
advice-the-download-probably-stopped-early-download = 下载可能提前中断。请重新下载该文件。
advice-the-file-is-damaged-or-is = 文件已损坏或不是模型。请重新下载。
advice-the-file-is-damaged-download-it = 文件已损坏。请重新下载。
advice-download-into-the-same-folder = 请将 { $value } 下载到同一文件夹。
advice-put-the-missing-files-there-and = 请将缺少的文件放到那里，然后重新打开模型。
advice-put-the-file-into-one-of = 请将文件放入其中一个文件夹并重新打开模型，或将其所在文件夹添加到 SLUICE_MODEL_FOLDERS（在命令行中也可使用 --model-folder）。
advice-sluice-supports = Sluice 支持 { $value }。
advice-choose-the-refiner-of-stable-diffusion = 请为 Stable Diffusion XL 模型选择 Stable Diffusion XL 的 Refiner，或不使用。
advice-sluice-never-opens-such-files-look-2 = Sluice 绝不打开这类文件。请查找 .safetensors 版本，或按 docs/upscaling.md 的说明转换。
advice-choose-a-safetensors-file-of-esrgan = 请选择 ESRGAN、Real-ESRGAN Compact、SPAN、DAT 或 RealPLKSR 的 .safetensors 文件，倍数为 1 到 4，或使用 Sluice 自带的放大模型。
advice-sluice-never-opens-such-files-look-3 = Sluice 绝不打开这类文件。请查找 .safetensors 版本，或按 docs/frame-interpolation.md 的说明转换。
advice-choose-a-safetensors-file-of-rife = 请选择 RIFE 4 的 .safetensors 文件，例如 rife_v4.26.safetensors。
advice-choose-flux1reduxdev-with-a-flux1-model = 请为 FLUX.1 模型选择 flux1-redux-dev，或不使用。
advice-choose-a-controlnet-made-for-the = 请选择适用于该模型的 ControlNet，格式为 .safetensors。
advice-choose-an-ip-adapter-made-for = 请选择为该模型制作的 IP-Adapter（.safetensors）；Stable Diffusion 1.5 和 XL 的在 huggingface.co/h94/IP-Adapter。
advice-download-it-into-image-encoder-beside = 请将其下载到 IP-Adapter 旁的 image_encoder，或模型文件夹的 clip_vision，然后重新生成。
advice-the-file-belongs-to-another-model = 该文件属于另一个模型，或不完整。
advice-the-weights-and-the-configuration-belong = 权重和配置属于不同的模型。请从同一处下载两者。
advice-use-a-version-of-the-model = 请使用以 f32、f16、bf16、fp8 或 GGUF 存储的模型版本。
advice-use-a-gguf-or-fp8-file = 请使用同一模型的 GGUF 或 fp8 文件。
advice-use-the-model-of-this-family = 请使用该系列中由文本生成的模型。
advice-use-the-configuration-file-that-came = 请使用模型自带的配置文件。
advice-download-the-models-tokenizer-files-again = 请重新下载该模型的分词器文件。

advice-choose-a-file-name-that-ends = 请选择以其中之一结尾的文件名；.png 会保留每个像素。
advice-choose-one-of-these-or-the = 请选择其中之一，或使用文件夹名称，将每帧保存为 PNG。
advice-choose-one-of-these-or-another = 请选择其中之一，或其他编解码器。
advice-choose-a-new-folder-for-the = 请为这些帧选择新的文件夹。
advice-save-the-frames-as-a-folder = 请将帧保存为 PNG 图像文件夹，或生成更小的视频。
advice-save-the-clip-in-another-format = 请将视频保存为其他格式，例如 PNG 图像文件夹。
advice-install-ffmpeg-or-use-the-codec = 请安装 ffmpeg，或使用编解码器 h264。
advice-install-a-build-of-ffmpeg-with = 请安装带有此编码器的 ffmpeg，或使用编解码器 h264。
advice-add-a-file-name-that-ends = 请加上以 .png 结尾的文件名。
advice-choose-a-folder-that-you-can = 请选择你可以写入的文件夹。
advice-free-some-disk-space-or-choose = 请释放一些磁盘空间，或选择其他磁盘上的文件夹。
advice-choose-another-folder = 请选择另一个文件夹。
advice-choose-another-file-name = 请选择另一个文件名。
advice-choose-png-or-webp-or-leave = 请选择 PNG 或 WebP，或不保存设置。
advice-move-it-to-a-safe-place = 请将它移到安全的位置：系统会不时删除临时文件。
advice-choose-an-image-or-a-clip = 请选择由 Sluice 或其他会将设置写入文件的程序生成的图像或视频。
advice-use-the-original-file-this-copy = 请使用原始文件：此副本可能来自中断的传输。
advice-use-the-original-file-many-programs = 请使用原始文件：许多程序和网站在保存图像时会去除设置。
advice-update-sluice = 请更新 Sluice。

advice-change-the-setting-and-generate-again = 请更改该设置并重新生成。
advice-give-it-with-to-sluice-map = 请用 { $option } 指定（`sluice map` 用 --model），或在窗口中预处理器的下方选择。
advice-choose-another-model = 请选择其他模型。
advice-choose-a-clip-with-several-frames = 请选择有多帧的片段。
advice-choose-another-image = 请选择其他图像。
advice-give-points-or-a-box-in = 请以图像像素给出点或方框。
advice-change-the-setting-and-try-again = 请更改该设置并重试。
advice-choose-an-mp4-or-mov-clip = 请选择 MP4 或 MOV 片段。
advice-close-it-behind-the-options = 请在选项之后闭合它，或在作为文字的花括号前加反斜杠。
advice-write-a-smaller-number-before = 请在 $$ 前写更小的数，或增加选项。
advice-use-a-smaller-image-or-batch = 请使用更小的图像或批次，或允许使用更多内存。
advice-choose-one-of = 请选择其中之一：{ $value }。
advice-this-version-of-sluice-computes-on = 这个版本的 Sluice 在 CPU 上计算。请安装用于 NVIDIA GPU 的引擎，或使用 `--card` 模拟 GPU。
advice-no-nvidia-gpu-was-found-check = 没有找到 NVIDIA GPU。请检查驱动程序，或在 CPU 上运行。
advice-install-an-nvidia-driver-that-supports = 请安装支持 CUDA 13 的 NVIDIA 驱动程序，或在 CPU 上运行。
advice-restart-sluice-if-this-happens-often = 请重新启动 Sluice。如果经常发生，可能是驱动程序或 GPU 的内存有问题。
advice-close-other-programs-and-try-again = 请关闭其他程序并重试：系统无法再启动线程。
advice-please-report-this-bug-with-the = 请报告此错误，并附上你使用的模型和设置。
advice-use-a-safetensors-file-with-a = 请使用 safetensors 文件，其中名为 latents 的张量须具有正确的形状。
advice-choose-a-file-in-a-folder = 请选择位于可写入文件夹中的文件。
advice-the-weights-are-probably-damaged-download = 权重可能已损坏。请重新下载该模型。
advice-compute-in-f32-or-bf16 = 请用 f32 或 bf16 计算。

advice-update-the-gpu-driver-and-remove = 请更新 GPU 驱动程序，并取消超频。详情见日志。
advice-allow-less-memory-or-use-a = 请减少允许的内存，或使用更小的图像。详情见日志。

advice-the-engine-is-restarting-finished-images = 引擎正在重新启动。已完成的图像不会丢失。
advice-another-engine-generates-images-instead = 将改由另一个引擎生成图像。
advice-reinstall-sluice-the-log-has-details = 请重新安装 Sluice。详情见日志。
advice-make-a-clip-of-the-images-first = 请先将图像做成视频片段，例如 MP4 文件。
advice-copy-it-to-the-engines-computer = 请将它复制到引擎所在的计算机，并给出那里的路径。
advice-wait-until-it-is-complete = 请等待它完整后再试一次。
advice-leave-the-report-out = 请去掉该报告，或使用本机的引擎。
advice-try-again-and-look-whether-the-disk = 请再试一次，并检查引擎所在计算机的磁盘是否已满。
advice-check-the-name-of-the-program = 请检查程序的名称以及它是否已安装。
advice-run-the-command-to-see-what-it-says = 请在终端中运行该命令，查看它的输出。命令所到之处必须装有 Sluice。
advice-what-a-shell-prints-when-it-starts = 那里的 shell 启动时输出的内容（例如问候语）在没有终端时不得输出。
advice-run-the-command-if-it-asks = 请在终端中运行该命令。如果它询问密码之类的内容，这里无人能回答。
advice-install-the-same-version = 请在引擎所在的计算机和本机上安装相同版本的 Sluice。

advice-choose-a-file-that-exists-and = 请选择存在且你有权读取的文件。
advice-use-the-original-file-or-a = 请使用原始文件，或其中存在的帧范围。
advice-choose-a-file-with-video = 请选择含有视频的文件。
advice-choose-frames-that-are-in-the = 请选择视频中存在的帧。
advice-use-fewer-frames-a-longer-range = 请使用更少的帧、更长的范围或更长的视频。
advice-choose-a-shorter-range-of-frames = 请选择更短的帧范围。
advice-scale-the-clip-down-first = 请先缩小视频。
advice-install-ffmpeg-or-convert-the-clip = 请安装 ffmpeg，或将视频转换为 H.264 的 MP4。
advice-convert-the-clip-to-mp4-with = 请将视频转换为 H.264 的 MP4。

advice-choose-a-png-jpeg-or-webp = 请选择 PNG、JPEG 或 WebP 图像。
advice-paint-the-area-to-inpaint-white = 请将要重绘的区域涂成白色，或不用蒙版生成。
advice-mask-a-larger-area = 请扩大蒙版区域。

advice-give-the-two-files-different-names = 请为两个文件使用不同的名称。
advice-choose-an-existing-folder-that-you = 请选择已存在且你可以写入的文件夹。
advice-choose-another-folder-for-the-file = 请为该文件选择另一个文件夹。
advice-choose-a-telemetry-file-written-by = 请选择由 Sluice 写入的遥测文件。
advice-read-it-with-the-version-of = 请用写入它的 Sluice 版本读取，版本见文件头。
advice-use-the-original-file-this-copy-2 = 请使用原始文件：此副本可能被编辑过，或传输曾中断。

advice-put-a-text-file-with-one = 请将每行一个条目的文本文件放入模型旁的 `wildcards` 文件夹。
advice-text-files-were-searched-in = 已在以下位置查找文本文件：{ $value }。
advice-save-the-file-as-text-in = 请将文件保存为 UTF-8 文本。
advice-add-a-line-for-each-entry = 请为每个条目添加一行。以 # 开头的行是注释。
advice-remove-the-name-of-the-file = 请从该文件自身的行中去掉它的名称。
advice-add-more-pixels-around-the-image = 请在图像周围添加更多像素。
advice-choose-a-safetensors-file-of-depth = 请选择 Depth Anything V2 Small、Base 或 Large 的 .safetensors 文件，或由 transformers 保存的此类文件夹。
advice-choose-a-safetensors-file-of-pose = 请选择 YOLOv8-pose 的 .safetensors 文件，例如 yolov8n-pose，并按 docs/controlnet.md 的说明转换。
advice-choose-a-safetensors-file-of-segformer = 请选择用于 ADE20K 的 SegFormer（B0 至 B5）的 .safetensors 文件，或由 transformers 保存的此类文件夹。
advice-choose-a-safetensors-file-of-hed = 请选择 HED 的 .safetensors 文件，例如 ControlNetHED，并按 docs/controlnet.md 的说明转换。
advice-pickled-estimator = Sluice 从不打开此类文件。请寻找 .safetensors 版本，或按 docs/controlnet.md 的说明转换。
advice-choose-a-safetensors-file-of-segment = 请选择 Segment Anything（ViT-B、L 或 H）或 MobileSAM 的 .safetensors 文件，或由 transformers 保存的此类文件夹。
advice-choose-a-gguf-or-safetensors-file = 请选择 Qwen3 的 .gguf 或 .safetensors 文件，例如 Qwen3-4B-Instruct-2507-Q4_K_M.gguf，或 Z-Image 的文本编码器；要描述图像，请选择 Qwen2.5-VL 或 Qwen3-VL。
advice-try-another-seed-allow-more-tokens = 请换一个种子、允许更多词元，或选择不会先思考的模型，例如 Qwen3-4B-Instruct-2507。
advice-choose-a-safetensors-file-of-yolov8 = 请选择 YOLOv8 的 .safetensors 文件，例如 face_yolov8n 或 person_yolov8n-seg，按 docs/detailer.md 转换。
advice-sluice-never-opens-such-files-look-4 = Sluice 绝不打开这类文件。请查找 .safetensors 版本，或按 docs/detailer.md 的说明转换。
advice-make-the-box-larger-or = 请放大方框，或将蒙版中区域所在的部分涂成白色。

## 安装用于 NVIDIA GPU 的引擎

advice-compute-on-the-cpu-or-on = 请在 CPU 上计算，或使用别处的引擎。
advice-set-the-variable-home = 请设置变量 HOME 或 XDG_DATA_HOME。
advice-install-it-from-an-archive = 请从本机上的压缩包安装，或用 packaging/cuda/build 构建。
advice-put-it-beside-the-archive = 请把它放在压缩包旁边：它来自同一个地方。
advice-fetch-it-again-from-where = 请从来源处重新下载。
advice-use-an-archive-and-a-list = 请使用一起制作的压缩包和列表。
advice-check-that-the-nvidia-driver-is-or = 请检查是否已安装 NVIDIA 驱动程序，或用 --capability 指定。
advice-compute-on-the-cpu-or-another = 请在 CPU 或其他 GPU 上计算。
advice-do-not-use-this-archive = 请不要使用此压缩包：它被做成会写入其他文件夹。
advice-check-that-the-nvidia-driver-is-and = 请检查是否已安装支持 CUDA 13 的 NVIDIA 驱动程序。没有做任何更改。
advice-use-the-engine-of-the-same = 请使用相同版本的引擎。没有做任何更改。
