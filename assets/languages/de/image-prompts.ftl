### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = Bild-Prompt
image-prompts-title-used = Bild-Prompt ({ $count })
image-prompts-tip = Das Modell Bilder neben dem Prompt lesen lassen, über einen IP-Adapter.
image-prompts-add = IP-Adapter hinzufügen…
image-prompts-add-tip = Einen IP-Adapter für dieses Modell wählen.
image-prompts-library = In der Bibliothek
image-prompts-library-tip = IP-Adapter, die in deinen Modellordnern gefunden wurden.
image-prompts-library-spoken = IP-Adapter in der Bibliothek
image-prompts-remove = { $name } entfernen
image-prompts-image = Bild hinzufügen…
image-prompts-image-tip = Ein Bild wählen, das gelesen wird. Gelesen wird seine Mitte, in einem Quadrat.
image-prompts-image-remove = { $name } nicht lesen
image-prompts-weight = Gewicht
image-prompts-weight-tip = Wie stark die Bilder zählen. 1 ist wie trainiert; weniger überlässt dem Prompt mehr.
image-prompts-start = Beginn
image-prompts-start-tip = Der Anteil der Schritte, vor dem die Bilder nicht gelesen werden.
image-prompts-end = Ende
image-prompts-end-tip = Der Anteil der Schritte, nach dem die Bilder nicht gelesen werden.
image-prompts-without = IP-Adapter { $name } nicht verwenden
