### ファイルの設定のうち引き継げなかったものと、プロンプトのうち読まれないもの。

note-of-keys-did-not-match-for = { $value2 } 個のキーのうち { $value } 個が一致しませんでした。例: { $first }。

note-only-a-prompt-was-found-all = プロンプトだけが見つかりました。ほかの設定はすべて既定値です。
note-is-not-valid-here-the-default = { $name }「{ $value }」はここでは無効です。既定値を使います。
note-the-sampler-is-not-available-is = サンプラー「{ $name }」は使えません。代わりに { $chosen } を使います。
note-the-schedule-is-not-available-the = スケジューラー「{ $value }」は使えません。モデルの既定を使います。
note-this-image-was-made-from-an = この画像は入力画像から作られましたが、入力画像は含まれていません。
note-the-preprocessor-is-not-available-is = プリプロセッサ「{ $name }」は使えません。代わりに { $chosen } を使います。
note-the-preprocessor-is-not-available-choose = プリプロセッサ「{ $name }」は使えません。すでにマップになっている画像を選んでください。
note-the-images-of-controlnets-are-not = ControlNet の画像はファイルに含まれていません。選び直してください。
note-the-images-of-ip-adapters-are-not = IP-Adapter の画像はファイルに含まれていません。選び直してください。
note-the-image-was-enlarged-afterwards = 画像はその後「{ $name }」で拡大されました。これは復元されません。
note-the-prompt-names-a-lora-which = プロンプトに LoRA の指定があります。Sluice はファイル名で探します。
note-the-graph-has-further-passes = グラフには画像への追加のパスがありますが、復元されません。
note-not-taken-over = 引き継がれない設定: { $names }

note-it-was-made-from-an-image = 先に作られた画像から作られましたが、その画像は復元されません。
note-the-comfyui-graph-has-no-sampler = ComfyUI のグラフに、Sluice の知っているサンプラーがありません。
note-it-was-made-from-an-input = 入力画像から作られましたが、入力画像は含まれていません。
note-controlnets-took-part-that-is-not = ControlNet が使われました。これは復元されません。

note-fooocuss-sharpness-and-adm-guidance-are = Fooocus のシャープネスと ADM ガイダンスは使えません。

note-took-part-that-is-not-restored = { $what } も使われました。これは復元されません。
note-regional-guidance = 領域ごとのガイダンス

note-the-schedule-is-not-available-the-2 = スケジューラー「{ $name }」は使えません。モデルの既定を使います。

note-novelais-and-12-weigh-words-in = NovelAI の {"{ }"}、[ ]、1.2:: :: は独自の方法で語に重みを付けます。そのまま残します。
note-the-prompts-of-characters-are-appended = キャラクターのプロンプトは末尾に追加されます。位置は復元されません。

note-a-refiner-or-an-upscaler-took = リファイナーまたはアップスケーラーが使われました。これは復元されません。
note-this-clip-was-made-from-an = この動画はモデル「{ $model }」の画像から作られました。その画像の設定を復元します。

note-this-clip-was-made-from-a = この動画は開始画像から作られましたが、開始画像は復元されません。
note-a-loras-weight-changed-from-step = LoRA の重みがステップごとに変わっていました。これは復元されません。

note-it-was-enlarged-times-and-denoised = { $scale } 倍に拡大してもう一度ノイズ除去されましたが、ここではできません。
note-the-upscaler-is-not-available-is = アップスケーラー「{ $name }」は使えません。代わりに { $latent } を使います。
note-the-upscaler-is-not-restored-the = アップスケーラー「{ $name }」は復元されません。代わりに Sluice のものを使います。
note-is-not-restored-the-second-pass = { $name } は復元されません。2 回目も 1 回目と同じものを使います。

note-this-image-was-generated-with-which = この画像は { $value } で生成されました。これはメモリの設定で、復元されません。

note-ignores-the-last-token = { $encoder } は最後のトークンを無視します。
note-ignores-the-last-tokens = { $encoder } は最後の { $cut } トークンを無視します。
note-the-detailer-is-not-restored-choose = ディテーラー「{ $name }」は復元されません。検出モデルを選び直してください。

## ファイル内のモデルの構成

note-parts-denoisers = { $family }: デノイザー
note-parts-denoiser-autoencoder = { $family }: デノイザー、オートエンコーダー
note-parts-one-encoder = { $family }: デノイザー、テキストエンコーダー 1 個
note-parts-one-encoder-autoencoder = { $family }: デノイザー、テキストエンコーダー 1 個、オートエンコーダー
note-parts-encoders = { $family }: デノイザー、テキストエンコーダー { $count } 個
note-parts-encoders-autoencoder = { $family }: デノイザー、テキストエンコーダー { $count } 個、オートエンコーダー
note-part-denoiser = { $family }: デノイザー
note-part-redux = { $family } 用 Redux
note-part-ip-adapter = { $family } 用 IP-Adapter
note-part-t2i-adapter = { $family } 用 T2I-Adapter
note-part-control-net = { $family } 用 ControlNet
note-part-lora = LoRA、{ $matrices }、ランク { $rank }
note-part-lora-for = { $family } 用 LoRA、{ $matrices }、ランク { $rank }
note-part-loha = LoHa または LoKr、{ $matrices }
note-part-loha-for = { $family } 用 LoHa または LoKr、{ $matrices }
note-part-one-matrix = 行列 1 個
note-part-matrices = 行列 { $count } 個
note-part-upscaler = アップスケーラー、{ $architecture }、×{ $factor }
note-part-interpolator = フレーム補間モデル、{ $architecture }
note-part-map-estimator = { $maps }の推定モデル、{ $architecture }、{ $size }
note-part-segmenter = セグメンテーションモデル、{ $architecture }、{ $size }
note-part-detector = 検出モデル、{ $architecture }、{ $size }、{ $classes }
note-part-one-class = 1 クラス
note-part-classes = { $count } クラス
note-part-of-another-size = 別のサイズ
note-part-another-size = 別のサイズ
note-part-text-encoder = { $name } テキストエンコーダー、幅 { $width }
note-part-image-encoder = { $name } 画像エンコーダー、幅 { $width }
note-part-text-conditioner = { $family } のテキストコンディショナー、幅 { $width }
note-part-vision-tower = { $name } の画像エンコーダー、幅 { $width }
note-part-autoencoder = オートエンコーダー、{ $count } チャンネル
note-part-autoencoder-of = { $family } のオートエンコーダー、{ $count } チャンネル
note-part-stranger = Sluice が対応していないモデル
note-part-stranger-known = Sluice が対応していないモデル: { $what }
note-part-preview-clips = TAEHV、動画プレビュー用の小さなオートエンコーダー
note-part-preview = TAESD、プレビュー用の小さなオートエンコーダー
note-part-an-upscaler = アップスケーラー
note-part-a-textual-inversion = Textual Inversion
note-part-an-image-encoder = 画像エンコーダー
note-part-a-language-model = 別の種類の言語モデル
note-part-for-refiner = Stable Diffusion XL のリファイナー
note-part-for-width = 幅 { $width } のプロンプトのモデル
note-part-for-no-prompts = プロンプトのないモデル
note-part-stable-diffusion = Stable Diffusion 1 と 2
note-part-diffusers-folder = diffusers フォルダー
note-part-gguf-files = GGUF、ファイル { $count } 個
note-part-safetensors-files = safetensors、ファイル { $count } 個
