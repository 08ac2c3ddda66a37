### The place where models are found and downloaded.

get-search = Hugging Face を検索、またはリンクを貼り付け
get-search-tip = Hugging Face のファイルやリポジトリ、Civitai のモデルのリンク、または「所有者/名前」。それ以外の語は検索されます。
get-find = 検索
get-find-tip = リンク先を調べるか、検索します。
get-links-hint = Civitai、ほかのミラー、別の場所のファイルはリンクで使えます。
get-back = カタログに戻る
get-back-tip = カタログのモデルを再び表示します。

## The catalogue

get-catalogue = カタログ
get-kind-all = すべて
get-kind-images = 画像
get-kind-clips = 動画
get-suits-device = { $device } に適合
get-suits-computer = このコンピューターに適合
get-all-models = すべてのモデル
get-free = 空き { $memory }
get-free-tip = モデルのフォルダーがあるディスクです。
get-checking-fit = 適合を確認中
get-licence-on-page = ライセンス: ページを参照
get-needs-token = トークンが必要
get-lacks-space = 空き容量が足りません
get-lacks-space-tip = モデルのフォルダーがあるディスクの空き { $memory } では足りません。
get-version-of = { $name } のバージョン
get-version-tip = ビット数が少ないほど小さく、読み込みが速くなり、品質がわずかに下がります。

## Buttons of a model, and what they are called for a screen reader

get-open = 開く
get-open-named = { $name } を開く
get-try-again = 再試行
get-try-again-named = { $name } を再試行
get-go-on = 続ける
get-go-on-named = { $name } を続ける
get-again = もう一度
get-again-named = { $name } をもう一度
get-download = ダウンロード
get-download-named = { $name } をダウンロード
get-open-tip = 以後、このモデルで生成します。
get-again-tip = このバージョンのファイルはすでにこのコンピューターにあります。
get-download-tip = モデルのフォルダーにダウンロードします。
get-fit-unknown = 予測なし
get-checking = 確認中…

## How servers are reached

get-connection = 接続
get-mirror = ミラー
get-mirror-tip = Hugging Face のミラーです。空欄の場合は HF_ENDPOINT、または Hugging Face 自体を使います。
get-proxy = プロキシ
get-proxy-tip = 空欄の場合は HTTPS_PROXY など環境のものを使います。
get-use = 使う
get-use-tip = 以後に始まるものに使います。
get-token = Hugging Face のトークン
get-token-tip = 条件への同意が必要なモデルのためのものです。
get-token-keep = キーリングに保存
get-token-keep-tip = システムのキーリングにだけ保存します。
get-token-remove = 削除
get-token-remove-tip = キーリングから削除します。
get-hugging-face-token-keep = Hugging Face のトークンをキーリングに保存
get-hugging-face-token-remove = Hugging Face のトークンを削除
get-token-kept = キーリングにトークンがあります。
get-token-hint = ここにない場合は HF_TOKEN と `hf auth login` のトークンを使います。トークンは上のサーバーが求めたときだけ、そのサーバーに渡されます。
get-civitai-token = Civitai のトークン
get-civitai-token-tip = サインインした人だけがダウンロードできるモデルのためのものです。
get-civitai-token-keep = Civitai のトークンをキーリングに保存
get-civitai-token-remove = Civitai のトークンを削除
get-civitai-token-hint = ここにない場合は CIVITAI_API_TOKEN を使います。トークンは Civitai が求めたときだけ、Civitai に渡されます。

## What a link leads to, and what a search has found

get-looking = 「{ $what }」を調べています…
get-offline = 接続がありません
get-offline-advice = 接続、プロキシ、ミラーを確認してから、もう一度お試しください。
get-not-found = 見つかりませんでした
get-licence = ライセンス: { $licence }
get-gated = 先にトークンのアカウントで、ページ上の条件に同意する必要があります（右の「接続」を参照）。
get-open-page = ページを開く
get-open-page-tip = ページをブラウザーで開きます。
get-unknown-size = サイズ不明
get-files = { $name } · { $count } 件のファイル
get-results = Hugging Face の「{ $words }」
get-no-results = 何も見つかりませんでした。語を減らすと見つかりやすくなります。
get-show-files = ファイルを表示
get-show-files-of = { $name } のファイルを表示
get-families = Sluice が生成できるのは一部のモデル系統だけです。ほかの系統のファイルはダウンロード後にそう表示されます。
get-downloads-a-month = 月間 { $count } ダウンロード
get-likes = いいね { $count } 件

## Running, finished and failed downloads

get-downloads = ダウンロード
get-downloads-none = ダウンロード中のものはありません。一時停止または中断したものは、後で続きから再開されます。
get-verified = { $size }、検証済み
get-size-checked = { $size }、サイズを確認済み（SHA-256 は公開されていません）
get-open-this = このモデルを開く
get-show-in-folder = フォルダーで表示
get-phase-waiting = ほかの完了を待っています
get-phase-connecting = 接続中
get-phase-checking = 手元の分を読み込み中
get-phase-paused = 一時停止中
get-phase-retrying = { $why }。再試行します
get-phase-offline = { $why }。接続が戻ると続けます
get-take-off = { $title } を一覧から外す
get-cancel = { $title } をキャンセルし、手元の分を削除
get-resume = { $title } を続ける
get-retry = { $title } を再試行
get-pause = { $title } を一時停止
get-folder = モデルのフォルダー
get-free-on-disk = このディスクの空き { $memory }
get-another-folder = 別のフォルダー…
get-another-folder-tip = 例: ComfyUI の models フォルダー。ファイルはその中の種類別フォルダーに入ります。
get-reset = リセット
get-reset-tip = 再び Sluice 自身のフォルダーを使います。
get-catalogue-as-of = 名前とサイズは { $date } 時点のものです。適合は、ファイルのビット数に応じてバージョンごとに判定します。
get-kind-all-tip = 画像用とクリップ用のモデルを一覧します。
get-kind-images-tip = 画像用のモデルを一覧します。
get-kind-clips-tip = クリップ用のモデルを一覧します。
get-go-on-tip = 止まったところからダウンロードを続けます。
get-connection-tip = ミラー、プロキシ、トークンを表示します。
get-try-again-tip = サーバーにもう一度問い合わせます。
get-show-files-tip = このリポジトリからダウンロードできるものを一覧します。
