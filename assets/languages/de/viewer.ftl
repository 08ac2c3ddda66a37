### Das Bild in der Mitte, seine Leisten und die Liste darunter.

## Die Mitte des Fensters

viewer-live-preview = Live-Vorschau
viewer-next-clip = Der Clip ist als Nächstes dran
viewer-next-image = Das Bild ist als Nächstes dran
viewer-next-tip = Es erscheint hier, sobald die Engine beginnt.
viewer-describe-image = Links das Bild beschreiben, dann auf Erzeugen drücken.
viewer-describe-image-or-example = Links das Bild beschreiben oder mit einem Beispiel beginnen.
viewer-describe-clip = Links den Clip beschreiben, dann auf Erzeugen drücken.
viewer-describe-clip-or-example = Links den Clip beschreiben oder mit einem Beispiel beginnen.
viewer-what-to-create = Was soll entstehen?
viewer-model-loading = Modell wird geladen…
viewer-model-loading-tip = Das dauert einen Moment.
viewer-model-missing-tip = Oben eines wählen oder eines vom Datenträger öffnen.
viewer-model-missing = Kein Modell geladen
viewer-model-open = Modelldatei öffnen…
viewer-replanned-dismiss = Hinweis auf den neuen Plan schließen
viewer-replanned = Der Lauf geht mit einem neuen Plan weiter
viewer-replanned-times =
    { $count ->
        [one] Der Lauf geht mit einem neuen Plan weiter ({ $count }-mal geändert)
       *[other] Der Lauf geht mit einem neuen Plan weiter ({ $count }-mal geändert)
    }
viewer-dismiss = Schließen
viewer-dismiss-all = Alle { $count } schließen
viewer-copy-message = Meldung kopieren
viewer-more-failures = +{ $count } weitere
viewer-drop = Ein Bild ablegen, um davon auszugehen oder seine Einstellungen zu verwenden
viewer-drop-model = oder ein Modell oder eine LoRA, um sie zu laden
viewer-unfinished-question = Sluice wurde während des Erzeugens geschlossen. Dort weitermachen?
viewer-unfinished-resume = Fortsetzen
viewer-unfinished-discard = Verwerfen
viewer-unfinished =
    { $count ->
        [one] { $count } unfertiges Bild
       *[other] { $count } unfertige Bilder
    }
viewer-live-thumbnail = Live-Vorschau, Miniatur

## Die Leiste unter dem Bild

viewer-zoom-actual-tip = Ein Pixel des Bildes je Pixel des Bildschirms. Doppelklick auf das Bild wechselt.
viewer-zoom-fit-tip = Das ganze Bild zeigen. Mausrad zoomt, Ziehen verschiebt.
viewer-zoom-fit = Einpassen
viewer-compare-tip = Mit einem anderen Bild vergleichen, das in der Liste unten gewählt wird. Taste: C.
viewer-compare = Vergleichen
viewer-compare-lacks-image = Es gibt kein anderes Bild zum Vergleichen.
viewer-compare-lacks-clip = Es gibt keinen anderen Clip zum Vergleichen.
viewer-compare-stop = Vergleich beenden
viewer-compare-stop-tip = Taste: Esc
viewer-compare-swap = A und B tauschen
viewer-compare-side-by-side = Nebeneinander
viewer-compare-side-by-side-tip = Die Bilder nebeneinander zeigen statt mit einer Trennlinie.
viewer-compare-choose = Zum Vergleichen unten ein Bild anklicken
viewer-copy-frame = Frame kopieren
viewer-save-frame = Frame als PNG speichern
viewer-use-frame = Frame als Eingabebild verwenden
viewer-use-frame-as-end = Frame als Endbild verwenden
viewer-extend-tip = Diesen Clip ab dem Ende des gespielten Bereichs fortsetzen.
viewer-extend = Verlängern
viewer-similar-tip = Vier Bilder wie dieses: derselbe Seed mit etwas Rauschen anderer Seeds.
viewer-variations-tip = Vier Bilder mit denselben Einstellungen und anderen Seeds.
viewer-use-settings-tip = Prompt, Seed und alle anderen Einstellungen laden, mit denen dieses Bild entstanden ist.
viewer-actions = Aktionen
viewer-actions-spoken = Aktionen für das Bild
viewer-export-range = Gespielten Bereich exportieren
viewer-export = Exportieren
viewer-caption-frames =
    { $count ->
        [one] { $count } Frame
       *[other] { $count } Frames
    }
viewer-caption-rate = { $rate } fps
viewer-caption-upscaled = hochskaliert × { $scale }
viewer-caption-upscaled-with = hochskaliert × { $scale } mit { $upscaler }
viewer-caption-interpolated-with = Bilder × { $factor } mit { $model }
viewer-caption-seed = Seed { $seed }
viewer-caption-variation = Variation { $seed }
viewer-caption-steps =
    { $count ->
        [one] { $count } Schritt
       *[other] { $count } Schritte
    }
viewer-caption-guidance = Guidance { $guidance }
viewer-caption-took = in { $time }
viewer-divider = Trennlinie
viewer-divider-tip = Zum Vergleichen ziehen oder die Pfeiltasten verwenden.

## Eine Maske malen

viewer-mask = Maske über dem Bild
viewer-brush = Pinsel
viewer-brush-tip = Größe des Pinsels in Pixeln des Bildes.
viewer-mask-rectangle = Rechteck
viewer-mask-lasso = Lasso
viewer-mask-object = Objekt
viewer-mask-object-tip = Zum Hinzufügen darauf klicken, mit Alt auf das klicken, was nicht dazugehört, oder einen Rahmen darum ziehen.
viewer-mask-object-how = Das Objekt anklicken oder einen Rahmen darum ziehen. Ein Klick mit Alt lässt etwas aus.
viewer-mask-object-made = Die Maske wird erstellt
viewer-mask-object-next = Nächstes Objekt
viewer-mask-object-next-tip = Das Markierte behalten und etwas anderes anklicken.
viewer-segmenter = Segmentierer
viewer-segmenter-tip = Eine Datei von Segment Anything oder MobileSAM, die findet, was zusammengehört.
viewer-segmenter-chosen = Objekte findet von nun an { $name }.
viewer-segmenter-missing = Objekte findet ein Segmentierer: eine .safetensors-Datei von Segment Anything oder MobileSAM. Eine wählen, um anzuklicken, was markiert werden soll.
viewer-mask-object-none = Dort wurde nichts gefunden. Auf einen anderen Teil klicken oder einen Rahmen darum ziehen.
viewer-masked = { $name } mit Maske
viewer-mask-tool = Werkzeug
viewer-mask-tool-tip = Striche, Rechtecke oder Umrisse malen, oder anklicken, was markiert werden soll.
viewer-brush-size = Pinselgröße
viewer-mask-grow =
    { $pixels ->
        [one] Um 1 Pixel vergrößern
       *[other] Um { $pixels } Pixel vergrößern
    }
viewer-mask-shrink =
    { $pixels ->
        [one] Um 1 Pixel verkleinern
       *[other] Um { $pixels } Pixel verkleinern
    }
viewer-mask-paint = Malen
viewer-mask-paint-tip = Den Bereich markieren, der sich ändern soll.
viewer-mask-erase = Radieren
viewer-mask-erase-tip = Teile dieses Bereichs wieder freigeben.
viewer-mask-undo-tip = Den letzten Strich zurücknehmen. Tasten: Strg+Z, und Strg+Umschalt+Z oder Strg+Y, um ihn wiederherzustellen.
viewer-mask-undo = Strich zurücknehmen
viewer-mask-invert = Umkehren
viewer-mask-clear = Leeren
viewer-mask-apply = Maske anwenden
viewer-mask-discard-tip = Nicht weitermalen und die Maske von vorher behalten.
viewer-mask-discard = Verwerfen
viewer-mask-ask = Malen beenden?
viewer-mask-ask-hint = Die Maske ist noch nicht angewendet.
viewer-mask-go-on = Weitermalen
viewer-mask-go-on-tip = Schließt diese Frage. Taste: Esc.

## Einen Clip abspielen

viewer-pause = Pause
viewer-play = Abspielen
viewer-play-tip = Taste: Leertaste.
viewer-previous-frame = Voriger Frame
viewer-previous-frame-tip = Taste: ←.
viewer-next-frame = Nächster Frame
viewer-next-frame-tip = Taste: →.
viewer-mute = Stumm
viewer-mute-tip = Ohne Ton abspielen. Ton ist bei normaler Geschwindigkeit vorwärts zu hören. Taste: M.
viewer-boomerang = Bumerang
viewer-boomerang-tip = Abwechselnd vorwärts und rückwärts spielen.
viewer-play-whole = Den ganzen Clip spielen
viewer-play-whole-tip = Gesetzten Anfang und gesetztes Ende entfernen.
viewer-end-here = Hier enden
viewer-end-here-tip = Nur bis zu diesem Frame spielen. Taste: O.
viewer-start-here = Hier beginnen
viewer-start-here-tip = Erst ab diesem Frame spielen. Taste: I.
viewer-speed = Geschwindigkeit
viewer-speed-tip = Geschwindigkeit der Wiedergabe.
viewer-place-tip = Frame und Zeit.
viewer-range-start = Anfang des Bereichs
viewer-range-start-tip = Anfang des Bereichs, Frame { $frame }
viewer-range-end = Ende des Bereichs
viewer-range-end-tip = Ende des Bereichs, Frame { $frame }
viewer-frame = Frame
viewer-frame-at = Frame { $frame } · { $time }
viewer-use-frame-as-end-tip = Der nächste Clip endet mit diesem Frame.
viewer-use-frame-tip = Speichert diesen Frame und beginnt damit das nächste Bild oder den nächsten Clip.
viewer-save-frame-tip = Speichert diesen Frame mit den Einstellungen im Ausgabeordner.
viewer-copy-frame-tip = Kopiert die Pixel dieses Frames in die Zwischenablage.
viewer-actions-tip = Was sich mit diesem Bild tun lässt.
viewer-export-range-tip = Schreibt den abgespielten Bereich in eine neue Datei.
viewer-upscale = Vergrößern…
viewer-upscale-tip = Mit einem Vergrößerer größer machen.
viewer-interpolate = Zwischenbilder…
viewer-interpolate-tip = Die Bewegung mit mehr Bildern flüssiger machen.
viewer-inpaint = Inpainting…
viewer-inpaint-tip = Dieses Bild als Eingabebild verwenden und übermalen, was sich ändern soll.
viewer-save-as = Speichern unter…
viewer-save-as-tip = Speichert eine Kopie als PNG, JPEG oder WebP, mit den Einstellungen.
viewer-trash-tip = Löscht die Datei, mit einem Weg zurück. Taste: Entf.
viewer-unfinished-resume-tip = Reiht sie nach ihrem letzten fertigen Schritt wieder ein.
viewer-unfinished-discard-tip = Verwirft sie und setzt Raster aus dem zusammen, was gezeichnet wurde.
viewer-dismiss-tip = Blendet diese Meldung aus.
viewer-dismiss-all-tip = Blendet alle Meldungen aus.
viewer-copy-message-tip = Kopiert die Meldung und was zu tun ist in die Zwischenablage.
viewer-live-thumbnail-tip = Zeigt, was gerade erzeugt wird.
viewer-frame-tip = Zum Frame ziehen oder mit den Pfeiltasten bewegen.
viewer-mask-apply-tip = Verwendet diese Maske für das Eingabebild.
