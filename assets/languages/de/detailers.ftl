### Detailer: was in einem Bild gefunden und neu gemalt wird.

detailers-title = Detailer
detailers-title-tip = Gesichter, Hände oder Personen, die einzeln und in voller Auflösung neu gemalt werden.
detailers-title-used = Detailer ({ $count })
detailers-add = Detektor hinzufügen…
detailers-add-tip = Eine .safetensors-Datei von YOLOv8, etwa face_yolov8n.
detailers-library = Aus der Bibliothek
detailers-library-tip = Detektoren in Ihren Ordnern.
detailers-library-spoken = Detektoren der Bibliothek
detailers-missing = Kein Detektor in den Modellordnern gefunden. Eine .safetensors-Datei von YOLOv8 wählen, etwa face_yolov8n, zum Beispiel von Hugging Face.
detailers-remove = Detailer { $name } entfernen
detailers-strength = Stärke
detailers-strength-tip = Wie viel sich in einem Feld ändert.
detailers-confidence = Sicherheit
detailers-confidence-tip = Wie sicher der Detektor sein muss: kleinere Werte finden mehr.
detailers-prompt = Prompt für Felder
detailers-prompt-tip = Beschreibt, was in den Feldern ist. Leer gelassen ist es der Prompt des Bildes.
detailers-prompt-hint = Der des Bildes
detailers-negative = Negativer Prompt für Felder
detailers-negative-tip = Was in den Feldern vermieden wird. Leer gelassen ist es das, was das Bild vermeidet.
detailers-more = Mehr von { $name }
detailers-without = { $name } nicht verwenden
detailers-more-tip = Reihenfolge, Maske und Schritte.
detailers-most = Höchstens Felder
detailers-most-tip = Wie viele Felder eines Bildes höchstens neu gemalt werden.
detailers-order = Reihenfolge
detailers-order-tip = Welche Felder zuerst kommen und zählen, wenn es mehr sind.
detailers-order-largest = Größte zuerst
detailers-order-surest = Sicherste zuerst
detailers-order-left = Von links nach rechts
detailers-order-middle = Mitte zuerst
detailers-grow = Maske vergrößern
detailers-grow-tip = Um wie viele Pixel Gefundenes auf jeder Seite wächst.
detailers-blur = Maskenunschärfe
detailers-blur-tip = Über wie viele Pixel ein Feld in den Rest übergeht.
detailers-padding = Abstand
detailers-padding-tip = Wie viele Pixel um ein Feld das Modell sieht.
detailers-steps = Eigene Schritte
detailers-steps-tip = Schritte je Feld, von denen die Stärke einige auslässt. Sonst so viele wie beim Bild.
detailers-forecast = Die Vorhersage rechnet mit einem Feld je Bild.
detailers-chosen = { $name } ist ein Detektor: ein Detailer verwendet ihn ab jetzt
detailers-ask-open = Details neu malen…
detailers-ask-open-all = Details der Bilder neu malen…
detailers-ask-open-tip = Gesichter, Hände oder Personen finden und einzeln neu malen.
detailers-ask-title = Details von { $count } Bildern neu malen
detailers-ask-title-one = Details von { $name } neu malen
detailers-ask-own = Verwendet { $names }, wie unter „Detailer“ eingestellt
detailers-ask-detectors = Detektoren
detailers-ask-detector-tip = Was er findet, wird neu gemalt.
detailers-ask-choose = Zuerst einen Detektor wählen
detailers-ask-model = Zuerst ein Modell für Bilder öffnen
detailers-ask-prompt-own = Der Prompt ist der im Bild
detailers-ask-prompt-panel = Der Prompt ist der aus den Einstellungen, weil das Bild keinen hat
detailers-folder-empty = { $name } enthält keine Bilder.
detailers-ask-clip = { $name } ist ein Clip
detailers-ask-start = Neu malen
detailers-ask-cancel-tip = Die Bilder lassen, wie sie sind.
detailers-queued =
    { $count ->
        [one] Details von 1 Bild werden neu gemalt
       *[other] Details von { $count } Bildern werden neu gemalt
    }
detailers-found-nothing = Der Detektor { $name } hat nichts gefunden
detailers-found-nothing-detail = Also gibt es nichts neu zu zeichnen. Mit einer kleineren Sicherheit findet er mehr.
