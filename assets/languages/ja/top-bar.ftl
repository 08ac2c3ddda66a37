### The bar at the top: the model, the panels and the settings.

## Panels

top-bar-timeline-tip = 実行中のメモリ使用量の推移を表示します。
top-bar-plan-tip = モデルがメモリにどう収まるかを表示し、変更します。
top-bar-gallery-tip = 生成したものをすべて見られます。キー: G。

## Models

top-bar-models = モデル
top-bar-all-models-detail = このコンピューターのモデルとよく知られたモデル、およびその適合（Ctrl+M）
top-bar-all-models-tip = すべてのモデルと LoRA の画面を開きます。
top-bar-downloads = ダウンロード { $count } 件、{ $percent }
top-bar-get-models-detail = カタログ、リンク、Hugging Face
top-bar-get-models = モデルを入手…
top-bar-get-models-tip = モデルをダウンロードします。
top-bar-starter-detail = 内蔵: お試し用の小さい画像
top-bar-starter-clip-detail = 内蔵: お試し用の短い動画
top-bar-forget-model = { $name } を一覧から外す
top-bar-path = モデルのパス
top-bar-path-example = /path/to/model
top-bar-open = 開く
top-bar-loading = 読み込み中…
top-bar-failed = 開けませんでした
top-bar-model = モデル
top-bar-choose-model = モデルを選択
top-bar-component = { $role }: { $architecture }、パラメーター数 { $weights }、{ $size }
top-bar-starter = スターター
top-bar-starter-clip = 動画スターター
top-bar-choose-model-tip = 今後はこのモデルで生成します。
top-bar-upscaler = 内蔵アップスケーラー
top-bar-path-tip = モデルのファイルまたはフォルダーのパスを入力します。
