### The question before clips get more frames.

interpolate-title = Zwischenbilder für { $count } Clips
interpolate-title-one = Zwischenbilder für { $name }
interpolate-model = Netz für Zwischenbilder
interpolate-model-tip = Das Netz, das die Bilder dazwischen macht.
interpolate-open-tip = Eine .safetensors-Datei von RIFE 4 verwenden, etwa rife_v4.26.
interpolate-factor = Bilder
interpolate-factor-tip = { $factor } so viele Bilder, in derselben Zeit.
interpolate-across-cuts = Auch über Schnitte hinweg
interpolate-across-cuts-tip = Auch zwischen zwei Szenen Bilder machen. Sonst wird das letzte Bild einer Szene wiederholt.
interpolate-start = Starten
interpolate-cancel-tip = Keine Zwischenbilder machen.
interpolate-choose = Zuerst eine Datei von RIFE 4 wählen
interpolate-folder-empty = { $name } enthält keine Clips.
interpolate-no-clip = { $name } ist kein Clip
interpolate-rates = Aus { $before } Bildern je Sekunde werden { $after }
interpolate-chosen = { $name } ist ein Netz für Zwischenbilder: „Zwischenbilder…“ verwendet es von jetzt an
interpolate-section = Zwischenbilder
interpolate-section-tip = Mehr Bilder in derselben Zeit, für flüssigere Bewegung.
interpolate-off = Aus
interpolate-without = Keine Zwischenbilder
interpolate-in-force = Bilder × { $factor }
