### The settings, opened with Ctrl+Comma.

settings-title = 設定
settings-search = 設定を検索
settings-nothing-found = 「{ $search }」に関する設定はありません。語を減らすと見つかりやすくなります。

## Sections

settings-section-look = 外観
settings-section-saving = 保存
settings-section-folders = フォルダー
settings-section-prompts = プロンプト
settings-section-engine = エンジン
settings-section-about = Sluice について

## Words by which a setting is found, beside those that it shows

settings-words-theme = テーマ ダーク ライト システム 色 配色
settings-words-scale = 内容の大きさ 拡大縮小 ズーム フォント 文字
settings-words-notifications = 通知 デスクトップ お知らせ
settings-words-motion = 動きを減らす アニメーション アクセシビリティ
settings-words-previews = 生成中 ライブプレビュー
settings-words-sound = 音 サウンド ミュート 消音 動画
settings-words-rendering = アプリ 描画 GPU 統合 内蔵 専用 VRAM
settings-words-output = 出力フォルダー 保存先 画像 動画
settings-words-format = 画像形式 png jpeg webp 品質
settings-words-codec = 動画 コーデック codec h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = ファイル名 テンプレート 日付 シード プロンプト
settings-words-folders = モデル lora checkpoint ギャラリー
settings-words-connection = ミラー プロキシ トークン mirror proxy token hugging face ダウンロード 接続
settings-words-styles = スタイル csv json プロンプト
settings-words-tags = タグ csv danbooru 補完 オートコンプリート
settings-words-engine = コンピューター ssh コマンド リモート クラスター slurm docker
settings-words-about = バージョン ライセンス エンジン データ ログ 報告 問題 サポート プライバシー 更新
settings-words-language = 言語 翻訳 ロケール language

## The window

settings-language = 言語
settings-language-of-system = システムの言語
settings-language-without-font = 次の言語の文字を含むフォントがこのコンピューターにありません: { $languages }。Noto Sans CJK に含まれています。
settings-theme = テーマ
settings-theme-system = システム
settings-theme-dark = ダーク
settings-theme-light = ライト
settings-scale = 内容の大きさ
settings-scale-tip = 文字とコントロールを拡大縮小します。キー: Ctrl+プラス、Ctrl+マイナス
settings-motion = 動きを減らす
settings-motion-system = システム（{ $now }）
settings-motion-on = オン
settings-motion-off = オフ
settings-motion-tip = パネルやポップアップがフェードせず、すぐに表示されます。動画は操作するまで再生されません。
settings-notifications = キューが終わったら通知する
settings-notifications-tip = ほかのウィンドウが手前にあるとき、デスクトップに通知します。
settings-previews = ライブプレビュー
settings-previews-tip = 生成中の画像を表示します。
settings-mute = 動画をミュート
settings-mute-tip = 動画を音なしで再生します。キー: M。
settings-rendering = アプリの描画に使う GPU
settings-rendering-integrated = 統合 GPU
settings-rendering-dedicated = 専用 GPU
settings-rendering-hint = 統合 GPU を使うと、専用 GPU の VRAM をすべてモデルに使えます。再起動後に有効になります。
settings-rendering-hint-now = 統合 GPU を使うと、専用 GPU の VRAM をすべてモデルに使えます。再起動後に有効になります。現在: { $gpu }。

## Where images and clips are saved

settings-output = 出力フォルダー
settings-output-none = 何も保存されません。このユーザーには画像用のフォルダーがありません。
settings-output-choose = 選択…
settings-format = 画像形式
settings-format-hint = PNG はすべてのピクセルを保ちます。JPEG と WebP は小さくなりますが、わずかに劣化します。どれも設定を保存します。
settings-codec = 動画コーデック
settings-codec-tip = 新しい動画の圧縮方法です。
settings-codec-hint = H.264 はどこでも再生でき、音も残ります。ほかは ffmpeg が必要で、音は含まれません。
settings-names = ファイル名
settings-names-example = 例: { $name }
settings-folders-models = モデルのフォルダー…
settings-folders-gallery = ギャラリーのフォルダー…

## About Sluice

settings-licence = ライセンス: { $licence }。ほかのコンピューターから接続されることはありません。
settings-licences = 同梱物のライセンス
settings-licences-tip = Sluice に同梱されているフォント、アイコン、アップスケーラー、トークナイザー。
settings-licences-of = { $name } のライセンス。
settings-data = 過去の実行、スター、タグ
settings-data-open = 過去の実行、スター、タグのフォルダーを開く
settings-cache = サムネイルなど、作り直せるもの
settings-cache-open = サムネイルなど、作り直せるもののフォルダーを開く
settings-logs = 過去数日間のログ
settings-logs-open = 過去数日間のログのフォルダーを開く
settings-report = 問題を報告
settings-report-hint = マシン、モデル、設定、最近のメッセージ、ログの末尾をコピーします。
settings-report-all = パスとプロンプトを含める
settings-report-all-tip = 含めない場合、レポートにはプロンプトもファイル名やフォルダー名も入りません。
settings-report-copy = レポートをコピー
settings-engine = エンジン: { $engine }
settings-engine-within = エンジン: 独立したプロセスでは動いていません

## What a field of a template of names becomes

settings-field-name = ファイルの名前
settings-field-number = 書き出しでの順番（1 から）
settings-field-date = 作成日
settings-field-seed = シード
settings-field-model = モデル
settings-field-prompt = プロンプトの先頭
settings-field-width = 1 行のピクセル数
settings-field-height = 行数
settings-field = { $field }: { $meaning }
settings-language-tip = ウィンドウの言語。すぐに切り替わります。
settings-rendering-integrated-tip = 高速な GPU のメモリをモデルに残します。
settings-rendering-dedicated-tip = ウィンドウを速く描きますが、モデルのメモリを使います。
settings-format-png-tip = すべてのピクセルを保ち、ファイルは大きくなります。
settings-format-jpeg-tip = どこでも開ける小さなファイルですが、わずかに劣化します。
settings-format-webp-tip = 最も小さなファイルですが、わずかに劣化します。
settings-output-choose-tip = 新しい画像とクリップを別のフォルダーに保存します。
settings-open-folder-tip = ファイルマネージャーでフォルダーを表示します。
settings-names-tip = 新しいファイルの名前を決め、波括弧の中は置き換えられます。
settings-folders-models-tip = フォルダーを追加できるモデルの画面を開きます。
settings-folders-gallery-tip = フォルダーを追加できるギャラリーを開きます。
settings-report-copy-tip = 不具合の調査に役立つ情報をクリップボードにコピーします。
settings-search-tip = 語句で設定を探します。

settings-words-updates = 更新 アップデート バージョン 新しい
settings-updates = 起動時に新しいバージョンを確認する
settings-updates-tip = リリースを知らせるページに問い合わせます。送るのはプログラムの名前とバージョンだけです。
settings-updates-now = 今すぐ確認
settings-updates-now-tip = 最新のバージョンを一度だけ問い合わせます。
settings-updates-page = ページを開く
settings-updates-asking = 確認中…
settings-updates-newest = 最新のバージョンです。
settings-updates-newer = Sluice { $version } があります。
settings-updates-nowhere = このビルドには、新しいバージョンを知らせるページが設定されていません。
settings-libraries = ライブラリ
settings-libraries-tip = このプログラムに含まれるライブラリとそのライセンス。
settings-tags = タグ
settings-tags-open = タグのファイルを追加…
settings-tags-open-tip = a1111-tagcomplete の CSV ファイルです。入力中にプロンプトを補完します。
settings-tags-count = 入力中に { $count } 個のタグが候補になります。
settings-file-remove = { $name } を外す
