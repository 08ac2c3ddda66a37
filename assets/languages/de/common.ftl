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
