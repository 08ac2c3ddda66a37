### Die Einstellungen des nächsten Bildes, links.

## Zahlen und weitere Einstellungen

side-panel-steps = Schritte
side-panel-steps-tip = Schritte des Entrauschens: Mehr dauern länger und verfeinern das Bild, bis zu einem Punkt.
side-panel-guidance = Guidance
side-panel-guidance-tip = Wie genau das Bild dem Prompt folgt (CFG).
side-panel-batch-size = Batch-Größe
side-panel-batch-size-tip = Bilder, die zusammen erzeugt werden. Mehr brauchen mehr Speicher.
side-panel-batch-as-grid = Batch als Raster
side-panel-batch-as-grid-tip = Die Bilder eines Batches auch zu einem zusammensetzen.
side-panel-more = Weitere Einstellungen
side-panel-sampler = Sampler
side-panel-sampler-tip = Das Verfahren, das aus Rauschen ein Bild macht.
side-panel-schedule = Schedule
side-panel-schedule-tip = Wie das Rauschen auf die Schritte verteilt ist.
side-panel-schedule-model = Standard des Modells
side-panel-precision = Genauigkeit
side-panel-precision-tip = Zahlenformat der Berechnung. 16 Bit braucht weniger Speicher.
side-panel-precision-32-bit = 32 Bit
side-panel-precision-16-bit = 16 Bit ({ $format })
side-panel-precision-automatic-planned = Automatisch ({ $format })
side-panel-precision-automatic = Automatisch

## Prompts

side-panel-prompt = Prompt
side-panel-negative-prompt = Negativer Prompt
side-panel-describe-clip = Den Clip beschreiben
side-panel-describe-image = Das Bild beschreiben
side-panel-what-to-avoid = Was nicht vorkommen soll
side-panel-negative-unused = Ohne Wirkung, solange Guidance 0 ist.
side-panel-examples = Beispiele
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }, { $chunks } Abschnitte
side-panel-tokens-spoken = { $prompt }, { $tokens } von { $room } Tokens
side-panel-history = Verlauf
side-panel-history-tip = Früher verwendete Prompts. ↑ in einem leeren Feld holt den letzten zurück.
side-panel-history-search = Prompts suchen
side-panel-history-nothing = Kein Prompt enthält das.
side-panel-tag-images = { $count } Bilder

## Stile

side-panel-styles = Stile
side-panel-styles-tip = Benannte Teile, die zu den Prompts kommen, aus Dateien von A1111 und Fooocus.
side-panel-styles-search = Stile suchen
side-panel-styles-nothing = Noch keine Stile. styles.csv von A1111 und sdxl_styles von Fooocus werden über dem Ordner des Modells gefunden; oder eine Datei öffnen.
side-panel-style-negative = Negativer Prompt: { $prompt }
side-panel-styles-open = Datei mit Stilen öffnen…
side-panel-styles-open-tip = CSV von A1111 oder JSON von Fooocus.

## Textbausteine

side-panel-snippets = Textbausteine
side-panel-snippets-tip = Aufgehobene Wörter in Prompts einsetzen.
side-panel-snippets-nothing = Noch keine Textbausteine. Wörter im Prompt auswählen und aufheben.
side-panel-snippet-delete = Textbaustein { $words } löschen
side-panel-snippet-use = Setzt { $words } an der Schreibmarke ein.
side-panel-snippet-keep-selected = Ausgewählte Wörter aufheben
side-panel-snippet-keep-prompt = Prompt aufheben
side-panel-snippet-keep-tip = Fügt die Wörter den Textbausteinen hinzu.
side-panel-snippet-undo-tip = Hebt den Textbaustein wieder auf.
side-panel-negative-snippets = Negative Presets
side-panel-negative-snippets-tip = Aufgehobene Wörter, um dasselbe wieder zu vermeiden.
side-panel-negative-snippets-nothing = Noch keine negativen Presets. Schreiben, was vermieden wird, und aufheben.
side-panel-negative-snippet-delete = Negatives Preset { $words } löschen
side-panel-negative-snippet-keep-prompt = Negativen Prompt aufheben
side-panel-negative-snippet-keep-tip = Fügt die Wörter den negativen Presets hinzu.
side-panel-negative-snippet-undo-tip = Hebt das negative Preset wieder auf.

## Presets

side-panel-saved-settings = Gespeicherte Einstellungen
side-panel-presets = Presets
side-panel-presets-tip = Einstellungen unter einem Namen aufheben und wieder verwenden.
side-panel-presets-nothing = Noch nichts aufgehoben. Presets enthalten alles außer Prompt, Seed und Eingabebildern.
side-panel-reset = Auf die Standardwerte des Modells zurücksetzen
side-panel-reset-tip = Alles außer Prompts, Seed und Eingabebildern.
side-panel-preset-new-name = Neuer Name von { $name }
side-panel-rename = Umbenennen
side-panel-preset-delete = { $name } löschen
side-panel-preset-rename = { $name } umbenennen
side-panel-preset-use = Diese Einstellungen verwenden: { $settings }
side-panel-preset-name = Name eines Presets
side-panel-save = Speichern
side-panel-preset-with-model = Mit dem Modell
side-panel-preset-with-model-tip = Das Preset öffnet auch dieses Modell.
side-panel-preset-name-tip = Der Name seiner Datei im Ordner für Daten. Ein Preset gleichen Namens wird ersetzt.
side-panel-preset-save-tip = Unter diesem Namen aufheben.

## Größe

side-panel-size = Größe
side-panel-width = Breite
side-panel-height = Höhe
side-panel-swap-sides = Breite und Höhe tauschen
side-panel-round-size = Größe runden
side-panel-round-size-tip = Die nächste Größe verwenden, die das Modell erzeugen kann.
side-panel-size-larger = Das Modell wurde für etwa { $width } × { $height } trainiert. Größere Bilder wiederholen sich.
side-panel-size-smaller = Das Modell wurde für etwa { $width } × { $height } trainiert. Kleineren Bildern fehlen Einzelheiten.
side-panel-use-size = { $width } × { $height } verwenden
side-panel-use-size-trained-tip = Die nächste Größe, für die das Modell trainiert wurde.
side-panel-aspect-far = Modelle sind für Clips zwischen { $tallest } und { $widest } gemacht. Andere sind oft verzerrt.
side-panel-aspect-far-image = Das Modell ist für Bilder zwischen { $tallest } und { $widest } gemacht. In breiteren und höheren wiederholen sich Dinge.
side-panel-clip-longer = Das Modell ist für etwa { $length } gemacht. Längere Clips wiederholen sich oder zerfallen.
side-panel-use-length = { $length } verwenden
side-panel-use-length-tip = Die Länge, für die das Modell gemacht ist.
side-panel-side-tip = In Pixeln, ein Vielfaches von { $multiple }.

## Clips

side-panel-kind-image = Bild
side-panel-kind-video = Video
side-panel-duration = Dauer
side-panel-duration-tip = Länge des Clips. Sekunden eintippen oder eine Zahl von Frames wie 33 frames.
side-panel-duration-multiple-tip = Länge des Clips: 1 Frame und ein Vielfaches von { $multiple } dazu. Sekunden oder frames eintippen.
side-panel-frame-rate = Bildrate
side-panel-frame-rate-tip = Frames je Sekunde. Dieselben Frames spielen schneller oder langsamer; Modelle folgen der Rate, für die sie trainiert wurden.
side-panel-windows = In Fenstern erzeugen
side-panel-windows-tip = Erzeugt einen langen Clip in Fenstern aus Frames, die sich überlappen. Das braucht den Speicher eines Fensters, und das Modell sieht nicht mehr Frames auf einmal, als es trainiert hat.
side-panel-window = Fenster
side-panel-window-tip = Frames, die zusammen erzeugt werden.
side-panel-overlap = Überlappung
side-panel-overlap-tip = Frames, die ein Fenster mit dem davor teilt. Mehr gehen besser ineinander über und dauern länger.

## Eingaben von Clips

side-panel-choose = Wählen…
side-panel-replace = Ersetzen…
side-panel-replace-tip = Eine andere Datei für diese Stelle wählen.
side-panel-file-remove-tip = Die Datei selbst bleibt, wo sie ist.
side-panel-start-image-tip = Der Clip beginnt mit diesem Bild. Es lässt sich auch auf das Fenster ziehen oder einfügen.
side-panel-start-image = Startbild
side-panel-start-image-remove = Startbild entfernen
side-panel-end-image-tip = Der Clip endet mit diesem Bild.
side-panel-end-image = Endbild
side-panel-end-image-remove = Endbild entfernen
side-panel-input-clip-tip = Einen Clip verändern oder fortsetzen. Er lässt sich auch auf das Fenster ziehen.
side-panel-input-clip = Eingabeclip
side-panel-input-clip-remove = Eingabeclip entfernen
side-panel-clip-change = Verändern
side-panel-clip-extend = Verlängern
side-panel-clip-continues = Geht von seinen letzten { $frames } Frames aus weiter.
side-panel-denoising-strength = Stärke des Entrauschens
side-panel-denoising-strength-clip-tip = Wie sehr sich der Clip ändert. 1 behält nichts von ihm.
side-panel-range-tip = Gezählt mit der Bildrate des Ergebnisses.
side-panel-first-frame = Erster Frame
side-panel-last-frame = Letzter Frame
side-panel-fit = Anpassen
side-panel-fit-clip-tip = Wie die Eingabe auf die Größe des Clips gebracht wird.
side-panel-keyframes-tip = Der Clip zeigt dieses Bild an einem Frame nach Wahl.
side-panel-keyframes = Keyframes
side-panel-keyframe-remove = Keyframe { $name } entfernen
side-panel-frame = Frame
side-panel-frame-tip = Der Frame, an dem das Bild gezeigt wird.
side-panel-control-clip-tip = Ein Clip aus Tiefen, Posen oder Linien, dem das Ergebnis folgt, oder einer, bei dem eine Maske zeigt, was sich ändert.
side-panel-control-clip = Steuerclip
side-panel-control-clip-remove = Steuerclip entfernen
side-panel-control = Steuerung
side-panel-control-remove = Steuerung entfernen
side-panel-control-strength = Stärke der Steuerung
side-panel-control-strength-tip = Wie genau das Ergebnis dem Steuerclip und den Referenzen folgt. 1 ist wie trainiert.
side-panel-control-preprocessor-tip = Was zuerst aus jedem Bild des Clips gemacht wird. Keine, wenn es schon Karten sind.
side-panel-control-start-tip = Der Anteil der Schritte, vor dem der Clip nicht wirkt.
side-panel-control-end-tip = Der Anteil der Schritte, nach dem der Clip nicht mehr wirkt.
side-panel-control-mask-tip = Weiß wird erzeugt, Schwarz bleibt wie im Steuerclip. Ein Clip, oder ein Bild für alle Frames.
side-panel-control-mask = Steuermaske
side-panel-control-mask-remove = Steuermaske entfernen

## Bild zu Bild

side-panel-dropped-dismiss = Abgelegtes Bild verwerfen
side-panel-dropped = { $name } enthält Einstellungen
side-panel-dropped-use-settings = Einstellungen verwenden
side-panel-dropped-use-clip = Als Eingabeclip verwenden
side-panel-dropped-use-image = Als Eingabebild verwenden
side-panel-image-to-image = Bild zu Bild
side-panel-input-image-tip = Von einem Bild ausgehen. Es lässt sich auch auf das Fenster ziehen oder einfügen.
side-panel-input-folder = Ordner…
side-panel-input-folder-tip = Aus jedem Bild eines Ordners erzeugen, mit diesen Einstellungen. Ergebnisse heißen wie die Bilder, und was fertig ist, wird ausgelassen.
side-panel-reference-folder = Ordner mit Referenzbildern…
side-panel-input-image-remove = Eingabebild entfernen
side-panel-denoising-strength-tip = Wie sehr sich das Eingabebild ändert. 1 behält nichts von ihm.
side-panel-fit-tip = Wie das Eingabebild auf die Größe des neuen Bildes gebracht wird.
side-panel-mask = Inpaint-Maske
side-panel-mask-open = Öffnen…
side-panel-mask-open-tip = Ein Bild öffnen, das weiß ist, wo sich das Eingabebild ändern soll.
side-panel-mask-paint = Malen…
side-panel-mask-paint-tip = Den Bereich übermalen, der sich ändern soll.
side-panel-mask-remove = Maske entfernen
side-panel-mask-keep = Rest unverändert lassen
side-panel-mask-keep-tip = Kopiert die Pixel außerhalb der Maske aus dem Eingabebild.
side-panel-mask-feather = Weicher Rand (px)
side-panel-mask-feather-tip = Wie breit der Rand der Maske in das Eingabebild übergeht.
side-panel-reading = Wird gelesen…
side-panel-fit-crop = Zuschneiden
side-panel-fit-stretch = Strecken
side-panel-fit-pad = Auffüllen

## Referenzbilder

side-panel-references =
    { $most ->
        [one] Referenzbild
       *[other] Referenzbilder
    }
side-panel-reference-edits-tip = Der Prompt sagt, wie sich dieses Bild ändert. Es lässt sich auch auf das Fenster ziehen oder einfügen.
side-panel-reference-seen-tip = Das Ergebnis sieht ihm ähnlich; wie sehr, wird unten eingestellt.
side-panel-reference-clip-tip = Etwas, das im Clip vorkommt.
side-panel-reference-add = Hinzufügen…
side-panel-reference-remove = Referenz { $number } entfernen
side-panel-references-swap = Referenzen { $first } und { $second } tauschen
side-panel-redux = Gelesen durch { $name }
side-panel-redux-remove = Redux entfernen
side-panel-redux-add = Redux hinzufügen…
side-panel-redux-add-tip = Ein Modell wählen, durch das Referenzbilder sagen, wie das Ergebnis aussieht.
side-panel-redux-strength = Stärke der Referenz { $number }
side-panel-redux-strength-tip = Wie stark { $name } neben dem Prompt zählt.

## Seed

side-panel-seed = Seed
side-panel-seed-tip = Derselbe Seed und dieselben Einstellungen ergeben wieder dasselbe Bild.
side-panel-seed-lock = Seed festhalten
side-panel-seed-randomize = Seed würfeln
side-panel-seed-locked = Seed ist fest
side-panel-seed-random = Jedes Mal ein zufälliger Seed
side-panel-variation-strength = Stärke der Variation
side-panel-variation-strength-tip = Bilder wie das des Seeds: dreht sein Rauschen zu dem eines zweiten Seeds.
side-panel-variation-seed = Seed der Variation
side-panel-variation-seed-tip = Der zweite Seed. Die Bilder eines Batches haben diesen und die folgenden.

## LoRAs

side-panel-loras = LoRA
side-panel-loras-used = LoRA ({ $count })
side-panel-lora-add = LoRA hinzufügen…
side-panel-lora-add-tip = Eine LoRA-Datei wählen oder auf das Fenster ziehen.
side-panel-lora-remove = { $name } entfernen
side-panel-lora-weight = Gewicht von { $name }
side-panel-lora-weight-tip = Wie stark die LoRA wirkt. 1 ist wie trainiert, unter 0 ist das Gegenteil.
side-panel-lora-half = { $name } wird mit ihr verwendet.
side-panel-loras-near = Beim Modell gefunden
side-panel-loras-near-spoken = Beim Modell gefundene LoRAs

## Unter „Weitere Einstellungen“

side-panel-shift = Shift
side-panel-shift-tip = Gibt mehr Schritte für viel Rauschen, wo Aufbau und Bewegung entstehen. Der eigene Shift des Modells ist { $own }.
side-panel-clip-skip = Clip skip
side-panel-clip-skip-tip = Nimmt den Prompt aus einer früheren Schicht von CLIP. 1 ist die letzte Schicht.
side-panel-clip-skip-without-effect = Clip skip wirkt bei { $family } nicht.
side-panel-refiner = Refiner { $name }
side-panel-refiner-remove = Refiner entfernen
side-panel-refiner-switch = Wechsel zum Refiner
side-panel-refiner-switch-tip = Der Refiner übernimmt nach diesem Anteil des Rauschens.
side-panel-refiner-add = Refiner hinzufügen…
side-panel-refiner-add-tip = Ein zweites Modell wählen, das die letzten Schritte macht und Einzelheiten hinzufügt.
side-panel-guidance-and-speed = Guidance und Geschwindigkeit
side-panel-guidance-rescale = Guidance-Ausgleich
side-panel-guidance-rescale-tip = Wirkt Farben entgegen, die hohe Guidance zu kräftig macht.
side-panel-guidance-start = Guidance ab
side-panel-guidance-start-tip = Guidance beginnt nach diesem Anteil der Schritte.
side-panel-guidance-end = Guidance bis
side-panel-guidance-end-tip = Guidance endet nach diesem Anteil der Schritte.
side-panel-guidance-interval-hint = Anteil der Schritte. Schritte ohne Guidance kosten die Hälfte.
side-panel-true-cfg = Echtes CFG
side-panel-true-cfg-tip = Über 1 verwenden Modelle wie FLUX.1 den negativen Prompt. Jeder Schritt dauert doppelt so lange.
side-panel-true-cfg-hint = Für den negativen Prompt in Modellen wie FLUX.1. Verdoppelt die Zeit.
side-panel-step-cache = Schritt-Cache
side-panel-step-cache-tip = Wie sehr sich ein Schritt ändern darf, um noch übersprungen zu werden. 0 überspringt keinen.
side-panel-step-cache-hint = Überspringt ähnliche Schritte: schneller, aber das Bild ändert sich ein wenig.

## Was das nächste Bild ändert, über „Erzeugen“

side-panel-without-input-image = Eingabebild nicht verwenden
side-panel-in-force-mask = Maske
side-panel-without-mask = Maske nicht verwenden
side-panel-in-force-end-image = Ende: { $name }
side-panel-without-end-image = Endbild nicht verwenden
side-panel-in-force-keyframe = Frame { $frame }: { $name }
side-panel-without-keyframe = Keyframe { $name } nicht verwenden
side-panel-without-input-clip = Eingabeclip nicht verwenden
side-panel-in-force-reference = Referenz: { $name }
side-panel-without-reference = Referenz { $name } nicht verwenden
side-panel-in-force-control = Steuerung: { $name }
side-panel-in-force-control-strength = Stärke der Steuerung { $strength }
side-panel-without-control = Steuerung des Clips nicht verwenden
side-panel-in-force-redux = Redux: { $name }
side-panel-without-redux = Redux nicht verwenden
side-panel-in-force-refiner = Refiner: { $name }
side-panel-without-refiner = Refiner nicht verwenden
side-panel-in-force-seed = Seed { $seed }
side-panel-without-seed = Denselben Seed nicht wieder verwenden
side-panel-in-force-style = Stil: { $name }
side-panel-chip-show = In den Einstellungen zeigen
side-panel-chip-show-tip = Öffnet den Abschnitt, in dem das eingestellt wird.
side-panel-chip-copy-tip = Kopiert es als Text.
side-panel-chip-copy-seed = Seed kopieren
side-panel-chip-copy-style = Seinen Prompt kopieren
side-panel-chip-copy-name = Für Prompts kopieren
side-panel-chip-off = Abschalten
side-panel-chip-off-tip = Bleibt in der Liste, ohne verwendet zu werden.
side-panel-chip-remove-tip = Weiter ohne das.
side-panel-chip-remove-all = Alle entfernen
side-panel-chip-remove-all-tip = Weiter ohne alles, was hier steht; Rückgängig bringt es zurück.
side-panel-kept-use = Verwenden
side-panel-kept-rename = Umbenennen…
side-panel-kept-duplicate = Duplizieren
side-panel-kept-delete = Löschen
side-panel-kept-use-tip = Verwendet es oder nicht mehr.
side-panel-kept-rename-tip = Gibt ihm einen anderen Namen.
side-panel-kept-duplicate-tip = Speichert eine Kopie unter einem anderen Namen.
side-panel-kept-delete-tip = Löscht es; Rückgängig bringt es zurück.
side-panel-style-new-name = Neuer Name von { $name }
side-panel-style-new-name-tip = Die Eingabetaste benennt den Stil um.
side-panel-without-style = Stil { $name } nicht verwenden
side-panel-in-force-variation = Variation { $strength }
side-panel-without-variation = Variation nicht verwenden
side-panel-without-lora = LoRA { $name } nicht verwenden

## „Erzeugen“ und was es braucht

side-panel-notice-dismiss = Hinweis schließen
side-panel-undo = Rückgängig
side-panel-undo-tip = Zurück zu den Einstellungen von vorher.
side-panel-prompt-undo-tip = Holt den vorherigen Prompt zurück.
side-panel-edit-undo-tip = Stellt den Auftrag wieder in die Warteschlange und die Einstellungen von vorher wieder her.
side-panel-resume = Fortsetzen
side-panel-resume-tip = Dort weitermachen, wo abgebrochen wurde.
side-panel-generate = Erzeugen
side-panel-grid = Raster…
side-panel-grid-tip = Raster: bis zu drei Einstellungen ändern und die Bilder zu einem zusammensetzen.
side-panel-engine-stopped = Die Engine wurde beendet. Bitte Sluice neu starten.
side-panel-model-loading = Modell wird geladen…
side-panel-model-missing = Zuerst ein Modell wählen.
side-panel-cancelling = Wird abgebrochen…
side-panel-planning = Plane…
side-panel-fits = Passt · { $memory } · { $time }
side-panel-fits-about = Passt · { $memory } · etwa { $time }
side-panel-fits-up-to = Passt · { $memory } · bis zu { $time }
side-panel-fits-about-there = Passt · { $memory } · etwa { $time } auf jener GPU
side-panel-fits-up-to-there = Passt · { $memory } · bis zu { $time } auf jener GPU
side-panel-fits-spoken = Vorhersage, passt, { $memory }, { $time }
side-panel-fits-about-spoken = Vorhersage, passt, { $memory }, etwa { $time }
side-panel-fits-up-to-spoken = Vorhersage, passt, { $memory }, bis zu { $time }
side-panel-fits-simulated = Simuliert: dauert hier auf der CPU länger.
side-panel-fits-simulated-about = Simuliert: etwa { $time } hier, auf der CPU.
side-panel-accuracy-tip = Wie weit frühere Vorhersagen für dieses Modell, in dieser Genauigkeit und auf diesem Gerät, danebenlagen: der höchste Speicherbedarf und die Sekunden eines Schritts. Jeder Lauf verbessert die nächste.
side-panel-needs-limit = Braucht { $needed }, die eigene Grenze ist { $allowed }
side-panel-needs = Braucht { $needed }, erlaubt { $allowed }
side-panel-needs-ram-limit = Braucht { $needed } RAM, die eigene Grenze ist { $allowed }
side-panel-needs-ram = Braucht { $needed } RAM, erlaubt { $allowed }
side-panel-needs-spoken = Vorhersage, passt nicht, { $reason }
side-panel-remove-limit = Eigene Grenze aufheben
side-panel-use-recommended = Empfohlene Einstellungen verwenden
side-panel-use-way = { $way } verwenden
side-panel-use-tiles = In Kacheln dekodieren
side-panel-use-8-bit = Gewichte in 8 Bit
side-panel-use-4-bit = Gewichte in 4 Bit
side-panel-use-size-smaller-tip = Ein kleineres Bild erzeugen.
side-panel-use-fewer-frames-tip = Einen kürzeren Clip erzeugen.
side-panel-accuracy =
    { $count ->
        [one] In { $count } Lauf höchstens { $memory } Speicher, { $time } Zeit daneben
       *[other] In { $count } Läufen höchstens { $memory } Speicher, { $time } Zeit daneben
    }
side-panel-accuracy-of-memory =
    { $count ->
        [one] In { $count } Lauf höchstens { $memory } Speicher daneben
       *[other] In { $count } Läufen höchstens { $memory } Speicher daneben
    }
side-panel-preset-undo-tip = Nimmt das Preset wieder in die Liste auf.
side-panel-prompt-tip = Beschreibt, was erzeugt wird; Strg+↑ und Strg+↓ gewichten Wörter.
side-panel-negative-prompt-tip = Sagt, was vermieden wird.
side-panel-examples-tip = Zeigt Prompts, die zu diesem Modell passen.
side-panel-example-tip = Schreibt dies in den Prompt.
side-panel-generate-tip = Reiht ein Bild oder einen Clip mit diesen Einstellungen ein.
side-panel-cancel-tip = Bricht ab, was läuft; es lässt sich fortsetzen. Taste: Esc.
side-panel-cancel-idle-tip = Es läuft nichts.
side-panel-kind-image-tip = Verwendet das letzte Modell für Bilder.
side-panel-kind-video-tip = Verwendet das letzte Modell für Clips.
side-panel-more-tip = Zeigt Sampler, Schedule, Genauigkeit und mehr.
side-panel-guidance-and-speed-tip = Zeigt, was die Guidance verfeinert oder Schritte spart.
side-panel-loras-tip = Zeigt die LoRAs, die verändern, was das Modell zeichnet.
side-panel-loras-near-tip = Zeigt LoRAs in den Ordnern neben dem Modell.
side-panel-history-search-tip = Findet Prompts mit diesen Wörtern.
side-panel-styles-search-tip = Findet Stile nach ihren Namen.
side-panel-remove-limit-tip = Lässt Sluice den ganzen freien Speicher verwenden.
side-panel-clip-change-tip = Erzeugt den Clip entlang seiner Frames neu.
side-panel-clip-extend-tip = Setzt den Clip nach seinem letzten Frame fort.
side-panel-mask-only = Nur der maskierte Bereich
side-panel-mask-only-tip = Erzeugt nur den maskierten Bereich in der vollen Größe und setzt ihn in das Eingabebild ein, dessen Größe bleibt.
side-panel-mask-padding = Abstand um die Maske (px)
side-panel-mask-padding-tip = Wie viele Pixel um den maskierten Bereich das Modell sieht.
side-panel-accuracy-time-varies =
    { $count ->
        [one] In { $count } Lauf höchstens { $memory } Speicher daneben; die Zeit wich stark ab
       *[other] In { $count } Läufen höchstens { $memory } Speicher daneben; die Zeiten schwankten stark
    }
side-panel-negative-unread = Das Modell liest ihn mit diesen Einstellungen nicht.

## Outpainting

side-panel-outpaint = Outpainting
side-panel-outpaint-tip = Fügt um das Bild Pixel hinzu und erzeugt sie. Kanten des Rahmens ziehen.
side-panel-outpaint-left = Links
side-panel-outpaint-top = Oben
side-panel-outpaint-right = Rechts
side-panel-outpaint-bottom = Unten
side-panel-outpaint-feather = Weiche Kante des Outpaintings (px)
side-panel-outpaint-feather-tip = Wie weit das Bild in das Hinzugefügte übergeht.
side-panel-outpaint-frame = Rahmen um das Eingabebild
side-panel-outpaint-edge = Kante des Rahmens: { $edge }
side-panel-outpaint-edge-tip = Nach außen ziehen, um Pixel hinzuzufügen.
side-panel-outpaint-side-tip = Wie viele Pixel des Eingabebilds auf dieser Seite dazukommen.
side-panel-without-outpaint = Kein Outpainting
side-panel-style-name = Name eines neuen Stils
side-panel-style-name-tip = Die Prompts werden unter diesem Namen gespeichert. Wo sie {"{prompt}"} enthalten, umschließt ein Stil den Prompt, auf den er angewendet wird.
side-panel-style-save = Stil speichern
side-panel-style-save-tip = Speichert den Prompt und den negativen Prompt als Stil, anstelle eines gleichen Namens.
side-panel-style-delete = Stil { $name } löschen
side-panel-style-undo-tip = Speichert den Stil wieder.
side-panel-trash-undo-tip = Holt die Datei aus dem Papierkorb zurück.
