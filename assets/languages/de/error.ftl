### Was nicht ging, wie es die Engine und die Downloads sagen.

error-downloads-stopped = der Download wurde angehalten
error-downloads-offline = keine Verbindung zu { $host }
error-downloads-stalled = { $host } sendet nichts mehr
error-downloads-dropped = { $host } hat die Verbindung beendet, bevor die Datei vollständig war
error-downloads-insecure = die sichere Verbindung zu { $host } ist fehlgeschlagen: { $reason }
error-downloads-proxy = der Proxy funktioniert nicht: { $reason }
error-downloads-busy = { $host } bittet zu warten, weil es zu viele Anfragen waren
error-downloads-server = { $host } kann gerade nicht antworten (Fehler { $status })
error-downloads-needs-token = { $what } gibt es nur für Angemeldete{ $detail }
error-downloads-not-allowed = { $what } gibt es nur für Konten, die die Bedingungen angenommen haben
error-downloads-not-found = { $what } gibt es auf { $host } nicht
error-downloads-answer = die Antwort von { $host } ist nicht zu verstehen: { $reason }
error-downloads-wrong-hash = { $name } ist beschädigt oder eine andere Datei: Die SHA-256-Summe ist { $found }…, erwartet wurde { $expected }…
error-downloads-wrong-size = { $name } hat eine andere Größe als angekündigt: { $found } Bytes, erwartet wurden { $expected }
error-downloads-no-space = in { $folder } ist nicht genug Platz: Gebraucht werden { $needed }, frei sind { $allowed }
error-downloads-occupied = { $path } gibt es schon, mit anderem Inhalt
error-downloads-in-use = { $path } wird schon heruntergeladen
error-downloads-file =
    { $path } kann nicht { $doing ->
        [created] angelegt
        [written] geschrieben
        [read] gelesen
        [removed] entfernt
       *[other] bearbeitet ({ $doing })
    } werden: { $source }
error-downloads-name = { $name } ist als Dateiname nicht erlaubt

error-link-empty = kein Link angegeben
error-link-not-a-link = „{ $value }“ ist weder ein Link noch der Name eines Repositorys
error-link-no-model = „{ $value }“ führt zu keinem Modell
error-link-other-file = Sluice öffnet { $value } nicht
error-link-no-weights = { $value } hat keine .safetensors- oder .gguf-Dateien
error-link-several = { $repository } hat { $count } Dateien; bitte eine davon nennen

error-the-keyring-refuses = Der Schlüsselbund verweigert den Zugriff: { $error }.

error-the-engine-for-nvidia-gpus-is = Die Engine für NVIDIA-GPUs ist nicht installiert: { $value } fehlt.

error-presets-no-folder = dieser Benutzer hat keinen Ordner für Daten
error-presets-name = ein Preset kann nicht { $value } heißen; Buchstaben, Ziffern und Leerzeichen verwenden
error-presets-taken = ein Preset namens { $value } gibt es schon
error-presets-missing = ein Preset namens { $name } gibt es nicht
error-presets-malformed = { $path } ist kein Preset: { $message }

error-adapters-not-an-adapter = { $path } ist weder eine LoRA noch ein anderer Adapter, den Sluice unterstützt; sein erster Tensor ist { $first }
error-adapters-layer = { $path }: Die Tensoren der Schicht { $layer } passen nicht zusammen: { $reason }
error-adapters-other-family = { $path } ({ $family }) passt nicht zu diesem Modell ({ $model })
error-adapters-unknown = es gibt keine LoRA namens { $name }
error-adapters-tag = <lora:{ $tag }> ist nicht zu verstehen

error-checkpoint-not-found = es gibt keine Datei und keinen Ordner { $path }
error-checkpoint-not-here = { $name } ist nicht auf diesem Computer
error-checkpoint-io = { $path } kann nicht gelesen werden: { $source }
error-checkpoint-io-it = nicht lesbar: { $source }
error-checkpoint-write = { $path } kann nicht geschrieben werden: { $source }
error-checkpoint-hollow = die Gewichte von { $path } sind nicht auf diesem Computer
error-checkpoint-no-model = kein Modell in { $path } gefunden
error-checkpoint-no-model-it = kein Modell darin gefunden
error-checkpoint-no-asset = { $name } gehört zu Sluice, wurde aber nicht gefunden in { $path }
error-checkpoint-not-a-model-file = { $path } ist keine Modelldatei, die Sluice lesen kann
error-checkpoint-not-a-model-file-it = keine Modelldatei, die Sluice lesen kann
error-checkpoint-not-safetensors = { $path } ist keine safetensors-Datei: Sie beginnt nicht mit einem Kopf
error-checkpoint-not-safetensors-it = keine safetensors-Datei: Sie beginnt nicht mit einem Kopf
error-checkpoint-pickle = { $path } ist eine Pickle-Datei, die beim Öffnen beliebigen Code ausführen kann
error-checkpoint-pickle-it = die Datei ist eine Pickle-Datei, die beim Öffnen beliebigen Code ausführen kann
error-checkpoint-empty-file = { $path } ist leer
error-checkpoint-empty-file-it = die Datei ist leer
error-checkpoint-header-past-end = { $path } ist beschädigt oder unvollständig: Der Kopf müsste { $header } Bytes haben, aber die ganze Datei hat nur { $length }
error-checkpoint-header-past-end-it = die Datei ist beschädigt oder unvollständig: Der Kopf müsste { $header } Bytes haben, aber die ganze Datei hat nur { $length }
error-checkpoint-header = der Kopf von { $path } ist beschädigt: { $reason }
error-checkpoint-header-it = der Kopf der Datei ist beschädigt: { $reason }
error-checkpoint-truncated = { $path } ist unvollständig: Von { $expected } Bytes sind nur { $length } da
error-checkpoint-truncated-it = die Datei ist unvollständig: Von { $expected } Bytes sind nur { $length } da
error-checkpoint-json = { $path } ist nicht zu verstehen: { $reason }
error-checkpoint-other-task = { $path } ist ein Modell, das Sluice noch nicht unterstützt ({ $task })
error-checkpoint-missing-shard = { $shard } fehlt, aber { $index } verweist darauf
error-checkpoint-missing-shard-it = { $shard } gehört dazu, fehlt aber
error-checkpoint-missing-part =
    { $role ->
        [Vorverarbeitung] die Vorverarbeitung
       *[other] der { $role }
    } von { $model } fehlt: { $expected }
error-checkpoint-unknown-family = { $path } ist ein Modell, das Sluice nicht unterstützt{ $kind }
error-checkpoint-refiner = { $path } kann nicht als Refiner dienen: { $reason }
error-checkpoint-upscaler = { $path } kann keine Bilder vergrößern: { $reason }
error-checkpoint-interpolator = { $path } kann keine Zwischenbilder machen: { $reason }
error-checkpoint-redux = { $path } kann nicht als Redux dienen: { $reason }
error-checkpoint-control-net = { $path } kann nicht als ControlNet dienen: { $reason }
error-checkpoint-ip-adapter = { $path } kann nicht als IP-Adapter dienen: { $reason }
error-checkpoint-no-image-encoder = der Bildencoder für { $adapter } wurde nicht gefunden: { $wanted }
error-checkpoint-missing-tensor = in { $path } fehlt der Tensor { $name }
error-checkpoint-shape = der Tensor { $name } in { $path } hat die Form { $found } statt { $expected }
error-checkpoint-dtype = der Tensor { $name } in { $path } ist als { $found } gespeichert, was Sluice hier nicht unterstützt
error-checkpoint-quantization = die Gewichte von { $path } sind als { $found } gespeichert, was Sluice nicht unterstützt
error-checkpoint-quantization-it = die Gewichte sind als { $found } gespeichert, was Sluice nicht unterstützt
error-checkpoint-config = in { $path } ist { $field } = { $value }, aber { $reason }
error-checkpoint-tokenizer = der Tokenizer { $path } kann nicht verwendet werden: { $reason }

error-account = der Speicher des Geräts reicht nicht: { $needed } gebraucht, { $allowed } erlaubt

error-plan-device = { $what } braucht { $needed } Speicher ({ $device }) in der Phase „{ $stage }“, erlaubt sind aber nur { $allowed }
error-plan-host = das Laden der Gewichte braucht { $needed } RAM, erlaubt sind aber nur { $allowed }

error-output-extension = { $path } endet nicht auf .png, .jpg oder .webp
error-output-clip-extension = { $path } endet nicht auf { $endings }
error-output-other-files = der Ordner { $path } enthält andere Dateien
error-output-clip-too-large = Frames von { $width }×{ $height } Pixeln sind zu groß für { $path }
error-output-encoder = { $path } kann nicht kodiert werden: { $detail }
error-output-no-ffmpeg = der Codec { $name } braucht das Programm ffmpeg, das nicht im PATH ist
error-output-ffmpeg = ffmpeg konnte { $path } nicht schreiben: { $detail }
error-output-is-folder = { $path } ist ein Ordner, kein Dateiname
error-output-not-a-folder = { $path } ist eine Datei, kein Ordner
error-output-create-folder = der Ordner { $folder } kann nicht angelegt werden: { $cause }
error-output-not-writable = in den Ordner { $folder } kann nicht geschrieben werden: { $cause }
error-output-disk-full = { $path } kann nicht geschrieben werden: Der Datenträger ist voll
error-output-write = { $path } kann nicht geschrieben werden: { $cause }
error-output-exists = { $path } gibt es schon
error-output-settings-too-long = die Einstellungen sind zu lang für eine JPEG-Datei: { $path }
error-output-pixels = ein Bild von { $width }×{ $height } Pixeln mit { $bytes } Bytes kann nicht geschrieben werden
error-output-kept-elsewhere = { $cause }; gespeichert wurde es stattdessen als { $path }
error-output-read = { $path } kann nicht gelesen werden: { $cause }
error-output-not-media = { $path } ist keine PNG-, JPEG-, WebP-, GIF- oder MP4-Datei
error-output-truncated = { $path } ist unvollständig
error-output-damaged = die Einstellungen in { $path } sind beschädigt: { $detail }
error-output-too-large = der Teil { $keyword } von { $path } ist zu groß für Einstellungen
error-output-no-settings = { $path } enthält keine Einstellungen zum Erzeugen
error-output-newer-version = { $path } stammt von einer neueren Version von Sluice: Die Einstellungen haben Version { $found }, diese Version liest bis { $known }

error-names-empty = einen Namen eintippen, zum Beispiel {"{"}name{"}"}
error-names-unknown = es gibt kein Feld {"{"}{ $value }{"}"}; möglich sind {"{"}name{"}"}, {"{"}number{"}"}, {"{"}date{"}"}, {"{"}seed{"}"}, {"{"}model{"}"}, {"{"}prompt{"}"}, {"{"}width{"}"} und {"{"}height{"}"}
error-names-open = zu einer {"{"} fehlt die {"}"}

error-pipeline-card = die GPU kann nicht verwendet werden: { $value }
error-pipeline-no-such-gpu = eine GPU { $number } gibt es hier nicht
error-pipeline-unknown-card = es gibt keine simulierte GPU namens { $id }
error-pipeline-unknown-model = es gibt kein bekanntes Modell namens { $id }
error-pipeline-initial-latents = die anfänglichen Latents in { $path } können nicht verwendet werden: { $reason }
error-pipeline-dump = die Tensoren können nicht in { $path } geschrieben werden: { $reason }
error-pipeline-not-finite = das Bild enthält ungültige Werte (NaN), gerechnet in { $dtype }

error-clip = den ersten Frame schreiben, zwei Punkte und den Frame nach dem letzten, zum Beispiel 0..48 oder 12..

error-request-size-not-multiple =
    { $side ->
        [width] Breite
        [height] Höhe
       *[other] { $side }
    } { $pixels } ist kein Vielfaches von { $multiple }; möglich ist { $below } oder { $above }
error-request-side-too-long =
    { $side ->
        [width] Breite
        [height] Höhe
       *[other] { $side }
    } { $pixels } ist zu groß; höchstens { $longest } verwenden
error-request-scale = der Faktor { $value } liegt nicht zwischen 1 und 4
error-request-only-upscales = dieses Modell ist ein Vergrößerer und erzeugt keine Bilder; `sluice upscale` oder „Vergrößern…“ im Fenster verwenden
error-request-no-upscaler = dieses Modell erzeugt Bilder und ist kein Vergrößerer
error-request-only-interpolates = dieses Modell macht Zwischenbilder eines Clips und erzeugt selbst keine; `sluice interpolate` oder „Zwischenbilder…“ im Fenster verwenden
error-request-no-interpolator = dieses Modell macht keine Zwischenbilder; eine .safetensors-Datei von RIFE 4 wählen
error-request-interpolation-factor = { $value }-mal so viele Bilder sind nicht möglich; { $least } bis { $most } verwenden
error-request-interpolates-image = ein einzelnes Bild hat nichts, wozwischen Bilder passen; einen Clip wählen
error-request-smooths-image = Zwischenbilder sind für Clips; mehr als 1 Bild verwenden oder weglassen
error-request-nothing-between = der Clip hat ein einziges Bild, zwischen dem nichts liegt; einen längeren wählen
error-request-hires-of-clip = den Hires-Fix gibt es nur für Bilder, nicht für Clips; ihn weglassen und den Clip vergrößern
error-request-hires-of-input = der Hires-Fix beginnt mit dem Prompt; das Eingabebild weglassen, oder den Hires-Fix weglassen und gleich größer erzeugen
error-request-no-hires = der Hires-Fix braucht „Bild zu Bild“, was dieses Modell nicht kann; ihn weglassen und das Bild vergrößern
error-request-no-steps = bei 0 Schritten bliebe nur Rauschen; mindestens 1 verwenden
error-request-no-frames = 0 Frames ergeben nichts; mindestens 1 verwenden
error-request-one-frame-only = dieses Modell erzeugt Bilder, keine Clips; 1 Frame statt { $value } verwenden
error-request-frames-not-multiple = dieses Modell erzeugt 1 Frame und ein Vielfaches von { $multiple } dazu, nicht { $frames }; möglich ist { $below } oder { $above }
error-request-no-such-mode = dieses Modell kann das nicht: { $wanted }; es kann: { $modes }
error-request-image-and-clip = ein Eingabebild und ein Eingabeclip sind angegeben; eines davon entfernen
error-request-variation = Stärke der Variation { $value } ist ungültig; 0 bis 1 verwenden
error-request-last-image-alone = ein Endbild braucht ein Startbild
error-request-clip-input-of-image = Endbild, Keyframes, Eingabeclip und Steuerung sind für Clips; mehr als 1 Frame verwenden oder sie entfernen
error-request-keyframe-twice = zwei Bilder sind für Frame { $value }; eines davon entfernen
error-request-keyframes-and-clip = Keyframes und ein Eingabeclip gehen nicht zusammen; eines davon entfernen
error-request-keyframes-in-windows = Keyframes und ein Endbild gehen bei diesem Modell nicht in Fenstern; die Bilder oder die Fenster weglassen
error-request-nothing-controls = nichts steuert den Clip; einen Steuerclip oder Referenzbilder angeben
error-request-mask-without-control = die Maske gehört zu einem Steuerclip; auch diesen angeben
error-request-control-strength = Stärke der Steuerung { $value } ist ungültig; 0 bis { $strongest-control } verwenden
error-request-control-range = ein Clip kann nicht von { $start } bis { $end } der Schritte gesteuert werden; Werte von 0 bis 1 verwenden, den kleineren zuerst
error-request-preprocessor-without-control = für einen Steuerclip ist eine Vorverarbeitung gewählt, und es gibt keinen; einen angeben oder keine Vorverarbeitung wählen
error-request-control-preprocessor = die Vorverarbeitung { $value } erstellt aus einem Steuerclip keine Karten; eine andere wählen
error-request-no-references = dieses Modell nimmt keine Referenzbilder; sie entfernen oder eines als Eingabebild verwenden
error-request-too-many-references = zu viele Referenzbilder ({ $given }); das Modell nimmt { $amount }
error-request-reference-side = Seitenlänge { $value } der Referenzen ist ungültig; { $least } bis { $most } Pixel verwenden
error-request-references-in-windows = Referenzbilder gehen nicht in Fenstern; die Bilder oder die Fenster weglassen
error-request-nothing-to-fill-in = dieses Modell füllt einen Teil eines Bildes aus; ein Bild und eine Maske für den Teil angeben
error-request-mask-of-clip = eine Maske ist für Bilder; sie entfernen oder 1 Frame verwenden
error-request-nothing-added = { $frames } Frames fügen nichts hinzu: Die ersten { $overlap } wiederholen das Ende des Eingabeclips; mindestens { $least } verwenden
error-request-frame-rate = { $value } Frames je Sekunde sind ungültig; 1 bis 60 verwenden
error-request-windows = Fenster von { $frames } Frames, die sich { $overlap } teilen, kommen nicht voran; ein Fenster muss länger als die Überlappung sein
error-request-empty-batch = Batch-Größe 0 ergibt nichts; mindestens 1 verwenden
error-request-batch-too-large = Batch-Größe { $value } ist zu groß; höchstens { $largest-batch } verwenden
error-request-no-tokens = eine Grenze von 0 Tokens lässt nichts vom Prompt; mindestens 1 verwenden
error-request-guidance = Guidance { $value } ist ungültig; mindestens 0 verwenden
error-request-adapter-weight = LoRA-Gewicht { $value } ist keine endliche Zahl
error-request-too-many-steps = { $value } Schritte sind zu viele; höchstens 1000 verwenden
error-request-clip-skip = Clip skip { $value } sind mehr Schichten, als CLIP hat; höchstens { $largest-clip-skip } verwenden
error-request-step-cache = Schwelle { $value } des Schritt-Caches ist ungültig; mindestens 0 verwenden
error-request-shift = Shift { $value } ist ungültig; 0.01 bis { $largest-shift } verwenden
error-request-no-shift = dieses Modell hat keinen Shift; ihn weglassen
error-request-prompts-only = dieses Modell macht Bilder nur aus Prompts; das Eingabebild weglassen
error-request-no-such-levels = den Schedule { $name } gibt es für dieses Modell nicht
error-request-frame-range = in { $value } liegt kein Frame; die zweite Zahl muss größer sein als die erste
error-request-strength = Stärke des Entrauschens { $value } ist ungültig; mehr als 0 und höchstens 1 verwenden
error-request-strength-takes-no-step = die Stärke des Entrauschens { $strength } lässt keinen der { $steps } Schritte übrig; mindestens { $least } oder mehr Schritte verwenden
error-request-refiner-switch = Wechsel zum Refiner { $value } ist ungültig; zwischen 0 und 1 wählen, zum Beispiel 0.8
error-request-redux-alone = Redux liest Referenzbilder, und es gibt keines; eines angeben oder Redux entfernen
error-request-redux-strengths = zu viele Stärken ({ $given }) für { $references }
error-request-redux-strength = Stärke { $value } einer Referenz ist ungültig; { $least } bis { $most } verwenden
error-request-control-net-weight = Gewicht { $value } eines ControlNets ist ungültig; 0 bis { $most } verwenden
error-request-control-net-range = ein ControlNet kann nicht von { $start } bis { $end } der Schritte wirken; Werte von 0 bis 1 verwenden, den kleineren zuerst
error-request-control-net-without-image = einem ControlNet fehlt das Bild, dem es folgt; eines wählen oder das ControlNet entfernen
error-request-control-net-without-mask = ein ControlNet folgt dem Eingabebild ohne dessen maskierten Teil, und es gibt kein Eingabebild mit Maske; beides hinzufügen oder eine andere Vorverarbeitung wählen
error-request-control-net-reads-mask = ein ControlNet ist für Inpainting und liest eine Maske; dafür die Vorverarbeitung inpaint wählen
error-request-control-net-without-mode = ein ControlNet folgt mehreren Arten von Bildern und weiß nicht, welcher; eine von { $modes } wählen
error-request-no-such-control-mode = ein ControlNet folgt keinen Bildern der Art { $mode }; eine von { $modes } wählen
error-request-control-net-has-no-modes = ein ControlNet folgt nur einer Art von Bildern; dafür keine wählen
error-request-too-many-control-nets = { $value } ControlNets sind zu viele; höchstens { $most } verwenden
error-request-image-prompt-without-image = einem IP-Adapter fehlt ein Bild, das er liest; eines wählen oder den IP-Adapter entfernen
error-request-too-many-prompt-images = { $value } Bilder für einen IP-Adapter sind zu viele; höchstens { $most } verwenden
error-request-too-many-image-prompts = { $value } IP-Adapter sind zu viele; höchstens { $most } verwenden
error-request-image-prompt-weight = Gewicht { $value } von Bild-Prompts ist ungültig; 0 bis { $most } verwenden
error-request-image-prompt-range = Bild-Prompts können nicht von { $start } bis { $end } der Schritte gelesen werden; Werte von 0 bis 1 verwenden, den kleineren zuerst
error-request-mask-blur = der weiche Rand { $value } der Maske ist zu groß; höchstens { $widest-blur } verwenden
error-request-mask-padding = ein Abstand von { $value } Pixeln um die Maske ist zu groß; höchstens { $most } verwenden

error-grid-nothing = nichts ändert sich; eine Einstellung und ihre Werte wählen
error-grid-no-setting = { $value } nennt keine Einstellung; ihren Namen, einen Doppelpunkt und ihre Werte schreiben, zum Beispiel `steps: 10, 20, 30`
error-grid-unknown = es gibt keine Einstellung namens { $name }; möglich sind { $all }
error-grid-no-values = { $value } hat keine Werte; welche schreiben, zum Beispiel 1, 2, 3
error-grid-value = { $value } ist kein Wert für { $setting }; { $wanted }
error-grid-twice = { $value } ändert sich zweimal; für eines davon eine andere Einstellung wählen
error-grid-too-many = { $count } Bilder sind zu viele für ein Raster; höchstens { $most } verwenden
error-grid-not-in-prompt = weder der Prompt noch der negative Prompt enthält { $value }, die Wörter, die ersetzt werden
error-grid-which-lora = mehrere LoRAs werden verwendet; eine davon nennen, zum Beispiel `lora { $value }: 0.5, 1`
error-grid-no-style = es gibt keinen Stil namens { $value }; einen aus der Liste der Stile wählen oder ihn zuerst speichern
error-grid-no-input = die Stärke des Entrauschens ändert sich, aber es gibt weder Eingabebild noch Hires-Fix; zuerst eines davon wählen
error-grid-unused = { $setting } ändert sich, aber { $what } wird nicht verwendet; zuerst hinzufügen
error-grid-no-part = { $setting } ändert sich für { $name }, aber die Namen sind { $used }; einen davon oder seine Nummer verwenden
error-grid-unused-variation = eine Variationsstärke
error-grid-unused-control-net = ein ControlNet
error-grid-unused-clip-control = ein Clip oder Referenzen, die einen Clip steuern,
error-grid-unused-ip-adapter = ein IP-Adapter
error-grid-unused-reference = ein Referenzbild
error-grid-unused-detailer = ein Detailer
error-grid-unused-region = eine Region
error-grid-unused-input = ein Eingabebild oder Eingabeclip
error-grid-unused-mask = eine Maske
error-grid-unused-only-masked = eine Maske, deren Bereich allein erzeugt wird,
error-grid-unused-outpainting = Outpainting
error-grid-unused-interpolation = das Einfügen von Zwischenbildern
error-grid-unused-windows = das Erzeugen in Fenstern

error-guidance = zwei Zahlen von 0 bis 1 werden erwartet, zum Beispiel 0.2..0.8
error-guidance-rescale = Guidance-Ausgleich { $value } ist ungültig; 0 bis 1 verwenden
error-guidance-interval = Guidance-Bereich { $value } ist ungültig; zwei steigende Zahlen von 0 bis 1 verwenden
error-guidance-true-cfg = echtes CFG { $value } ist ungültig; mindestens 1 verwenden

error-keyframe = die Nummer des Frames, = und die Datei schreiben, zum Beispiel 40=image.png

error-residency-cancelled = abgebrochen
error-residency-thread = die Threads, die Gewichte laden, konnten nicht gestartet werden: { $value }
error-residency-out-of-order = Block { $block } wurde außer der Reihe angefordert
error-residency-compute = die Berechnung ist fehlgeschlagen: { $value }
error-residency-device-lost = die GPU arbeitet nicht mehr: { $value }

error-serve-pipe = die Nachrichten des Fensters können nicht gelesen werden: { $value }
error-serve-no-hello = das Fenster hat nicht mit einer Begrüßung begonnen
error-serve-threads = die Threads der Engine konnten nicht gestartet werden: { $value }
error-serve-ended = die Engine wurde beendet
error-serve-no-visit = die Gegenstelle hat ihren Besuch nicht wie erwartet benannt
error-serve-folder = der Ordner für Dateien, die an diese Engine gesendet werden, kann nicht verwendet werden: { $value }
error-serve-occupied = die Engine der unterbrochenen Verbindung läuft noch
error-serve-file = die Gegenstelle hat eine Datei nicht wie erwartet gesendet

error-travel-read = { $path } kann nicht an die Engine gesendet werden: { $cause }
error-travel-folder = { $path } ist ein Ordner, und an eine Engine anderswo können nur Dateien gesendet werden
error-travel-too-large = { $path } ist zu groß, um an eine Engine anderswo gesendet zu werden
error-travel-changed = { $path } wurde geändert, während die Datei an die Engine gesendet wurde
error-travel-report = { $path } kann von einer Engine anderswo nicht geschrieben werden
error-travel-not-there = die Engine hat { $name } nicht: { $reason }
error-travel-not-sent = die Engine sollte { $path } verwenden, aber die Datei wurde nicht an sie gesendet
error-command-not-started = der Befehl der Engine { $program } kann nicht gestartet werden: { $cause }
error-command-ended = der Befehl der Engine endete, bevor die Engine geantwortet hat: { $how }
error-command-other-words = der Befehl der Engine hat etwas anderes geschrieben als eine Engine: { $words }
error-command-silent = der Befehl der Engine antwortet nicht

error-clip-read = der Clip { $path } kann nicht gelesen werden: { $cause }
error-clip-damaged = der Clip { $path } ist beschädigt: { $detail }
error-clip-truncated = der Clip { $path } ist unvollständig: Er endet nach Frame { $readable } von { $frames }
error-clip-no-index = der Clip { $path } ist unvollständig: Sein Verzeichnis der Frames fehlt
error-clip-no-video = { $path } enthält kein Video
error-clip-not-aclip = { $path } ist kein lesbarer Clip
error-clip-no-frames = das Video in { $path } hat keine Frames
error-clip-beyond-end = der Clip { $path } hat { $frames } Frames, also keinen Frame { $start }
error-clip-too-short = { $frames } Frames von { $path } sind zu wenige: { $needed } werden gebraucht
error-clip-too-long = { $frames } Frames von { $path } sind zu viele; höchstens { $most } können auf einmal gelesen werden
error-clip-too-large = die Frames von { $path } sind zu groß: { $width }×{ $height } Pixel
error-clip-needs-ffmpeg = { $path } ist { $format } und wird mit dem Programm ffmpeg gelesen, das nicht im PATH ist
error-clip-ffmpeg = ffmpeg kann { $path } nicht lesen: { $detail }

error-source-read = das Bild { $path } kann nicht gelesen werden: { $cause }
error-source-not-apicture = { $path } ist kein lesbares Bild: { $detail }
error-source-clip-for-image = { $path } ist ein Clip, gebraucht wird ein Bild
error-source-picture-unknown = das Format ist unbekannt
error-source-picture-large = es ist zu groß
error-source-picture-short = es endet zu früh
error-source-picture-damaged = es ist beschädigt oder eine Datei anderer Art
error-source-nothing-masked = die Maske { $path } wählt nichts für das Inpainting aus: { $reason }

error-telemetry-same-file = { $path } kann nicht zugleich Telemetrie und Trace aufnehmen
error-telemetry-create = die Telemetriedatei { $path } kann nicht angelegt werden: { $cause }
error-telemetry-disk-full = Telemetrie kann nicht in { $path } geschrieben werden: Der Datenträger ist voll
error-telemetry-write = Telemetrie kann nicht in { $path } geschrieben werden: { $cause }
error-telemetry-gone = { $path } wurde gelöscht, während Telemetrie hineingeschrieben wurde
error-telemetry-stopped = der Thread, der den Speicher misst, hat zu früh aufgehört; der Rest der Telemetrie ist verloren
error-telemetry-not-telemetry = { $path } ist keine Telemetriedatei von Sluice: Die erste Zeile ist kein Kopf
error-telemetry-version = die Telemetrie in { $path } hat Version { $found }, aber diese Version von Sluice liest Version { $known }
error-telemetry-damaged = Zeile { $line } von { $path } ist beschädigt: { $detail }

error-styles-read = { $path } kann nicht gelesen werden: { $error }
error-styles-too-large = { $path } ist zu groß für eine Datei mit Stilen
error-styles-csv = { $path } enthält keine Stile: { $error }; styles.csv von A1111 hat die Spalten name, prompt und negative_prompt
error-styles-json = { $path } enthält keine Stile: { $error }; die Dateien von Fooocus sind Listen aus name, prompt und negative_prompt

error-wildcards-missing = es gibt keine Wildcard-Datei namens { $name }.txt{ $similar }
error-wildcards-unreadable = die Wildcard-Datei { $path } kann nicht gelesen werden: { $error }
error-wildcards-empty = die Wildcard-Datei { $path } hat keine Zeilen zur Auswahl
error-wildcards-endless = die Wildcard-Datei { $name }.txt verweist auf sich selbst
error-wildcards-unclosed = eine geschweifte Klammer im Prompt ist nicht geschlossen: { $text }
error-wildcards-too-few-options = { $wanted } verschiedene Optionen sind nicht möglich, in { $text } stehen { $options }

error-wire-truncated = die Verbindung endete mitten in einer Nachricht
error-wire-too-long = eine Nachricht gibt vor, { $value } Bytes lang zu sein, mehr als jede echte
error-wire-damaged = eine Nachricht wurde unterwegs beschädigt
error-wire-not-understood = eine Nachricht ist nicht zu verstehen: { $value }
error-request-outpaint = { $value } Pixel um das Eingabebild sind zu viele; höchstens { $most } verwenden
error-request-control-and-input = Steuerung geht nicht zusammen mit einem Eingabebild oder Eingabeclip; eines davon entfernen oder das Bild als Referenz angeben
error-outpaint-no-sides = eine Zahl von Pixeln für alle Seiten schreiben, oder vier: links,oben,rechts,unten, zum Beispiel 0,0,256,0
error-grid-no-lora = keine LoRA namens { $name } wird verwendet; { $hint }
error-source-nothing-added = was um { $path } hinzukommt, ist kleiner als ein Latent
error-checkpoint-map-estimator = { $path } kann das nicht erstellen ({ $maps }): { $reason }
error-request-only-makes-maps = dieses Modell erstellt Karten und erzeugt keine Bilder; als Vorverarbeitung eines ControlNets wählen
error-request-no-map-estimator = es ist kein Modell gewählt, das dies erstellt: { $maps }; eine .safetensors-Datei von { $networks } wählen
error-checkpoint-segmenter = { $path } kann keine Masken erstellen: { $reason }
error-request-only-makes-masks = dieses Modell erstellt Masken und erzeugt keine Bilder; `sluice mask` oder die Maskenwerkzeuge im Fenster verwenden
error-request-no-segmenter = eine Maske aus Punkten braucht Segment Anything; eine .safetensors-Datei davon oder von MobileSAM wählen
error-request-nothing-to-mask = nichts zeigt, wovon die Maske sein soll; einen Punkt darin oder einen Rahmen darum angeben
error-request-mask-point-outside = der Punkt { $x },{ $y } liegt nicht im Bild, das { $width }×{ $height } Pixel hat
error-request-mask-box = der Rahmen { $left },{ $top },{ $right },{ $bottom } ist kein Rahmen im Bild, das { $width }×{ $height } Pixel hat; links, oben, rechts und unten angeben
error-checkpoint-language-model = { $path } kann keine Prompts schreiben: { $reason }
error-checkpoint-image-describer = { $path } kann keine Bilder beschreiben: { $reason }
error-checkpoint-something-else = { $reason }, sondern etwas anderes: { $what }
error-checkpoint-no-upscaler = kein Vergrößerer
error-checkpoint-no-network = kein Netz der Art { $network }
error-checkpoint-no-segformer = kein SegFormer-Netz, das Segmente erkennt
error-checkpoint-no-rife = kein RIFE 4
error-checkpoint-no-language-model = kein Sprachmodell von Qwen3, Qwen2.5-VL oder Qwen3-VL
error-checkpoint-no-control-net = kein ControlNet
error-checkpoint-no-t2i-adapter = kein T2I-Adapter
error-checkpoint-no-ip-adapter = kein IP-Adapter: keine Schlüssel und Werte von Bildern
error-checkpoint-no-ip-adapter-alone = kein IP-Adapter
error-pipeline-nothing-written = das Sprachmodell hat in { $tokens } Tokens nichts geschrieben
error-request-nothing-to-enhance = es gibt keinen Prompt zum Ausarbeiten; ein paar Wörter schreiben
error-request-nothing-to-describe = es gibt kein Bild zum Beschreiben; eines oder mehrere angeben
error-request-sees-no-images = das Sprachmodell hat keinen Bildencoder und sieht keine Bilder
error-request-seen-pixels = Bilder mit { $pixels } Pixeln können nicht beschrieben werden; { $least } bis { $most } verwenden
error-request-too-narrow = ein Bild von { $width }×{ $height } Pixeln ist zu schmal zum Beschreiben; es so zuschneiden, dass eine Seite höchstens 200-mal so lang ist wie die andere
error-request-no-instruction = das Sprachmodell hat keine Anweisung; sie für die übliche weglassen
error-request-temperature = die Temperatur { $value } liegt nicht zwischen 0 und 2
error-request-top-p = Top-p { $value } liegt nicht über 0 und höchstens bei 1
error-request-longest-prompt = ein Prompt aus { $tokens } Tokens ist nicht möglich; 1 bis { $most } verwenden
error-request-keyframe-at-start = Frame 0 ist der Anfang des Clips; sein Bild als Startbild angeben
error-request-keyframe-outside = Frame { $frame } ist nicht im Clip; sein letzter Frame ist { $last }
error-adapters-for-another = für ein anderes Modell
error-request-one-reference = ein Referenzbild
error-request-at-most-references = höchstens { $most } Referenzbilder
error-request-1-reference = 1 Referenzbild
error-request-references = { $count } Referenzbilder
error-checkpoint-task-clips = erzeugt Clips aus Bildern
error-checkpoint-task-layers = erzeugt Bilder in Ebenen
error-grid-add-lora = zuerst eine hinzufügen
error-source-mask-small = der weiße Bereich ist kleiner als ein Latent
error-source-mask-none = sie hat keinen weißen Bereich
error-downloads-token-refused = , und das Token wird nicht angenommen

error-checkpoint-detector = { $path } kann keine Gesichter oder anderes finden: { $reason }
error-request-no-detector = ein Detailer hat keinen Detektor; eine .safetensors-Datei von YOLOv8 wählen, etwa face_yolov8n
error-request-no-detailer = nichts sagt, was im Bild zu finden ist; einen Detailer angeben
error-request-too-many-detailers = { $value } Detailer sind angegeben; höchstens { $most } verwenden
error-request-detailer-confidence = die Sicherheit { $value } ist ungültig; einen Wert zwischen 0 und 1 verwenden, etwa 0.3
error-request-detailer-boxes = { $value } Felder eines Bildes können nicht neu gemalt werden; 1 bis { $most } verwenden
error-request-detailer-growth = Gefundenes um { $value } Pixel wachsen zu lassen ist zu viel; höchstens { $most } verwenden
error-request-detailer-of-clip = Detailer gibt es nur für Bilder; sie entfernen, oder ein Bild erzeugen
error-request-no-detailing = dieses Modell kann kein Inpainting, also keine Detailer; sie entfernen
error-request-detailer-adapter = der Prompt eines Detailers nennt die LoRA { $value }, die das Bild nicht hat; sie im Prompt des Bildes nennen
error-request-not-for-details = Details eines vorhandenen Bildes werden ohne { $value } neu gemalt; weglassen
error-request-details-regions = Regionen
error-request-details-hires = Hires-Fix
error-request-details-refiner = Refiner
error-request-details-batch = Batch
error-request-details-variation = Seed der Variation
error-request-only-detects = ein Detektor findet nur etwas; ihn für einen Detailer eines anderen Modells wählen

error-request-too-many-regions = { $value } Regionen sind angegeben; höchstens { $most } verwenden
error-request-region-without-prompt = Region { $value } hat keinen Prompt; beschreiben, was darin ist, oder sie entfernen
error-request-region-area = der Bereich { $value } einer Region liegt nicht im Bild; links, oben, Breite und Höhe zwischen 0 und 1 angeben, etwa 0,0,0.5,1
error-request-region-weight = das Gewicht { $value } einer Region ist ungültig; einen Wert über 0 und höchstens { $most } verwenden
error-request-region-base = { $value } ist kein Anteil, den der Prompt in Regionen haben kann; 0 bis 1 verwenden
error-request-region-fade = Regionen können nicht über { $value } des Bildes einblenden; 0 bis { $most } verwenden
error-request-regions-of-part = Regionen gehen nicht, wo nur der maskierte Teil generiert wird; eines von beiden ausschalten
error-request-region-adapter = der Prompt einer Region nennt die LoRA { $value }, die das Bild nicht hat; sie im Prompt des Bildes nennen
error-source-empty-region = nichts vom Bild liegt in der Region { $area }
error-request-no-area = erwartet werden links, oben, Breite und Höhe zwischen 0 und 1, etwa 0,0,0.5,1, oder die Datei einer Maske

## Die Engine für NVIDIA-GPUs, wie sie installiert wird

error-cuda-platform = die Engine für NVIDIA-GPUs kann nur unter Linux auf x86-64 installiert werden
error-cuda-no-folder = dieser Benutzer hat keinen Ordner für Daten
error-cuda-no-releases = dieses Programm weiß nicht, wo seine Versionen sind
error-cuda-not-released = auf { $host } gibt es keine Engine für Sluice { $version }
error-cuda-no-index = die Liste der Engines { $path } fehlt
error-cuda-index = die Liste der Engines { $name } ist nicht verständlich: { $reason }
error-cuda-path = ein Archiv hat einen Namen, der ein Pfad ist
error-cuda-no-name = eine Bibliothek hat keinen Namen
error-cuda-not-listed = { $name } ist nicht in der Liste der Engines
error-cuda-unknown-capability = die Compute Capability der NVIDIA-GPU ist nicht bekannt
error-cuda-too-old = die GPU hat Compute Capability { $found }; die Engine braucht { $least }
error-cuda-damaged = { $name } ist beschädigt: { $reason }
error-cuda-outside = { $inside } in { $name } führt aus seinem Ordner hinaus
error-cuda-start = die Engine für NVIDIA-GPUs startet nicht: { $reason }
error-cuda-version = die Engine hat die Version { $found }, dieses Programm die Version { $own }
error-cuda-larger = es ist größer als angekündigt
error-cuda-without-engine = es enthält keine Engine
error-cuda-neither = es enthält etwas, das weder Datei noch Ordner ist
error-cuda-no-answer = sie antwortet nicht
