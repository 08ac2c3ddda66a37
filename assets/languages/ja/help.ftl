### The sheet of keys, opened with F1.

## Keys, and what they do

help-escape = 入力欄から出る、開いているものを閉じる、または生成中の画像をキャンセル
help-left-right = 前または次の画像（動画ではフレーム）
help-up-down = 一覧の前または次の画像や動画
help-space = 動画を再生または一時停止
help-home-end = 再生範囲の最初または最後のフレーム
help-range = このフレームから、またはこのフレームまで再生
help-gallery = ギャラリーで: スター、ゴミ箱に移動、書き出し
help-delete = 画像や動画をゴミ箱に移動（元に戻せます）
help-weights = プロンプトで: カーソル位置の語の重みを増減
help-undo = テキストの編集またはマスクのストロークを元に戻す
help-paste = クリップボードの画像を使う
help-brush = ブラシを小さく、または大きく
help-zoom = ウィンドウの内容を拡大、または縮小
help-tab = 次または前のコントロール
help-canvas = 画像上で: 拡大縮小、移動、全体表示と 100% の切り替え
help-canvas-keys = ホイール、ドラッグ、ダブルクリック
help-menu = 画像や待機中のジョブで: できることを表示
help-menu-keys = 右クリック
