### Die Leiste oben: Modell, Leisten und Einstellungen.

## Leisten

top-bar-timeline-tip = Zeigt, wie ein Lauf den Speicher im Verlauf benutzt.
top-bar-plan-tip = Zeigt, wie das Modell in den Speicher passt, und ändert das.
top-bar-gallery-tip = Alles ansehen, was erzeugt wurde. Taste: G.

## Modelle

top-bar-models = Modelle
top-bar-all-models-detail = Auf diesem Computer und bekannte, und wie sie passen (Strg+M)
top-bar-all-models-tip = Öffnet die Übersicht aller Modelle und LoRAs.
top-bar-downloads =
    { $count ->
        [one] { $count } Download, { $percent }
       *[other] { $count } Downloads, { $percent }
    }
top-bar-get-models-detail = Ein Katalog, Links und Hugging Face
top-bar-get-models = Modelle holen…
top-bar-get-models-tip = Lädt Modelle herunter.
top-bar-starter-detail = Eingebaut: kleine Bilder zum Ausprobieren
top-bar-starter-clip-detail = Eingebaut: kurze Clips zum Ausprobieren
top-bar-forget-model = { $name } von der Liste nehmen
top-bar-path = Pfad des Modells
top-bar-path-example = /pfad/zum/modell
top-bar-open = Öffnen
top-bar-loading = wird geladen…
top-bar-failed = konnte nicht geöffnet werden
top-bar-model = Modell
top-bar-choose-model = Ein Modell wählen
top-bar-component = { $role }: { $architecture }, { $weights } Parameter, { $size }
top-bar-starter = Starter
top-bar-starter-clip = Clip-Starter
top-bar-choose-model-tip = Erzeugt ab jetzt mit diesem Modell.
top-bar-upscaler = Mitgelieferter Vergrößerer
top-bar-path-tip = Nimmt den Pfad einer Modelldatei oder eines Ordners.
