### The question before clips get more frames.

interpolate-title = Interpoler { $count } clips
interpolate-title-one = Interpoler { $name }
interpolate-model = Interpolateur
interpolate-model-tip = Le réseau qui crée les images intermédiaires.
interpolate-open-tip = Utiliser un fichier .safetensors de RIFE 4, par exemple rife_v4.26.
interpolate-factor = Images
interpolate-factor-tip = { $factor } plus d’images, dans le même temps.
interpolate-across-cuts = Aussi à travers les coupes
interpolate-across-cuts-tip = Crée aussi des images entre deux scènes. Sinon, la dernière image d’une scène est répétée.
interpolate-start = Interpoler
interpolate-cancel-tip = N'interpole rien.
interpolate-choose = Choisissez d’abord un fichier de RIFE 4
interpolate-folder-empty = { $name } ne contient aucun clip.
interpolate-no-clip = { $name } n’est pas un clip
interpolate-rates = { $before } images par seconde deviennent { $after }
interpolate-chosen = { $name } est un interpolateur : « Interpoler… » l'utilise désormais
interpolate-section = Interpolation d’images
interpolate-section-tip = Plus d’images dans le même temps, pour un mouvement plus fluide.
interpolate-off = Non
interpolate-without = Ne pas interpoler d’images
interpolate-in-force = Images × { $factor }
