### Die Einstellungen, geöffnet mit Strg+Komma.

settings-title = Einstellungen
settings-search = Einstellungen suchen
settings-nothing-found = Keine Einstellung passt zu „{ $search }“. Weniger Wörter finden mehr.

## Abschnitte

settings-section-look = Aussehen
settings-section-saving = Speichern
settings-section-folders = Ordner
settings-section-prompts = Prompts
settings-section-engine = Engine
settings-section-about = Über Sluice

## Wörter, mit denen eine Einstellung gefunden wird, außer denen, die sie zeigt

settings-words-theme = farbschema theme dunkel hell system farben
settings-words-scale = größe skalierung zoom schrift oberfläche
settings-words-notifications = Benachrichtigung Desktop Meldung
settings-words-motion = bewegung animation barrierefreiheit
settings-words-previews = vorschau live während des erzeugens
settings-words-sound = ton stumm clips
settings-words-rendering = darstellung gpu grafikkarte adapter integriert dediziert vram
settings-words-output = ausgabeordner ordner bilder clips wohin
settings-words-format = bildformat png jpeg webp qualität
settings-words-codec = video-codec clips h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = dateinamen vorlage datum seed prompt
settings-words-folders = modelle loras checkpoints galerie
settings-words-connection = spiegel mirror proxy token hugging face downloads verbindung
settings-words-styles = stile csv json prompts
settings-words-tags = tags tag-datei csv danbooru vervollständigen autovervollständigung
settings-words-engine = computer ssh befehl entfernt cluster slurm docker
settings-words-about = version lizenz engine daten protokolle bericht problem hilfe datenschutz aktualisierung
settings-words-language = sprache übersetzung language

## Das Fenster

settings-language = Sprache
settings-language-of-system = Sprache des Systems
settings-language-without-font = Keine Schrift auf diesem Computer hat die Zeichen von: { $languages }. Noto Sans CJK hat sie.
settings-theme = Farbschema
settings-theme-system = System
settings-theme-dark = Dunkel
settings-theme-light = Hell
settings-scale = Größe der Inhalte
settings-scale-tip = Skaliert Text und Bedienelemente. Tasten: Strg+Plus und Strg+Minus
settings-motion = Weniger Bewegung
settings-motion-system = System ({ $now })
settings-motion-on = Ein
settings-motion-off = Aus
settings-motion-tip = Leisten und Menüs erscheinen sofort, ohne Überblendung, und Clips spielen erst, wenn sie gestartet werden.
settings-notifications = Benachrichtigen, wenn die Warteschlange fertig ist
settings-notifications-tip = Der Desktop sagt es, solange ein anderes Fenster vorn ist.
settings-previews = Live-Vorschau
settings-previews-tip = Zeigt das Bild, während es erzeugt wird.
settings-mute = Clips stumm
settings-mute-tip = Spielt Clips ohne ihren Ton. Taste: M.
settings-rendering = GPU für das Fenster
settings-rendering-integrated = Integriert
settings-rendering-dedicated = Dediziert
settings-rendering-hint = Die integrierte GPU lässt den Modellen das ganze VRAM der dedizierten. Gilt nach einem Neustart.
settings-rendering-hint-now = Die integrierte GPU lässt den Modellen das ganze VRAM der dedizierten. Gilt nach einem Neustart. Zurzeit: { $gpu }.

## Wo Bilder und Clips gespeichert werden

settings-output = Ausgabeordner
settings-output-none = Nichts wird gespeichert: Dieser Benutzer hat keinen Ordner für Bilder.
settings-output-choose = Wählen…
settings-format = Bildformat
settings-format-hint = PNG erhält jedes Pixel. JPEG und WebP sind kleiner und verlieren ein wenig. Alle enthalten die Einstellungen.
settings-codec = Video-Codec
settings-codec-tip = Wie neue Clips komprimiert werden.
settings-codec-hint = H.264 läuft überall und behält den Ton. Die anderen brauchen das Programm ffmpeg und lassen den Ton weg.
settings-names = Dateinamen
settings-names-example = Zum Beispiel { $name }
settings-folders-models = Modellordner…
settings-folders-gallery = Ordner der Galerie…

## Über Sluice

settings-licence = Lizenz: { $licence }. Andere Computer können sich nicht damit verbinden.
settings-licences = Lizenzen der Beigaben
settings-licences-tip = Schriften, Symbole, der Upscaler und Tokenizer, die mit Sluice kommen.
settings-licences-of = Die Lizenz von { $name }.
settings-data = Frühere Läufe, Sterne und Tags
settings-data-open = Ordner der früheren Läufe, Sterne und Tags öffnen
settings-cache = Miniaturen und was sonst neu erzeugt werden kann
settings-cache-open = Ordner der Miniaturen und dessen, was neu erzeugt werden kann, öffnen
settings-logs = Protokolle der letzten Tage
settings-logs-open = Ordner der Protokolle öffnen
settings-report = Ein Problem melden
settings-report-hint = Kopiert Computer, Modell, Einstellungen, die letzten Meldungen und das Ende des Protokolls.
settings-report-all = Mit Pfaden und Prompts
settings-report-all-tip = Sonst enthält der Bericht weder Prompts noch Namen von Dateien und Ordnern.
settings-report-copy = Bericht kopieren
settings-engine = Engine: { $engine }
settings-engine-within = Engine: läuft nicht in einem eigenen Prozess

## Was aus einem Feld der Vorlage für Namen wird

settings-field-name = der Name der Datei
settings-field-number = die Stelle im Export, ab 1
settings-field-date = der Tag der Erzeugung
settings-field-seed = der Seed
settings-field-model = das Modell
settings-field-prompt = der Anfang des Prompts
settings-field-width = die Pixel einer Zeile
settings-field-height = die Zeilen
settings-field = { $field } ist { $meaning }
settings-language-tip = Die Sprache des Fensters; sie wechselt sofort.
settings-rendering-integrated-tip = Überlässt den Speicher der schnellen GPU den Modellen.
settings-rendering-dedicated-tip = Zeichnet das Fenster schneller und nimmt Modellen Speicher weg.
settings-format-png-tip = Bewahrt jedes Pixel, in größeren Dateien.
settings-format-jpeg-tip = Macht kleine Dateien, die überall aufgehen, mit leichten Verlusten.
settings-format-webp-tip = Macht die kleinsten Dateien, mit leichten Verlusten.
settings-output-choose-tip = Speichert neue Bilder und Clips in einem anderen Ordner.
settings-open-folder-tip = Zeigt den Ordner im Dateimanager.
settings-names-tip = Benennt neue Dateien; was in Klammern steht, wird eingesetzt.
settings-folders-models-tip = Öffnet die Modelle, wo man Ordner hinzufügt.
settings-folders-gallery-tip = Öffnet die Galerie, wo man Ordner hinzufügt.
settings-report-copy-tip = Kopiert in die Zwischenablage, was hilft, einen Fehler zu finden.
settings-search-tip = Findet Einstellungen nach ihren Wörtern.

settings-words-updates = aktualisierung update version neu
settings-updates = Beim Start nach einer neuen Version sehen
settings-updates-tip = Fragt die Seite, auf der Versionen angekündigt werden, und sendet nur Namen und Version des Programms.
settings-updates-now = Jetzt nachsehen
settings-updates-now-tip = Einmal nach der neuesten Version fragen.
settings-updates-page = Ihre Seite öffnen
settings-updates-asking = Sieht nach …
settings-updates-newest = Das ist die neueste Version.
settings-updates-newer = Sluice { $version } ist verfügbar.
settings-updates-nowhere = Diese Programmfassung weiß nicht, wo neue Versionen angekündigt werden.
settings-libraries = Bibliotheken
settings-libraries-tip = Die Bibliotheken in diesem Programm und ihre Lizenzen.
settings-tags = Tags
settings-tags-open = Datei mit Tags hinzufügen…
settings-tags-open-tip = Eine CSV-Datei von a1111-tagcomplete, mit der Prompts beim Tippen vervollständigt werden.
settings-tags-count = { $count ->
    [one] { $count } Tag wird beim Tippen angeboten.
   *[other] { $count } Tags werden beim Tippen angeboten.
}
settings-file-remove = { $name } entfernen
