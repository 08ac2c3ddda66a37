### エンジンとダウンロードが伝える、うまくいかなかったこと。

error-downloads-stopped = ダウンロードは停止されました
error-downloads-offline = { $host } に接続できません
error-downloads-stalled = { $host } から何も届かなくなりました
error-downloads-dropped = ファイルが完了する前に { $host } が接続を切断しました
error-downloads-insecure = { $host } への安全な接続に失敗しました: { $reason }
error-downloads-proxy = プロキシが機能していません: { $reason }
error-downloads-busy = 要求が多すぎたため、{ $host } が待つよう求めています
error-downloads-server = { $host } は今応答できません（エラー { $status }）
error-downloads-needs-token = { $what } にはサインインが必要です{ $detail }
error-downloads-not-allowed = { $what } には条件への同意が必要です
error-downloads-not-found = { $what } は { $host } にありません
error-downloads-answer = { $host } の応答を理解できません: { $reason }
error-downloads-wrong-hash = { $name } は破損しているか、別のファイルです。SHA-256 は { $found }… ですが、{ $expected }… のはずです
error-downloads-wrong-size = { $name } のサイズが予告と違います。{ $found } バイトですが、{ $expected } バイトのはずです
error-downloads-no-space = { $folder } の空きが足りません。{ $needed } 必要ですが、空きは { $allowed } です
error-downloads-occupied = { $path } はすでにあり、内容が異なります
error-downloads-in-use = { $path } はすでにダウンロード中です
error-downloads-file =
    { $path } を{ $doing ->
        [created] 作成
        [written] 書き込み
        [read] 読み取り
        [removed] 削除
       *[other] 処理（{ $doing }）
    }できません: { $source }
error-downloads-name = { $name } はファイル名として使えません

error-link-empty = リンクがありません
error-link-not-a-link = 「{ $value }」はリンクでもリポジトリの名前でもありません
error-link-no-model = 「{ $value }」の先にモデルはありません
error-link-other-file = Sluice は { $value } を開きません
error-link-no-weights = { $value } に .safetensors や .gguf のファイルはありません
error-link-several = { $repository } には { $count } 個のファイルがあります。どれか 1 つを指定してください

error-the-keyring-refuses = キーリングに拒否されました: { $error }。

error-the-engine-for-nvidia-gpus-is = NVIDIA GPU 用のエンジンがインストールされていません。{ $value } がありません。

error-presets-no-folder = このユーザーにはデータ用のフォルダーがありません
error-presets-name = { $value } はプリセットの名前にできません。文字、数字、スペースを使ってください
error-presets-taken = { $value } という名前のプリセットはすでにあります
error-presets-missing = { $name } という名前のプリセットはありません
error-presets-malformed = { $path } はプリセットではありません: { $message }

error-adapters-not-an-adapter = { $path } は LoRA でも、Sluice が対応するほかのアダプターでもありません。最初のテンソルは { $first } です
error-adapters-layer = { $path }: レイヤー { $layer } のテンソルが互いに合いません: { $reason }
error-adapters-other-family = { $path }（{ $family }）はこのモデル（{ $model }）に合いません
error-adapters-unknown = { $name } という名前の LoRA はありません
error-adapters-tag = <lora:{ $tag }> を解釈できません

error-checkpoint-not-found = { $path } というファイルまたはフォルダーはありません
error-checkpoint-not-here = { $name } はこのコンピューターにありません
error-checkpoint-io = { $path } を読み込めません: { $source }
error-checkpoint-io-it = 読み込めません: { $source }
error-checkpoint-write = { $path } に書き込めません: { $source }
error-checkpoint-hollow = { $path } の重みはこのコンピューターにありません
error-checkpoint-no-model = { $path } にモデルが見つかりません
error-checkpoint-no-model-it = フォルダーにモデルが見つかりません
error-checkpoint-no-asset = { $name } は Sluice の一部ですが、{ $path } に見つかりませんでした
error-checkpoint-not-a-model-file = { $path } は Sluice が読めるモデルファイルではありません
error-checkpoint-not-a-model-file-it = Sluice が読めるモデルファイルではありません
error-checkpoint-not-safetensors = { $path } は safetensors ファイルではありません。先頭にヘッダーがありません
error-checkpoint-not-safetensors-it = safetensors ファイルではありません。先頭にヘッダーがありません
error-checkpoint-pickle = { $path } は pickle ファイルで、開くと任意のコードが実行されるおそれがあります
error-checkpoint-pickle-it = pickle ファイルで、開くと任意のコードが実行されるおそれがあります
error-checkpoint-empty-file = { $path } は空です
error-checkpoint-empty-file-it = ファイルが空です
error-checkpoint-header-past-end = { $path } は破損しているか不完全です。ヘッダーは { $header } バイトのはずですが、ファイルは { $length } バイトしかありません
error-checkpoint-header-past-end-it = ファイルが破損しているか不完全です。ヘッダーは { $header } バイトのはずですが、ファイルは { $length } バイトしかありません
error-checkpoint-header = { $path } のヘッダーが破損しています: { $reason }
error-checkpoint-header-it = ヘッダーが破損しています: { $reason }
error-checkpoint-truncated = { $path } は不完全です。{ $expected } バイトのはずですが、{ $length } バイトしかありません
error-checkpoint-truncated-it = ファイルが不完全です。{ $expected } バイトのはずですが、{ $length } バイトしかありません
error-checkpoint-json = { $path } を解釈できません: { $reason }
error-checkpoint-other-task = { $path } は Sluice がまだ対応していないモデルです（{ $task }）
error-checkpoint-missing-shard = { $index } が参照している { $shard } がありません
error-checkpoint-missing-shard-it = 一部である { $shard } がありません
error-checkpoint-missing-part = { $model } の{ $role }がありません: { $expected }
error-checkpoint-unknown-family = { $path } は Sluice が対応していないモデルです{ $kind }
error-checkpoint-refiner = { $path } はリファイナーとして使えません: { $reason }
error-checkpoint-upscaler = { $path } は画像を拡大できません: { $reason }
error-checkpoint-interpolator = { $path } はフレームを補間できません: { $reason }
error-checkpoint-redux = { $path } は Redux として使えません: { $reason }
error-checkpoint-control-net = { $path } は ControlNet として使えません: { $reason }
error-checkpoint-ip-adapter = { $path } は IP-Adapter として使えません: { $reason }
error-checkpoint-no-image-encoder = { $adapter } 用の画像エンコーダーが見つかりません: { $wanted }
error-checkpoint-missing-tensor = { $path } にテンソル { $name } がありません
error-checkpoint-shape = { $path } のテンソル { $name } の形は { $found } ですが、{ $expected } のはずです
error-checkpoint-dtype = { $path } のテンソル { $name } は { $found } で保存されており、ここでは Sluice が対応していません
error-checkpoint-quantization = { $path } の重みは { $found } で保存されており、Sluice は対応していません
error-checkpoint-quantization-it = 重みは { $found } で保存されており、Sluice は対応していません
error-checkpoint-config = { $path } では { $field } = { $value } ですが、{ $reason }
error-checkpoint-tokenizer = トークナイザー { $path } を使えません: { $reason }

error-account = デバイスのメモリが足りません。{ $needed } 必要ですが、使えるのは { $allowed } です

error-plan-device = { $what }には、{ $stage }のステージで { $needed } のメモリ（{ $device }）が必要ですが、使えるのは { $allowed } です
error-plan-host = 重みの読み込みに RAM が { $needed } 必要ですが、使えるのは { $allowed } です

error-output-extension = { $path } の末尾が .png、.jpg、.webp のいずれでもありません
error-output-clip-extension = { $path } の末尾が { $endings } ではありません
error-output-other-files = フォルダー { $path } にほかのファイルがあります
error-output-clip-too-large = { $width }×{ $height } ピクセルのフレームは { $path } には大きすぎます
error-output-encoder = { $path } をエンコードできません: { $detail }
error-output-no-ffmpeg = コーデック { $name } にはプログラム ffmpeg が必要ですが、PATH にありません
error-output-ffmpeg = ffmpeg が { $path } に書き込めませんでした: { $detail }
error-output-is-folder = { $path } はフォルダーで、ファイル名ではありません
error-output-not-a-folder = { $path } はファイルで、フォルダーではありません
error-output-create-folder = フォルダー { $folder } を作成できません: { $cause }
error-output-not-writable = フォルダー { $folder } に書き込めません: { $cause }
error-output-disk-full = ディスクがいっぱいのため、{ $path } に書き込めません
error-output-write = { $path } に書き込めません: { $cause }
error-output-exists = { $path } はすでにあります
error-output-settings-too-long = 設定が JPEG ファイルには長すぎます: { $path }
error-output-pixels = { $width }×{ $height } ピクセル、{ $bytes } バイトの画像は書き込めません
error-output-kept-elsewhere = { $cause }。代わりに { $path } に保存しました
error-output-read = { $path } を読み込めません: { $cause }
error-output-not-media = { $path } は PNG、JPEG、WebP、GIF、MP4 のファイルではありません
error-output-truncated = { $path } は不完全です
error-output-damaged = { $path } の設定が破損しています: { $detail }
error-output-too-large = { $path } の { $keyword } の部分は、設定にしては大きすぎます
error-output-no-settings = { $path } に生成の設定は含まれていません
error-output-newer-version = { $path } は新しいバージョンの Sluice で作られました。設定はバージョン { $found } ですが、このバージョンが読めるのは { $known } までです

error-names-empty = 名前を入力してください。例: {"{"}name{"}"}
error-names-unknown = {"{"}{ $value }{"}"} という項目はありません。{"{"}name{"}"}、{"{"}number{"}"}、{"{"}date{"}"}、{"{"}seed{"}"}、{"{"}model{"}"}、{"{"}prompt{"}"}、{"{"}width{"}"}、{"{"}height{"}"} が使えます
error-names-open = {"{"} が {"}"} で閉じられていません

error-pipeline-card = GPU を使えません: { $value }
error-pipeline-no-such-gpu = ここに GPU { $number } はありません
error-pipeline-unknown-card = { $id } という名前のシミュレーション用 GPU はありません
error-pipeline-unknown-model = { $id } という名前の既知のモデルはありません
error-pipeline-initial-latents = { $path } の初期 Latent を使えません: { $reason }
error-pipeline-dump = テンソルを { $path } に書き出せません: { $reason }
error-pipeline-not-finite = { $dtype } で計算した画像に無効な値（NaN）があります

error-clip = 最初のフレーム、2 つのピリオド、最後の次のフレームの順に書いてください。例: 0..48、12..

error-request-size-not-multiple =
    { $side ->
        [width] 幅
        [height] 高さ
       *[other] { $side }
    } { $pixels } は { $multiple } の倍数ではありません。{ $below } または { $above } にしてください
error-request-side-too-long =
    { $side ->
        [width] 幅
        [height] 高さ
       *[other] { $side }
    } { $pixels } は大きすぎます。{ $longest } 以下にしてください
error-request-scale = 倍率 { $value } は 1 から 4 の範囲外です
error-request-only-upscales = このモデルは画像を拡大するアップスケーラーで、画像は生成しません。`sluice upscale` か、ウィンドウの「拡大…」を使ってください
error-request-no-upscaler = このモデルは画像を生成するもので、アップスケーラーではありません
error-request-only-interpolates = このモデルはクリップのフレームの間を補うもので、生成はしません。`sluice interpolate` か、ウィンドウの「フレーム補間…」を使ってください
error-request-no-interpolator = このモデルはフレームを補間しません。RIFE 4 の .safetensors ファイルを選んでください
error-request-interpolation-factor = フレーム数を { $value } 倍にはできません。{ $least } から { $most } を使ってください
error-request-interpolates-image = 画像には間を補うフレームがありません。クリップを選んでください
error-request-smooths-image = フレーム補間はクリップ用です。フレームを 2 以上にするか、外してください
error-request-nothing-between = クリップのフレームは 1 つだけで、間がありません。もっと長いクリップを選んでください
error-request-hires-of-clip = Hires fix は画像用で、動画には使えません。外してから動画を拡大してください
error-request-hires-of-input = Hires fix はプロンプトから始めます。入力画像を外すか、Hires fix を外してサイズを大きくしてください
error-request-no-hires = Hires fix には「画像から画像」が必要ですが、このモデルは対応していません。外してから画像を拡大してください
error-request-no-steps = 0 ステップではノイズしか残りません。1 以上にしてください
error-request-no-frames = 0 フレームでは何も生成されません。1 以上にしてください
error-request-one-frame-only = このモデルが生成するのは画像で、動画ではありません。{ $value } ではなく 1 フレームにしてください
error-request-frames-not-multiple = このモデルのフレーム数は 1 に { $multiple } の倍数を加えた数で、{ $frames } は使えません。{ $below } または { $above } にしてください
error-request-no-such-mode = このモデルは { $wanted } に対応していません。対応しているもの: { $modes }
error-request-image-and-clip = 入力画像と入力動画の両方が指定されています。どちらかを外してください
error-request-variation = バリエーション強度 { $value } は無効です。0 から 1 にしてください
error-request-last-image-alone = 終了画像には開始画像が必要です
error-request-clip-input-of-image = 終了画像、キーフレーム、入力動画、コントロールは動画用です。2 フレーム以上にするか、これらを外してください
error-request-keyframe-twice = フレーム { $value } に画像が 2 枚あります。どちらかを外してください
error-request-keyframes-and-clip = キーフレームと入力動画は一緒に使えません。どちらかを外してください
error-request-keyframes-in-windows = このモデルでは、キーフレームと終了画像をウィンドウに分けた生成で使えません。画像かウィンドウを外してください
error-request-nothing-controls = 動画をコントロールするものがありません。コントロール動画か参照画像を指定してください
error-request-mask-without-control = マスクにはコントロール動画が必要です。動画も指定してください
error-request-control-strength = コントロール強度 { $value } は無効です。0 から { $strongest-control } の値にしてください
error-request-control-range = 動画は、ステップの { $start } から { $end } ではコントロールできません。0 から 1 の値を小さい順に指定してください
error-request-preprocessor-without-control = コントロール動画のプリプロセッサが選ばれていますが、動画がありません。動画を指定するか、プリプロセッサを「なし」にしてください
error-request-control-preprocessor = プリプロセッサ { $value } はコントロール動画のマップを作りません。別のものを選んでください
error-request-no-references = このモデルは参照画像に対応していません。外すか、1 枚を入力画像にしてください
error-request-too-many-references = 参照画像が多すぎます（{ $given } 枚）。このモデルで使えるのは { $amount } です
error-request-reference-side = 参照画像の辺 { $value } は無効です。{ $least } から { $most } ピクセルにしてください
error-request-references-in-windows = 参照画像はウィンドウに分けた生成では使えません。画像かウィンドウを外してください
error-request-nothing-to-fill-in = このモデルは画像の一部を埋めるものです。画像と、その部分のマスクを指定してください
error-request-mask-of-clip = マスクは画像用です。外すか、1 フレームにしてください
error-request-nothing-added = { $frames } フレームでは何も追加されません。最初の { $overlap } フレームは入力動画の終わりの繰り返しです。{ $least } 以上にしてください
error-request-frame-rate = 1 秒あたり { $value } フレームは無効です。1 から 60 の値にしてください
error-request-windows = { $overlap } フレームが重なる { $frames } フレームのウィンドウでは先に進みません。ウィンドウは重なりより長くしてください
error-request-empty-batch = バッチサイズ 0 では何も生成されません。1 以上にしてください
error-request-batch-too-large = バッチサイズ { $value } は大きすぎます。{ $largest-batch } 以下にしてください
error-request-no-tokens = 上限が 0 トークンではプロンプトが残りません。1 以上にしてください
error-request-guidance = ガイダンス { $value } は無効です。0 以上にしてください
error-request-adapter-weight = LoRA の重み { $value } は有限の数ではありません
error-request-too-many-steps = { $value } ステップは多すぎます。1000 以下にしてください
error-request-clip-skip = CLIP スキップ { $value } は CLIP の層の数を超えています。{ $largest-clip-skip } 以下にしてください
error-request-step-cache = ステップキャッシュのしきい値 { $value } は無効です。0 以上にしてください
error-request-shift = シフト { $value } は無効です。0.01 から { $largest-shift } の値にしてください
error-request-no-shift = このモデルにシフトはありません。外してください
error-request-prompts-only = このモデルはプロンプトだけから画像を作ります。入力画像を外してください
error-request-no-such-levels = スケジューラー { $name } はこのモデルでは使えません
error-request-frame-range = { $value } にはフレームがありません。2 つ目の数は 1 つ目より大きくしてください
error-request-strength = ノイズ除去強度 { $value } は無効です。0 より大きく 1 以下の値にしてください
error-request-strength-takes-no-step = ノイズ除去強度 { $strength } では { $steps } ステップが 1 つも残りません。{ $least } 以上にするか、ステップ数を増やしてください
error-request-refiner-switch = リファイナーの切り替え { $value } は無効です。0 と 1 の間の値にしてください。例: 0.8
error-request-redux-alone = Redux は参照画像を読み取りますが、指定されていません。指定するか、Redux を外してください
error-request-redux-strengths = 強さの数（{ $given }）が多すぎます: { $references }
error-request-redux-strength = 参照画像の強さ { $value } は無効です。{ $least } から { $most } の値にしてください
error-request-control-net-weight = ControlNet の重み { $value } は無効です。0 から { $most } の値にしてください
error-request-control-net-range = ControlNet は、ステップの { $start } から { $end } では効きません。0 から 1 の値を小さい順に指定してください
error-request-control-net-without-image = ControlNet が従う画像がありません。選択するか、ControlNet を外してください
error-request-control-net-without-mask = ControlNet がマスク部分を除いた入力画像に従いますが、マスクのある入力画像がありません。両方を追加するか、別のプリプロセッサを選んでください
error-request-control-net-reads-mask = ControlNet はインペイント用でマスクを読みます。プリプロセッサに inpaint を選んでください
error-request-control-net-without-mode = 複数の種類の画像に従う ControlNet に、種類が指定されていません。{ $modes } から選んでください
error-request-no-such-control-mode = ControlNet は種類 { $mode } の画像に従いません。{ $modes } から選んでください
error-request-control-net-has-no-modes = ControlNet は 1 種類の画像にだけ従います。種類を選ばないでください
error-request-too-many-control-nets = ControlNet { $value } 個は多すぎます。{ $most } 個までにしてください
error-request-image-prompt-without-image = IP-Adapter が読み取る画像がありません。選択するか、IP-Adapter を外してください
error-request-too-many-prompt-images = 1 つの IP-Adapter に画像 { $value } 枚は多すぎます。{ $most } 枚までにしてください
error-request-too-many-image-prompts = IP-Adapter { $value } 個は多すぎます。{ $most } 個までにしてください
error-request-image-prompt-weight = 画像プロンプトの重み { $value } は無効です。0 から { $most } の値にしてください
error-request-image-prompt-range = 画像プロンプトは、ステップの { $start } から { $end } では読み取れません。0 から 1 の値を小さい順に指定してください
error-request-mask-blur = マスクのぼかし { $value } は大きすぎます。{ $widest-blur } 以下にしてください
error-request-mask-padding = マスク周囲の余白 { $value } ピクセルは大きすぎます。{ $most } 以下にしてください

error-grid-nothing = 変えるものがありません。設定とその値を選んでください
error-grid-no-setting = { $value } には設定の名前がありません。名前、コロン、値の順に書いてください。例: `steps: 10, 20, 30`
error-grid-unknown = { $name } という設定はありません。使えるもの: { $all }
error-grid-no-values = { $value } に値がありません。1, 2, 3 のように書いてください
error-grid-value = { $value } は { $setting } の値として使えません。{ $wanted }
error-grid-twice = { $value } が 2 回変わります。一方には別の設定を選んでください
error-grid-too-many = { $count } 枚の画像はグリッドには多すぎます。{ $most } 枚以下にしてください
error-grid-not-in-prompt = 置き換える語 { $value } が、プロンプトにもネガティブプロンプトにもありません
error-grid-which-lora = LoRA が複数使われています。どれか 1 つを指定してください。例: `lora { $value }: 0.5, 1`
error-grid-no-style = { $value } という名前のスタイルはありません。スタイルの一覧から選ぶか、先に保存してください
error-grid-no-input = ノイズ除去強度を変えますが、入力画像も Hires fix もありません。先にどちらかを選んでください
error-grid-unused = { $setting } が変わりますが、{ $what } は使われていません。先に追加してください
error-grid-no-part = { $name } の { $setting } を変えますが、名前は { $used } です。そのどれか、または番号を書いてください
error-grid-unused-variation = バリエーション強度
error-grid-unused-control-net = ControlNet
error-grid-unused-clip-control = クリップを制御するクリップや参照画像
error-grid-unused-ip-adapter = IP-Adapter
error-grid-unused-reference = 参照画像
error-grid-unused-detailer = ディテーラー
error-grid-unused-region = 領域
error-grid-unused-input = 入力画像や入力クリップ
error-grid-unused-mask = マスク
error-grid-unused-only-masked = その範囲だけを生成するマスク
error-grid-unused-outpainting = アウトペイント
error-grid-unused-interpolation = フレーム補間
error-grid-unused-windows = ウィンドウ分割

error-guidance = 0 から 1 の 2 つの数が必要です。例: 0.2..0.8
error-guidance-rescale = ガイダンスの再スケール { $value } は無効です。0 から 1 にしてください
error-guidance-interval = ガイダンスの区間 { $value } は無効です。0 から 1 の 2 つの数を小さい順に指定してください
error-guidance-true-cfg = True CFG { $value } は無効です。1 以上にしてください

error-keyframe = フレームの番号、=、ファイルの順に書いてください。例: 40=image.png

error-residency-cancelled = キャンセルしました
error-residency-thread = 重みを読み込むスレッドを開始できませんでした: { $value }
error-residency-out-of-order = ブロック { $block } が順番どおりに要求されませんでした
error-residency-compute = 計算に失敗しました: { $value }
error-residency-device-lost = GPU が動作しなくなりました: { $value }

error-serve-pipe = ウィンドウからのメッセージを読み取れません: { $value }
error-serve-no-hello = ウィンドウが最初の挨拶を送りませんでした
error-serve-threads = エンジンのスレッドを開始できませんでした: { $value }
error-serve-ended = エンジンが終了しました
error-serve-no-visit = 呼び出し側のセッション名が想定した形ではありません
error-serve-folder = このエンジンに送信されるファイル用のフォルダーを使用できません: { $value }
error-serve-occupied = 切断された接続のエンジンがまだ動作しています
error-serve-file = 呼び出し側が想定どおりにファイルを送信しませんでした

error-travel-read = { $path } をエンジンに送信できません: { $cause }
error-travel-folder = { $path } はフォルダーです。別の場所のエンジンに送信できるのはファイルだけです
error-travel-too-large = { $path } は大きすぎるため、別の場所のエンジンに送信できません
error-travel-changed = { $path } はエンジンへの送信中に変更されました
error-travel-report = 別の場所のエンジンは { $path } を書き込めません
error-travel-not-there = エンジンに { $name } がありません: { $reason }
error-travel-not-sent = エンジンは { $path } の使用を求められましたが、このファイルは送信されていません
error-command-not-started = エンジンのコマンド { $program } を開始できません: { $cause }
error-command-ended = エンジンが応答する前にエンジンのコマンドが終了しました: { $how }
error-command-other-words = エンジンのコマンドがエンジンのものではない出力をしました: { $words }
error-command-silent = エンジンのコマンドが応答しません

error-clip-read = 動画 { $path } を読み込めません: { $cause }
error-clip-damaged = 動画 { $path } は破損しています: { $detail }
error-clip-truncated = 動画 { $path } は不完全です。{ $frames } フレーム中、フレーム { $readable } の後で終わっています
error-clip-no-index = 動画 { $path } は不完全です。フレームの一覧がありません
error-clip-no-video = { $path } に映像がありません
error-clip-not-aclip = { $path } は読み込めるクリップではありません
error-clip-no-frames = { $path } の映像にフレームがありません
error-clip-beyond-end = 動画 { $path } は { $frames } フレームで、フレーム { $start } はありません
error-clip-too-short = { $path } の { $frames } フレームでは足りません。{ $needed } フレーム必要です
error-clip-too-long = { $path } の { $frames } フレームは多すぎます。一度に読めるのは { $most } フレームです
error-clip-too-large = { $path } のフレームは大きすぎます: { $width }×{ $height } ピクセル
error-clip-needs-ffmpeg = { $path } は { $format } です。読み込みにはプログラム ffmpeg が必要ですが、PATH にありません
error-clip-ffmpeg = ffmpeg が { $path } を読み込めません: { $detail }

error-source-read = 画像 { $path } を読み込めません: { $cause }
error-source-not-apicture = { $path } は読み込める画像ではありません: { $detail }
error-source-clip-for-image = { $path } はクリップですが、画像が必要です
error-source-picture-unknown = 形式が不明です
error-source-picture-large = 大きすぎます
error-source-picture-short = 途中で終わっています
error-source-picture-damaged = 破損しているか、別の種類のファイルです
error-source-nothing-masked = マスク { $path } にインペイントする部分がありません: { $reason }

error-telemetry-same-file = { $path } をテレメトリーとトレースの両方のファイルにはできません
error-telemetry-create = テレメトリーファイル { $path } を作成できません: { $cause }
error-telemetry-disk-full = ディスクがいっぱいのため、テレメトリーを { $path } に書き込めません
error-telemetry-write = テレメトリーを { $path } に書き込めません: { $cause }
error-telemetry-gone = { $path } がテレメトリーの書き込み中に削除されました
error-telemetry-stopped = メモリを測定するスレッドが途中で止まりました。以降のテレメトリーは失われました
error-telemetry-not-telemetry = { $path } は Sluice のテレメトリーファイルではありません。最初の行がヘッダーではありません
error-telemetry-version = { $path } のテレメトリーはバージョン { $found } ですが、この Sluice が読めるのはバージョン { $known } です
error-telemetry-damaged = { $path } の { $line } 行目が破損しています: { $detail }

error-styles-read = { $path } を読み込めません: { $error }
error-styles-too-large = { $path } はスタイルのファイルにしては大きすぎます
error-styles-csv = { $path } にスタイルがありません: { $error }。A1111 の styles.csv には name、prompt、negative_prompt の列があります
error-styles-json = { $path } にスタイルがありません: { $error }。Fooocus のファイルは name、prompt、negative_prompt の一覧です

error-wildcards-missing = { $name }.txt という名前のワイルドカードファイルはありません{ $similar }
error-wildcards-unreadable = ワイルドカードファイル { $path } を読み込めません: { $error }
error-wildcards-empty = ワイルドカードファイル { $path } に選べる行がありません
error-wildcards-endless = ワイルドカードファイル { $name }.txt が自分自身を参照しています
error-wildcards-unclosed = プロンプトの波括弧が閉じられていません: { $text }
error-wildcards-too-few-options = { $text } の { $options } 個の選択肢から { $wanted } 個の異なるものは選べません

error-wire-truncated = メッセージの途中で接続が終わりました
error-wire-too-long = メッセージの長さが { $value } バイトとされており、ありえない長さです
error-wire-damaged = メッセージが途中で破損しました
error-wire-not-understood = メッセージを解釈できません: { $value }
error-request-outpaint = 入力画像の周囲に追加する { $value } ピクセルは多すぎます。{ $most } 以下にしてください
error-request-control-and-input = コントロールは入力画像や入力動画と一緒に使えません。どちらかを外すか、画像を参照画像として指定してください
error-outpaint-no-sides = 全辺に共通のピクセル数か、左,上,右,下 の 4 つの数を書いてください。例: 0,0,256,0
error-grid-no-lora = { $name } という名前の LoRA は使われていません。{ $hint }
error-source-nothing-added = { $path } の周囲に追加する部分が、潜在空間の 1 単位より小さいです
error-checkpoint-map-estimator = { $path } は{ $maps }を作れません: { $reason }
error-request-only-makes-maps = このモデルはマップを作るもので、画像は生成しません。ControlNet のプリプロセッサとして選んでください
error-request-no-map-estimator = { $maps }を作るモデルが選ばれていません。{ $networks } の .safetensors ファイルを選んでください
error-checkpoint-segmenter = { $path } はマスクを作れません: { $reason }
error-request-only-makes-masks = このモデルはマスクを作るもので、画像は生成しません。`sluice mask` か、ウィンドウのマスクツールを使ってください
error-request-no-segmenter = 点からのマスクには Segment Anything が必要です。その .safetensors ファイルか MobileSAM のファイルを選んでください
error-request-nothing-to-mask = マスクの対象が示されていません。その中の点か、それを囲む枠を指定してください
error-request-mask-point-outside = 点 { $x },{ $y } は { $width }×{ $height } ピクセルの画像の外にあります
error-request-mask-box = 枠 { $left },{ $top },{ $right },{ $bottom } は { $width }×{ $height } ピクセルの画像内の枠ではありません。左、上、右、下を指定してください
error-checkpoint-language-model = { $path } はプロンプトを書けません: { $reason }
error-checkpoint-image-describer = { $path } は画像を説明できません: { $reason }
error-checkpoint-something-else = { $reason }。別のものです: { $what }
error-checkpoint-no-upscaler = アップスケーラーではありません
error-checkpoint-no-network = { $network } のネットワークではありません
error-checkpoint-no-segformer = セグメントを見分ける SegFormer のネットワークではありません
error-checkpoint-no-rife = RIFE 4 ではありません
error-checkpoint-no-language-model = Qwen3、Qwen2.5-VL、Qwen3-VL の言語モデルではありません
error-checkpoint-no-control-net = ControlNet ではありません
error-checkpoint-no-t2i-adapter = T2I-Adapter ではありません
error-checkpoint-no-ip-adapter = IP-Adapter ではありません。画像のキーと値がありません
error-checkpoint-no-ip-adapter-alone = IP-Adapter ではありません
error-pipeline-nothing-written = 言語モデルは { $tokens } トークンで何も書きませんでした
error-request-nothing-to-enhance = 詳しくするプロンプトがありません。数語を書いてください
error-request-nothing-to-describe = 説明する画像がありません。1 枚以上指定してください
error-request-sees-no-images = この言語モデルには画像エンコーダーがなく、画像を見られません
error-request-seen-pixels = { $pixels } ピクセルの画像は説明できません。{ $least } から { $most } を使ってください
error-request-too-narrow = { $width }×{ $height } ピクセルの画像は細長すぎて説明できません。一辺がもう一辺の 200 倍以内になるように切り抜いてください
error-request-no-instruction = 言語モデルへの指示がありません。標準の指示を使うには省略してください
error-request-temperature = 温度 { $value } は0から2の範囲にありません
error-request-top-p = top-p { $value } は0より大きく1以下ではありません
error-request-longest-prompt = { $tokens } トークンのプロンプトは書けません。1から { $most } を使ってください
error-request-keyframe-at-start = フレーム 0 は動画の始まりです。その画像は開始画像に指定してください
error-request-keyframe-outside = フレーム { $frame } は動画にありません。最後のフレームは { $last } です
error-adapters-for-another = 別のモデル用
error-request-one-reference = 参照画像 1 枚
error-request-at-most-references = 参照画像 { $most } 枚まで
error-request-1-reference = 参照画像 1 枚
error-request-references = 参照画像 { $count } 枚
error-checkpoint-task-clips = 画像から動画を生成
error-checkpoint-task-layers = レイヤー分けした画像を生成
error-grid-add-lora = 先に追加してください
error-source-mask-small = 白い部分が潜在空間の 1 単位より小さいです
error-source-mask-none = 白い部分がありません
error-downloads-token-refused = （トークンは受け付けられませんでした）

error-checkpoint-detector = { $path } は顔などを検出できません: { $reason }
error-request-no-detector = ディテーラーに検出モデルがありません。face_yolov8n など YOLOv8 の .safetensors ファイルを選んでください
error-request-no-detailer = 画像の中で何を検出するかが指定されていません。ディテーラーを指定してください
error-request-too-many-detailers = ディテーラーが { $value } 個指定されています。{ $most } 個までにしてください
error-request-detailer-confidence = 信頼度 { $value } は無効です。0.3 など、0 と 1 の間の値にしてください
error-request-detailer-boxes = 1 枚の画像で { $value } 個の枠は描き直せません。1 から { $most } までにしてください
error-request-detailer-growth = 検出範囲を { $value } ピクセル広げるのは大きすぎます。{ $most } 以下にしてください
error-request-detailer-of-clip = ディテーラーは画像だけに使えます。外すか、画像を生成してください
error-request-no-detailing = このモデルはインペイントに対応していないため、ディテーラーは使えません。外してください
error-request-detailer-adapter = ディテーラーのプロンプトに、画像で使われていない LoRA { $value } があります。画像のプロンプトに書いてください
error-request-not-for-details = 既存の画像の細部は { $value } なしで描き直します。外してください
error-request-details-regions = 領域
error-request-details-hires = Hires fix
error-request-details-refiner = リファイナー
error-request-details-batch = バッチ
error-request-details-variation = バリエーションシード
error-request-only-detects = 検出モデルは検出だけを行います。別のモデルのディテーラーに選んでください

error-request-too-many-regions = { $value } 個の領域が指定されています。{ $most } 個までにしてください
error-request-region-without-prompt = 領域 { $value } にプロンプトがありません。中に描くものを書くか、領域を削除してください
error-request-region-area = 領域の範囲 { $value } が画像の中にありません。左、上、幅、高さを 0 から 1 の間で、0,0,0.5,1 のように指定してください
error-request-region-weight = 領域の重み { $value } は使えません。0 より大きく { $most } 以下の値にしてください
error-request-region-base = 領域の中でのプロンプトの割合を { $value } にはできません。0 から 1 にしてください
error-request-region-fade = 領域の境界を画像の { $value } にわたってぼかすことはできません。0 から { $most } にしてください
error-request-regions-of-part = マスク部分だけを生成するときは領域を使えません。どちらかをオフにしてください
error-request-region-adapter = 領域のプロンプトに、画像で使われていない LoRA { $value } があります。画像のプロンプトに書いてください
error-source-empty-region = 領域 { $area } に画像の部分が含まれていません
error-request-no-area = 左、上、幅、高さを 0 から 1 の間で 0,0,0.5,1 のように指定するか、マスクのファイルを指定してください

## NVIDIA GPU 用エンジンのインストール

error-cuda-platform = NVIDIA GPU 用エンジンは x86-64 の Linux にのみインストールできます
error-cuda-no-folder = このユーザーにはデータ用のフォルダーがありません
error-cuda-no-releases = このプログラムはリリースの場所を知りません
error-cuda-not-released = { $host } には Sluice { $version } 用のエンジンがありません
error-cuda-no-index = エンジンの一覧 { $path } がありません
error-cuda-index = エンジンの一覧 { $name } を読み取れません: { $reason }
error-cuda-path = アーカイブの名前がパスになっています
error-cuda-no-name = 名前のないライブラリがあります
error-cuda-not-listed = { $name } はエンジンの一覧にありません
error-cuda-unknown-capability = NVIDIA GPU の compute capability が不明です
error-cuda-too-old = GPU の compute capability は { $found } ですが、エンジンには { $least } が必要です
error-cuda-damaged = { $name } は壊れています: { $reason }
error-cuda-outside = { $name } の { $inside } はフォルダーの外を指しています
error-cuda-start = NVIDIA GPU 用エンジンが起動しません: { $reason }
error-cuda-version = エンジンのバージョンは { $found }、このプログラムのバージョンは { $own } です
error-cuda-larger = 告げられた大きさを超えています
error-cuda-without-engine = エンジンが入っていません
error-cuda-neither = ファイルでもフォルダーでもないものが入っています
error-cuda-no-answer = 応答しません
