### Der Speicher während eines Laufs: Zeitleiste, Schichten, Schritte.

monitor-empty = Die Zeitleiste zeigt den Speicher, während ein Bild erzeugt wird.
monitor-title = Speicher
monitor-title-unit = Speicher ({ $unit })
monitor-last-run = im letzten Lauf
monitor-this-run = in diesem Lauf
monitor-close = Zeitleiste schließen
monitor-resume = Fortsetzen
monitor-pause = Pause
monitor-pause-tip = Hält die Zeitleiste an; der Lauf geht weiter.
monitor-whole = Ganzer Lauf
monitor-whole-tip = Zeigt wieder den ganzen Lauf. Oder: Doppelklick auf die Zeitleiste.
monitor-weights = Gewichte
monitor-activations = Aktivierungen
monitor-others = andere
monitor-free = frei
monitor-predicted = vorhergesagt
monitor-allowed = erlaubt

## Schritte

monitor-steps = Schritte
monitor-step-took = { $time } insgesamt
monitor-step-computing = { $time } gerechnet
monitor-step-waiting = { $time } auf Gewichte gewartet
monitor-step-copied = { $memory } kopiert
monitor-step-skipped = Vom Schritt-Cache übersprungen
monitor-steps-none = Schritte, noch keiner fertig
monitor-steps-summary = Schritte, { $count } fertig, im Mittel { $time }, davon { $share } gewartet

## Die Zeitleiste

monitor-vram = VRAM im Verlauf, höchstens { $memory } gemessen
monitor-ram = RAM im Verlauf, höchstens { $memory }
monitor-run-ram = RAM des Laufs im Verlauf, höchstens { $memory } gemessen
monitor-process-ram = RAM von Sluice im Verlauf, höchstens { $memory }
monitor-sample-host = Gewichte im RAM { $memory }
monitor-sample-host-pinned = Gewichte im RAM { $memory } (davon { $pinned } fixiert)
monitor-sample-weights = Gewichte { $memory }
monitor-sample-activations = Aktivierungen { $memory }
monitor-sample-others = Andere Programme { $memory }
monitor-sample-free = Frei { $memory }
monitor-sample-process = Sluice im RAM { $memory }

## Schichten

monitor-layers = Schichten
monitor-layers-none = Schichten, noch keine bekannt
monitor-layers-summary =
    { $part ->
        [text-encoder] Schichten des Textencoders, { $resident } geladen, { $streamed } gestreamt
        [denoiser] Schichten des Denoisers, { $resident } geladen, { $streamed } gestreamt
        [upscaler] Schichten des Vergrößerers, { $resident } geladen, { $streamed } gestreamt
        [interpolator] Schichten des Netzes für Zwischenbilder, { $resident } geladen, { $streamed } gestreamt
        [preprocessor] Schichten der Vorverarbeitung, { $resident } geladen, { $streamed } gestreamt
        [segmenter] Schichten des Segmentierers, { $resident } geladen, { $streamed } gestreamt
        [detector] Schichten des Detektors, { $resident } geladen, { $streamed } gestreamt
        [language-model] Schichten des Sprachmodells, { $resident } geladen, { $streamed } gestreamt
       *[autoencoder] Schichten des Autoencoders, { $resident } geladen, { $streamed } gestreamt
    }
monitor-layers-now =
    { $part ->
        [text-encoder] Schichten des Textencoders, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [denoiser] Schichten des Denoisers, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [upscaler] Schichten des Vergrößerers, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [interpolator] Schichten des Netzes für Zwischenbilder, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [preprocessor] Schichten der Vorverarbeitung, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [segmenter] Schichten des Segmentierers, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [detector] Schichten des Detektors, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
        [language-model] Schichten des Sprachmodells, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
       *[autoencoder] Schichten des Autoencoders, { $resident } geladen, { $streamed } gestreamt, jetzt { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] Block { $number } des Textencoders
        [denoiser] Block { $number } des Denoisers
        [upscaler] Block { $number } des Vergrößerers
        [interpolator] Block { $number } des Netzes für Zwischenbilder
        [preprocessor] Block { $number } der Vorverarbeitung
        [segmenter] Block { $number } des Segmentierers
        [detector] Block { $number } des Detektors
        [language-model] Block { $number } des Sprachmodells
       *[autoencoder] Block { $number } des Autoencoders
    }
monitor-block-resident = { $memory }, während seiner Phase geladen
monitor-block-streamed = { $memory }, gestreamt
monitor-block-leaves = { $memory }, Tensor für Tensor gestreamt
monitor-now-resident = Jetzt auf dem Gerät
monitor-now-in-flight = Wird jetzt geladen oder liegt in einem Platz
monitor-now-waiting = Wartet jetzt auf Gewichte
monitor-now-computing = Rechnet jetzt
monitor-now-idle = Jetzt nicht auf dem Gerät
monitor-not-used = Noch nicht benutzt
monitor-from-disk = vom Datenträger
monitor-from-ram = aus dem RAM
monitor-from-device = war schon da
monitor-last-use = Zuletzt: { $from }
monitor-last-use-slot = Zuletzt: { $from }, Platz { $slot }
monitor-time-waiting = gewartet { $time }, im Mittel { $mean }
monitor-time-loading = geladen { $time }, im Mittel { $mean }
monitor-time-computing = gerechnet { $time }, im Mittel { $mean }
monitor-time-evict = verdrängt { $time }, im Mittel { $mean }
