### Der Dialog für Raster: was sich ändert und wie viele Bilder das ergibt.

grid-title = Raster
grid-hint = Ein Bild für jede Kombination der Werte und ein Bild aus allen, mit Beschriftung.
grid-columns = Spalten
grid-columns-values = Werte der Spalten
grid-columns-all = Alle Werte für die Spalten
grid-rows = Zeilen
grid-rows-values = Werte der Zeilen
grid-rows-all = Alle Werte für die Zeilen
grid-tables = Tabellen
grid-tables-values = Werte der Tabellen
grid-tables-all = Alle Werte für die Tabellen
grid-nothing = Nichts
grid-setting-tip = Was sich hier ändert.
grid-advice-prompt = Durch Kommas getrennt. Die ersten Wörter werden in beiden Prompts durch jedes der anderen ersetzt. Wörter mit Kommas gehören in Anführungszeichen.
grid-advice-lora = Durch Kommas getrennt. Bei mehreren LoRAs steht eine davon vorn: ink: 0.5, 1
grid-advice-added = Namen, durch Kommas getrennt, einer für jedes Bild. Bei none kommt nichts hinzu.
grid-advice-names = Durch Kommas getrennt. Zum Beispiel { $example }.
grid-advice-models = Pfade von Modellen, durch Kommas getrennt. Die Schaltfläche daneben nimmt die der Bibliothek, die Bilder erzeugen.
grid-advice-one = Werte, durch Kommas getrennt; sie gelten für alle. Um nur eines zu ändern, zuerst seinen Namen oder seine Nummer schreiben: 2: 0.5, 1 ändert das zweite.
grid-advice-upscalers = Pfade von Vergrößerern, durch Kommas getrennt. Die Schaltfläche daneben nimmt die der Bibliothek.
grid-example-models = Pfade von Modellen, durch Kommas getrennt
grid-example-images = Pfade von Bildern, durch Kommas getrennt
grid-example-words = Fuchs, Wolf, Bär: das erste wird durch die anderen ersetzt
grid-advice-numbers = Durch Kommas getrennt. 1-5 zählt hoch, 1-10 (+2) in Schritten von 2, und 1-10 [4] ergibt 4 Werte.
grid-choose = Wählen, was sich ändert.
grid-type-values = Die Werte eingeben.
grid-generate = Raster erzeugen
grid-generate-tip = Stellt alle Bilder in die Warteschlange. Taste: Strg+Eingabe
grid-cancel-tip = Taste: Esc
grid-summary =
    { $count ->
        [one] { $count } Bild · { $sides }
       *[other] { $count } Bilder · { $sides }
    }
grid-summary-time =
    { $count ->
        [one] { $count } Bild · { $sides } · etwa { $time }
       *[other] { $count } Bilder · { $sides } · etwa { $time }
    }
grid-lora-weight = LoRA-Gewicht
grid-lora = LoRA
grid-style = Stil
grid-words = Wörter im Prompt
grid-model = Modell
grid-frames = Bilder eines Clips
grid-hires-scale = Faktor von Hires-Fix
grid-control-weight = ControlNet-Gewicht
grid-image-prompt-weight = Gewicht des Bild-Prompts
grid-hires-strength = Stärke von Hires-Fix
grid-hires-steps = Schritte von Hires-Fix
grid-hires-upscaler = Vergrößerer von Hires-Fix
grid-control-start = ControlNet-Beginn
grid-control-end = ControlNet-Ende
grid-image-prompt-start = Beginn des Bild-Prompts
grid-image-prompt-end = Ende des Bild-Prompts
grid-reference-strength = Stärke der Referenzen
grid-reference-side = Größe der Referenzen
grid-detailer-strength = Stärke der Detailer
grid-detailer-confidence = Sicherheit der Detailer
grid-detailer-steps = Schritte der Detailer
grid-detailer-padding = Abstand der Detailer
grid-region-weight = Gewicht der Regionen
grid-region-base = Ganzes Bild in Regionen
grid-region-fade = Weiche Ränder der Regionen
grid-window-frames = Bilder eines Fensters
grid-window-overlap = Überlappung der Fenster
