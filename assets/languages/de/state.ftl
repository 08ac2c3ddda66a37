### Hinweise, Fehler und Namen dessen, was erzeugt wurde.

## Längen und Namen

state-still-image = Standbild
state-clip-length =
    { $duration }, { $count ->
        [one] { $count } Frame
       *[other] { $count } Frames
    }
state-clip-of-seed = Clip mit Seed { $seed }
state-image-of-seed = Bild mit Seed { $seed }
state-clip-of-number = Clip { $number }
state-image-of-number = Bild { $number }

## Der Computer

state-device = { $cpu }, { $ram } RAM, keine NVIDIA-GPU
state-device-without-name = Dieser Computer, { $ram } RAM, keine NVIDIA-GPU

## Wie gut ein Modell läuft

state-fit-well = Läuft gut · { $time }
state-fit-well-about = Läuft gut · etwa { $time }
state-fit-streamed = Läuft, gestreamt · { $time }
state-fit-streamed-about = Läuft, gestreamt · etwa { $time }
state-fit-slowly = Läuft langsam · { $time }
state-fit-slowly-about = Läuft langsam · etwa { $time }
state-fit-very-slowly = Läuft sehr langsam · { $time }
state-fit-very-slowly-about = Läuft sehr langsam · etwa { $time }
state-fit-too-big-ram = Zu groß, braucht { $needed } RAM
state-fit-too-big = Zu groß, braucht { $needed }
state-fit-cannot = Läuft nicht

## Hinweise

state-lora-added = LoRA { $name } hinzugefügt
state-lora-made-for = { $name } ist für diese Einstellungen gemacht.
state-model-own-steps = Die eigenen Schritte und die Guidance des Modells
state-queue-paused = Die Warteschlange ist angehalten
state-queue-paused-detail = Das Fortgesetzte wartet, bis die Warteschlange weiterläuft.
state-cancelled-at = Schritt { $step } von { $steps } war fertig.
state-cancelled = Abgebrochen
state-jobs-cancelled =
    { $count ->
        [one] { $count } Auftrag abgebrochen
       *[other] { $count } Aufträge abgebrochen
    }

## Fehler

state-engine-stopped-message = Bis Sluice neu gestartet wird, kann nichts erzeugt werden.
state-engine-stopped-advice = Die Einstellungen bleiben erhalten.
state-engine-stopped = Die Engine wurde beendet
state-not-saved = Das Bild wurde nicht im Ausgabeordner gespeichert
state-engine-restarted = Engine neu gestartet, es geht weiter
state-image-goes-on = Das Bild geht nach Schritt { $step } weiter.
state-clip-goes-on = Der Clip geht nach Schritt { $step } weiter.
state-generation-failed = Das Erzeugen ist fehlgeschlagen
state-upscale-failed = { $name } konnte nicht vergrößert werden
state-interpolation-failed = Die Zwischenbilder für { $name } sind fehlgeschlagen
state-detail-failed = Die Details von { $name } konnten nicht neu gemalt werden
state-description-failed = Das Beschreiben von { $names } ist fehlgeschlagen
state-map-failed = Die Karte von { $name } ist fehlgeschlagen
state-mask-failed = Die Maske von { $name } ist fehlgeschlagen
state-enhance-failed = Der Prompt konnte nicht ausgearbeitet werden
state-model-not-opened = Dieses Modell konnte nicht geöffnet werden
state-other-model-not-opened = { $name } konnte nicht geöffnet werden
state-went-wrong = Etwas ist schiefgegangen
state-snippet-deleted = Textbaustein gelöscht: { $words }
state-negative-snippet-deleted = Negatives Preset gelöscht: { $words }
state-job-edited = Auftrag wird bearbeitet
state-job-goes-back = Erzeugen stellt ihn mit diesen Einstellungen an seinen Platz zurück.
state-style-deleted = Stil { $name } gelöscht
