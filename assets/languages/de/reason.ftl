### Warum ein Plan so ist, wie er ist.

## Sätze

reason-all-streamed =
    Alle { $used } Blöcke { $role ->
        [Vorverarbeitung] der Vorverarbeitung
       *[other] des { $role }s
    } { $how }, { $why }.
reason-one-stays =
    { $stay } von { $used } Blöcken { $role ->
        [Vorverarbeitung] der Vorverarbeitung
       *[other] des { $role }s
    } bleibt { $where }, die übrigen { $how }, { $why }.
reason-some-stay =
    { $stay } von { $used } Blöcken { $role ->
        [Vorverarbeitung] der Vorverarbeitung
       *[other] des { $role }s
    } bleiben { $where }, die übrigen { $how }, { $why }.
reason-everything-stays = Das ganze Modell ({ $size }) passt und bleibt { $where }.
reason-parts-in-turn = Jeder Teil des Modells ist nur so lange { $where }, wie er gebraucht wird, { $why }.
reason-part-in-use =
    { $role ->
        [Vorverarbeitung] Die Vorverarbeitung ist nur so lange { $where }, wie sie gebraucht wird, { $why }.
       *[other] Der { $role } ist nur so lange { $where }, wie er gebraucht wird, { $why }.
    }
reason-parts-in-use = Der { $roles } sind nur so lange { $where }, wie sie gebraucht werden, { $why }.
reason-decoded-in-tiles = Das Bild wird in Kacheln von bis zu { $width }×{ $height } Latents dekodiert.
reason-enlarged-in-tiles = Das Bild wird in Kacheln von bis zu { $width }×{ $height } Pixeln vergrößert.
reason-interpolated-in-tiles = Die Zwischenbilder entstehen in Kacheln von höchstens { $width }×{ $height } Pixeln.
reason-uses-per-step = Braucht { $part } von { $whole }, { $time } je Schritt.
reason-uses = Braucht { $part } von { $whole }, { $time }.
reason-weights-in-8-bits = Die Gewichte werden in 8 Bit gehalten ({ $format }), was das Bild ein wenig verändert.
reason-text-in-8-bits = Die Gewichte der Textencoder werden in 8 Bit gehalten ({ $format }), was das Bild ein wenig verändert.
reason-offer-with-error = „{ $name }“ bräuchte { $memory } und { $time } je Schritt; die Gewichte würden um { $error } abweichen.
reason-offer = „{ $name }“ bräuchte { $memory } und { $time } je Schritt.

## Was nicht passt

reason-does-not-fit = Kein Platz { $where }, denn { $what } braucht { $needed } in der Phase „{ $stage }“, { $over } mehr als die erlaubten { $allowed }.
reason-not-enough-ram = Nicht genug RAM: Das Laden der Gewichte braucht { $needed }, erlaubt sind { $allowed }.
reason-allow-or-smaller = { $allow }, oder ein kleineres Bild oder einen kleineren Batch verwenden.
reason-allow-smaller-or-auto = { $allow }, ein kleineres Bild oder einen kleineren Batch verwenden, oder den automatischen Modus wählen.
reason-smaller = Ein kleineres Bild oder einen kleineren Batch verwenden.
reason-smaller-or-auto = Ein kleineres Bild oder einen kleineren Batch verwenden, oder den automatischen Modus wählen.
reason-allow-ram = { $memory } mehr RAM erlauben
reason-allow-vram = Mindestens { $memory } VRAM erlauben
reason-allow-memory = Mindestens { $memory } Speicher erlauben
reason-what-everything = alles auf dem Gerät
reason-what-all-but-text = alles außer dem Textencoder auf dem Gerät
reason-what-autoencoder = der Autoencoder neben dem Teil, der gerade rechnet,
reason-what-largest = der größte Teil allein
reason-what-smallest = selbst die kleinste Aufteilung

## Warum Gewichte nicht bleiben

reason-because-too-large = weil nicht alle { $size } auf einmal passen
reason-because-little-free = weil mit allen { $size } wenig Speicher frei bliebe
reason-because-least-memory = weil möglichst wenig Speicher belegt werden soll
reason-because-mode = weil der Modus „{ $mode }“ gewählt ist

## Was mit Gewichten geschieht, die nicht bleiben

reason-how-some-by-tensor = werden gestreamt, { $blocks } davon Tensor für Tensor
reason-how-by-tensor = werden Tensor für Tensor geladen
reason-how-computation = werden während der Berechnung gestreamt
reason-how-link = werden so schnell gestreamt, wie die Übertragung zur GPU es erlaubt
reason-how-disk = werden so schnell gestreamt, wie der Datenträger es erlaubt

## Wo Gewichte liegen

reason-where-memory = im Speicher
reason-where-gpu = auf der GPU
reason-where-into-memory = im Speicher

## Teile eines Modells

reason-role-text-encoder = Textencoder
reason-role-denoiser = Denoiser
reason-role-autoencoder = Autoencoder
reason-role-upscaler = Vergrößerer
reason-role-frame-interpolator = Netz für Zwischenbilder
reason-role-preprocessor = Vorverarbeitung
reason-role-segmenter = Segmentierer
reason-role-detector = Detektor
reason-role-language-model = Sprachmodell
reason-roles-text-and-denoiser = Textencoder und der Denoiser
reason-roles-text-and-autoencoder = Textencoder und der Autoencoder
reason-roles-denoiser-and-autoencoder = Denoiser und der Autoencoder

## Phasen

reason-stage-encode = Kodieren
reason-stage-encode-image = Bild kodieren
reason-stage-encode-control-image = Steuerbild kodieren
reason-stage-encode-image-prompt = Bild-Prompt kodieren
reason-stage-encode-enlarged-image = vergrößertes Bild kodieren
reason-stage-denoise = Entrauschen
reason-stage-decode = Dekodieren
reason-stage-upscale = Vergrößern
reason-stage-interpolate = Zwischenbilder
reason-stage-make-maps = Karten erstellen
reason-stage-detect = Erkennen
reason-stage-write = Schreiben
reason-stage-high-noise = viel Rauschen
reason-stage-low-noise = wenig Rauschen
reason-stage-refine = Verfeinern
reason-stage-denoise-again = noch einmal entrauschen
reason-stage-prior = Prior
reason-stage-decoder = Decoder

## Karten

reason-maps-depth = Tiefenkarten
reason-maps-pose = Posen
reason-maps-segments = Segmente
reason-maps-soft-edge = weiche Kanten

## Änderungen des Plans während eines Laufs

reason-ran-out = Der Speicher reichte nicht ({ $needed } nötig, { $allowed } erlaubt). Jetzt gilt: { $changes }
reason-now-fewer-stay = { $stay } statt { $stayed } Blöcke ({ $role }) bleiben auf dem Gerät
reason-now-fewer-stay-more = { $stay } statt { $stayed } Blöcke ({ $role }) bleiben auf dem Gerät, { $more }
reason-now-enlarged = das Bild wird in Kacheln von { $width }×{ $height } Pixeln vergrößert
reason-now-enlarged-more = das Bild wird in Kacheln von { $width }×{ $height } Pixeln vergrößert, { $more }
reason-now-interpolated = Zwischenbilder entstehen in Kacheln von { $width }×{ $height } Pixeln
reason-now-interpolated-more = Zwischenbilder entstehen in Kacheln von { $width }×{ $height } Pixeln, { $more }
reason-now-decoded = das Bild wird in Kacheln von { $width }×{ $height } Latents dekodiert
reason-now-decoded-more = das Bild wird in Kacheln von { $width }×{ $height } Latents dekodiert, { $more }
reason-now-windows = die Fenster des Clips werden nacheinander berechnet
reason-now-windows-more = die Fenster des Clips werden nacheinander berechnet, { $more }
reason-now-fewer-slots = Blöcke werden durch { $slots } statt { $before } Plätze gestreamt
reason-now-fewer-slots-more = Blöcke werden durch { $slots } statt { $before } Plätze gestreamt, { $more }
reason-now-smaller-pieces = Gewichte werden in kleineren Stücken geladen
reason-timings-one = Die Zeiten des ersten Schritts haben die Lage von 1 Block geändert
reason-timings = Die Zeiten des ersten Schritts haben die Lage von { $blocks } Blöcken geändert
reason-driver-moved = Der Treiber hat { $memory } vom Speicher der GPU in den RAM verschoben, was jeden Schritt verlangsamt. In der NVIDIA-Systemsteuerung „CUDA - Sysmem Fallback Policy“ auf „Prefer No Sysmem Fallback“ stellen oder weniger VRAM erlauben
reason-slow-link = Dieser Computer kopiert { $measured }, die nachgeahmte Verbindung { $simulated }: Schritte, die darauf warten, dauern länger als auf der GPU
