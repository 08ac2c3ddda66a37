### L'image au milieu, ses barres et la liste en dessous.

## Le milieu de la fenêtre

viewer-live-preview = Aperçu en direct
viewer-next-clip = Votre clip est le prochain
viewer-next-image = Votre image est la prochaine
viewer-next-tip = Le résultat apparaît ici dès que le moteur démarre.
viewer-describe-image = Décrivez votre image à gauche, puis appuyez sur Générer.
viewer-describe-image-or-example = Décrivez votre image à gauche, ou commencez par un exemple.
viewer-describe-clip = Décrivez votre clip à gauche, puis appuyez sur Générer.
viewer-describe-clip-or-example = Décrivez votre clip à gauche, ou commencez par un exemple.
viewer-what-to-create = Que voulez-vous créer ?
viewer-model-loading = Chargement du modèle…
viewer-model-loading-tip = Cela prend un instant.
viewer-model-missing-tip = Choisissez-en un ci-dessus, ou ouvrez-en un depuis votre disque.
viewer-model-missing = Aucun modèle chargé
viewer-model-open = Ouvrir un fichier de modèle…
viewer-replanned-dismiss = Fermer l'avis du nouveau plan
viewer-replanned = L'exécution continue avec un nouveau plan
viewer-replanned-times =
    { $count ->
        [one] L'exécution continue avec un nouveau plan (changé { $count } fois)
       *[other] L'exécution continue avec un nouveau plan (changé { $count } fois)
    }
viewer-dismiss = Fermer
viewer-dismiss-all = Fermer tout ({ $count })
viewer-copy-message = Copier le message
viewer-more-failures = +{ $count } autres
viewer-drop = Déposez une image pour partir d'elle ou utiliser ses paramètres
viewer-drop-model = ou un modèle ou un LoRA pour le charger
viewer-unfinished-question = Sluice a été fermé pendant une génération. Reprendre là où elle s'est arrêtée ?
viewer-unfinished-resume = Reprendre
viewer-unfinished-discard = Abandonner
viewer-unfinished =
    { $count ->
        [one] { $count } image inachevée
       *[other] { $count } images inachevées
    }
viewer-live-thumbnail = Aperçu en direct, miniature

## La barre sous l'image

viewer-zoom-actual-tip = Affiche un pixel de l'image par pixel de l'écran. Double-cliquez sur l'image pour basculer.
viewer-zoom-fit-tip = Affiche toute l'image. La molette zoome, glisser déplace.
viewer-zoom-fit = Ajuster
viewer-compare-tip = Compare avec une autre image, à choisir dans la liste ci-dessous. Touche : C.
viewer-compare = Comparer
viewer-compare-lacks-image = Il n'y a pas d'autre image à comparer.
viewer-compare-lacks-clip = Il n'y a pas d'autre clip à comparer.
viewer-compare-stop = Arrêter de comparer
viewer-compare-stop-tip = Touche : Échap.
viewer-compare-swap = Échanger A et B
viewer-compare-side-by-side = Côte à côte
viewer-compare-side-by-side-tip = Affiche les images l'une à côté de l'autre au lieu d'un séparateur.
viewer-compare-choose = Cliquez sur une image ci-dessous pour comparer
viewer-copy-frame = Copier la frame
viewer-save-frame = Enregistrer la frame en PNG
viewer-use-frame = Utiliser la frame comme image d'entrée
viewer-use-frame-as-end = Utiliser la frame comme image de fin
viewer-extend-tip = Continue ce clip à partir de la fin de la plage lue.
viewer-extend = Prolonger
viewer-similar-tip = Quatre images proches de celle-ci : la même graine, avec un peu du bruit d'autres graines.
viewer-variations-tip = Quatre images avec les mêmes paramètres et d'autres graines.
viewer-use-settings-tip = Charge le prompt, la graine et tous les autres paramètres qui ont créé cette image.
viewer-actions = Actions
viewer-actions-spoken = Actions pour l'image
viewer-export-range = Exporter la plage lue
viewer-export = Exporter
viewer-caption-frames =
    { $count ->
        [one] { $count } frame
       *[other] { $count } frames
    }
viewer-caption-rate = { $rate } fps
viewer-caption-upscaled = agrandie × { $scale }
viewer-caption-upscaled-with = agrandie × { $scale } avec { $upscaler }
viewer-caption-interpolated-with = images × { $factor } avec { $model }
viewer-caption-seed = graine { $seed }
viewer-caption-variation = variation { $seed }
viewer-caption-steps =
    { $count ->
        [one] { $count } étape
       *[other] { $count } étapes
    }
viewer-caption-guidance = guidage { $guidance }
viewer-caption-took = en { $time }
viewer-divider = Séparateur
viewer-divider-tip = Glissez pour comparer, ou utilisez les touches fléchées.

## Peindre un masque

viewer-mask = Masque sur l'image
viewer-brush = Pinceau
viewer-brush-tip = Taille du pinceau en pixels de l'image.
viewer-mask-rectangle = Rectangle
viewer-mask-lasso = Lasso
viewer-mask-object = Objet
viewer-mask-object-tip = Cliquez dessus pour l’ajouter, cliquez avec Alt sur ce qui n’en fait pas partie, ou tracez un cadre autour.
viewer-mask-object-how = Cliquez sur l'objet, ou tracez un cadre autour. Un clic avec Alt exclut une partie.
viewer-mask-object-made = Le masque est en cours de création
viewer-mask-object-next = Objet suivant
viewer-mask-object-next-tip = Garder ce qui est marqué et cliquer sur autre chose.
viewer-segmenter = Modèle de segmentation
viewer-segmenter-tip = Un fichier Segment Anything ou MobileSAM, qui trouve ce qui va ensemble.
viewer-segmenter-chosen = Les objets sont désormais trouvés par { $name }.
viewer-segmenter-missing = Un modèle de segmentation trouve les objets. Choisissez un fichier .safetensors de Segment Anything ou de MobileSAM pour cliquer sur ce qui doit être marqué.
viewer-mask-object-none = Rien n'a été trouvé à cet endroit. Cliquez sur une autre partie, ou tracez un cadre autour.
viewer-masked = { $name } avec son masque
viewer-mask-tool = Outil
viewer-mask-tool-tip = Peindre des traits, des rectangles ou des contours, ou cliquer sur ce qui doit être marqué.
viewer-brush-size = Taille du pinceau
viewer-mask-grow =
    { $pixels ->
        [one] Agrandir de 1 pixel
       *[other] Agrandir de { $pixels } pixels
    }
viewer-mask-shrink =
    { $pixels ->
        [one] Réduire de 1 pixel
       *[other] Réduire de { $pixels } pixels
    }
viewer-mask-paint = Peindre
viewer-mask-paint-tip = Marque la zone qui doit changer.
viewer-mask-erase = Effacer
viewer-mask-erase-tip = Retire des parties de cette zone.
viewer-mask-undo-tip = Défait le dernier trait. Touches : Ctrl+Z, et Ctrl+Maj+Z ou Ctrl+Y pour le refaire.
viewer-mask-undo = Défaire le trait
viewer-mask-invert = Inverser
viewer-mask-clear = Vider
viewer-mask-apply = Appliquer le masque
viewer-mask-discard-tip = Arrête de peindre et garde le masque précédent.
viewer-mask-discard = Abandonner
viewer-mask-ask = Arrêter de peindre ?
viewer-mask-ask-hint = Le masque n'est pas encore appliqué.
viewer-mask-go-on = Continuer à peindre
viewer-mask-go-on-tip = Ferme cette question. Touche : Échap.

## Lire un clip

viewer-pause = Pause
viewer-play = Lire
viewer-play-tip = Touche : Espace.
viewer-previous-frame = Frame précédente
viewer-previous-frame-tip = Touche : ←.
viewer-next-frame = Frame suivante
viewer-next-frame-tip = Touche : →.
viewer-mute = Couper le son
viewer-mute-tip = Lit sans le son. Le son s'entend à vitesse normale, en avant. Touche : M.
viewer-boomerang = Boomerang
viewer-boomerang-tip = Lit alternativement en avant et en arrière.
viewer-play-whole = Lire tout le clip
viewer-play-whole-tip = Retire le début et la fin que vous avez fixés.
viewer-end-here = Finir ici
viewer-end-here-tip = Lit seulement jusqu'à cette frame. Touche : O.
viewer-start-here = Commencer ici
viewer-start-here-tip = Lit seulement à partir de cette frame. Touche : I.
viewer-speed = Vitesse
viewer-speed-tip = Vitesse de lecture.
viewer-place-tip = Frame et temps.
viewer-range-start = Début de la plage
viewer-range-start-tip = Début de la plage, frame { $frame }
viewer-range-end = Fin de la plage
viewer-range-end-tip = Fin de la plage, frame { $frame }
viewer-frame = Frame
viewer-frame-at = Frame { $frame } · { $time }
viewer-use-frame-as-end-tip = Le prochain clip se termine par cette frame.
viewer-use-frame-tip = Enregistre cette frame et commence l'image ou le clip suivant à partir d'elle.
viewer-save-frame-tip = Enregistre cette frame dans le dossier de sortie, avec les paramètres.
viewer-copy-frame-tip = Copie les pixels de cette frame dans le presse-papiers.
viewer-actions-tip = Ce que vous pouvez faire de cette image.
viewer-export-range-tip = Écrit la plage lue dans un nouveau fichier.
viewer-upscale = Agrandir…
viewer-upscale-tip = L'agrandit avec un upscaler.
viewer-interpolate = Interpoler…
viewer-interpolate-tip = Rend son mouvement plus fluide, avec plus d’images.
viewer-inpaint = Inpainting…
viewer-inpaint-tip = Utilise cette image comme image d'entrée, pour peindre sur ce qui doit changer.
viewer-save-as = Enregistrer sous…
viewer-save-as-tip = Enregistre une copie en PNG, JPEG ou WebP, avec les paramètres.
viewer-trash-tip = Supprime le fichier, avec retour possible. Touche : Suppr.
viewer-copy-message-tip = Copie dans le presse-papiers le message et ce qu'il faut faire.
viewer-dismiss-all-tip = Masque tous les messages.
viewer-dismiss-tip = Masque ce message.
viewer-frame-tip = Glisser jusqu'à une frame, ou avancer avec les flèches.
viewer-live-thumbnail-tip = Affiche ce qui est en cours de génération.
viewer-mask-apply-tip = Utilise ce masque pour l'image d'entrée.
viewer-unfinished-discard-tip = Les abandonne et compose les grilles de ce qui a été dessiné.
viewer-unfinished-resume-tip = Les remet dans la file d'attente après leur dernière étape terminée.
