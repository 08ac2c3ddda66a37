### Hires-Fix: Ein Bild wird vergrößert und noch einmal entrauscht.

hires-title = Hires-Fix
hires-title-tip = Für Bilder, die größer sind, als das Modell trainiert wurde.
hires-on = Vergrößern und noch einmal entrauschen
hires-on-tip = Erzeugt das Bild in der Größe oben, vergrößert es und entrauscht es noch einmal.
hires-scale = Faktor
hires-scale-tip = Das Wievielfache an Breite und Höhe das Bild bekommt.
hires-strength = Stärke
hires-strength-tip = Wie viel der zweite Durchgang ändert. Latents brauchen etwa 0,5 oder mehr, von einem Upscaler vergrößerten Bildern genügen oft 0,2 bis 0,4.
hires-steps = Eigene Schritte
hires-steps-tip = Schritte des zweiten Durchgangs, von denen die Stärke einige auslässt. Sonst so viele wie im ersten.
hires-upscaler = Vergrößerer
hires-upscaler-tip = Was das Bild zwischen den Durchgängen vergrößert.
hires-latent = Latents
hires-result = Aus { $before } wird { $after }
hires-in-force = Hires-Fix × { $scale } · { $strength }
hires-without = Hires-Fix nicht verwenden
hires-not-with-input = Hires-Fix geht vom Prompt allein aus und nicht von einem Eingabebild.
hires-in-force-waits = Hires-Fix wartet
hires-offer = Hires-Fix ab { $width } × { $height }
hires-offer-tip = Erzeugt diese Größe, vergrößert sie auf die gewünschte und entrauscht noch einmal.
hires-not-starter = Der Starter kann Bilder über { $width } × { $height } nicht verbessern. Skalieren Sie das Ergebnis hoch.
