### Engines: die Liste in den Einstellungen, und was mehrere von ihnen tun.

## Die Liste

engines-here = Dieser Computer
engines-here-tip = Rechnet auf diesem Computer, auf seiner NVIDIA-Karte, falls er eine hat.
engines-here-alone-tip = Keine andere Engine ist eingeschaltet.
engines-card = { $name } (GPU { $number })
engines-card-tip = Diese Karte dieses Computers bekommt eigene Aufträge.
engines-use = Engine { $number } verwenden
engines-use-tip = Gibt ihr Aufträge.
engines-name = Name von Engine { $number }
engines-name-tip = Wie diese Engine im Fenster heißt.
engines-name-hint = Name
engines-command = Befehl von Engine { $number }
engines-command-tip = Führt zu dem Computer, der rechnet. Keine Shell führt ihn aus. Passwörter und Schlüssel gehören nicht hierher.
engines-empty = Schreiben Sie den Befehl, der zur Engine führt.
engines-quotes = Ein Anführungszeichen fehlt.
engines-remove = Engine { $number } entfernen
engines-add = Engine hinzufügen …
engines-add-tip = Fügt einen Befehl für den Anfang hinzu, in dem Großbuchstaben für Ihre Namen stehen.
engines-container = Container
engines-other-command = Ein anderer Befehl
engines-hint = Jeder Auftrag geht an eine Engine, die frei ist und sein Modell hat. Bilder werden auf diesem Computer gespeichert. Passwörter und Schlüssel werden hier nicht aufbewahrt.
engines-change-waits = Gilt, sobald die Warteschlange leer ist.

## Eine ausprobieren

engines-try = Ausprobieren
engines-try-tip = Startet { $name } und fragt nach Version, Gerät und Speicher.
engines-stop-trying = Anhalten
engines-stop-trying-tip = Wartet nicht mehr auf { $name }.
engines-trying = Wartet seit { $seconds } s auf eine Antwort …
engines-answers = Antwortet: { $words }
engines-there = Auf dem Computer der Engine: { $words }

## Was sie tun

engines-title = Engines
engines-shown = Engine
engines-shown-tip = Die Engine, deren Vorhersage, Hardware und Zeitverlauf zu sehen sind.
engines-show-tip = Zeigt Vorhersage, Hardware und Zeitverlauf dieser Engine.
engines-begins = Beginnt
engines-starts = Startet …
engines-restarts = Startet neu …
engines-gone = Antwortet nicht
engines-lacks-model = Hat dieses Modell nicht
engines-idle = Frei · { $engine }
engines-given-up = Engine wird nicht mehr verwendet: { $name }
engines-restarted = Engine neu gestartet, es geht weiter: { $name }
engines-not-started = Die Engines konnten nicht gestartet werden

## Die für NVIDIA-GPUs installieren

engines-cuda = Engine für NVIDIA-GPUs
engines-cuda-install = Engine für NVIDIA-GPUs installieren…
engines-cuda-install-tip = Fragt die Seite der Versionen nach der Größe. Was geladen wird und woher, wird vorher angezeigt.
engines-cuda-file = Datei wählen…
engines-cuda-install-file = Engine für NVIDIA-GPUs aus einer Datei installieren…
engines-cuda-file-tip = Installiert sie aus einem Archiv auf diesem Computer. Die Liste dazu muss daneben liegen.
engines-cuda-asking = Die Größe wird erfragt…
engines-cuda-program = Das Programm, { $size }, von { $host }
engines-cuda-offer = { $program }. NVIDIAs Bibliotheken, { $libraries }, von { $host }. Auf dem Datenträger brauchen sie { $disk }.
engines-cuda-offer-alone = { $program }. Auf dem Datenträger braucht es { $disk }.
engines-cuda-begin = Installieren
engines-cuda-begin-tip = Lädt sie, vergleicht den SHA-256 und startet sie einmal. Erst dann wird sie benutzt.
engines-cuda-cancel-tip = Beendet das und entfernt, was angekommen ist.
engines-cuda-fetching = Wird geladen, { $amount }
engines-cuda-retrying = Neuer Versuch: { $why }
engines-cuda-unpacking = Wird geprüft und entpackt…
engines-cuda-starting = Wird einmal gestartet…
engines-cuda-installed = Die Engine für NVIDIA-GPUs ist installiert
engines-cuda-remove = Engine für NVIDIA-GPUs entfernen
engines-cuda-remove-tip = Löscht ihr Programm und NVIDIAs Bibliotheken aus Ihrem Datenordner. Sluice rechnet dann auf der CPU.
engines-cuda-remove-later = Geht, sobald nichts mehr erzeugt wird.
engines-cuda-removing = Wird entfernt…
