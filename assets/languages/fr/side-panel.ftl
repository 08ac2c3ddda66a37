### Les paramètres de la prochaine image, à gauche.

## Nombres et autres paramètres

side-panel-steps = Étapes
side-panel-steps-tip = Étapes de débruitage : davantage prennent plus de temps et affinent l'image, jusqu'à un certain point.
side-panel-guidance = Guidage (CFG)
side-panel-guidance-tip = À quel point l'image suit le prompt (échelle CFG).
side-panel-batch-size = Taille du lot
side-panel-batch-size-tip = Images générées ensemble. Davantage demandent plus de mémoire.
side-panel-batch-as-grid = Lot en grille
side-panel-batch-as-grid-tip = Assemble aussi les images d'un lot en une seule.
side-panel-more = Autres paramètres
side-panel-sampler = Échantillonneur
side-panel-sampler-tip = La méthode qui transforme le bruit en image (sampler).
side-panel-schedule = Planificateur
side-panel-schedule-tip = Comment les niveaux de bruit sont répartis sur les étapes (scheduler).
side-panel-schedule-model = Celui du modèle
side-panel-precision = Précision
side-panel-precision-tip = Format des nombres du calcul. 16 bits demandent moins de mémoire.
side-panel-precision-32-bit = 32 bits
side-panel-precision-16-bit = 16 bits ({ $format })
side-panel-precision-automatic-planned = Automatique ({ $format })
side-panel-precision-automatic = Automatique

## Prompts

side-panel-prompt = Prompt
side-panel-negative-prompt = Prompt négatif
side-panel-describe-clip = Décrivez votre clip
side-panel-describe-image = Décrivez votre image
side-panel-what-to-avoid = Ce qu'il faut éviter
side-panel-negative-unused = Non utilisé tant que le guidage est à 0.
side-panel-examples = Exemples
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }, { $chunks } segments
side-panel-tokens-spoken = { $prompt }, { $tokens } tokens sur { $room }
side-panel-history = Historique
side-panel-history-tip = Les prompts que vous avez déjà utilisés. ↑ dans un champ vide rappelle le dernier.
side-panel-history-search = Chercher des prompts
side-panel-history-nothing = Aucun prompt ne contient cela.
side-panel-tag-images = { $count } images

## Styles

side-panel-styles = Styles
side-panel-styles-tip = Des éléments nommés qui s'ajoutent aux prompts, tirés de fichiers d'A1111 et de Fooocus.
side-panel-styles-search = Chercher des styles
side-panel-styles-nothing = Pas encore de styles. styles.csv d'A1111 et sdxl_styles de Fooocus sont trouvés au-dessus du dossier du modèle ; ou ouvrez un fichier.
side-panel-style-negative = Prompt négatif : { $prompt }
side-panel-styles-open = Ouvrir un fichier de styles…
side-panel-styles-open-tip = CSV d'A1111, ou JSON de Fooocus.

## Extraits

side-panel-snippets = Extraits
side-panel-snippets-tip = Des mots que vous gardez pour les mettre dans vos prompts.
side-panel-snippets-nothing = Aucun extrait pour l’instant. Sélectionnez des mots dans le prompt et gardez-les.
side-panel-snippet-delete = Supprimer l’extrait { $words }
side-panel-snippet-use = Place { $words } au curseur.
side-panel-snippet-keep-selected = Garder les mots sélectionnés
side-panel-snippet-keep-prompt = Garder le prompt
side-panel-snippet-keep-tip = Ajoute les mots aux extraits.
side-panel-snippet-undo-tip = Garde de nouveau l’extrait.
side-panel-negative-snippets = Préréglages négatifs
side-panel-negative-snippets-tip = Des mots que vous gardez pour éviter de nouveau les mêmes choses.
side-panel-negative-snippets-nothing = Aucun préréglage négatif pour l’instant. Écrivez ce qu’il faut éviter et gardez-le.
side-panel-negative-snippet-delete = Supprimer le préréglage négatif { $words }
side-panel-negative-snippet-keep-prompt = Garder le prompt négatif
side-panel-negative-snippet-keep-tip = Ajoute les mots aux préréglages négatifs.
side-panel-negative-snippet-undo-tip = Garde de nouveau le préréglage négatif.

## Préréglages

side-panel-saved-settings = Paramètres enregistrés
side-panel-presets = Préréglages
side-panel-presets-tip = Conserve les paramètres sous un nom, pour les réutiliser.
side-panel-presets-nothing = Rien n'est encore conservé. Les préréglages contiennent tout sauf le prompt, la graine et les images d'entrée.
side-panel-reset = Rétablir les valeurs par défaut du modèle
side-panel-reset-tip = Tout sauf les prompts, la graine et les images d'entrée.
side-panel-preset-new-name = Nouveau nom de { $name }
side-panel-rename = Renommer
side-panel-preset-delete = Supprimer { $name }
side-panel-preset-rename = Renommer { $name }
side-panel-preset-use = Utiliser ces paramètres : { $settings }
side-panel-preset-name = Nom d'un préréglage
side-panel-save = Enregistrer
side-panel-preset-with-model = Avec le modèle
side-panel-preset-with-model-tip = Le préréglage ouvre aussi ce modèle.
side-panel-preset-name-tip = Le nom de son fichier dans le dossier de données. Un préréglage du même nom est remplacé.
side-panel-preset-save-tip = Le conserve sous ce nom.

## Taille

side-panel-size = Taille
side-panel-width = Largeur
side-panel-height = Hauteur
side-panel-swap-sides = Échanger largeur et hauteur
side-panel-round-size = Arrondir la taille
side-panel-round-size-tip = Utilise la taille la plus proche que le modèle peut générer.
side-panel-size-larger = Le modèle a été entraîné pour environ { $width } × { $height }. Les images plus grandes se répètent.
side-panel-size-smaller = Le modèle a été entraîné pour environ { $width } × { $height }. Les images plus petites manquent de détails.
side-panel-use-size = Utiliser { $width } × { $height }
side-panel-use-size-trained-tip = La taille la plus proche pour laquelle le modèle a été entraîné.
side-panel-aspect-far = Les modèles sont faits pour des clips entre { $tallest } et { $widest }. Les autres sont souvent déformés.
side-panel-aspect-far-image = Le modèle est fait pour des images entre { $tallest } et { $widest }. Les plus larges et les plus hautes répètent des éléments.
side-panel-clip-longer = Le modèle est fait pour environ { $length }. Les clips plus longs se répètent ou se dégradent.
side-panel-use-length = Utiliser { $length }
side-panel-use-length-tip = La longueur pour laquelle le modèle est fait.
side-panel-side-tip = En pixels, un multiple de { $multiple }.

## Clips

side-panel-kind-image = Image
side-panel-kind-video = Vidéo
side-panel-duration = Durée
side-panel-duration-tip = Longueur du clip. Saisissez des secondes, ou un nombre de frames comme 33 frames.
side-panel-duration-multiple-tip = Longueur du clip : 1 frame et un multiple de { $multiple } en plus. Saisissez des secondes ou des frames.
side-panel-frame-rate = Fréquence d'images
side-panel-frame-rate-tip = Frames par seconde. Les mêmes frames défilent plus ou moins vite ; les modèles suivent la fréquence pour laquelle ils ont été entraînés.
side-panel-windows = Générer par fenêtres
side-panel-windows-tip = Génère un long clip par fenêtres de frames qui se chevauchent. Cela demande la mémoire d'une fenêtre, et le modèle ne voit pas plus de frames à la fois que ce pour quoi il a été entraîné.
side-panel-window = Fenêtre
side-panel-window-tip = Les frames générées ensemble.
side-panel-overlap = Chevauchement
side-panel-overlap-tip = Les frames qu'une fenêtre partage avec la précédente. Davantage se fondent mieux et prennent plus de temps.

## Entrées des clips

side-panel-choose = Choisir…
side-panel-replace = Remplacer…
side-panel-replace-tip = Choisit un autre fichier pour cet emplacement.
side-panel-file-remove-tip = Le fichier lui-même reste où il est.
side-panel-start-image-tip = Le clip commence par cette image. Vous pouvez aussi en déposer une sur la fenêtre, ou la coller.
side-panel-start-image = Image de début
side-panel-start-image-remove = Retirer l'image de début
side-panel-end-image-tip = Le clip se termine par cette image.
side-panel-end-image = Image de fin
side-panel-end-image-remove = Retirer l'image de fin
side-panel-input-clip-tip = Modifie un clip, ou le continue. Vous pouvez aussi en déposer un sur la fenêtre.
side-panel-input-clip = Clip d'entrée
side-panel-input-clip-remove = Retirer le clip d'entrée
side-panel-clip-change = Modifier
side-panel-clip-extend = Prolonger
side-panel-clip-continues = Continue à partir de ses { $frames } dernières frames.
side-panel-denoising-strength = Force de débruitage
side-panel-denoising-strength-clip-tip = À quel point le clip change. 1 n'en garde rien.
side-panel-range-tip = Compté à la fréquence d'images du résultat.
side-panel-first-frame = Première frame
side-panel-last-frame = Dernière frame
side-panel-fit = Ajustement
side-panel-fit-clip-tip = Comment l'entrée est amenée à la taille du clip.
side-panel-keyframes-tip = Le clip montre cette image à une frame que vous choisissez.
side-panel-keyframes = Keyframes
side-panel-keyframe-remove = Retirer la keyframe { $name }
side-panel-frame = Frame
side-panel-frame-tip = La frame à laquelle l'image est montrée.
side-panel-control-clip-tip = Un clip de profondeurs, de poses ou de lignes que le résultat suit, ou dont un masque montre ce qui change.
side-panel-control-clip = Clip de contrôle
side-panel-control-clip-remove = Retirer le clip de contrôle
side-panel-control = Contrôle
side-panel-control-remove = Retirer le contrôle
side-panel-control-strength = Force du contrôle
side-panel-control-strength-tip = À quel point le résultat suit le clip de contrôle et les références. 1 : comme à l'entraînement.
side-panel-control-preprocessor-tip = Ce qui est d’abord tiré de chaque image du clip. Aucun si ce sont déjà des cartes.
side-panel-control-start-tip = La fraction des étapes avant laquelle le clip n’agit pas.
side-panel-control-end-tip = La fraction des étapes après laquelle le clip n’agit plus.
side-panel-control-mask-tip = Le blanc est généré, le noir reste comme dans le clip de contrôle. Un clip, ou une image pour toutes les frames.
side-panel-control-mask = Masque de contrôle
side-panel-control-mask-remove = Retirer le masque de contrôle

## Image vers image

side-panel-dropped-dismiss = Ignorer l'image déposée
side-panel-dropped = { $name } contient des paramètres
side-panel-dropped-use-settings = Utiliser les paramètres
side-panel-dropped-use-clip = Utiliser comme clip d'entrée
side-panel-dropped-use-image = Utiliser comme image d'entrée
side-panel-image-to-image = Image vers image
side-panel-input-image-tip = Part d'une image. Vous pouvez aussi en déposer une sur la fenêtre, ou la coller.
side-panel-input-folder = Dossier…
side-panel-input-folder-tip = Génère à partir de chaque image d'un dossier, avec ces paramètres. Les résultats portent les noms des images, et ce qui est terminé est ignoré.
side-panel-reference-folder = Dossier d'images de référence…
side-panel-input-image-remove = Retirer l'image d'entrée
side-panel-denoising-strength-tip = À quel point l'image d'entrée change. 1 n'en garde rien.
side-panel-fit-tip = Comment l'image d'entrée est amenée à la taille de la nouvelle image.
side-panel-mask = Masque d'inpainting
side-panel-mask-open = Ouvrir…
side-panel-mask-open-tip = Ouvre une image blanche là où l'image d'entrée doit changer.
side-panel-mask-paint = Peindre…
side-panel-mask-paint-tip = Peint sur la zone qui doit changer.
side-panel-mask-remove = Retirer le masque
side-panel-mask-keep = Garder intacte la zone non masquée
side-panel-mask-keep-tip = Copie les pixels hors du masque depuis l'image d'entrée.
side-panel-mask-feather = Bord progressif (px)
side-panel-mask-feather-tip = Sur quelle largeur le bord du masque se fond dans l'image d'entrée.
side-panel-reading = Lecture…
side-panel-fit-crop = Recadrer
side-panel-fit-stretch = Étirer
side-panel-fit-pad = Compléter

## Images de référence

side-panel-references =
    { $most ->
        [one] Image de référence
       *[other] Images de référence
    }
side-panel-reference-edits-tip = Le prompt dit comment cette image change. Vous pouvez aussi en déposer une sur la fenêtre, ou la coller.
side-panel-reference-seen-tip = Le résultat lui ressemble ; à quel point, cela se règle ci-dessous.
side-panel-reference-clip-tip = Quelque chose qui apparaît dans le clip.
side-panel-reference-add = Ajouter…
side-panel-reference-remove = Retirer la référence { $number }
side-panel-references-swap = Échanger les références { $first } et { $second }
side-panel-redux = Lu par { $name }
side-panel-redux-remove = Retirer Redux
side-panel-redux-add = Ajouter Redux…
side-panel-redux-add-tip = Choisit un modèle par lequel les images de référence disent à quoi ressemble le résultat.
side-panel-redux-strength = Force de la référence { $number }
side-panel-redux-strength-tip = À quel point { $name } compte à côté du prompt.

## Graine

side-panel-seed = Graine
side-panel-seed-tip = La même graine (seed) et les mêmes paramètres redonnent la même image.
side-panel-seed-lock = Verrouiller la graine
side-panel-seed-randomize = Tirer une nouvelle graine
side-panel-seed-locked = Graine verrouillée
side-panel-seed-random = Graine aléatoire à chaque fois
side-panel-variation-strength = Force de variation
side-panel-variation-strength-tip = Des images proches de celle de la graine : tourne son bruit vers celui d'une seconde graine.
side-panel-variation-seed = Graine de variation
side-panel-variation-seed-tip = La seconde graine. Les images d'un lot ont celle-ci et les suivantes.

## LoRA

side-panel-loras = LoRA
side-panel-loras-used = LoRA ({ $count })
side-panel-lora-add = Ajouter un LoRA…
side-panel-lora-add-tip = Choisissez un fichier LoRA, ou déposez-en un sur la fenêtre.
side-panel-lora-remove = Retirer { $name }
side-panel-lora-weight = Poids de { $name }
side-panel-lora-weight-tip = À quel point le LoRA agit. 1 : comme à l'entraînement, en dessous de 0 : l'inverse.
side-panel-lora-half = { $name } est utilisé avec lui.
side-panel-loras-near = Trouvés près du modèle
side-panel-loras-near-spoken = LoRA trouvés près du modèle

## Sous Autres paramètres

side-panel-shift = Shift
side-panel-shift-tip = Consacre plus d'étapes au bruit élevé, où se décident la composition et le mouvement. Le shift propre au modèle est { $own }.
side-panel-clip-skip = Clip skip
side-panel-clip-skip-tip = Prend le prompt d'une couche antérieure de CLIP. 1 est la dernière couche.
side-panel-clip-skip-without-effect = Clip skip n'a pas d'effet sur { $family }.
side-panel-refiner = Refiner { $name }
side-panel-refiner-remove = Retirer le refiner
side-panel-refiner-switch = Passage au refiner
side-panel-refiner-switch-tip = Le refiner prend le relais après cette fraction du débruitage.
side-panel-refiner-add = Ajouter un refiner…
side-panel-refiner-add-tip = Choisit un second modèle qui fait les dernières étapes et ajoute des détails.
side-panel-guidance-and-speed = Guidage et vitesse
side-panel-guidance-rescale = Rééchelonnage du guidage
side-panel-guidance-rescale-tip = Compense les couleurs qu'un guidage élevé rend trop fortes.
side-panel-guidance-start = Début du guidage
side-panel-guidance-start-tip = Le guidage commence après cette fraction des étapes.
side-panel-guidance-end = Fin du guidage
side-panel-guidance-end-tip = Le guidage s'arrête après cette fraction des étapes.
side-panel-guidance-interval-hint = Fraction des étapes. Les étapes sans guidage coûtent la moitié.
side-panel-true-cfg = Vrai CFG
side-panel-true-cfg-tip = Au-dessus de 1, des modèles comme FLUX.1 utilisent le prompt négatif. Chaque étape prend deux fois plus de temps.
side-panel-true-cfg-hint = Pour le prompt négatif dans des modèles comme FLUX.1. Double le temps.
side-panel-step-cache = Cache d'étapes
side-panel-step-cache-tip = À quel point une étape peut changer et être quand même sautée. 0 n'en saute aucune.
side-panel-step-cache-hint = Saute les étapes semblables : plus rapide, mais l'image change un peu.

## Ce qui change la prochaine image, au-dessus de Générer

side-panel-without-input-image = Ne pas utiliser l'image d'entrée
side-panel-in-force-mask = Masque
side-panel-without-mask = Ne pas utiliser le masque
side-panel-in-force-end-image = Fin : { $name }
side-panel-without-end-image = Ne pas utiliser l'image de fin
side-panel-in-force-keyframe = Frame { $frame } : { $name }
side-panel-without-keyframe = Ne pas utiliser la keyframe { $name }
side-panel-without-input-clip = Ne pas utiliser le clip d'entrée
side-panel-in-force-reference = Référence : { $name }
side-panel-without-reference = Ne pas utiliser la référence { $name }
side-panel-in-force-control = Contrôle : { $name }
side-panel-in-force-control-strength = Force du contrôle { $strength }
side-panel-without-control = Ne pas utiliser ce qui contrôle le clip
side-panel-in-force-redux = Redux : { $name }
side-panel-without-redux = Ne pas utiliser Redux
side-panel-in-force-refiner = Refiner : { $name }
side-panel-without-refiner = Ne pas utiliser le refiner
side-panel-in-force-seed = Graine { $seed }
side-panel-without-seed = Ne pas réutiliser la même graine
side-panel-in-force-style = Style : { $name }
side-panel-chip-show = Montrer dans les réglages
side-panel-chip-show-tip = Ouvre la section où cela se règle.
side-panel-chip-copy-tip = Le copie comme texte.
side-panel-chip-copy-seed = Copier la graine
side-panel-chip-copy-style = Copier son prompt
side-panel-chip-copy-name = Copier pour les prompts
side-panel-chip-off = Désactiver
side-panel-chip-off-tip = Reste dans la liste sans être utilisé.
side-panel-chip-remove-tip = Continuer sans cela.
side-panel-chip-remove-all = Tout retirer
side-panel-chip-remove-all-tip = Continuer sans rien de ce qui est listé ici ; Défaire le ramène.
side-panel-kept-use = Utiliser
side-panel-kept-rename = Renommer…
side-panel-kept-duplicate = Dupliquer
side-panel-kept-delete = Supprimer
side-panel-kept-use-tip = L’utilise, ou ne l’utilise plus.
side-panel-kept-rename-tip = Lui donne un autre nom.
side-panel-kept-duplicate-tip = Enregistre une copie sous un autre nom.
side-panel-kept-delete-tip = Le supprime ; Défaire le ramène.
side-panel-style-new-name = Nouveau nom de { $name }
side-panel-style-new-name-tip = Entrée renomme le style.
side-panel-without-style = Ne pas utiliser le style { $name }
side-panel-in-force-variation = Variation { $strength }
side-panel-without-variation = Ne pas utiliser la variation
side-panel-without-lora = Ne pas utiliser le LoRA { $name }

## Générer et ce qu'il y faut

side-panel-notice-dismiss = Fermer l'avis
side-panel-undo = Défaire
side-panel-undo-tip = Revient aux paramètres précédents.
side-panel-prompt-undo-tip = Rétablit le prompt précédent.
side-panel-edit-undo-tip = Remet la tâche dans la file d'attente et rétablit les paramètres d'avant.
side-panel-resume = Reprendre
side-panel-resume-tip = Continue là où la génération a été annulée.
side-panel-generate = Générer
side-panel-grid = Grille…
side-panel-grid-tip = Grille : fait varier jusqu'à trois paramètres, et assemble les images en une seule.
side-panel-engine-stopped = Le moteur s'est arrêté. Redémarrez Sluice.
side-panel-model-loading = Chargement du modèle…
side-panel-model-missing = Choisissez d'abord un modèle.
side-panel-cancelling = Annulation…
side-panel-planning = Planification…
side-panel-fits = Tient · { $memory } · { $time }
side-panel-fits-about = Tient · { $memory } · environ { $time }
side-panel-fits-up-to = Tient · { $memory } · jusqu'à { $time }
side-panel-fits-about-there = Tient · { $memory } · environ { $time } sur ce GPU
side-panel-fits-up-to-there = Tient · { $memory } · jusqu'à { $time } sur ce GPU
side-panel-fits-spoken = Prévision, tient, { $memory }, { $time }
side-panel-fits-about-spoken = Prévision, tient, { $memory }, environ { $time }
side-panel-fits-up-to-spoken = Prévision, tient, { $memory }, jusqu'à { $time }
side-panel-fits-simulated = Simulé : plus long ici, sur le CPU.
side-panel-fits-simulated-about = Simulé : environ { $time } ici, sur le CPU.
side-panel-accuracy-tip = L'écart des prévisions précédentes pour ce modèle, dans cette précision et sur cet appareil : le pic de mémoire et les secondes d'une étape. Chaque exécution améliore la prévision suivante.
side-panel-needs-limit = Demande { $needed }, votre limite est { $allowed }
side-panel-needs = Demande { $needed }, { $allowed } autorisés
side-panel-needs-ram-limit = Demande { $needed } de RAM, votre limite est { $allowed }
side-panel-needs-ram = Demande { $needed } de RAM, { $allowed } autorisés
side-panel-needs-spoken = Prévision, ne tient pas, { $reason }
side-panel-remove-limit = Retirer ma limite
side-panel-use-recommended = Utiliser les paramètres recommandés
side-panel-use-way = Utiliser { $way }
side-panel-use-tiles = Décoder par tuiles
side-panel-use-8-bit = Poids en 8 bits
side-panel-use-4-bit = Poids en 4 bits
side-panel-use-size-smaller-tip = Génère une image plus petite.
side-panel-use-fewer-frames-tip = Génère un clip plus court.
side-panel-accuracy =
    { $count ->
        [one] Écart d'au plus { $memory } en mémoire, { $time } en temps sur { $count } exécution
       *[other] Écart d'au plus { $memory } en mémoire, { $time } en temps sur { $count } exécutions
    }
side-panel-accuracy-of-memory =
    { $count ->
        [one] Écart d'au plus { $memory } en mémoire sur { $count } exécution
       *[other] Écart d'au plus { $memory } en mémoire sur { $count } exécutions
    }
side-panel-preset-undo-tip = Remet le préréglage dans la liste.
side-panel-clip-change-tip = Génère le clip à nouveau, en suivant ses frames.
side-panel-clip-extend-tip = Continue après la dernière frame du clip.
side-panel-example-tip = Écrit ceci dans le prompt.
side-panel-examples-tip = Affiche des prompts adaptés à ce modèle.
side-panel-generate-tip = Met une image ou un clip dans la file d'attente avec ces paramètres.
side-panel-cancel-tip = Annule ce qui est en cours ; on peut le reprendre. Touche : Échap.
side-panel-cancel-idle-tip = Rien n'est en cours.
side-panel-guidance-and-speed-tip = Affiche ce qui affine le guidage ou économise des étapes.
side-panel-history-search-tip = Trouve les prompts qui contiennent ces mots.
side-panel-kind-image-tip = Utilise le dernier modèle d'images.
side-panel-kind-video-tip = Utilise le dernier modèle de clips.
side-panel-loras-near-tip = Affiche les LoRA des dossiers voisins du modèle.
side-panel-loras-tip = Affiche les LoRA qui changent ce que dessine le modèle.
side-panel-more-tip = Affiche échantillonneur, planificateur, précision et plus.
side-panel-negative-prompt-tip = Dit ce qu'il faut éviter.
side-panel-prompt-tip = Décrire ce qu'il faut générer ; Ctrl+↑ et Ctrl+↓ pondèrent les mots.
side-panel-remove-limit-tip = Permet à Sluice d'utiliser toute la mémoire libre.
side-panel-styles-search-tip = Trouve des styles par leur nom.
side-panel-mask-only = Zone masquée seule
side-panel-mask-only-tip = Génère la zone masquée seule en pleine taille et la replace dans l'image d'entrée, dont la taille reste.
side-panel-mask-padding = Marge autour du masque (px)
side-panel-mask-padding-tip = Combien de pixels autour de la zone masquée le modèle voit.
side-panel-accuracy-time-varies =
    { $count ->
        [one] Écart d'au plus { $memory } de mémoire en { $count } exécution ; la durée variait beaucoup
       *[other] Écart d'au plus { $memory } de mémoire en { $count } exécutions ; les durées variaient beaucoup
    }
side-panel-negative-unread = Le modèle ne le lit pas avec ces réglages.

## Outpainting

side-panel-outpaint = Outpainting
side-panel-outpaint-tip = Ajoute des pixels autour de l’image et les génère. Faites glisser les bords du cadre.
side-panel-outpaint-left = Gauche
side-panel-outpaint-top = Haut
side-panel-outpaint-right = Droite
side-panel-outpaint-bottom = Bas
side-panel-outpaint-feather = Fondu de l’outpainting (px)
side-panel-outpaint-feather-tip = Sur quelle distance l’image se fond dans ce qui est ajouté.
side-panel-outpaint-frame = Cadre autour de l’image d’entrée
side-panel-outpaint-edge = Bord du cadre : { $edge }
side-panel-outpaint-edge-tip = Faites-le glisser vers l’extérieur pour ajouter des pixels.
side-panel-outpaint-side-tip = Combien de pixels de l’image d’entrée sont ajoutés de ce côté.
side-panel-without-outpaint = Ne pas faire d’outpainting
side-panel-style-name = Nom d'un nouveau style
side-panel-style-name-tip = Les prompts sont enregistrés sous ce nom. Là où ils contiennent {"{prompt}"}, le style entoure le prompt auquel il s'applique.
side-panel-style-save = Enregistrer le style
side-panel-style-save-tip = Enregistre le prompt et le prompt négatif comme style, à la place de celui de ce nom.
side-panel-style-delete = Supprimer le style { $name }
side-panel-style-undo-tip = Enregistre de nouveau le style.
side-panel-trash-undo-tip = Reprend le fichier de la corbeille.
