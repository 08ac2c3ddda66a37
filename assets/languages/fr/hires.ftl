### Hires fix : une image est agrandie puis débruitée une seconde fois.

hires-title = Hires fix
hires-title-tip = Pour des images plus grandes que celles de l’entraînement du modèle.
hires-on = Agrandir et débruiter à nouveau
hires-on-tip = Génère l’image dans la taille ci-dessus, l’agrandit et la débruite à nouveau.
hires-scale = Échelle
hires-scale-tip = Combien de fois l’image devient plus large et plus haute.
hires-strength = Force
hires-strength-tip = Ce que change la seconde passe. Les latents demandent environ 0,5 ou plus ; pour une image agrandie par un upscaler, 0,2 à 0,4 suffisent souvent.
hires-steps = Étapes propres
hires-steps-tip = Étapes de la seconde passe, dont la force omet une partie. Sinon autant que dans la première.
hires-upscaler = Upscaler
hires-upscaler-tip = Ce qui agrandit l’image entre les deux passes.
hires-latent = Latent
hires-result = { $before } devient { $after }
hires-in-force = Hires fix × { $scale } · { $strength }
hires-without = Ne pas utiliser hires fix
hires-not-with-input = Hires fix part du prompt seul, et non d’une image d’entrée.
hires-in-force-waits = Hires fix en attente
hires-offer = Hires fix depuis { $width } × { $height }
hires-offer-tip = Génère cette taille, l’agrandit à celle que vous voulez et débruite à nouveau.
hires-not-starter = Le Starter ne peut pas améliorer les images de plus de { $width } × { $height }. Agrandissez plutôt le résultat.
