### エラーに対してできること。

advice-start-it-again-to-go-on = もう一度開始すると、続きから再開します。
advice-check-the-connection-the-proxy-and = 接続、プロキシ、ミラーを確認してから続けてください。届いた分は残っています。
advice-try-again-later-it-goes-on = 後でもう一度お試しください。届いた分の続きから再開します。
advice-check-the-clock-of-this-computer = このコンピューターの時計を確認してください。独自の証明書を使うネットワークでは、そのファイルを変数 SSL_CERT_FILE に指定してください。
advice-write-it-as-http-hostport-or = http://host:port または http://name:password@host:port の形で書くか、空欄にしてください。
advice-accept-the-conditions-on-create-a = { $page } で条件に同意し、アカウントの設定で読み取り権限のあるトークンを作成して、Sluice に入力してください。ウィンドウの「モデルを入手」の「接続」か、変数 HF_TOKEN を使います。
advice-sign-in-on-the-site-and = サイトにサインインし、トークンを Sluice に渡してください。Civitai では変数 CIVITAI_API_TOKEN を使います。
advice-open-with-the-account-of-your = トークンのアカウントで { $page } を開き、同意してください。手作業で承認されるものもあり、数日かかることがあります。
advice-check-the-name-it-may-have = 名前を確認してください。名前が変わったか、削除された可能性があります。
advice-check-the-mirror-and-the-link = ミラーとリンクを確認してください。ネットワークのサインインページが妨げている可能性があります。
advice-download-it-again-if-it-happens = もう一度ダウンロードしてください。再び起こる場合は、元のファイルが変わったか、ミラーが信頼できません。
advice-free-some-space-or-choose-a = 空きを増やすか、別のディスクのフォルダーを選んでください。
advice-move-that-file-away-or-choose = そのファイルを移動するか、別のフォルダーを選んでください。
advice-wait-until-that-download-ends-or = そのダウンロードが終わるまで待つか、停止してください。
advice-check-that-the-folder-exists-and = フォルダーが存在し、書き込めることを確認してください。
advice-choose-another-file = 別のファイルを選んでください。

advice-use-files-that-end-with-safetensors = 末尾が .safetensors または .gguf のファイルを使ってください。ほとんどのモデルにあります。
advice-look-for-another-repository-of-the = 同じモデルの別のリポジトリを探してください。
advice-paste-the-link-of-a-file = Hugging Face のファイルやリポジトリ、Civitai のモデルのリンク、または「所有者/名前」を貼り付けてください。

advice-this-system-has-no-keyring-set = このシステムにはキーリングがありません。代わりに変数 HF_TOKEN を設定するか、`hf auth login` でサインインしてください。

advice-choose-a-safetensors-file-of-a = LoRA、LoCon、LoHa、LoKr、DoRA の .safetensors ファイルを選んでください。
advice-the-file-is-damaged-or-incomplete = ファイルが破損しているか不完全です。もう一度ダウンロードしてください。
advice-remove-it-or-open-a-model = 外すか、{ $family } のモデルを開いてください。
advice-remove-it-or-open-the-model = 外すか、対応するモデルを開いてください。
advice-put-its-file-into-a-folder = ファイルをモデルの隣の loras という名前のフォルダーに置くか、LoRA をファイルから追加してください。
advice-remove-it-from-the-prompt-or = プロンプトから外すか、ファイルを { $value } に置いてください。
advice-write-loraname-or-loraname08 = <lora:name> または <lora:name:0.8> と書いてください。

advice-download-the-model-and-open-its = モデルをダウンロードし、そのフォルダーを開いてください。
advice-download-it-from-huggingfaceco-and-choose = huggingface.co/{ $hub } からダウンロードし、フォルダーまたはファイルを選んでください。
advice-check-the-path-or-choose-the = パスを確認するか、モデルを選び直してください。
advice-check-that-you-are-allowed-to = ファイルを読む権限があり、ドライブが接続されていることを確認してください。
advice-check-that-the-folder-exists-that = フォルダーが存在し、書き込みができ、ディスクに空きがあることを確認してください。
advice-choose-a-diffusers-folder-with-modelindexjson = diffusers のフォルダー（model_index.json を含むもの）、diffusion_models、text_encoders、vae を含むフォルダー、または .safetensors か .gguf のファイルを選んでください。
advice-reinstall-sluice-or-set-sluiceassets-to = Sluice を再インストールするか、SLUICE_ASSETS に assets フォルダーを指定してください。
advice-choose-a-safetensors-file-a-gguf = .safetensors ファイル、.gguf ファイル、またはモデルフォルダーを選んでください。
advice-sluice-never-opens-such-files-look = Sluice はこのようなファイルを開きません。モデルの .safetensors 版を探してください。
advice-the-download-probably-stopped-early-download = ダウンロードが途中で止まった可能性があります。ファイルをもう一度ダウンロードしてください。
advice-the-file-is-damaged-or-is = ファイルが破損しているか、モデルではありません。もう一度ダウンロードしてください。
advice-the-file-is-damaged-download-it = ファイルが破損しています。もう一度ダウンロードしてください。
advice-download-into-the-same-folder = { $value } を同じフォルダーにダウンロードしてください。
advice-put-the-missing-files-there-and = 足りないファイルをそこに置き、モデルを開き直してください。
advice-put-the-file-into-one-of = ファイルをこれらのフォルダーのどれかに置いてモデルを開き直すか、そのフォルダーを SLUICE_MODEL_FOLDERS（コマンドラインでは --model-folder も可）に追加してください。
advice-sluice-supports = Sluice が対応しているもの: { $value }。
advice-choose-the-refiner-of-stable-diffusion = Stable Diffusion XL のモデルには Stable Diffusion XL のリファイナーを選ぶか、リファイナーを外してください。
advice-sluice-never-opens-such-files-look-2 = Sluice はこのようなファイルを開きません。.safetensors 版を探すか、docs/upscaling.md の手順で変換してください。
advice-choose-a-safetensors-file-of-esrgan = ESRGAN、Real-ESRGAN Compact、SPAN、DAT、RealPLKSR の倍率 1 から 4 の .safetensors ファイルか、Sluice 付属のアップスケーラーを選んでください。
advice-sluice-never-opens-such-files-look-3 = Sluice はこのようなファイルを開きません。.safetensors 版を探すか、docs/frame-interpolation.md の手順で変換してください。
advice-choose-a-safetensors-file-of-rife = rife_v4.26.safetensors など、RIFE 4 の .safetensors ファイルを選んでください。
advice-choose-flux1reduxdev-with-a-flux1-model = FLUX.1 のモデルには flux1-redux-dev を選ぶか、何も選ばないでください。
advice-choose-a-controlnet-made-for-the = モデルに合った ControlNet を .safetensors で選んでください。
advice-choose-an-ip-adapter-made-for = このモデル用の IP-Adapter を .safetensors で選んでください。Stable Diffusion 1.5 と XL 用は huggingface.co/h94/IP-Adapter にあります。
advice-download-it-into-image-encoder-beside = IP-Adapter の隣の image_encoder か、モデルフォルダーの clip_vision にダウンロードして、もう一度生成してください。
advice-the-file-belongs-to-another-model = ファイルが別のモデルのものか、不完全です。
advice-the-weights-and-the-configuration-belong = 重みと構成が別々のモデルのものです。両方を同じ場所からダウンロードしてください。
advice-use-a-version-of-the-model = f32、f16、bf16、fp8、GGUF で保存されたバージョンのモデルを使ってください。
advice-use-a-gguf-or-fp8-file = 同じモデルの GGUF または fp8 のファイルを使ってください。
advice-use-the-model-of-this-family = この系統の、テキストから生成するモデルを使ってください。
advice-use-the-configuration-file-that-came = モデルに付属する構成ファイルを使ってください。
advice-download-the-models-tokenizer-files-again = モデルのトークナイザーのファイルをもう一度ダウンロードしてください。

advice-choose-a-file-name-that-ends = 末尾がこれらのどれかのファイル名を選んでください。.png はすべてのピクセルを保ちます。
advice-choose-one-of-these-or-the = これらのどれかにするか、フレームごとに PNG を保存するフォルダーの名前にしてください。
advice-choose-one-of-these-or-another = これらのどれかか、別のコーデックを選んでください。
advice-choose-a-new-folder-for-the = フレーム用に新しいフォルダーを選んでください。
advice-save-the-frames-as-a-folder = フレームを PNG 画像のフォルダーとして保存するか、より小さい動画を生成してください。
advice-save-the-clip-in-another-format = PNG 画像のフォルダーなど、別の形式で動画を保存してください。
advice-install-ffmpeg-or-use-the-codec = ffmpeg をインストールするか、コーデック h264 を使ってください。
advice-install-a-build-of-ffmpeg-with = このエンコーダーを含む ffmpeg をインストールするか、コーデック h264 を使ってください。
advice-add-a-file-name-that-ends = 末尾が .png のファイル名を加えてください。
advice-choose-a-folder-that-you-can = 書き込めるフォルダーを選んでください。
advice-free-some-disk-space-or-choose = ディスクの空きを増やすか、別のディスクのフォルダーを選んでください。
advice-choose-another-folder = 別のフォルダーを選んでください。
advice-choose-another-file-name = 別のファイル名を選んでください。
advice-choose-png-or-webp-or-leave = PNG か WebP を選ぶか、設定を含めずに保存してください。
advice-move-it-to-a-safe-place = 安全な場所に移動してください。システムは一時ファイルをときどき削除します。
advice-choose-an-image-or-a-clip = Sluice か、設定をファイルに書き込むほかのプログラムで作った画像または動画を選んでください。
advice-use-the-original-file-this-copy = 元のファイルを使ってください。このコピーは転送が中断された可能性があります。
advice-use-the-original-file-many-programs = 元のファイルを使ってください。多くのプログラムやサイトは、画像の保存時に設定を取り除きます。
advice-update-sluice = Sluice を更新してください。

advice-change-the-setting-and-generate-again = 設定を変えて、もう一度生成してください。
advice-give-it-with-to-sluice-map = { $option } で（`sluice map` では --model で）指定するか、ウィンドウのプリプロセッサの下で選んでください。
advice-choose-another-model = 別のモデルを選んでください。
advice-choose-a-clip-with-several-frames = 複数のフレームがあるクリップを選んでください。
advice-choose-another-image = 別の画像を選んでください。
advice-give-points-or-a-box-in = 画像のピクセルで点か枠を指定してください。
advice-change-the-setting-and-try-again = 設定を変えて、もう一度お試しください。
advice-choose-an-mp4-or-mov-clip = MP4 か MOV のクリップを選んでください。
advice-close-it-behind-the-options = 選択肢の後で閉じるか、文字としての括弧の前にバックスラッシュを置いてください。
advice-write-a-smaller-number-before = $$ の前に小さい数を書くか、選択肢を増やしてください。
advice-use-a-smaller-image-or-batch = 画像またはバッチを小さくするか、使えるメモリを増やしてください。
advice-choose-one-of = 次のどれかを選んでください: { $value }。
advice-this-version-of-sluice-computes-on = このバージョンの Sluice は CPU で計算します。NVIDIA GPU 用のエンジンをインストールするか、`--card` で GPU をシミュレートしてください。
advice-no-nvidia-gpu-was-found-check = NVIDIA GPU が見つかりません。ドライバーを確認するか、CPU で実行してください。
advice-install-an-nvidia-driver-that-supports = CUDA 13 に対応した NVIDIA ドライバーをインストールするか、CPU で実行してください。
advice-restart-sluice-if-this-happens-often = Sluice を再起動してください。頻繁に起こる場合は、ドライバーか GPU のメモリに問題がある可能性があります。
advice-close-other-programs-and-try-again = ほかのプログラムを閉じて、もう一度お試しください。システムが新しいスレッドを開始できませんでした。
advice-please-report-this-bug-with-the = 使ったモデルと設定を添えて、この不具合を報告してください。
advice-use-a-safetensors-file-with-a = latents という名前で正しい形のテンソルを含む safetensors ファイルを使ってください。
advice-choose-a-file-in-a-folder = 書き込めるフォルダーのファイルを選んでください。
advice-the-weights-are-probably-damaged-download = 重みが破損している可能性があります。モデルをもう一度ダウンロードしてください。
advice-compute-in-f32-or-bf16 = f32 か bf16 で計算してください。

advice-update-the-gpu-driver-and-remove = GPU ドライバーを更新し、オーバークロックを解除してください。詳細はログにあります。
advice-allow-less-memory-or-use-a = 使うメモリを減らすか、画像を小さくしてください。詳細はログにあります。

advice-the-engine-is-restarting-finished-images = エンジンを再起動しています。完成した画像は失われません。
advice-another-engine-generates-images-instead = 代わりに別のエンジンが画像を生成します。
advice-reinstall-sluice-the-log-has-details = Sluice を再インストールしてください。詳細はログにあります。
advice-make-a-clip-of-the-images-first = 先に画像から MP4 ファイルなどのクリップを作成してください。
advice-copy-it-to-the-engines-computer = エンジンのコンピューターにコピーし、そこでのパスを指定してください。
advice-wait-until-it-is-complete = ファイルが完成するまで待ってから、もう一度お試しください。
advice-leave-the-report-out = レポートを省くか、このコンピューターのエンジンを使用してください。
advice-try-again-and-look-whether-the-disk = もう一度お試しください。また、エンジンのコンピューターのディスクに空きがあるか確認してください。
advice-check-the-name-of-the-program = プログラムの名前と、インストールされているかを確認してください。
advice-run-the-command-to-see-what-it-says = ターミナルでコマンドを実行し、表示される内容を確認してください。接続先に Sluice がインストールされている必要があります。
advice-what-a-shell-prints-when-it-starts = 接続先のシェルが起動時に表示する挨拶などは、ターミナルなしでは出力されないようにしてください。
advice-run-the-command-if-it-asks = ターミナルでコマンドを実行してください。パスワードなどを尋ねられる場合、ここでは答えられません。
advice-install-the-same-version = エンジンのコンピューターとこのコンピューターに同じバージョンの Sluice をインストールしてください。

advice-choose-a-file-that-exists-and = 存在し、読む権限のあるファイルを選んでください。
advice-use-the-original-file-or-a = 元のファイルを使うか、存在するフレームの範囲を指定してください。
advice-choose-a-file-with-video = 映像のあるファイルを選んでください。
advice-choose-frames-that-are-in-the = 動画に含まれるフレームを選んでください。
advice-use-fewer-frames-a-longer-range = フレーム数を減らすか、範囲または動画を長くしてください。
advice-choose-a-shorter-range-of-frames = フレームの範囲を短くしてください。
advice-scale-the-clip-down-first = 先に動画を縮小してください。
advice-install-ffmpeg-or-convert-the-clip = ffmpeg をインストールするか、動画を H.264 の MP4 に変換してください。
advice-convert-the-clip-to-mp4-with = 動画を H.264 の MP4 に変換してください。

advice-choose-a-png-jpeg-or-webp = PNG、JPEG、WebP の画像を選んでください。
advice-paint-the-area-to-inpaint-white = インペイントする部分を白く塗るか、マスクなしで生成してください。
advice-mask-a-larger-area = マスクする部分を広げてください。

advice-give-the-two-files-different-names = 2 つのファイルに別々の名前を付けてください。
advice-choose-an-existing-folder-that-you = 書き込める既存のフォルダーを選んでください。
advice-choose-another-folder-for-the-file = ファイルの保存先に別のフォルダーを選んでください。
advice-choose-a-telemetry-file-written-by = Sluice が書き込んだテレメトリーファイルを選んでください。
advice-read-it-with-the-version-of = 書き込んだバージョンの Sluice で読んでください。バージョンはファイルのヘッダーにあります。
advice-use-the-original-file-this-copy-2 = 元のファイルを使ってください。このコピーは編集されたか、転送が中断された可能性があります。

advice-put-a-text-file-with-one = 1 行に 1 項目を書いたテキストファイルを、モデルの隣の `wildcards` フォルダーに置いてください。
advice-text-files-were-searched-in = テキストファイルを探した場所: { $value }。
advice-save-the-file-as-text-in = ファイルを UTF-8 のテキストとして保存してください。
advice-add-a-line-for-each-entry = 項目ごとに 1 行を追加してください。# で始まる行はコメントです。
advice-remove-the-name-of-the-file = ファイルの行から、そのファイル自身の名前を取り除いてください。
advice-add-more-pixels-around-the-image = 画像の周囲に追加するピクセルを増やしてください。
advice-choose-a-safetensors-file-of-depth = Depth Anything V2 の Small、Base、Large の .safetensors ファイルか、transformers が保存した形のフォルダーを選んでください。
advice-choose-a-safetensors-file-of-pose = yolov8n-pose など YOLOv8-pose の .safetensors ファイルを選んでください。変換の方法は docs/controlnet.md にあります。
advice-choose-a-safetensors-file-of-segformer = ADE20K 用の SegFormer（B0 から B5）の .safetensors ファイルか、transformers が保存した形のフォルダーを選んでください。
advice-choose-a-safetensors-file-of-hed = ControlNetHED など HED の .safetensors ファイルを選んでください。変換の方法は docs/controlnet.md にあります。
advice-pickled-estimator = Sluice はこのようなファイルを決して開きません。.safetensors 版を探すか、docs/controlnet.md のとおりに変換してください。
advice-choose-a-safetensors-file-of-segment = Segment Anything(ViT-B、L、H)または MobileSAM の .safetensors ファイルか、transformers が保存した形のフォルダーを選んでください。
advice-choose-a-gguf-or-safetensors-file = Qwen3 の .gguf または .safetensors ファイル(Qwen3-4B-Instruct-2507-Q4_K_M.gguf など)か、Z-Image のテキストエンコーダーを選んでください。画像を説明するには Qwen2.5-VL か Qwen3-VL を選んでください。
advice-try-another-seed-allow-more-tokens = 別のシードを試すか、トークン数を増やすか、Qwen3-4B-Instruct-2507 のように先に考えないモデルを選んでください。
advice-choose-a-safetensors-file-of-yolov8 = docs/detailer.md のとおりに変換した、face_yolov8n や person_yolov8n-seg など YOLOv8 の .safetensors ファイルを選んでください。
advice-sluice-never-opens-such-files-look-4 = Sluice はこのようなファイルを開きません。.safetensors 版を探すか、docs/detailer.md の手順で変換してください。
advice-make-the-box-larger-or = 枠を大きくするか、領域の部分のマスクを白く塗ってください。

## NVIDIA GPU 用エンジンのインストール

advice-compute-on-the-cpu-or-on = CPU か、別の場所のエンジンで計算してください。
advice-set-the-variable-home = 変数 HOME または XDG_DATA_HOME を設定してください。
advice-install-it-from-an-archive = このコンピューターのアーカイブからインストールするか、packaging/cuda/build でビルドしてください。
advice-put-it-beside-the-archive = アーカイブの隣に置いてください。同じ場所から入手できます。
advice-fetch-it-again-from-where = 入手元からもう一度取得してください。
advice-use-an-archive-and-a-list = 一緒に作られたアーカイブと一覧を使ってください。
advice-check-that-the-nvidia-driver-is-or = NVIDIA ドライバーがインストールされているか確認するか、--capability で指定してください。
advice-compute-on-the-cpu-or-another = CPU か、別の GPU で計算してください。
advice-do-not-use-this-archive = このアーカイブは使わないでください。ほかのフォルダーに書き込むように作られています。
advice-check-that-the-nvidia-driver-is-and = NVIDIA ドライバーがインストールされ、CUDA 13 に対応しているか確認してください。何も変更されていません。
advice-use-the-engine-of-the-same = 同じバージョンのエンジンを使ってください。何も変更されていません。
