### Was ein Fenster ohne Modell zeigt.

start-looking = Dieser Computer wird untersucht…
start-finding = Passende Modelle werden gesucht…
start-quickest = Ohne GPU sind diese am schnellsten. Sie zeichnen fast alles und werden einmal heruntergeladen:
start-suited = Diese Modelle passen. Sie zeichnen fast alles und werden einmal heruntergeladen:
start-get-others = Andere Modelle holen…
start-get-others-tip = Der ganze Katalog, Links und Hugging Face.
start-have-models = Ich habe schon Modelle
start-have-models-tip = Findet die von ComfyUI, A1111 und anderen Programmen und in eigenen Ordnern.
start-models-found =
    { $count ->
        [one] { $count } Modell gefunden
       *[other] { $count } Modelle gefunden
    }
start-models-found-tip = Öffnet die Liste der gefundenen Modelle.
start-licence = Lizenz: siehe Seite des Modells
