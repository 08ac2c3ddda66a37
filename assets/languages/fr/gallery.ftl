### La galerie.

## Recherche et filtres

gallery-title = Galerie
gallery-close = Fermer la galerie
gallery-close-tip = Revient à l'image. Touche : Échap.
gallery-thumbnail-size = Taille des miniatures
gallery-thumbnail-size-tip = La taille des miniatures.
gallery-search-hint = Chercher des prompts, modèles, LoRA, graines, étiquettes, collections
gallery-search = Recherche
gallery-search-tip = Tous les mots doivent être présents. -mot exclut, "deux mots" restent ensemble, et model: prompt: negative: lora: seed: tag: collection: name: date: from: to: disent où chercher. Touche : Ctrl+F
gallery-files =
    { $count ->
        [one] { $count } fichier
       *[other] { $count } fichiers
    }
gallery-files-shown =
    { $count ->
        [one] { $shown } sur { $count } fichier
       *[other] { $shown } sur { $count } fichiers
    }
gallery-files-reading =
    { $count ->
        [one] { $count } fichier, lecture de { $unread } autres…
       *[other] { $count } fichiers, lecture de { $unread } autres…
    }
gallery-files-shown-reading =
    { $count ->
        [one] { $shown } sur { $count } fichier, lecture de { $unread } autres…
       *[other] { $shown } sur { $count } fichiers, lecture de { $unread } autres…
    }
gallery-kind-all = Tout
gallery-kind-all-tip = Affiche les images et les clips.
gallery-kind-images = Images
gallery-kind-images-tip = Affiche seulement les images.
gallery-kind-clips = Clips
gallery-kind-clips-tip = Affiche seulement les clips.
gallery-starred-only = Seulement avec étoile
gallery-starred-only-tip = Affiche seulement ce qui a une étoile.
gallery-model = Modèle
gallery-model-all = Tous les modèles
gallery-model-tip = Affiche seulement ce que ce modèle a créé.
gallery-tag = Étiquette
gallery-tag-all = Toutes les étiquettes
gallery-tag-tip = Affiche seulement ce qui a cette étiquette.
gallery-date = Date
gallery-date-tip = Affiche seulement ce qui a été créé dans cette période.
gallery-order = Ordre
gallery-order-tip = L'ordre dans lequel les images sont affichées.
gallery-folders = Dossiers
gallery-folders-spoken = Dossiers de la galerie
gallery-output-folder = Dossier de sortie
gallery-output-folder-tip = Ouvre ce dossier.
gallery-folder-remove = Retirer { $path } de la galerie
gallery-folder-open = Ouvrir { $path }
gallery-folder-add = Ajouter un dossier…
gallery-folder-add-tip = Affiche aussi les images d'un autre dossier, par exemple celui d'un autre programme.
gallery-folders-read = Relire les dossiers
gallery-folders-read-tip = Trouve ce que d'autres programmes ont modifié. Touche : F5.
gallery-when-always = Toutes les dates
gallery-when-today = Aujourd'hui
gallery-when-week = 7 derniers jours
gallery-when-month = 30 derniers jours
gallery-when-year = 12 derniers mois
gallery-sort-newest = Plus récentes d'abord
gallery-sort-oldest = Plus anciennes d'abord
gallery-sort-name = Par nom
gallery-sort-model = Par modèle
gallery-sort-size = Plus gros fichiers d'abord

## Les miniatures

gallery-thumbnails = Miniatures
gallery-broken = Impossible d'afficher ce fichier : { $reason }
gallery-unstar-spoken = Retirer l'étoile de { $name }
gallery-star-spoken = Mettre une étoile à { $name }
gallery-unstar-tip = Retire l'étoile.
gallery-star-here-tip = Marque d'une étoile. Touche : S.
gallery-reading = Lecture de vos images…
gallery-reading-tip = Elles apparaissent dès qu'elles sont lues.
gallery-nothing-found = Aucun résultat
gallery-nothing-found-tip =
    { $count ->
        [one] La recherche et les filtres excluent { $count } fichier.
       *[other] La recherche et les filtres excluent { $count } fichiers.
    }
gallery-empty-tip = Ce que vous générez est enregistré dans { $folder } et apparaît ici.
gallery-empty-without-folder = Les images ne sont pas enregistrées, car il n'y a pas de dossier de sortie. Choisissez-en un dans les paramètres.
gallery-empty = Pas encore d'images
gallery-clear-search = Effacer la recherche et les filtres
gallery-clear-search-tip = Affiche de nouveau tout.
gallery-search-clear = Effacer la recherche
gallery-search-clear-tip = Vide le champ de recherche ; les filtres restent.

## Ce que l'on peut faire des images

gallery-open = Ouvrir
gallery-open-tip = Affiche dans la visionneuse. Touche : Entrée.
gallery-copy-prompt-tip = Copie le prompt dans le presse-papiers.
gallery-copy-files = Copier les fichiers
gallery-copy-files-tip = Copie les fichiers eux-mêmes, pour les coller dans un dossier, une discussion ou un navigateur. Touche : Ctrl+Maj+C
gallery-show-in-folder = Afficher dans le dossier
gallery-show-in-folder-tip = Ouvre le dossier de ce fichier.
gallery-use-as-image-tip = Part de cette image pour la prochaine.
gallery-use-as-clip = Utiliser comme clip d'entrée
gallery-use-as-clip-tip = Part de ce clip pour le prochain.
gallery-export-ask-tip = Écrit des copies en PNG, JPEG ou WebP, avec ou sans paramètres. Touche : Ctrl+E
gallery-export-ask = Exporter…
gallery-trash-tip = Supprime, avec retour possible. Touche : Suppr.
gallery-trash = Mettre à la corbeille
gallery-star = Étoile
gallery-star-tip = Marque pour retrouver plus tard.

## Ce qui est sélectionné

gallery-nothing-selected = Aucune sélection
gallery-nothing-selected-click = Un clic sur une image affiche ses paramètres, un double-clic l'ouvre.
gallery-nothing-selected-several = Ctrl ou Maj avec un clic en sélectionne plusieurs. Un clic droit montre ce qu'on peut en faire.
gallery-prompt = Prompt
gallery-starred = Avec étoile
gallery-starred-key-tip = Retire l'étoile. Touche : S.
gallery-star-key-tip = Marque pour retrouver plus tard. Touche : S.
gallery-selected = Sélection : { $count }
gallery-compare-tip = Compare les deux dans la visionneuse, avec un séparateur ou côte à côte. Touche : C.
gallery-compare = Comparer
gallery-deselect-tip = Les garde toutes et n'en sélectionne aucune.
gallery-deselect = Désélectionner
gallery-tags = Étiquettes
gallery-tag-remove = Retirer l'étiquette { $tag }
gallery-tag-add = Ajouter une étiquette
gallery-tag-add-tip = Un mot pour retrouver ces images. Entrée l'ajoute.
gallery-collections = Collections
gallery-collections-tip = Affiche ou masque la liste des collections.
gallery-within-all = Tous les fichiers
gallery-within-all-tip = Affiche tout, que ce soit dans une collection ou non.
gallery-within-none = Dans aucune collection
gallery-within-none-tip = Affiche seulement ce qui n'est dans aucune collection.
gallery-collections-none = Aucune pour l'instant. Une image peut être dans plusieurs. Son fichier reste où il est.
gallery-collection-tip = Affiche { $name }, ou de nouveau tout. Faites glisser des images dessus pour les ajouter.
gallery-collection-new = Nouvelle collection…
gallery-collection-new-tip = Donne un nom à une nouvelle collection. Elle commence avec les images que l'on y fait glisser.
gallery-collection-new-selected-tip = Donne un nom à une nouvelle collection pour elles.
gallery-collection-name = Nom de la collection
gallery-collection-name-tip = Entrée valide le nom, Échap l'abandonne.
gallery-collection-taken = Une collection porte déjà ce nom.
gallery-collection-rename = Renommer…
gallery-collection-rename-tip = Donne un autre nom à la collection.
gallery-collection-delete = Supprimer la collection
gallery-collection-delete-tip = Supprime la collection. Ses images restent.
gallery-collection-deleted = Collection { $name } supprimée
gallery-collection-deleted-detail =
    { $count ->
        [one] { $count } fichier est toujours là.
       *[other] { $count } fichiers sont toujours là.
    }
gallery-collection-empty = { $name } est vide
gallery-collection-empty-tip = Affichez tous les fichiers, puis faites glisser des images sur le nom de la collection.
gallery-collect = Ajouter à une collection
gallery-collect-tip = Ajoute la sélection à une collection. Elle peut être dans plusieurs.
gallery-collect-in = Ajoute à { $name }.
gallery-collected =
    { $count ->
        [one] { $count } fichier ajouté à { $name }
       *[other] { $count } fichiers ajoutés à { $name }
    }
gallery-collection-made = Collection { $name } créée
gallery-collection-leave = Retirer de cette collection
gallery-collection-leave-named = Retirer de la collection { $name }
gallery-negative-prompt = Prompt négatif
gallery-made-with = Créé avec
gallery-not-taken-over = Ne peut être repris exactement
gallery-none = Aucun

## Ce qui vient d'être fait

gallery-dismiss = Fermer le message
gallery-undo = Défaire
gallery-undo-tip = Annule ce qui vient d'être fait. Touche : Ctrl+Z
gallery-exported-folder-tip = Affiche les fichiers exportés.
gallery-not-restored = Tout n'a pas pu être restauré
gallery-restored-one = { $name } restauré
gallery-restored =
    { $count ->
        [one] { $count } fichier restauré
       *[other] { $count } fichiers restaurés
    }
gallery-not-trashed = Tout n'a pas pu être mis à la corbeille
gallery-trashed-one = { $name } mis à la corbeille
gallery-trashed =
    { $count ->
        [one] { $count } fichier mis à la corbeille
       *[other] { $count } fichiers mis à la corbeille
    }
gallery-trashed-tip = « Remettre » dans la Corbeille restaure.
gallery-exporting = Exportation { $number } sur { $count }…
gallery-not-exported =
    { $count ->
        [one] Impossible d'exporter { $count } fichier
       *[other] Impossible d'exporter { $count } fichiers
    }
gallery-exported =
    { $count ->
        [one] { $count } fichier exporté
       *[other] { $count } fichiers exportés
    }
gallery-export-clips =
    { $count ->
        [one] { $count } clip est copié tel quel, avec les paramètres qu'il contient.
       *[other] { $count } clips sont copiés tels quels, avec les paramètres qu'ils contiennent.
    }
gallery-trash-gone = il n'est plus dans la corbeille
gallery-trash-put-back = choisissez « Remettre » dans la Corbeille
gallery-trash-advice = Utilisez votre gestionnaire de fichiers pour ce fichier.
gallery-marks-unreadable-advice = Réparez ou supprimez ce fichier. En attendant, les étoiles, les étiquettes et les collections ne peuvent pas être modifiées.
gallery-marks-unreadable = Impossible de lire les étoiles, les étiquettes et les collections
gallery-marks-unsaved = Impossible d'enregistrer les étoiles, les étiquettes et les collections
gallery-marks-unsaved-advice = Libérez de l'espace disque, puis réessayez.
gallery-marks-newer = une version plus récente de Sluice l'a écrit

## Exportation

gallery-export-files =
    { $count ->
        [one] Exporter { $count } fichier
       *[other] Exporter { $count } fichiers
    }
gallery-export-format = Format
gallery-export-quality = Qualité
gallery-export-quality-tip = Plus haut : plus proche de l'image, et plus gros.
gallery-export-settings = Inclure les paramètres
gallery-export-settings-tip = Si les fichiers disent comment ils ont été créés. Sans les paramètres, personne ne peut y lire le prompt.
gallery-export-name = Nom de fichier
gallery-export-field = { $field } est { $meaning }.
gallery-export-example = Par exemple { $path }
gallery-export = Exporter
gallery-export-tip = Écrit les fichiers ; ceux qui existent restent.
gallery-export-folder = Choisir un dossier…
gallery-export-folder-tip = Où les fichiers sont écrits.
gallery-export-cancel-tip = Touche : Échap.
gallery-export-advice = Choisissez un autre dossier ou libérez de l'espace disque.
gallery-export-name-advice = Modifiez le nom de fichier.
gallery-upscale-tip = Agrandit tout ce qui est sélectionné.
gallery-interpolate-tip = Rend plus fluide le mouvement des clips sélectionnés.

## Noms des réglages, tels que lus dans les images

gallery-setting-keyframe = Keyframe
gallery-setting-extended-clip = Clip prolongé
gallery-setting-clip-frames = Frames du clip
gallery-setting-reference-image = Image de référence
gallery-setting-reference-strengths = Force des références
gallery-setting-input-image = Image d'entrée
gallery-setting-inpaint-area = Zone d'inpainting
gallery-setting-refiner = Refiner
gallery-setting-template = Gabarit
gallery-setting-negative-template = Gabarit négatif
gallery-setting-upscaled-by = Agrandi de
gallery-setting-interpolated-by = Interpolé par
gallery-setting-version = Version
gallery-setting-guidance-interval = Intervalle du guidage
gallery-setting-frames = Frames
gallery-setting-axis-x = Axe X
gallery-setting-axis-y = Axe Y
gallery-setting-axis-z = Axe Z
