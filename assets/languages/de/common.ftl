### Wörter, die mehrere Bereiche des Fensters gemeinsam haben.

common-close = Schließen
common-cancel = Abbrechen
common-open-folder = Ordner öffnen
common-time-left = noch { $time }
common-almost-done = fast fertig
common-part-of-whole = { $part } von { $whole }
common-aspect = Seitenverhältnis { $aspect }
common-automatic = automatisch
common-in-unit = { $name } in { $unit }
common-close-tip = Schließt dies, wie Esc.
common-edit-cut = Ausschneiden
common-edit-copy = Kopieren
common-edit-paste = Einfügen
common-edit-all = Alles auswählen

## Tasten, wie sie auf Tastaturen heißen

common-key-ctrl = Strg
common-key-shift = Umschalt
common-key-enter = Eingabe
common-key-esc = Esc
common-key-space = Leertaste
common-key-del = Entf
common-key-home = Pos1
common-key-end = Ende
common-key-comma = Komma
common-key-plus = Plus
common-key-minus = Minus
