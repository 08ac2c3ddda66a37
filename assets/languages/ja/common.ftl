### Words that several areas of the window share.

common-close = 閉じる
common-cancel = キャンセル
common-open-folder = フォルダーを開く
common-time-left = 残り { $time }
common-almost-done = まもなく完了
common-part-of-whole = { $part } / { $whole }
common-aspect = 縦横比 { $aspect }
common-automatic = 自動
common-in-unit = { $name }（{ $unit }）
common-close-tip = これを閉じます（Esc でも閉じます）。
common-edit-cut = 切り取り
common-edit-copy = コピー
common-edit-paste = 貼り付け
common-edit-all = すべて選択

## キーの名前

common-key-ctrl = Ctrl
common-key-shift = Shift
common-key-enter = Enter
common-key-esc = Esc
common-key-space = スペース
common-key-del = Del
common-key-home = Home
common-key-end = End
common-key-comma = カンマ
common-key-plus = プラス
common-key-minus = マイナス
