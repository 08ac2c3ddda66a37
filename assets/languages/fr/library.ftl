### Les modèles sur cet ordinateur, et des modèles connus.

## La barre

library-models = Modèles
library-models-tip = Modèles sur cet ordinateur, et des modèles connus.
library-loras = LoRA
library-loras-tip = Les LoRA, ceux du modèle ouvert d'abord.
library-others = Autres fichiers
library-others-tip = Encodeurs de texte, auto-encodeurs, et fichiers que Sluice n'utilise pas.
library-favourites = Favoris
library-favourites-tip = Affiche seulement ce qui a une étoile.
library-close = Fermer les modèles
library-get-models-share = Obtenir des modèles… { $percent } %
library-get-models-ask = Obtenir des modèles…
library-get-models-tip = Télécharge des modèles : un catalogue, des liens et Hugging Face.
library-reading = Lecture : { $read } sur { $count } fichiers…
library-looking = Recherche de modèles…
library-files =
    { $count ->
        [one] { $count } fichier
       *[other] { $count } fichiers
    }
library-all-models = Tous les modèles
library-all-models-tip = Revient aux modèles sur cet ordinateur.
library-get-models = Obtenir des modèles
library-search = Chercher des modèles
library-search-tip = Trouve des mots dans les noms, descriptions, mots déclencheurs, étiquettes et notes, et dans ce qui dit comment un modèle tourne.
library-nothing-starred = Rien n'a encore d'étoile. L'étoile d'un modèle le garde ici.
library-nothing-loras = Pas de LoRA ici. Ajoutez le dossier où ils se trouvent.
library-nothing-others = Pas d'autres fichiers.
library-nothing-found = Rien ne correspond à « { $words } ». Moins de mots trouvent davantage.
library-found-in = Dans { $name }, { $count }
library-show-everything = Tout afficher
library-heading-spoken =
    { $count ->
        [one] { $title }, { $count } ligne
       *[other] { $title }, { $count } lignes
    }

## La liste

library-built-in = Intégré
library-suited = Adaptés à { $device }, à télécharger
library-suited-here = Adaptés à cet ordinateur, à télécharger
library-cannot-be-opened = Ne s'ouvrent pas
library-not-here = Pas ici
library-loras-fitting = Compatibles avec { $family }
library-loras-perhaps-fitting = Peut-être compatibles : pour un modèle inconnu
library-loras-for = Pour { $family }
library-loras-for-unknown = Pour un modèle inconnu
library-parts-of-models = Encodeurs de texte et auto-encodeurs
library-not-used = Non utilisés par Sluice
library-starter = Starter
library-clip-starter = Starter de clips
library-clip-starter-detail = De courts clips, pour essayer
library-starter-detail = De petites images, pour essayer
library-role-upscaler = Upscaler
library-role-interpolator = Interpolateur d'images
library-role-preprocessor = Préprocesseur
library-role-segmenter = Segmenteur
library-role-detector = Détecteur
library-role-language-model = Modèle de langage
library-row-duplicate = doublon
library-row-checking-spoken = Vérification
library-row-opened-spoken = ouvert
library-row-added = Ajouté
library-row-add = Ajouter
library-row-remove-spoken = Retirer { $name }
library-row-remove-tip = Retire le LoRA de la prochaine image.
library-row-add-spoken = Ajouter { $name }
library-row-add-tip = Utilise le LoRA pour la prochaine image.
library-row-opened = Ouvert
library-checking = Vérification…
library-favourite-spoken = Favori { $name }
library-unstar-tip = Retire l'étoile.
library-star-tip = Met une étoile, pour l'afficher en premier.

## Les dossiers parcourus

library-folders = Dossiers
library-folders-tip = Affiche où les modèles sont cherchés.
library-folders-nothing = Aucun dossier d'un autre programme n'a été trouvé sur cet ordinateur.
library-search-folders = Chercher de nouveau
library-search-folders-tip = Parcourt les dossiers maintenant. C'est aussi fait à chaque ouverture de cette vue.
library-folder-add = Ajouter un dossier…
library-folder-add-tip = Parcourt un autre dossier et ses sous-dossiers. Rien n'y est déplacé ni modifié.
library-folder-named = Indiqué au démarrage
library-folder-own = Dossier de Sluice
library-folder-added = Ajouté
library-folder-remove = Retirer { $path }
library-folder-open = Ouvrir { $path }
library-model-files =
    { $count ->
        [one] { $count } fichier de modèle
       *[other] { $count } fichiers de modèle
    }

## Ce qui est sélectionné

library-nothing-selected = Sélectionnez un modèle pour voir ce que l'on en sait.
library-file-gone = Ce fichier n'est plus là.
library-control-net-tip = À choisir sous ControlNet dans le panneau latéral, avec un modèle auquel il est destiné.
library-ip-adapter-tip = À choisir sous Prompt en image dans le panneau latéral, avec un modèle auquel il est destiné.
library-part-tip = Les modèles qui ont besoin de cette partie la trouvent ici d'eux-mêmes.
library-not-used-tip = Sluice ne génère pas avec ce fichier.
library-preview = Aperçu de { $name }
library-preview-ask = Utiliser comme aperçu…
library-preview-ask-tip = En fait la vignette d’un modèle ou d’un LoRA.
library-preview-title = Utiliser comme aperçu
library-preview-hint = L’image est enregistrée à côté du modèle, où d’autres programmes la trouvent aussi.
library-preview-replaces = { $name } a déjà un aperçu. Il est remplacé.
library-preview-use = Enregistrer l’aperçu
library-preview-replace = Remplacer l’aperçu
library-preview-use-tip = Enregistre une petite copie de l’image à côté du modèle.
library-preview-cancel-tip = Touche : Échap.
library-preview-saved = { $name } a un nouvel aperçu
library-preview-failed = L’aperçu ne peut pas être enregistré
library-preview-no-model = Les modèles de { $name } ne sont pas ici, et le modèle ouvert est fourni avec Sluice.
library-copy-path = Copier le chemin
library-open-folder = Ouvrir son dossier
library-keep-defaults = Paramètres actuels par défaut
library-keep-defaults-tip = Ce modèle démarre avec les paramètres actuels, LoRA et prompt négatif compris. Le prompt, la graine et les entrées n'en font pas partie.
library-open-model = Ouvrir ce modèle
library-open-model-tip = Génère désormais avec ce modèle.
library-reset-defaults = Oublier ces valeurs par défaut
library-reset-defaults-tip = Le modèle démarre de nouveau avec ses propres paramètres.
library-fit-on = Prévision sur { $device }
library-fit = Prévision
library-on-engine = Sur { $name }. La prévision est connue dès qu'il est ouvert.
library-something-missing = Il manque quelque chose
library-parts = Parties
library-part-from = de { $name }
library-part-from-more = de { $name } et { $count } autres
library-file = Fichier
library-fact-what = Contenu
library-fact-size = Taille
library-fact-weights = Poids
library-fact-stored-as = Stocké en
library-fact-format = Format
library-lora-remove = Retirer de la prochaine image
library-lora-add = Ajouter à la prochaine image
library-lora-add-tip = Utilise le LoRA avec un poids de 1 ; à modifier sous LoRA.
library-lora-unfit = Fait pour { $family }, mais le modèle ouvert est { $model }.
library-trigger-words = Mots déclencheurs
library-trigger-add-spoken = Ajouter { $words } au prompt
library-trigger-add-tip = Ajoute ces mots à la fin du prompt.
library-trigger-add = Ajouter
library-copies = Copies
library-comparing = Comparaison du contenu…
library-files-same = Même contenu : l’un des fichiers peut être supprimé.
library-files-differ = Même taille et même en-tête, mais un autre contenu.
library-based-on = Basé sur
library-tags = Étiquettes
library-description = Description
library-not-on-computer = Pas sur cet ordinateur.
library-download = Télécharger
library-repository = Dépôt
library-licence = Licence
library-licence-unknown = Voir le dépôt
library-size-in-16-bits = { $size } en 16 bits
library-gated = Acceptez d'abord les conditions sur sa page, et donnez votre token à Sluice sous Obtenir des modèles, Connexion.
library-open-page = Ouvrir sa page
library-open-page-tip = Ouvre le dépôt dans le navigateur.
library-copy-link = Copier le lien
library-copy-link-tip = Copie l'adresse du dépôt.
library-download-yourself = Les fichiers que vous téléchargez vous-même dans l'un des dossiers parcourus apparaissent aussi ici.
library-starter-tip = Fourni avec Sluice, pour des premiers résultats sans téléchargement.
library-own-tags = Vos étiquettes
library-own-tags-tip = Des mots avec lesquels la recherche le trouve. Entrée en ajoute un.
library-note = Votre note
library-note-hint = Visible de vous seul
library-note-tip = Conservée sur cet ordinateur ; la recherche trouve ses mots.
library-menu-star = Mettre une étoile
library-menu-unstar = Retirer l'étoile
library-open-folder-tip = Affiche le fichier dans le gestionnaire de fichiers.
library-copy-path-tip = Copie le chemin du fichier dans le presse-papiers.
library-row-tip = Sélectionner pour voir ce que l'on sait du modèle ; un double-clic l'utilise.
