### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = 画像プロンプト
image-prompts-title-used = 画像プロンプト（{ $count }）
image-prompts-tip = IP-Adapterを使い、プロンプトと一緒に画像をモデルに読み取らせます。
image-prompts-add = IP-Adapterを追加…
image-prompts-add-tip = このモデル用のIP-Adapterを選びます。
image-prompts-library = ライブラリから
image-prompts-library-tip = モデルフォルダーで見つかったIP-Adapterです。
image-prompts-library-spoken = ライブラリのIP-Adapter
image-prompts-remove = { $name }を外す
image-prompts-image = 画像を追加…
image-prompts-image-tip = 読み取る画像を選びます。中央の正方形が読み取られます。
image-prompts-image-remove = { $name }を読み取らない
image-prompts-weight = 重み
image-prompts-weight-tip = 画像の効く強さ。1が学習時の強さで、小さいほどプロンプトが優先されます。
image-prompts-start = 開始
image-prompts-start-tip = ステップ全体のうち、この割合より前では画像は読み取られません。
image-prompts-end = 終了
image-prompts-end-tip = ステップ全体のうち、この割合より後では画像は読み取られません。
image-prompts-without = IP-Adapter { $name } を使わない
