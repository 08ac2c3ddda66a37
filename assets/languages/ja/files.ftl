### Files and dialogs.

files-use-folder = このフォルダーを使う
files-up = 上へ
files-up-tip = 上の階層のフォルダーです。
files-path = フォルダーのパス
files-path-tip = Enter でこのフォルダーに移動します。
files-folder-unreadable = このフォルダーを読み込めません: { $reason }
files-folder-gone = 存在しません
files-folder-forbidden = アクセス権がありません
files-reading = 読み込み中…
files-nothing-here = ここに選べるものはありません。
files-no-folders = ここにフォルダーはありません。
files-pickle = 先に .safetensors に変換してください
files-pickle-tip = この種類のファイルは開くと任意のプログラムを実行できるため、読み込みません。
files-save = 保存
files-save-tip = この名前で画像を保存します。
files-save-name-tip = 末尾の .png、.jpg、.webp で形式が決まります。
files-name-taken = この名前のファイルがあります。
files-take-name-tip = このファイルの名前を使います。
files-carried = { $count } 個のファイル
files-not-copied = ファイルをクリップボードにコピーできません
files-not-copied-advice = フォルダーを開いて、そこでコピーしてください。
files-not-copied-gone = 移動または削除されています。ギャラリーのフォルダーを読み直してください。

## Titles of file dialogs

files-model-file = モデルファイルを開く
files-model-folder = モデルフォルダーを開く
files-library-folder = モデルのフォルダーを追加
files-input-image = 入力画像を選択
files-styles = スタイルのファイルを開く
files-tags = タグのファイルを開く
files-cuda-engine = NVIDIA GPU 用エンジンを開く
files-input-folder = 入力画像のフォルダーを選択
files-changed-folder = 画像とクリップのフォルダーを選択
files-changed-folder-clips = クリップのフォルダーを選択
files-changed-folder-images = 画像のフォルダーを選択
files-last-image = 終了画像を選択
files-keyframe = キーフレームを追加
files-reference = 参照画像を追加
files-control-clip = コントロール動画を選択
files-control-mask = コントロール動画のマスクを選択
files-input-clip = 入力動画を選択
files-mask = マスクを開く
files-adapter = LoRA を追加
files-refiner = リファイナーを開く
files-redux = Redux モデルを開く
files-gallery-folder = ギャラリーにフォルダーを追加
files-export-folder = フォルダーを選択
files-save-image = 画像を保存
files-download-folder = モデルのフォルダーを選択

## Kinds of files in file dialogs

files-kind-models = モデル
files-kind-images = 画像
files-kind-videos = 動画
files-kind-videos-and-images = 動画と画像
files-kind-loras = LoRA
files-kind-styles = スタイル
files-kind-tags = タグ
files-kind-archives = アーカイブ
files-kind-all = すべてのファイル

## What fails

files-file-unusable = このファイルは使えません
files-mask-not-saved = マスクを保存できませんでした
files-pasted-not-saved = 貼り付けた画像を保存できませんでした
files-frame-not-saved = フレームを保存できませんでした
files-image-not-saved = 画像を保存できませんでした
files-text-not-saved = 画像のテキストを保存できませんでした
files-clip-not-exported = 動画を書き出せませんでした
files-folder-unusable = このフォルダーは使えません
files-folder-unusable-advice = 別の画像フォルダーを選んでください。
files-folder-unusable-any-advice = 別の画像とクリップのフォルダーを選んでください。
files-folder-unusable-clips-advice = 別のクリップのフォルダーを選んでください。
files-folder-not-opened = フォルダーを開けませんでした
files-folder-no-program = { $path } を開くプログラムがありませんでした。
files-folder-not-opened-advice = ファイルマネージャーで開いてください。
files-setting-not-saved = 設定を保存できませんでした
files-setting-not-saved-advice = ウィンドウを閉じるまでは有効です。
files-preset-not-changed = プリセットを変更できませんでした
files-grid-not-saved = グリッドを保存できませんでした
files-not-saved-advice = ディスクの空きを増やすか、設定で別の出力フォルダーを選んでください。
files-no-frames = { $path } にフレームがありません
files-no-frames-advice = 別のファイルを選んでください。
files-no-mp4 = { $path } は MP4 ファイルではありません
files-no-mp4-advice = MP4 ファイルを選んでください。
files-unreadable = { $path } を読み込めません: { $error }
files-unreadable-advice = ファイルがまだ存在し、完全な PNG 画像であることを確認してください。

## Formats of clips

files-format-mp4 = MP4 動画
files-format-webp = アニメーション WebP
files-format-gif = アニメーション GIF
files-format-frames = PNG 画像のフォルダー
files-control-net = ControlNetを選ぶ
files-control-image = ControlNet用の画像を選ぶ
files-ip-adapter = IP-Adapterを選ぶ
files-prompt-image = 読み取る画像を選ぶ
files-map-estimator = マップ推定モデルを選ぶ
files-segmenter = セグメンテーションモデルを選ぶ
files-detector = 検出モデルを選択
files-region-mask = 領域のマスクを選択
files-language-model = 言語モデルを選ぶ
files-upscaler = アップスケーラーを選択
files-interpolator = フレーム補間モデルを選択
files-folder-tip = このフォルダーを開きます。
files-in-folder-tip = この画像はフォルダーの中にあります。選ぶのはフォルダーそのものです。
files-file-tip = このファイルを選びます。
