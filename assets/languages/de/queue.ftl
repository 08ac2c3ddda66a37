### Die Warteschlange in der oberen Leiste: was läuft und was wartet.

queue-title = Warteschlange { $count }
queue-title-empty-paused = Warteschlange · Pause
queue-title-paused = Warteschlange { $count } · Pause
queue-nothing = Nichts wartet. „Erzeugen“ reiht Bilder und Clips hier ein.
queue-tip = Aufträge, die laufen oder warten.
queue-name = Warteschlange
queue-resume = Fortsetzen
queue-resume-tip = Macht weiter, wo die Warteschlange angehalten wurde.
queue-pause = Pause
queue-pause-tip = Hält nach dem aktuellen Schritt an und gibt den Speicher frei. Fortsetzen macht dort weiter.
queue-cancel-all = Alle abbrechen
queue-cancel-all-tip = Bricht ab, was läuft und was wartet.
queue-resume-cancelled = Abgebrochenes fortsetzen
queue-resume-cancelled-tip = Setzt „{ $name }“ fort, wo es abgebrochen wurde.
queue-resume-cancelled-and-others-tip =
    { $others ->
        [one] Setzt „{ $name }“ fort, wo es abgebrochen wurde. Danach lässt sich ein weiterer Auftrag fortsetzen.
       *[other] Setzt „{ $name }“ fort, wo es abgebrochen wurde. Danach lassen sich { $others } weitere Aufträge fortsetzen.
    }
queue-no-prompt = Kein Prompt
queue-images =
    { $count ->
        [one] { $count } Bild
       *[other] { $count } Bilder
    }
queue-clips =
    { $count ->
        [one] { $count } Clip
       *[other] { $count } Clips
    }
queue-size =
    { $count ->
        [one] { $size } · { $count } Schritt
       *[other] { $size } · { $count } Schritte
    }
queue-ended = Beendet
queue-cancelling = Wird abgebrochen…
queue-waiting = Wartet
queue-running = Läuft
queue-actions = Aktionen für Auftrag { $job }
queue-cancel = Auftrag { $job } abbrechen
queue-grid-ended = Raster · beendet
queue-grid-cancelling = Raster · wird abgebrochen…
queue-grid-done = Raster · { $done } von { $all }
queue-grid-tip = Die Bilder eines Rasters. Wenn sie fertig sind, werden sie zu einem zusammengesetzt.
queue-grid-cancel = Raster abbrechen
queue-folder-ended = { $name } · beendet
queue-folder-cancelling = { $name } · wird abgebrochen…
queue-folder-done = { $name } · { $done } von { $all }
queue-folder-tip = Die Bilder eines Ordners.
queue-folder-cancel = Ordner abbrechen
queue-files-done = { $done } von { $all }
queue-files-tip = Dateien, die zusammen eingereiht wurden.
queue-files-cancel = Alle diese Dateien abbrechen
queue-run-next = Als Nächstes ausführen
queue-run-next-tip = Nach dem laufenden Auftrag ausführen.
queue-is-next = Er ist schon der nächste.
queue-run-last = Zuletzt ausführen
queue-run-last-tip = Nach allen anderen ausführen.
queue-is-last = Er ist schon der letzte.
queue-duplicate = Mit anderem Seed duplizieren
queue-duplicate-tip = Denselben Auftrag noch einmal mit zufälligem Seed hinzufügen.
queue-edit = Bearbeiten
queue-edit-tip = Einstellungen in der Leiste ändern; der Platz in der Warteschlange bleibt.
queue-upscale = { $name } vergrößern
queue-interpolate = Zwischenbilder für { $name }
queue-detail = Details von { $name } neu malen
queue-depth = Tiefenkarte von { $name }
queue-pose = Pose von { $name }
queue-segments = Segmente von { $name }
queue-soft-edge = Weiche Kanten von { $name }
queue-mask = Maske von { $name }
queue-enhance = Prompt ausarbeiten
queue-describe = { $names } beschreiben
queue-describe-files = { $count } Bilder beschreiben
queue-repeat = Wiederholen
queue-repeat-tip = Erzeugt das letzte Bild oder den letzten Clip der Warteschlange mit anderem Seed immer wieder, bis es abgebrochen oder dies ausgeschaltet wird.
queue-time-left = Insgesamt noch etwa { $time }
queue-time-left-tip = Bis die Warteschlange fertig ist, nach der Vorhersage für die aktuellen Einstellungen.
