### Dateien und Dialoge.

files-use-folder = Diesen Ordner verwenden
files-up = Nach oben
files-up-tip = Der Ordner darüber.
files-path = Pfad des Ordners
files-path-tip = Mit der Eingabetaste zu diesem Ordner wechseln.
files-folder-unreadable = Dieser Ordner kann nicht gelesen werden: { $reason }
files-folder-gone = es gibt ihn nicht
files-folder-forbidden = die Berechtigung fehlt
files-reading = Wird gelesen…
files-nothing-here = Hier gibt es nichts zu wählen.
files-no-folders = Hier sind keine Ordner.
files-pickle = Zuerst in .safetensors umwandeln
files-pickle-tip = Dateien dieser Art können beim Öffnen beliebige Programme ausführen und werden deshalb nicht gelesen.
files-save = Speichern
files-save-tip = Speichert das Bild unter diesem Namen.
files-save-name-tip = Die Endung .png, .jpg oder .webp bestimmt das Format.
files-name-taken = Es gibt schon eine Datei mit diesem Namen.
files-take-name-tip = Übernimmt den Namen dieser Datei.
files-carried = { $count } Dateien
files-not-copied = Die Datei kann nicht in die Zwischenablage kopiert werden
files-not-copied-advice = Den Ordner öffnen und sie dort kopieren.
files-not-copied-gone = Sie wurde verschoben oder gelöscht. Die Ordner der Galerie neu einlesen.

## Titel der Dateidialoge

files-model-file = Modelldatei öffnen
files-model-folder = Modellordner öffnen
files-library-folder = Ordner mit Modellen hinzufügen
files-input-image = Eingabebild wählen
files-styles = Datei mit Stilen öffnen
files-tags = Datei mit Tags öffnen
files-cuda-engine = Engine für NVIDIA-GPUs öffnen
files-input-folder = Ordner mit Eingabebildern wählen
files-changed-folder = Ordner mit Bildern und Clips wählen
files-changed-folder-clips = Ordner mit Clips wählen
files-changed-folder-images = Ordner mit Bildern wählen
files-last-image = Endbild wählen
files-keyframe = Keyframe hinzufügen
files-reference = Referenzbild hinzufügen
files-control-clip = Steuerclip wählen
files-control-mask = Maske für den Steuerclip wählen
files-input-clip = Eingabeclip wählen
files-mask = Maske öffnen
files-adapter = LoRA hinzufügen
files-refiner = Refiner öffnen
files-redux = Redux-Modell öffnen
files-gallery-folder = Ordner zur Galerie hinzufügen
files-export-folder = Ordner wählen
files-save-image = Bild speichern
files-download-folder = Ordner für Modelle wählen

## Arten von Dateien in den Dateidialogen

files-kind-models = Modelle
files-kind-images = Bilder
files-kind-videos = Videos
files-kind-videos-and-images = Videos und Bilder
files-kind-loras = LoRAs
files-kind-styles = Stile
files-kind-tags = Tags
files-kind-archives = Archive
files-kind-all = Alle Dateien

## Was nicht ging

files-file-unusable = Diese Datei kann nicht verwendet werden
files-mask-not-saved = Die Maske konnte nicht gespeichert werden
files-pasted-not-saved = Das eingefügte Bild konnte nicht gespeichert werden
files-frame-not-saved = Der Frame konnte nicht gespeichert werden
files-image-not-saved = Das Bild konnte nicht gespeichert werden
files-text-not-saved = Der Text zu einem Bild konnte nicht gespeichert werden
files-clip-not-exported = Der Clip konnte nicht exportiert werden
files-folder-unusable = Der Ordner kann nicht verwendet werden
files-folder-unusable-advice = Einen anderen Ordner mit Bildern wählen.
files-folder-unusable-any-advice = Einen anderen Ordner mit Bildern und Clips wählen.
files-folder-unusable-clips-advice = Einen anderen Ordner mit Clips wählen.
files-folder-not-opened = Der Ordner konnte nicht geöffnet werden
files-folder-no-program = Kein Programm hat { $path } geöffnet.
files-folder-not-opened-advice = Ihn im Dateimanager öffnen.
files-setting-not-saved = Die Einstellung konnte nicht gespeichert werden
files-setting-not-saved-advice = Sie gilt, bis das Fenster geschlossen wird.
files-preset-not-changed = Das Preset konnte nicht geändert werden
files-grid-not-saved = Das Raster konnte nicht gespeichert werden
files-not-saved-advice = Platz auf dem Datenträger schaffen oder in den Einstellungen einen anderen Ausgabeordner wählen.
files-no-frames = { $path } hat keine Frames
files-no-frames-advice = Eine andere Datei wählen.
files-no-mp4 = { $path } ist keine MP4-Datei
files-no-mp4-advice = Eine MP4-Datei wählen.
files-unreadable = { $path } kann nicht gelesen werden: { $error }
files-unreadable-advice = Prüfen, ob die Datei noch da und ein vollständiges PNG-Bild ist.

## Formate von Clips

files-format-mp4 = MP4-Video
files-format-webp = Animiertes WebP
files-format-gif = Animiertes GIF
files-format-frames = Ordner mit PNG-Bildern
files-control-net = ControlNet wählen
files-control-image = Bild für das ControlNet wählen
files-ip-adapter = IP-Adapter wählen
files-prompt-image = Bild zum Lesen wählen
files-map-estimator = Schätzer für Karten wählen
files-segmenter = Segmentierer wählen
files-detector = Einen Detektor wählen
files-region-mask = Maske der Region wählen
files-language-model = Sprachmodell wählen
files-upscaler = Vergrößerer wählen
files-interpolator = Netz für Zwischenbilder wählen
files-folder-tip = Öffnet diesen Ordner.
files-in-folder-tip = Dieses Bild liegt im Ordner. Gewählt wird der Ordner selbst.
files-file-tip = Wählt diese Datei.
