### Words that several areas of the window share.

common-close = Close
common-cancel = Cancel
common-open-folder = Open folder
common-time-left = { $time } left
common-almost-done = almost done
common-part-of-whole = { $part } of { $whole }
common-aspect = Aspect { $aspect }
common-automatic = automatic
common-in-unit = { $name } in { $unit }
common-close-tip = Closes this, as Esc does.
common-edit-cut = Cut
common-edit-copy = Copy
common-edit-paste = Paste
common-edit-all = Select all

## Keys, as they are labelled on keyboards

common-key-ctrl = Ctrl
common-key-shift = Shift
common-key-enter = Enter
common-key-esc = Esc
common-key-space = Space
common-key-del = Del
common-key-home = Home
common-key-end = End
common-key-comma = Comma
common-key-plus = Plus
common-key-minus = Minus
