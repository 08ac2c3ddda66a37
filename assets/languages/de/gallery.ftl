### Die Galerie.

## Suche und Filter

gallery-title = Galerie
gallery-close = Galerie schließen
gallery-close-tip = Zurück zum Bild. Taste: Esc
gallery-thumbnail-size = Größe der Miniaturen
gallery-thumbnail-size-tip = Wie groß die Miniaturen sind.
gallery-search-hint = Prompts, Modelle, LoRAs, Seeds, Tags, Sammlungen suchen
gallery-search = Suche
gallery-search-tip = Alle Wörter müssen vorkommen. -wort schließt aus, "zwei Wörter" bleiben zusammen, und model: prompt: negative: lora: seed: tag: collection: name: date: from: to: sagen, wo gesucht wird. Taste: Strg+F
gallery-files =
    { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
gallery-files-shown =
    { $count ->
        [one] { $shown } von { $count } Datei
       *[other] { $shown } von { $count } Dateien
    }
gallery-files-reading =
    { $count ->
        [one] { $count } Datei, { $unread } weitere werden gelesen…
       *[other] { $count } Dateien, { $unread } weitere werden gelesen…
    }
gallery-files-shown-reading =
    { $count ->
        [one] { $shown } von { $count } Datei, { $unread } weitere werden gelesen…
       *[other] { $shown } von { $count } Dateien, { $unread } weitere werden gelesen…
    }
gallery-kind-all = Alle
gallery-kind-all-tip = Bilder und Clips zeigen.
gallery-kind-images = Bilder
gallery-kind-images-tip = Nur Bilder zeigen.
gallery-kind-clips = Clips
gallery-kind-clips-tip = Nur Clips zeigen.
gallery-starred-only = Nur mit Stern
gallery-starred-only-tip = Nur zeigen, was einen Stern hat.
gallery-model = Modell
gallery-model-all = Alle Modelle
gallery-model-tip = Nur zeigen, was dieses Modell erzeugt hat.
gallery-tag = Tag
gallery-tag-all = Alle Tags
gallery-tag-tip = Nur zeigen, was diesen Tag hat.
gallery-date = Datum
gallery-date-tip = Nur zeigen, was in dieser Zeit entstanden ist.
gallery-order = Reihenfolge
gallery-order-tip = In welcher Reihenfolge die Bilder stehen.
gallery-folders = Ordner
gallery-folders-spoken = Ordner der Galerie
gallery-output-folder = Ausgabeordner
gallery-output-folder-tip = Diesen Ordner öffnen.
gallery-folder-remove = { $path } aus der Galerie entfernen
gallery-folder-open = { $path } öffnen
gallery-folder-add = Ordner hinzufügen…
gallery-folder-add-tip = Auch die Bilder eines anderen Ordners zeigen, etwa die eines anderen Programms.
gallery-folders-read = Ordner neu lesen
gallery-folders-read-tip = Findet, was andere Programme geändert haben. Taste: F5.
gallery-when-always = Jederzeit
gallery-when-today = Heute
gallery-when-week = Letzte 7 Tage
gallery-when-month = Letzte 30 Tage
gallery-when-year = Letztes Jahr
gallery-sort-newest = Neueste zuerst
gallery-sort-oldest = Älteste zuerst
gallery-sort-name = Nach Namen
gallery-sort-model = Nach Modell
gallery-sort-size = Größte Datei zuerst

## Die Übersicht

gallery-thumbnails = Miniaturen
gallery-broken = Diese Datei kann nicht gezeigt werden: { $reason }
gallery-unstar-spoken = Stern von { $name } entfernen
gallery-star-spoken = { $name } einen Stern geben
gallery-unstar-tip = Stern entfernen.
gallery-star-here-tip = Mit einem Stern markieren. Taste: S.
gallery-reading = Bilder werden gelesen…
gallery-reading-tip = Sie erscheinen, sobald sie gelesen sind.
gallery-nothing-found = Nichts gefunden
gallery-nothing-found-tip =
    { $count ->
        [one] Suche und Filter lassen { $count } Datei weg.
       *[other] Suche und Filter lassen { $count } Dateien weg.
    }
gallery-empty-tip = Was erzeugt wird, wird in { $folder } gespeichert und erscheint hier.
gallery-empty-without-folder = Bilder werden nicht gespeichert, weil es keinen Ausgabeordner gibt. Er lässt sich in den Einstellungen wählen.
gallery-empty = Noch keine Bilder
gallery-clear-search = Suche und Filter leeren
gallery-clear-search-tip = Wieder alles zeigen.
gallery-search-clear = Suche leeren
gallery-search-clear-tip = Das Suchfeld leeren; die Filter bleiben.

## Was mit Bildern getan werden kann

gallery-open = Öffnen
gallery-open-tip = Im Betrachter zeigen. Taste: Eingabe.
gallery-copy-prompt-tip = Den Prompt in die Zwischenablage kopieren.
gallery-copy-files = Dateien kopieren
gallery-copy-files-tip = Die Dateien selbst kopieren, um sie in einen Ordner, einen Chat oder einen Browser einzufügen. Taste: Strg+Umschalt+C
gallery-show-in-folder = Im Ordner zeigen
gallery-show-in-folder-tip = Den Ordner dieser Datei öffnen.
gallery-use-as-image-tip = Das nächste Bild von diesem aus beginnen.
gallery-use-as-clip = Als Eingabeclip verwenden
gallery-use-as-clip-tip = Den nächsten Clip von diesem aus beginnen.
gallery-export-ask-tip = Kopien als PNG, JPEG oder WebP schreiben, mit oder ohne Einstellungen. Taste: Strg+E
gallery-export-ask = Exportieren…
gallery-trash-tip = Löschen, mit einem Weg zurück. Taste: Entf.
gallery-trash = In den Papierkorb
gallery-star = Stern
gallery-star-tip = Markieren, um es wiederzufinden.

## Was ausgewählt ist

gallery-nothing-selected = Nichts ausgewählt
gallery-nothing-selected-click = Ein Klick auf ein Bild zeigt seine Einstellungen, ein Doppelklick öffnet es.
gallery-nothing-selected-several = Strg oder Umschalt mit Klick wählt mehrere aus. Ein Rechtsklick zeigt, was getan werden kann.
gallery-prompt = Prompt
gallery-starred = Mit Stern
gallery-starred-key-tip = Stern entfernen. Taste: S.
gallery-star-key-tip = Markieren, um es wiederzufinden. Taste: S.
gallery-selected = { $count } ausgewählt
gallery-compare-tip = Beide im Betrachter vergleichen, mit Trennlinie oder nebeneinander. Taste: C.
gallery-compare = Vergleichen
gallery-deselect-tip = Alle behalten und keines auswählen.
gallery-deselect = Auswahl aufheben
gallery-tags = Tags
gallery-tag-remove = Tag { $tag } entfernen
gallery-tag-add = Tag hinzufügen
gallery-tag-add-tip = Ein Wort, mit dem diese Bilder zu finden sind. Eingabe fügt es hinzu.
gallery-collections = Sammlungen
gallery-collections-tip = Die Liste der Sammlungen zeigen oder verbergen.
gallery-within-all = Alles
gallery-within-all-tip = Alles zeigen, ob es in einer Sammlung ist oder nicht.
gallery-within-none = Ohne Sammlung
gallery-within-none-tip = Nur zeigen, was in keiner Sammlung ist.
gallery-collections-none = Noch keine. Ein Bild kann in mehreren sein. Seine Datei bleibt, wo sie ist.
gallery-collection-tip = { $name } zeigen, oder wieder alles. Bilder kommen hinein, indem sie darauf gezogen werden.
gallery-collection-new = Neue Sammlung…
gallery-collection-new-tip = Eine neue Sammlung benennen. Sie beginnt mit den Bildern, die hierher gezogen werden.
gallery-collection-new-selected-tip = Für sie eine neue Sammlung benennen.
gallery-collection-name = Name der Sammlung
gallery-collection-name-tip = Eingabe übernimmt den Namen, Esc verwirft ihn.
gallery-collection-taken = Es gibt schon eine Sammlung mit diesem Namen.
gallery-collection-rename = Umbenennen…
gallery-collection-rename-tip = Der Sammlung einen anderen Namen geben.
gallery-collection-delete = Sammlung löschen
gallery-collection-delete-tip = Die Sammlung löschen. Ihre Bilder bleiben.
gallery-collection-deleted = Sammlung { $name } gelöscht
gallery-collection-deleted-detail =
    { $count ->
        [one] { $count } Datei ist noch da.
       *[other] { $count } Dateien sind noch da.
    }
gallery-collection-empty = { $name } ist leer
gallery-collection-empty-tip = Alles zeigen und Bilder auf den Namen der Sammlung ziehen.
gallery-collect = Zu Sammlung hinzufügen
gallery-collect-tip = Was ausgewählt ist, zu einer Sammlung hinzufügen. Es kann in mehreren sein.
gallery-collect-in = Zu { $name } hinzufügen.
gallery-collected =
    { $count ->
        [one] { $count } Datei zu { $name } hinzugefügt
       *[other] { $count } Dateien zu { $name } hinzugefügt
    }
gallery-collection-made = Sammlung { $name } angelegt
gallery-collection-leave = Aus dieser Sammlung entfernen
gallery-collection-leave-named = Aus der Sammlung { $name } entfernen
gallery-negative-prompt = Negativer Prompt
gallery-made-with = Entstanden mit
gallery-not-taken-over = Nicht genau zu übernehmen
gallery-none = Keine

## Was gerade getan wurde

gallery-dismiss = Meldung schließen
gallery-undo = Rückgängig
gallery-undo-tip = Zurücknehmen, was gerade getan wurde. Taste: Strg+Z
gallery-exported-folder-tip = Die exportierten Dateien zeigen.
gallery-not-restored = Nicht alles konnte zurückgeholt werden
gallery-restored-one = { $name } zurückgeholt
gallery-restored =
    { $count ->
        [one] { $count } Datei zurückgeholt
       *[other] { $count } Dateien zurückgeholt
    }
gallery-not-trashed = Nicht alles konnte in den Papierkorb gelegt werden
gallery-trashed-one = { $name } in den Papierkorb gelegt
gallery-trashed =
    { $count ->
        [one] { $count } Datei in den Papierkorb gelegt
       *[other] { $count } Dateien in den Papierkorb gelegt
    }
gallery-trashed-tip = „Zurücklegen“ im Papierkorb holt sie zurück.
gallery-exporting = { $number } von { $count } wird exportiert…
gallery-not-exported =
    { $count ->
        [one] { $count } Datei konnte nicht exportiert werden
       *[other] { $count } Dateien konnten nicht exportiert werden
    }
gallery-exported =
    { $count ->
        [one] { $count } Datei exportiert
       *[other] { $count } Dateien exportiert
    }
gallery-export-clips =
    { $count ->
        [one] { $count } Clip wird unverändert kopiert, mit den Einstellungen darin.
       *[other] { $count } Clips werden unverändert kopiert, mit den Einstellungen darin.
    }
gallery-trash-gone = sie ist nicht mehr im Papierkorb
gallery-trash-put-back = „Zurücklegen“ im Papierkorb wählen
gallery-trash-advice = Für diese Datei den Dateimanager verwenden.
gallery-marks-unreadable-advice = Diese Datei reparieren oder löschen. Bis dahin können Sterne, Tags und Sammlungen nicht geändert werden.
gallery-marks-unreadable = Sterne, Tags und Sammlungen können nicht gelesen werden
gallery-marks-unsaved = Sterne, Tags und Sammlungen konnten nicht gespeichert werden
gallery-marks-unsaved-advice = Platz auf dem Datenträger schaffen und es noch einmal versuchen.
gallery-marks-newer = eine neuere Version von Sluice hat sie geschrieben

## Export

gallery-export-files =
    { $count ->
        [one] { $count } Datei exportieren
       *[other] { $count } Dateien exportieren
    }
gallery-export-format = Format
gallery-export-quality = Qualität
gallery-export-quality-tip = Höher ist näher am Bild und größer.
gallery-export-settings = Mit Einstellungen
gallery-export-settings-tip = Ob die Dateien sagen, wie sie entstanden sind. Ohne Einstellungen kann niemand den Prompt daraus lesen.
gallery-export-name = Dateiname
gallery-export-field = { $field } ist { $meaning }.
gallery-export-example = Zum Beispiel { $path }
gallery-export = Exportieren
gallery-export-tip = Schreibt die Dateien; vorhandene bleiben.
gallery-export-folder = Ordner wählen…
gallery-export-folder-tip = Wohin die Dateien geschrieben werden.
gallery-export-cancel-tip = Taste: Esc
gallery-export-advice = Einen anderen Ordner wählen oder Platz auf dem Datenträger schaffen.
gallery-export-name-advice = Den Dateinamen ändern.
gallery-upscale-tip = Alles Ausgewählte größer machen.
gallery-interpolate-tip = Die Bewegung aller ausgewählten Clips flüssiger machen.

## Namen von Einstellungen, wie sie in Bildern stehen

gallery-setting-keyframe = Keyframe
gallery-setting-extended-clip = Verlängerter Clip
gallery-setting-clip-frames = Frames des Clips
gallery-setting-reference-image = Referenzbild
gallery-setting-reference-strengths = Stärke der Referenzen
gallery-setting-input-image = Eingabebild
gallery-setting-inpaint-area = Inpaint-Bereich
gallery-setting-refiner = Refiner
gallery-setting-template = Vorlage
gallery-setting-negative-template = Vorlage, negativ
gallery-setting-upscaled-by = Hochskaliert um
gallery-setting-interpolated-by = Zwischenbilder, Faktor
gallery-setting-version = Version
gallery-setting-guidance-interval = Guidance-Bereich
gallery-setting-frames = Frames
gallery-setting-axis-x = X-Achse
gallery-setting-axis-y = Y-Achse
gallery-setting-axis-z = Z-Achse
