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
