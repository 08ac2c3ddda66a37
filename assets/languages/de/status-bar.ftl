### Die Leiste unten: was gerade geschieht, und die Hardware.

## Was gerade geschieht

status-bar-cancelling = Wird abgebrochen…
status-bar-per-step = { $time } je Schritt
status-bar-engine-stopped = Die Engine wurde beendet
status-bar-paused = Angehalten
status-bar-waiting = Warte auf die Engine…
status-bar-loading = Modell wird geladen…
status-bar-no-model = Kein Modell geladen
status-bar-ready = Bereit
status-bar-preparing = Vorbereitung
status-bar-encoding-image = Bild wird kodiert
status-bar-encoding-prompt = Prompt wird kodiert
status-bar-denoising = Entrauschen
status-bar-step = Schritt { $step } von { $steps }
status-bar-decoding = Dekodieren

## Gewichte, während ein Bild erzeugt wird

status-bar-link = Übertragung { $speed }
status-bar-stall = Warten { $share }
status-bar-peak = Spitze { $memory }
status-bar-traffic-tip = Wie schnell Gewichte zum Gerät kommen, welchen Teil der Zeit es auf sie wartet und wie viel seines Speichers der Lauf höchstens benutzt hat.

## Hardware

status-bar-cpu-tip = { $name }, { $threads } Threads.
status-bar-ram-tip = Sluice benutzt { $memory }
status-bar-ram-tip-limited = Sluice benutzt { $memory }; auf { $limit } begrenzt durch { $cause }
status-bar-gpu-tip = { $name }, { $load } ausgelastet.
status-bar-gpu-tip-degrees = { $name }, { $load } ausgelastet, { $degrees } °C
status-bar-no-gpu = Keine NVIDIA-GPU
status-bar-no-gpu-tip = Die Bilder berechnet die CPU. GPUs von AMD, Intel und Apple können noch nicht zum Rechnen benutzt werden. Schon heute kann eine Engine auf einem anderen Computer mit NVIDIA-GPU benutzt werden: Einstellungen, Engine.
status-bar-no-gpu-elsewhere-tip = Die Bilder berechnet die CPU des anderen Computers.
status-bar-upscaling = Vergrößern
status-bar-interpolating = Zwischenbilder entstehen
status-bar-preprocessing = Karten erstellen
status-bar-detecting = Details suchen
status-bar-writing = Schreiben
status-bar-tile = Kachel { $tile } von { $tiles }
status-bar-frame = Bild { $frame } von { $frames }
