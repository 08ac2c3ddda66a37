### Fichiers et boîtes de dialogue.

files-use-folder = Utiliser ce dossier
files-up = Remonter
files-up-tip = Le dossier parent.
files-path = Chemin du dossier
files-path-tip = Va à ce dossier avec Entrée.
files-folder-unreadable = Ce dossier ne peut pas être lu : { $reason }
files-folder-gone = il n'existe pas
files-folder-forbidden = vous n'en avez pas l'autorisation
files-reading = Lecture…
files-nothing-here = Rien à choisir ici.
files-no-folders = Aucun dossier ici.
files-pickle = À convertir d'abord en .safetensors
files-pickle-tip = Les fichiers de ce type peuvent exécuter n'importe quel programme à l'ouverture ; ils ne sont donc pas lus.
files-save = Enregistrer
files-save-tip = Enregistre l'image sous ce nom.
files-save-name-tip = La terminaison .png, .jpg ou .webp indique le format.
files-name-taken = Un fichier porte déjà ce nom.
files-take-name-tip = Reprend le nom de ce fichier.
files-carried = { $count } fichiers
files-not-copied = Le fichier ne peut pas être copié dans le presse-papiers
files-not-copied-advice = Ouvrez son dossier et copiez-le depuis celui-ci.
files-not-copied-gone = Il a été déplacé ou supprimé. Relisez les dossiers de la galerie.

## Titres des boîtes de dialogue de fichiers

files-model-file = Ouvrir un fichier de modèle
files-model-folder = Ouvrir un dossier de modèle
files-library-folder = Ajouter un dossier de modèles
files-input-image = Choisir une image d'entrée
files-styles = Ouvrir un fichier de styles
files-tags = Ouvrir un fichier de tags
files-cuda-engine = Ouvrir un moteur pour les GPU NVIDIA
files-input-folder = Choisir un dossier d'images d'entrée
files-changed-folder = Choisir un dossier d'images et de clips
files-changed-folder-clips = Choisir un dossier de clips
files-changed-folder-images = Choisir un dossier d'images
files-last-image = Choisir une image de fin
files-keyframe = Ajouter une keyframe
files-reference = Ajouter une image de référence
files-control-clip = Choisir un clip de contrôle
files-control-mask = Choisir un masque pour le clip de contrôle
files-input-clip = Choisir un clip d'entrée
files-mask = Ouvrir un masque
files-adapter = Ajouter un LoRA
files-refiner = Ouvrir un refiner
files-redux = Ouvrir un modèle Redux
files-gallery-folder = Ajouter un dossier à la galerie
files-export-folder = Choisir un dossier
files-save-image = Enregistrer l'image
files-download-folder = Choisir un dossier pour les modèles

## Types de fichiers dans les boîtes de dialogue

files-kind-models = Modèles
files-kind-images = Images
files-kind-videos = Vidéos
files-kind-videos-and-images = Vidéos et images
files-kind-loras = LoRA
files-kind-styles = Styles
files-kind-tags = Tags
files-kind-archives = Archives
files-kind-all = Tous les fichiers

## Ce qui échoue

files-file-unusable = Ce fichier ne peut pas être utilisé
files-mask-not-saved = Impossible d'enregistrer le masque
files-pasted-not-saved = Impossible d'enregistrer l'image collée
files-frame-not-saved = Impossible d'enregistrer la frame
files-image-not-saved = Impossible d'enregistrer l'image
files-text-not-saved = Impossible d’enregistrer le texte sur une image
files-clip-not-exported = Impossible d'exporter le clip
files-folder-unusable = Le dossier ne peut pas être utilisé
files-folder-unusable-advice = Choisissez un autre dossier d'images.
files-folder-unusable-any-advice = Choisissez un autre dossier d'images et de clips.
files-folder-unusable-clips-advice = Choisissez un autre dossier de clips.
files-folder-not-opened = Impossible d'ouvrir le dossier
files-folder-no-program = Aucun programme n'a ouvert { $path }.
files-folder-not-opened-advice = Ouvrez-le dans votre gestionnaire de fichiers.
files-setting-not-saved = Impossible d'enregistrer le paramètre
files-setting-not-saved-advice = Il s'applique jusqu'à la fermeture de la fenêtre.
files-preset-not-changed = Impossible de modifier le préréglage
files-grid-not-saved = Impossible d'enregistrer la grille
files-not-saved-advice = Libérez de l'espace disque ou choisissez un autre dossier de sortie dans les paramètres.
files-no-frames = { $path } n'a aucune frame
files-no-frames-advice = Choisissez un autre fichier.
files-no-mp4 = { $path } n'est pas un fichier MP4
files-no-mp4-advice = Choisissez un fichier MP4.
files-unreadable = Impossible de lire { $path } : { $error }
files-unreadable-advice = Vérifiez que le fichier existe toujours et que c'est une image PNG complète.

## Formats des clips

files-format-mp4 = vidéo MP4
files-format-webp = WebP animé
files-format-gif = GIF animé
files-format-frames = dossier d'images PNG
files-control-net = Choisir un ControlNet
files-control-image = Choisir une image pour le ControlNet
files-ip-adapter = Choisir un IP-Adapter
files-prompt-image = Choisir une image à lire
files-map-estimator = Choisir un estimateur de cartes
files-segmenter = Choisir un modèle de segmentation
files-detector = Choisir un détecteur
files-region-mask = Choisir le masque de la région
files-language-model = Choisir un modèle de langage
files-upscaler = Choisir un upscaler
files-interpolator = Choisir un interpolateur
files-file-tip = Choisit ce fichier.
files-folder-tip = Ouvre ce dossier.
files-in-folder-tip = Cette image est dans le dossier. C’est le dossier lui-même que vous choisissez.
