### Words that several areas of the window share.

common-close = 关闭
common-cancel = 取消
common-open-folder = 打开文件夹
common-time-left = 剩余 { $time }
common-almost-done = 即将完成
common-part-of-whole = { $part } / { $whole }
common-aspect = 宽高比 { $aspect }
common-automatic = 自动
common-in-unit = { $name }，单位 { $unit }
common-close-tip = 关闭此处，与 Esc 相同。
common-edit-cut = 剪切
common-edit-copy = 复制
common-edit-paste = 粘贴
common-edit-all = 全选

## 按键名称

common-key-ctrl = Ctrl
common-key-shift = Shift
common-key-enter = Enter
common-key-esc = Esc
common-key-space = 空格
common-key-del = Del
common-key-home = Home
common-key-end = End
common-key-comma = 逗号
common-key-plus = 加号
common-key-minus = 减号
