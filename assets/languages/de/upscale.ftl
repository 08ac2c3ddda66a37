### The question before images and clips are enlarged.

upscale-title = { $count } Dateien vergrößern
upscale-title-one = { $name } vergrößern
upscale-model = Vergrößerer
upscale-model-tip = Das Netz, das vergrößert.
upscale-open = Datei wählen…
upscale-open-tip = Einen eigenen Vergrößerer verwenden: eine .safetensors-Datei von ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR oder RealPLKSR.
upscale-scale = Faktor
upscale-start = Vergrößern
upscale-start-tip = Wie andere Aufträge einreihen.
upscale-cancel-tip = Nichts vergrößern.
upscale-reading = Dateien werden gelesen…
upscale-asking = Der Aufwand wird berechnet…
upscale-more-refused = { $count } weitere Dateien lassen sich nicht vergrößern
upscale-sizes = Aus { $before } wird { $after }
upscale-takes = Dauert etwa { $time } und braucht bis zu { $memory } Speicher
upscale-takes-there = Dauert auf jener GPU etwa { $time } und braucht bis zu { $memory } Speicher
upscale-beside = Ergebnisse kommen unter neuen Namen neben die Originale
upscale-queued =
    { $count ->
        [one] 1 Datei wird vergrößert
       *[other] { $count } Dateien werden vergrößert
    }
upscale-built-in = Mitgeliefert, für Zeichnungen
upscale-chosen = { $name } ist ein Vergrößerer: „Vergrößern…“ verwendet ihn von jetzt an
upscale-scale-tip = Das Ergebnis ist { $scale } so breit und so hoch.
upscale-folder = Ordner wählen…
upscale-folder-tip = Die Dateien eines Ordners nehmen; ihre Ergebnisse kommen in einen Ordner gleichen Namens.
upscale-folder-empty = { $name } enthält keine Bilder oder Clips.
upscale-done =
    { $count ->
        [one] { $count } Datei ist fertig und wird ausgelassen
       *[other] { $count } Dateien sind fertig und werden ausgelassen
    }
upscale-again =
    { $count ->
        [one] Sie noch einmal erstellen
       *[other] Sie alle noch einmal erstellen
    }
upscale-again-tip = Die vorhandenen Ergebnisse bleiben, wie sie sind; neue bekommen andere Namen.
