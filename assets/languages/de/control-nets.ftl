### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet ({ $count })
control-nets-tip = Das Bild an Kanten, Tiefen oder Posen eines anderen ausrichten.
control-nets-add = ControlNet hinzufügen…
control-nets-add-tip = Ein ControlNet für dieses Modell wählen.
control-nets-library = In der Bibliothek
control-nets-library-tip = ControlNets, die in deinen Modellordnern gefunden wurden.
control-nets-library-spoken = ControlNets in der Bibliothek
control-nets-remove = { $name } entfernen
control-nets-image = Bild…
control-nets-image-tip = Das Bild wählen, dem das ControlNet folgt.
control-nets-image-remove = Das Bild des ControlNets entfernen
control-nets-map = Was das ControlNet sieht
control-nets-preprocessor = Vorverarbeitung
control-nets-preprocessor-tip = Was zuerst aus dem Bild gemacht wird. Keine, wenn es schon eine Karte ist.
control-nets-preprocessor-none = Keine
control-nets-preprocessor-canny = Canny-Kanten
control-nets-preprocessor-invert = Umkehren
control-nets-weight = Gewicht
control-nets-weight-tip = Wie stark das ControlNet zählt. 1 ist wie trainiert.
control-nets-start = Beginn
control-nets-start-tip = Der Anteil der Schritte, vor dem das ControlNet nicht wirkt.
control-nets-end = Ende
control-nets-end-tip = Der Anteil der Schritte, nach dem das ControlNet nicht wirkt.
control-nets-without = ControlNet { $name } nicht verwenden
