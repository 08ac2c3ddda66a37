### Meldungen darüber, was getan wurde oder nicht ging.

app-copied = In die Zwischenablage kopiert
app-file-copied = { $name } als Datei kopiert
app-files-copied = { $count } Dateien kopiert
app-dialog-failed-advice = Die Datei auf das Fenster ziehen oder ihren Pfad eintippen.
app-dialog-failed = Der Dateidialog konnte nicht geöffnet werden
app-settings-of = Einstellungen von { $name }
app-settings-wait = Die Einstellungen von { $name } folgen, sobald die Modelle aufgelistet sind
app-reference = Referenz: { $name }
app-input-image = Eingabebild: { $name }
app-hires-waits = Hires-Fix wartet, bis das Eingabebild entfernt ist.
app-extending = { $name } wird verlängert
app-input-clip = Eingabeclip: { $name }
app-try-again = In einem Moment noch einmal versuchen.
app-too-many-files = Zu viele Dateien auf einmal
app-files-are-read = Andere Dateien werden noch gelesen.
app-saved = { $name } gespeichert
app-images-not-used =
    { $count ->
        [one] { $count } Bild nicht verwendet: immer nur eines ablegen.
       *[other] { $count } Bilder nicht verwendet: immer nur eines ablegen.
    }
app-first-image-used = Nur das erste Bild wird verwendet
app-clip-unusable = Dieser Clip kann nicht verwendet werden
app-no-settings = { $name } enthält keine Einstellungen
app-clip-unusable-advice = Ein Modell, das Clips verändert oder verlängert, kann ihn als Eingabeclip verwenden.
app-image-cannot-be-shown = Dieses Bild kann nicht gezeigt werden
app-report-copied = Der Bericht wurde in die Zwischenablage kopiert
app-already-open = Sluice ist schon geöffnet
app-already-open-details = Dieses Fenster speichert weder seine Einstellungen noch seine unfertigen Bilder.
app-gallery-failed = Die Galerie konnte nicht geöffnet werden
app-too-much = Zu viel auf einmal
app-gallery-busy = Die Galerie ist noch beschäftigt.
app-prompt-copied = Prompt kopiert
app-prompt-replaced = Prompt ersetzt
app-compare-two = Zwei Bilder oder zwei Clips können verglichen werden
app-settings-unreadable = { $name } hat keine Einstellungen: { $reason }
app-model-kept = Es entstand mit { $model }. Das aktuelle Modell bleibt.
app-named-not-found = „{ $name }“ ist nicht in deinen Modellordnern und wird weggelassen.
app-named-not-for-model = „{ $name }“ ist nicht für dieses Modell und wird weggelassen.
app-named-upscaler = Der Vergrößerer „{ $name }“ ist nicht in deinen Modellordnern; stattdessen wird der von Sluice verwendet.
app-no-token = Das ist kein Token.
app-downloaded-details = Zu öffnen unter „Modelle holen…“ im Menü oben links.
app-downloaded = Heruntergeladen: { $models }
app-no-data-folder = Dieser Benutzer hat keinen Ordner für Daten.
app-presets-not-kept = Presets können nicht gespeichert werden
app-preset = Preset { $name }
app-model-defaults = Die Standardwerte des Modells
app-styles-unreadable = Eine Datei mit Stilen kann nicht gelesen werden
app-model-settings = Die eigenen Einstellungen des Modells
app-grid-failed = Das Raster kann nicht erzeugt werden
app-grid-failed-why = Es gibt keinen Ordner für seine Bilder, oder die Einstellungen müssen geändert werden.
app-folder-empty = { $name } enthält keine Bilder.
app-nothing-to-generate = Nichts zu erzeugen
app-cannot-generate = Zurzeit kann nichts erzeugt werden
app-check-settings = Zuerst die Einstellungen prüfen.
app-folder-results = Die Ergebnisse werden in { $folder } gespeichert.
app-folder-batch = Ein Ergebnis für jedes Bild. Die Batch-Größe wird nicht benutzt.
app-folder-left-out =
    { $count ->
        [one] { $count } Bild ausgelassen: schon fertig.
       *[other] { $count } Bilder ausgelassen: schon fertig.
    }
app-folder-unreadable =
    { $count ->
        [one] { $count } Bild ausgelassen: nicht lesbar.
       *[other] { $count } Bilder ausgelassen: nicht lesbar.
    }
app-folder-queued =
    { $count ->
        [one] { $count } Bild aus { $name } in der Warteschlange
       *[other] { $count } Bilder aus { $name } in der Warteschlange
    }
app-folder-ask = Bilder aus { $name }
app-folder-subfolders =
    { $count ->
        [one] Unterordner einbeziehen: { $count } Bild
       *[other] Unterordner einbeziehen: { $count } Bilder
    }
app-folder-subfolders-tip = Die Ergebnisse kommen in gleichnamige Unterordner.
app-folder-count =
    { $count ->
        [one] Aus { $count } Bild wird erzeugt
       *[other] Aus { $count } Bildern wird erzeugt
    }
app-folder-rest =
    { $count ->
        [one] Nur das eine Bild, das nicht fertig ist
       *[other] Nur die { $count } Bilder, die nicht fertig sind
    }
app-folder-rest-tip = Lässt Bilder aus, deren Ergebnisse da sind.
app-folder-again =
    { $count ->
        [one] { $count } Bild noch einmal, in einen neuen Ordner
       *[other] Alle { $count } Bilder noch einmal, in einen neuen Ordner
    }
app-folder-again-tip = Die vorhandenen Ergebnisse bleiben, wie sie sind.
app-folder-more-unreadable =
    { $count ->
        [one] { $count } weiteres Bild ist nicht lesbar
       *[other] { $count } weitere Bilder sind nicht lesbar
    }
app-folder-generate = Erzeugen
app-folder-generate-tip = Stellt für jedes Bild einen Auftrag in die Warteschlange.
app-preset-deleted = Preset { $name } gelöscht
app-queue-done = Alle Aufträge sind fertig.
app-update = Sluice { $version } ist verfügbar
app-update-details = Einstellungen, Über führt zu ihrer Seite.
app-style-not-saved = Der Stil wurde nicht gespeichert
app-style-taken = Es gibt schon einen Stil namens { $name }.
app-chips-removed = Alles Wirksame entfernt
