### The image in the middle, its bars and the list below.

## The middle of the window

viewer-live-preview = ライブプレビュー
viewer-next-clip = 次はあなたの動画です
viewer-next-image = 次はあなたの画像です
viewer-next-tip = エンジンが開始し次第ここに表示されます。
viewer-describe-image = 左で画像を説明し、「生成」を押してください。
viewer-describe-image-or-example = 左で画像を説明するか、例から始めてください。
viewer-describe-clip = 左で動画を説明し、「生成」を押してください。
viewer-describe-clip-or-example = 左で動画を説明するか、例から始めてください。
viewer-what-to-create = 何を作りますか？
viewer-model-loading = モデルを読み込み中…
viewer-model-loading-tip = しばらくお待ちください。
viewer-model-missing-tip = 上から選ぶか、ディスクから開いてください。
viewer-model-missing = モデルが読み込まれていません
viewer-model-open = モデルファイルを開く…
viewer-replanned-dismiss = 新しいプランの通知を閉じる
viewer-replanned = 新しいプランで実行を続けます
viewer-replanned-times = 新しいプランで実行を続けます（{ $count } 回変更）
viewer-dismiss = 閉じる
viewer-dismiss-all = { $count } 件すべてを閉じる
viewer-copy-message = メッセージをコピー
viewer-more-failures = ほか { $count } 件
viewer-drop = 画像をドロップすると、その画像から始めるか設定を使えます
viewer-drop-model = モデルや LoRA をドロップすると読み込みます
viewer-unfinished-question = 生成中に Sluice が終了しました。中断したところから再開しますか？
viewer-unfinished-resume = 再開
viewer-unfinished-discard = 破棄
viewer-unfinished = 未完了の画像 { $count } 枚
viewer-live-thumbnail = ライブプレビューのサムネイル

## The bar under the image

viewer-zoom-actual-tip = 画像の 1 ピクセルを画面の 1 ピクセルで表示します。画像のダブルクリックで切り替わります。
viewer-zoom-fit-tip = 画像全体を表示します。ホイールで拡大縮小、ドラッグで移動します。
viewer-zoom-fit = 全体表示
viewer-compare-tip = 下の一覧で選ぶ別の画像と比較します。キー: C
viewer-compare = 比較
viewer-compare-stop = 比較をやめる
viewer-compare-stop-tip = キー: Esc
viewer-compare-swap = A と B を入れ替える
viewer-compare-side-by-side = 横に並べる
viewer-compare-side-by-side-tip = 仕切りを使わず、画像を横に並べて表示します。
viewer-compare-choose = 比較する画像を下からクリックしてください
viewer-copy-frame = フレームをコピー
viewer-save-frame = フレームを PNG で保存
viewer-use-frame = フレームを入力画像に使う
viewer-use-frame-as-end = フレームを終了画像に使う
viewer-extend-tip = 再生範囲の終わりからこの動画の続きを作ります。
viewer-extend = 延長
viewer-similar-tip = これに似た 4 枚の画像です。同じシードに、ほかのシードのノイズを少し混ぜます。
viewer-variations-tip = 同じ設定で、別のシードの画像を 4 枚作ります。
viewer-use-settings-tip = この画像を作ったプロンプト、シード、その他すべての設定を読み込みます。
viewer-actions = 操作
viewer-actions-spoken = 画像の操作
viewer-export-as = { $format } で書き出す
viewer-export-range = 再生範囲を書き出す
viewer-export = 書き出す
viewer-caption-frames = { $count } フレーム
viewer-caption-rate = { $rate } fps
viewer-caption-seed = シード { $seed }
viewer-caption-steps = { $count } ステップ
viewer-caption-guidance = ガイダンス { $guidance }
viewer-caption-took = 所要時間 { $time }
viewer-divider = 仕切り
viewer-divider-tip = ドラッグするか矢印キーで比較します。

## Painting a mask

viewer-mask = 画像上のマスク
viewer-brush = ブラシ
viewer-brush-tip = ブラシの大きさ（画像のピクセル単位）。
viewer-mask-rectangle = 長方形
viewer-mask-lasso = なげなわ
viewer-mask-tool = ツール
viewer-mask-tool-tip = ストローク、長方形、手描きの輪郭で塗ります。
viewer-brush-size = ブラシの大きさ
viewer-mask-grow = { $pixels }ピクセル広げる
viewer-mask-shrink = { $pixels }ピクセル縮める
viewer-mask-paint = 塗る
viewer-mask-paint-tip = 変更したい部分に印を付けます。
viewer-mask-erase = 消す
viewer-mask-erase-tip = その部分の印を消します。
viewer-mask-undo-tip = 直前のストロークを元に戻します。キー: Ctrl+Z
viewer-mask-undo = ストロークを元に戻す
viewer-mask-invert = 反転
viewer-mask-clear = クリア
viewer-mask-apply = マスクを適用
viewer-mask-discard-tip = 塗るのをやめ、前のマスクを残します。
viewer-mask-discard = 破棄

## Playing a clip

viewer-pause = 一時停止
viewer-play = 再生
viewer-play-tip = キー: スペース
viewer-previous-frame = 前のフレーム
viewer-previous-frame-tip = キー: ←
viewer-next-frame = 次のフレーム
viewer-next-frame-tip = キー: →
viewer-mute = ミュート
viewer-mute-tip = 音を出さずに再生します。音は通常の速度で順方向に再生したときだけ聞こえます。キー: M
viewer-boomerang = ブーメラン
viewer-boomerang-tip = 順方向と逆方向に交互に再生します。
viewer-play-whole = 動画全体を再生
viewer-play-whole-tip = 設定した開始と終了を取り除きます。
viewer-end-here = ここで終了
viewer-end-here-tip = このフレームまでだけ再生します。キー: O
viewer-start-here = ここから開始
viewer-start-here-tip = このフレームから再生します。キー: I
viewer-speed = 速度
viewer-speed-tip = 再生速度です。
viewer-place-tip = フレームと時間です。
viewer-range-start = 範囲の開始
viewer-range-start-tip = 範囲の開始、フレーム { $frame }
viewer-range-end = 範囲の終了
viewer-range-end-tip = 範囲の終了、フレーム { $frame }
viewer-frame = フレーム
viewer-frame-at = フレーム { $frame } · { $time }
viewer-use-frame-as-end-tip = 次のクリップをこのフレームで終わらせます。
viewer-use-frame-tip = このフレームを保存し、次の画像やクリップの入力に使います。
viewer-save-frame-tip = このフレームを設定とともに出力フォルダーに保存します。
viewer-copy-frame-tip = このフレームのピクセルをクリップボードにコピーします。
viewer-actions-tip = この画像に対する操作。
viewer-export-range-tip = 再生範囲を新しいファイルに書き出します。
viewer-upscale = 拡大…
viewer-upscale-tip = アップスケーラーで拡大する
viewer-unfinished-resume-tip = 最後に終わったステップの続きから再びキューに入れます。
viewer-unfinished-discard-tip = 破棄し、描かれた分だけでグリッドを合成します。
viewer-dismiss-tip = このメッセージを閉じます。
viewer-dismiss-all-tip = すべてのメッセージを閉じます。
viewer-copy-message-tip = メッセージと対処法をクリップボードにコピーします。
viewer-live-thumbnail-tip = 生成中の画像を表示します。
viewer-frame-tip = ドラッグするか、矢印キーでフレームを移動します。
viewer-mask-apply-tip = このマスクを入力画像に使います。
