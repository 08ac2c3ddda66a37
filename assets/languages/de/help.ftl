### Die Tastenübersicht, geöffnet mit F1.

## Tasten, und was sie tun

help-escape = Ein Feld verlassen, schließen, was offen ist, oder das laufende Bild abbrechen
help-left-right = Voriges oder nächstes Bild; in einem Clip: Frame
help-up-down = Voriges oder nächstes Bild oder voriger oder nächster Clip der Liste
help-space = Clip abspielen oder anhalten
help-home-end = Erster oder letzter Frame, der gespielt wird
help-range = Ab diesem Frame spielen oder bis zu ihm
help-gallery = In der Galerie: Stern, in den Papierkorb, exportieren
help-delete = Das Bild oder den Clip in den Papierkorb, mit einem Weg zurück
help-weights = Im Prompt: mehr oder weniger Gewicht für die Wörter an der Einfügemarke
help-undo = Eine Änderung im Text oder einen Strich der Maske zurücknehmen
help-paste = Das Bild aus der Zwischenablage verwenden
help-brush = Kleinerer oder größerer Pinsel
help-zoom = Größere oder kleinere Inhalte des Fensters
help-tab = Nächstes oder voriges Bedienelement
help-canvas = Auf dem Bild: zoomen, verschieben, zwischen Einpassen und 100% wechseln
help-canvas-keys = Mausrad, Ziehen, Doppelklick
help-menu = Auf einem Bild oder wartenden Auftrag: was damit getan werden kann
help-menu-keys = Rechtsklick
