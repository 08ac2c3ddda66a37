### Pourquoi un plan est ce qu’il est. Les parties d’un modèle ont leur article.

## Phrases

reason-all-streamed = Dans { $role }, les { $used } blocs { $how }, { $why }.
reason-one-stays = Dans { $role }, { $stay } bloc sur { $used } reste { $where } et les autres { $how }, { $why }.
reason-some-stay = Dans { $role }, { $stay } blocs sur { $used } restent { $where } et les autres { $how }, { $why }.
reason-everything-stays = Le modèle entier ({ $size }) tient et reste { $where }.
reason-parts-in-turn = Chaque partie du modèle n’est { $where } que tant qu’elle sert, { $why }.
reason-part-in-use = Quand il ne sert pas, { $role } n’est pas { $where }, { $why }.
reason-parts-in-use = Quand ils ne servent pas, { $roles } ne sont pas { $where }, { $why }.
reason-decoded-in-tiles = L’image est décodée par tuiles d’au plus { $width }×{ $height } latents.
reason-enlarged-in-tiles = L’image est agrandie par tuiles d’au plus { $width }×{ $height } pixels.
reason-interpolated-in-tiles = Les images sont interpolées par tuiles d’au plus { $width }×{ $height } pixels.
reason-uses-per-step = Utilise { $part } sur { $whole }, { $time } par étape.
reason-uses = Utilise { $part } sur { $whole }, { $time }.
reason-weights-in-8-bits = Les poids sont gardés en 8 bits ({ $format }), ce qui change un peu l’image.
reason-text-in-8-bits = Les poids des encodeurs de texte sont gardés en 8 bits ({ $format }), ce qui change un peu l’image.
reason-offer-with-error = « { $name } » utiliserait { $memory } et prendrait { $time } par étape, avec { $error } d’écart sur les poids.
reason-offer = « { $name } » utiliserait { $memory } et prendrait { $time } par étape.

## Ce qui ne tient pas

reason-does-not-fit = Ne tient pas { $where } : { $what } demande { $needed } pendant la phase « { $stage } », { $over } de plus que les { $allowed } autorisés.
reason-not-enough-ram = Pas assez de RAM : charger les poids demande { $needed }, et { $allowed } sont autorisés.
reason-allow-or-smaller = { $allow }, ou utilisez une image ou un lot plus petits.
reason-allow-smaller-or-auto = { $allow }, utilisez une image ou un lot plus petits, ou choisissez le mode automatique.
reason-smaller = Utilisez une image ou un lot plus petits.
reason-smaller-or-auto = Utilisez une image ou un lot plus petits, ou choisissez le mode automatique.
reason-allow-ram = Autorisez { $memory } de RAM en plus
reason-allow-vram = Autorisez au moins { $memory } de VRAM
reason-allow-memory = Autorisez au moins { $memory } de mémoire
reason-what-everything = tout garder sur l’appareil
reason-what-all-but-text = garder sur l’appareil tout sauf l’encodeur de texte
reason-what-autoencoder = garder l’auto-encodeur à côté de la partie utilisée
reason-what-largest = la plus grande partie à elle seule
reason-what-smallest = même la plus petite répartition

## Pourquoi des poids ne restent pas

reason-because-too-large = parce que les { $size } ne tiennent pas tous à la fois
reason-because-little-free = parce que garder les { $size } laisserait peu de mémoire libre
reason-because-least-memory = parce qu’il faut utiliser le moins de mémoire possible
reason-because-mode = parce que le mode est « { $mode } »

## Ce qui arrive aux poids qui ne restent pas

reason-how-some-by-tensor = passent en streaming, dont { $blocks } tenseur par tenseur
reason-how-by-tensor = sont chargés tenseur par tenseur
reason-how-computation = passent en streaming pendant le calcul
reason-how-link = passent en streaming aussi vite que le bus du GPU le permet
reason-how-disk = passent en streaming aussi vite que le disque le permet

## Où sont les poids

reason-where-memory = en mémoire
reason-where-gpu = sur le GPU
reason-where-into-memory = en mémoire

## Parties d’un modèle

reason-role-text-encoder = l’encodeur de texte
reason-role-denoiser = le débruiteur
reason-role-autoencoder = l’auto-encodeur
reason-role-upscaler = l’upscaler
reason-role-frame-interpolator = l’interpolateur
reason-role-preprocessor = le préprocesseur
reason-role-segmenter = le modèle de segmentation
reason-role-detector = le détecteur
reason-role-language-model = le modèle de langage
reason-roles-text-and-denoiser = l’encodeur de texte et le débruiteur
reason-roles-text-and-autoencoder = l’encodeur de texte et l’auto-encodeur
reason-roles-denoiser-and-autoencoder = le débruiteur et l’auto-encodeur

## Phases

reason-stage-encode = encodage
reason-stage-encode-image = encodage de l’image
reason-stage-encode-control-image = encodage de l’image de contrôle
reason-stage-encode-image-prompt = encodage du prompt en image
reason-stage-encode-enlarged-image = encodage de l’image agrandie
reason-stage-denoise = débruitage
reason-stage-decode = décodage
reason-stage-upscale = agrandissement
reason-stage-interpolate = interpolation
reason-stage-make-maps = création de cartes
reason-stage-detect = détection
reason-stage-write = écriture
reason-stage-high-noise = bruit fort
reason-stage-low-noise = bruit faible
reason-stage-refine = affinage
reason-stage-denoise-again = nouveau débruitage
reason-stage-prior = prior
reason-stage-decoder = décodeur

## Cartes

reason-maps-depth = cartes de profondeur
reason-maps-pose = poses
reason-maps-segments = segments
reason-maps-soft-edge = contours doux

## Changements du plan pendant un calcul

reason-ran-out = La mémoire n’a pas suffi ({ $needed } nécessaires, { $allowed } autorisés). Désormais, { $changes }
reason-now-fewer-stay = dans { $role }, { $stay } blocs au lieu de { $stayed } restent sur l’appareil
reason-now-fewer-stay-more = dans { $role }, { $stay } blocs au lieu de { $stayed } restent sur l’appareil, { $more }
reason-now-enlarged = l’image est agrandie par tuiles de { $width }×{ $height } pixels
reason-now-enlarged-more = l’image est agrandie par tuiles de { $width }×{ $height } pixels, { $more }
reason-now-interpolated = les images sont interpolées par tuiles de { $width }×{ $height } pixels
reason-now-interpolated-more = les images sont interpolées par tuiles de { $width }×{ $height } pixels, { $more }
reason-now-decoded = l’image est décodée par tuiles de { $width }×{ $height } latents
reason-now-decoded-more = l’image est décodée par tuiles de { $width }×{ $height } latents, { $more }
reason-now-windows = les fenêtres du clip sont calculées l’une après l’autre
reason-now-windows-more = les fenêtres du clip sont calculées l’une après l’autre, { $more }
reason-now-fewer-slots = les blocs passent en streaming par { $slots } emplacements au lieu de { $before }
reason-now-fewer-slots-more = les blocs passent en streaming par { $slots } emplacements au lieu de { $before }, { $more }
reason-now-smaller-pieces = les poids sont chargés en plus petits morceaux
reason-timings-one = Les durées de la première étape ont changé la place de 1 bloc
reason-timings = Les durées de la première étape ont changé la place de { $blocks } blocs
reason-driver-moved = Le pilote a déplacé { $memory } de la mémoire du GPU vers la RAM, ce qui ralentit chaque étape. Réglez « CUDA - Sysmem Fallback Policy » sur « Prefer No Sysmem Fallback » dans le panneau de configuration NVIDIA, ou autorisez moins de VRAM
reason-slow-link = Cet ordinateur copie { $measured }, le lien simulé { $simulated } : les étapes qui l’attendent durent plus longtemps que sur le GPU
