### The gallery.

## Search and filters

gallery-title = ギャラリー
gallery-close = ギャラリーを閉じる
gallery-close-tip = 画像に戻ります。キー: Esc
gallery-thumbnail-size = サムネイルの大きさ
gallery-thumbnail-size-tip = サムネイルの表示サイズです。
gallery-search-hint = プロンプト、モデル、LoRA、シード、タグ、コレクションを検索
gallery-search = 検索
gallery-search-tip = すべての語を含むものを探します。-語 は除外、"二つの 語" はひと続きとして扱い、model: prompt: negative: lora: seed: tag: collection: name: date: from: to: で検索する場所を指定します。キー: Ctrl+F
gallery-files = { $count } 件のファイル
gallery-files-shown = { $count } 件中 { $shown } 件のファイル
gallery-files-reading = { $count } 件のファイル、残り { $unread } 件を読み込み中…
gallery-files-shown-reading = { $count } 件中 { $shown } 件のファイル、残り { $unread } 件を読み込み中…
gallery-kind-all = すべて
gallery-kind-all-tip = 画像と動画を表示します。
gallery-kind-images = 画像
gallery-kind-images-tip = 画像だけを表示します。
gallery-kind-clips = 動画
gallery-kind-clips-tip = 動画だけを表示します。
gallery-starred-only = スター付きのみ
gallery-starred-only-tip = スターを付けたものだけを表示します。
gallery-model = モデル
gallery-model-all = すべてのモデル
gallery-model-tip = このモデルで作ったものだけを表示します。
gallery-tag = タグ
gallery-tag-all = すべてのタグ
gallery-tag-tip = このタグが付いたものだけを表示します。
gallery-date = 日付
gallery-date-tip = この期間に作ったものだけを表示します。
gallery-order = 並び順
gallery-order-tip = 画像を表示する順番です。
gallery-folders = フォルダー
gallery-folders-spoken = ギャラリーのフォルダー
gallery-output-folder = 出力フォルダー
gallery-output-folder-tip = このフォルダーを開きます。
gallery-folder-remove = { $path } をギャラリーから外す
gallery-folder-open = { $path } を開く
gallery-folder-add = フォルダーを追加…
gallery-folder-add-tip = ほかのプログラムのものなど、別のフォルダーの画像も表示します。
gallery-folders-read = フォルダーを読み直す
gallery-folders-read-tip = ほかのプログラムによる変更を探します。キー: F5。
gallery-when-always = 全期間
gallery-when-today = 今日
gallery-when-week = 過去 7 日間
gallery-when-month = 過去 30 日間
gallery-when-year = 過去 1 年間
gallery-sort-newest = 新しい順
gallery-sort-oldest = 古い順
gallery-sort-name = 名前順
gallery-sort-model = モデル順
gallery-sort-size = ファイルの大きい順

## The grid

gallery-thumbnails = サムネイル
gallery-broken = このファイルは表示できません: { $reason }
gallery-unstar-spoken = { $name } のスターを外す
gallery-star-spoken = { $name } にスターを付ける
gallery-unstar-tip = スターを外します。
gallery-star-here-tip = スターを付けます。キー: S。
gallery-reading = 画像を読み込み中…
gallery-reading-tip = 読み込み次第表示されます。
gallery-nothing-found = 見つかりませんでした
gallery-nothing-found-tip = 検索と絞り込みで { $count } 件のファイルが除かれています。
gallery-empty-tip = 生成したものは { $folder } に保存され、ここに表示されます。
gallery-empty-without-folder = 出力フォルダーがないため、画像は保存されません。設定で選択してください。
gallery-empty = 画像はまだありません
gallery-clear-search = 検索と絞り込みを解除
gallery-clear-search-tip = すべてを再び表示します。
gallery-search-clear = 検索を消去
gallery-search-clear-tip = 検索欄を空にします。絞り込みは残ります。

## What can be done with images

gallery-open = 開く
gallery-open-tip = ビューアーに表示します。キー: Enter。
gallery-copy-prompt-tip = プロンプトをクリップボードにコピーします。
gallery-copy-files = ファイルをコピー
gallery-copy-files-tip = ファイルそのものをコピーします。フォルダー、チャット、ブラウザーに貼り付けられます。キー: Ctrl+Shift+C
gallery-show-in-folder = フォルダーで表示
gallery-show-in-folder-tip = このファイルのフォルダーを開きます。
gallery-use-as-image-tip = この画像から次の画像を作ります。
gallery-use-as-clip = 入力動画に使う
gallery-use-as-clip-tip = この動画から次の動画を作ります。
gallery-export-ask-tip = PNG、JPEG、WebP のコピーを、設定の有無を選んで書き出します。キー: Ctrl+E
gallery-export-ask = 書き出す…
gallery-trash-tip = 削除します。元に戻せます。キー: Del。
gallery-trash = ゴミ箱に移動
gallery-star = スターを付ける
gallery-star-tip = 後で見つけられるように印を付けます。

## What is selected

gallery-nothing-selected = 何も選択されていません
gallery-nothing-selected-click = 画像をクリックすると設定が表示され、ダブルクリックすると開きます。
gallery-nothing-selected-several = Ctrl または Shift を押しながらクリックすると複数選択できます。右クリックでできることが表示されます。
gallery-prompt = プロンプト
gallery-starred = スター付き
gallery-starred-key-tip = スターを外します。キー: S。
gallery-star-key-tip = 後で見つけられるように印を付けます。キー: S。
gallery-selected = { $count } 件を選択中
gallery-compare-tip = 両方をビューアーで、仕切りまたは横並びで比較します。キー: C。
gallery-compare = 比較
gallery-deselect-tip = すべてを残し、選択を解除します。
gallery-deselect = 選択を解除
gallery-tags = タグ
gallery-tag-remove = タグ { $tag } を外す
gallery-tag-add = タグを追加
gallery-tag-add-tip = これらの画像を見つけるための語です。Enter で追加します。
gallery-collections = コレクション
gallery-collections-tip = コレクションの一覧を表示または非表示にします。
gallery-within-all = すべてのファイル
gallery-within-all-tip = コレクションに入っているかどうかに関わらず、すべて表示します。
gallery-within-none = コレクションなし
gallery-within-none-tip = どのコレクションにも入っていないものだけを表示します。
gallery-collections-none = まだありません。画像は複数のコレクションに入れられます。ファイルの場所は変わりません。
gallery-collection-tip = { $name } を表示します。もう一度押すとすべて表示します。画像をここへドラッグすると追加されます。
gallery-collection-new = 新しいコレクション…
gallery-collection-new-tip = 新しいコレクションに名前を付けます。ここへドラッグした画像が最初に入ります。
gallery-collection-new-selected-tip = これらのために新しいコレクションを作ります。
gallery-collection-name = コレクションの名前
gallery-collection-name-tip = Enter で決定、Esc で取り消します。
gallery-collection-taken = この名前のコレクションがあります。
gallery-collection-rename = 名前を変更…
gallery-collection-rename-tip = コレクションの名前を変えます。
gallery-collection-delete = コレクションを削除
gallery-collection-delete-tip = コレクションを削除します。画像は残ります。
gallery-collection-deleted = コレクション { $name } を削除しました
gallery-collection-deleted-detail = { $count } 件のファイルはそのまま残っています。
gallery-collection-empty = { $name } は空です
gallery-collection-empty-tip = すべてのファイルを表示し、画像をコレクションの名前へドラッグしてください。
gallery-collect = コレクションに追加
gallery-collect-tip = 選択したものをコレクションに追加します。複数に入れられます。
gallery-collect-in = { $name } に追加します。
gallery-collected = { $count } 件のファイルを { $name } に追加しました
gallery-collection-made = コレクション { $name } を作成しました
gallery-collection-leave = このコレクションから外す
gallery-collection-leave-named = コレクション { $name } から外す
gallery-negative-prompt = ネガティブプロンプト
gallery-made-with = 作成したプログラム
gallery-not-taken-over = 完全には引き継げません
gallery-none = なし

## What was just done

gallery-dismiss = メッセージを閉じる
gallery-undo = 元に戻す
gallery-undo-tip = 直前の操作を取り消します。キー: Ctrl+Z
gallery-exported-folder-tip = 書き出したファイルを表示します。
gallery-not-restored = 一部を元に戻せませんでした
gallery-restored-one = { $name } を元に戻しました
gallery-restored = { $count } 件のファイルを元に戻しました
gallery-not-trashed = 一部をゴミ箱に移動できませんでした
gallery-trashed-one = { $name } をゴミ箱に移動しました
gallery-trashed = { $count } 件のファイルをゴミ箱に移動しました
gallery-trashed-tip = ゴミ箱の「戻す」で元に戻せます。
gallery-exporting = { $count } 枚中 { $number } 枚目を書き出し中…
gallery-not-exported = { $count } 件のファイルを書き出せませんでした
gallery-exported = { $count } 件のファイルを書き出しました
gallery-export-clips = { $count } 本の動画は、中の設定も含めてそのままコピーされます。
gallery-trash-gone = すでにゴミ箱にありません
gallery-trash-put-back = ゴミ箱の「戻す」を選んでください
gallery-trash-advice = このファイルはファイルマネージャーで操作してください。
gallery-marks-unreadable-advice = このファイルを修復するか削除してください。それまでスター、タグ、コレクションは変更できません。
gallery-marks-unreadable = スター、タグ、コレクションを読み込めません
gallery-marks-unsaved = スター、タグ、コレクションを保存できませんでした
gallery-marks-unsaved-advice = ディスクの空きを増やして、もう一度お試しください。
gallery-marks-newer = 新しいバージョンの Sluice が書いたものです

## Export

gallery-export-files = { $count } 件のファイルを書き出す
gallery-export-format = 形式
gallery-export-quality = 品質
gallery-export-quality-tip = 高いほど元の画像に近く、ファイルが大きくなります。
gallery-export-settings = 設定を含める
gallery-export-settings-tip = 作り方をファイルに記録するかどうかです。設定を含めなければ、ファイルからプロンプトを読み取ることはできません。
gallery-export-name = ファイル名
gallery-export-field = { $field }: { $meaning }
gallery-export-example = 例: { $path }
gallery-export = 書き出す
gallery-export-tip = ファイルを書き込みます。既存のファイルは残ります。
gallery-export-folder = フォルダーを選択…
gallery-export-folder-tip = ファイルの書き込み先です。
gallery-export-cancel-tip = キー: Esc
gallery-export-advice = 別のフォルダーを選ぶか、ディスクの空きを増やしてください。
gallery-export-name-advice = ファイル名を変更してください。
gallery-upscale-tip = 選択したものをすべて拡大する。
gallery-interpolate-tip = 選択したクリップの動きをすべて滑らかにする。

## 画像に含まれる設定の名前

gallery-setting-keyframe = キーフレーム
gallery-setting-extended-clip = 延長元の動画
gallery-setting-clip-frames = 動画のフレーム
gallery-setting-reference-image = 参照画像
gallery-setting-reference-strengths = 参照の強さ
gallery-setting-input-image = 入力画像
gallery-setting-inpaint-area = インペイント範囲
gallery-setting-refiner = リファイナー
gallery-setting-template = テンプレート
gallery-setting-negative-template = ネガティブのテンプレート
gallery-setting-upscaled-by = 拡大率
gallery-setting-interpolated-by = フレーム補間の倍率
gallery-setting-version = バージョン
gallery-setting-guidance-interval = ガイダンスの範囲
gallery-setting-frames = フレーム数
gallery-setting-axis-x = X 軸
gallery-setting-axis-y = Y 軸
gallery-setting-axis-z = Z 軸
