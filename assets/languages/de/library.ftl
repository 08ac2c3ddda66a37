### Die Modelle auf diesem Computer, und bekannte.

## Die Leiste

library-models = Modelle
library-models-tip = Modelle auf diesem Computer, und bekannte.
library-loras = LoRAs
library-loras-tip = LoRAs, die für das geöffnete Modell zuerst.
library-others = Andere Dateien
library-others-tip = Textencoder, Autoencoder und Dateien, die Sluice nicht benutzt.
library-favourites = Favoriten
library-favourites-tip = Zeigt nur, was einen Stern hat.
library-close = Modelle schließen
library-get-models-share = Modelle holen… { $percent } %
library-get-models-ask = Modelle holen…
library-get-models-tip = Lädt Modelle herunter: ein Katalog, Links und Hugging Face.
library-reading = { $read } von { $count } Dateien gelesen…
library-looking = Modelle werden gesucht…
library-files =
    { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
library-all-models = Alle Modelle
library-all-models-tip = Zurück zu den Modellen auf diesem Computer.
library-get-models = Modelle holen
library-search = Modelle suchen
library-search-tip = Findet Wörter in Namen, Beschreibungen, Triggerwörtern, Tags und Notizen und darin, wie ein Modell läuft.
library-nothing-starred = Noch nichts hat einen Stern. Der Stern eines Modells legt es hier ab.
library-nothing-loras = Hier sind keine LoRAs. Den Ordner hinzufügen, in dem sie liegen.
library-nothing-others = Keine anderen Dateien.
library-nothing-found = Nichts passt zu „{ $words }“. Weniger Wörter finden mehr.
library-found-in = In { $name }, { $count }
library-show-everything = Alles zeigen
library-heading-spoken =
    { $count ->
        [one] { $title }, { $count } Zeile
       *[other] { $title }, { $count } Zeilen
    }

## Die Liste

library-built-in = Eingebaut
library-suited = Passt zu { $device }, zum Herunterladen
library-suited-here = Passt zu diesem Computer, zum Herunterladen
library-cannot-be-opened = Nicht zu öffnen
library-not-here = Nicht hier
library-loras-fitting = Passt zu { $family }
library-loras-perhaps-fitting = Passt vielleicht: für ein unbekanntes Modell
library-loras-for = Für { $family }
library-loras-for-unknown = Für Unbekanntes
library-parts-of-models = Textencoder und Autoencoder
library-not-used = Von Sluice nicht benutzt
library-starter = Starter
library-clip-starter = Clip-Starter
library-clip-starter-detail = Kurze Clips zum Ausprobieren
library-starter-detail = Kleine Bilder zum Ausprobieren
library-role-upscaler = Upscaler
library-role-interpolator = Zwischenbild-Netz
library-role-preprocessor = Vorverarbeitung
library-role-segmenter = Segmentierer
library-role-detector = Detektor
library-role-language-model = Sprachmodell
library-row-duplicate = doppelt
library-row-checking-spoken = Wird geprüft
library-row-opened-spoken = geöffnet
library-row-added = Verwendet
library-row-add = Hinzufügen
library-row-remove-spoken = { $name } entfernen
library-row-remove-tip = Nimmt die LoRA aus dem nächsten Bild.
library-row-add-spoken = { $name } hinzufügen
library-row-add-tip = Verwendet die LoRA für das nächste Bild.
library-row-opened = Geöffnet
library-checking = Wird geprüft…
library-favourite-spoken = Favorit { $name }
library-unstar-tip = Nimmt den Stern weg.
library-star-tip = Gibt einen Stern; dann steht es vorn.

## Die Ordner, in denen gesucht wird

library-folders = Ordner
library-folders-tip = Zeigt, wo nach Modellen gesucht wird.
library-folders-nothing = Auf diesem Computer wurde kein Ordner eines anderen Programms gefunden.
library-search-folders = Neu suchen
library-search-folders-tip = Durchsucht die Ordner jetzt. Das geschieht auch, wenn diese Übersicht sich öffnet.
library-folder-add = Ordner hinzufügen…
library-folder-add-tip = Durchsucht einen weiteren Ordner mit seinen Unterordnern. Darin wird nichts verschoben oder geändert.
library-folder-named = Beim Start genannt
library-folder-own = Eigener Ordner von Sluice
library-folder-added = Hinzugefügt
library-folder-remove = { $path } entfernen
library-folder-open = { $path } öffnen
library-model-files =
    { $count ->
        [one] { $count } Modelldatei
       *[other] { $count } Modelldateien
    }

## Was ausgewählt ist

library-nothing-selected = Ein ausgewähltes Modell zeigt hier, was über es bekannt ist.
library-file-gone = Diese Datei ist nicht mehr da.
library-control-net-tip = Wähle es in der Seitenleiste unter ControlNet, mit einem Modell, für das es gemacht ist.
library-ip-adapter-tip = Wähle ihn in der Seitenleiste unter Bild-Prompt, mit einem Modell, für das er gemacht ist.
library-part-tip = Modelle, die diesen Teil brauchen, finden ihn hier von selbst.
library-not-used-tip = Mit dieser Datei erzeugt Sluice nichts.
library-preview = Vorschau von { $name }
library-preview-ask = Als Vorschau verwenden…
library-preview-ask-tip = Macht dies zum Vorschaubild eines Modells oder einer LoRA.
library-preview-title = Als Vorschau verwenden
library-preview-hint = Das Bild wird neben dem Modell gespeichert, wo es auch andere Programme finden.
library-preview-replaces = { $name } hat schon eine Vorschau. Sie wird ersetzt.
library-preview-use = Vorschau speichern
library-preview-replace = Vorschau ersetzen
library-preview-use-tip = Speichert eine kleine Kopie des Bildes neben dem Modell.
library-preview-cancel-tip = Taste: Esc
library-preview-saved = { $name } hat eine neue Vorschau
library-preview-failed = Die Vorschau kann nicht gespeichert werden
library-preview-no-model = Die Modelle von { $name } sind nicht hier, und das geöffnete Modell gehört zu Sluice.
library-copy-path = Pfad kopieren
library-open-folder = Ordner öffnen
library-keep-defaults = Als Standard übernehmen
library-keep-defaults-tip = Dieses Modell beginnt mit den jetzigen Einstellungen, auch LoRAs und negativem Prompt. Prompt, Seed und Eingaben gehören nicht dazu.
library-open-model = Dieses Modell öffnen
library-open-model-tip = Erzeugt von nun an mit diesem Modell.
library-reset-defaults = Standard zurücksetzen
library-reset-defaults-tip = Das Modell beginnt wieder mit seinen eigenen Einstellungen.
library-fit-on = Wie es auf { $device } läuft
library-fit = Wie es läuft
library-on-engine = Auf { $name }. Wie es läuft, ist bekannt, sobald es geöffnet ist.
library-something-missing = Etwas fehlt
library-parts = Teile
library-part-from = aus { $name }
library-part-from-more = aus { $name } und { $count } weiteren
library-file = Datei
library-fact-what = Was
library-fact-size = Größe
library-fact-weights = Gewichte
library-fact-stored-as = Gespeichert als
library-fact-format = Format
library-lora-remove = Aus dem nächsten Bild nehmen
library-lora-add = Zum nächsten Bild hinzufügen
library-lora-add-tip = Verwendet die LoRA mit Gewicht 1; das lässt sich unter LoRA ändern.
library-lora-unfit = Gemacht für { $family }, aber das geöffnete Modell ist { $model }.
library-trigger-words = Triggerwörter
library-trigger-add-spoken = { $words } zum Prompt hinzufügen
library-trigger-add-tip = Hängt diese Wörter an den Prompt an.
library-trigger-add = Hinzufügen
library-copies = Kopien
library-comparing = Der Inhalt wird verglichen…
library-files-same = Gleicher Inhalt: Eine der Dateien kann gelöscht werden.
library-files-differ = Gleiche Größe und gleicher Kopf, aber anderer Inhalt.
library-based-on = Beruht auf
library-tags = Tags
library-description = Beschreibung
library-not-on-computer = Nicht auf diesem Computer.
library-download = Herunterladen
library-repository = Repository
library-licence = Lizenz
library-licence-unknown = Siehe Repository
library-size-in-16-bits = { $size } in 16 Bit
library-gated = Zuerst die Bedingungen auf der Seite annehmen und Sluice das Token unter „Modelle holen“, „Verbindung“ geben.
library-open-page = Seite öffnen
library-open-page-tip = Öffnet das Repository im Browser.
library-copy-link = Link kopieren
library-copy-link-tip = Kopiert die Adresse des Repositorys.
library-download-yourself = Selbst heruntergeladene Dateien in einem der durchsuchten Ordner erscheinen auch hier.
library-starter-tip = Kommt mit Sluice, damit die ersten Ergebnisse ohne Download gehen.
library-own-tags = Eigene Tags
library-own-tags-tip = Wörter, mit denen die Suche es findet. Eingabe fügt eines hinzu.
library-note = Eigene Notiz
library-note-hint = Sieht sonst niemand
library-note-tip = Bleibt auf diesem Computer; die Suche findet ihre Wörter.
library-menu-star = Mit Stern versehen
library-menu-unstar = Stern entfernen
library-open-folder-tip = Zeigt die Datei im Dateimanager.
library-copy-path-tip = Kopiert, wo die Datei liegt, in die Zwischenablage.
library-row-tip = Auswählen zeigt, was bekannt ist; ein Doppelklick verwendet es.
