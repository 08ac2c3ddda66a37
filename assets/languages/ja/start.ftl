### What a window without a model shows.

start-looking = このコンピューターを調べています…
start-finding = 適したモデルを探しています…
start-quickest = GPU がない場合はこれらが最も速いモデルです。ほぼ何でも描けますが、一度ダウンロードが必要です:
start-suited = これらのモデルが適しています。ほぼ何でも描けますが、一度ダウンロードが必要です:
start-get-others = ほかのモデルを入手…
start-get-others-tip = カタログ全体、リンク、Hugging Face。
start-have-models = モデルを持っています
start-have-models-tip = ComfyUI、A1111 などのプログラムのモデルや、自分のフォルダーのモデルを探します。
start-models-found = { $count } 個のモデルが見つかりました
start-models-found-tip = 見つかったモデルの一覧を開きます。
start-licence = ライセンスはページを参照
