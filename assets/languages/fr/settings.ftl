### Les paramètres, ouverts avec Ctrl+virgule.

settings-title = Paramètres
settings-search = Chercher des paramètres
settings-nothing-found = Aucun paramètre ne concerne « { $search } ». Moins de mots trouvent davantage.

## Sections

settings-section-look = Apparence
settings-section-saving = Enregistrement
settings-section-folders = Dossiers
settings-section-prompts = Prompts
settings-section-engine = Moteur
settings-section-about = À propos

## Mots par lesquels un paramètre est trouvé, en plus de ceux qu'il affiche

settings-words-theme = thème theme sombre clair système systeme couleurs
settings-words-scale = taille du contenu échelle echelle zoom police interface
settings-words-notifications = notification bureau message
settings-words-motion = moins de mouvement animation accessibilité accessibilite
settings-words-previews = aperçu apercu en direct pendant la génération generation
settings-words-sound = son muet silence clips
settings-words-rendering = rendu fenêtre fenetre gpu carte graphique intégré integre dédié dedie vram
settings-words-output = sortie dossier images clips où ou
settings-words-format = format image png jpeg webp qualité qualite
settings-words-codec = codec vidéo video clips h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = noms fichiers modèle modele date graine seed prompt
settings-words-folders = modèles modeles loras checkpoints galerie
settings-words-connection = miroir proxy jeton token hugging face téléchargements connexion
settings-words-styles = styles csv json prompts
settings-words-tags = tags fichier de tags csv danbooru complétion
settings-words-engine = ordinateur ssh commande distant grappe slurm docker
settings-words-about = version licence moteur données donnees journaux rapport problème probleme aide confidentialité confidentialite mise à jour
settings-words-language = langue traduction language

## La fenêtre

settings-language = Langue
settings-language-of-system = Langue du système
settings-language-without-font = Aucune police de cet ordinateur n'a les caractères de : { $languages }. Noto Sans CJK les a.
settings-theme = Thème
settings-theme-system = Système
settings-theme-dark = Sombre
settings-theme-light = Clair
settings-scale = Taille du contenu
settings-scale-tip = Met à l'échelle le texte et les commandes. Touches : Ctrl+Plus et Ctrl+Moins
settings-motion = Moins de mouvement
settings-motion-system = Système ({ $now })
settings-motion-on = Oui
settings-motion-off = Non
settings-motion-tip = Les panneaux et les menus apparaissent d'un coup, sans fondu, et les clips ne démarrent que sur demande.
settings-notifications = Notifier quand la file est terminée
settings-notifications-tip = Le bureau le signale quand une autre fenêtre est au premier plan.
settings-previews = Aperçu en direct
settings-previews-tip = Affiche l'image pendant sa génération.
settings-mute = Clips sans le son
settings-mute-tip = Lit les clips sans leur son. Touche : M.
settings-rendering = GPU de la fenêtre
settings-rendering-integrated = Intégré
settings-rendering-dedicated = Dédié
settings-rendering-hint = Le GPU intégré laisse aux modèles toute la VRAM du GPU dédié. Prend effet après un redémarrage.
settings-rendering-hint-now = Le GPU intégré laisse aux modèles toute la VRAM du GPU dédié. Prend effet après un redémarrage. Actuellement : { $gpu }.

## Où les images et les clips sont enregistrés

settings-output = Dossier de sortie
settings-output-none = Rien n'est enregistré : cet utilisateur n'a pas de dossier d'images.
settings-output-choose = Choisir…
settings-format = Format d'image
settings-format-hint = PNG garde chaque pixel. JPEG et WebP sont plus petits et perdent un peu. Tous gardent les paramètres.
settings-codec = Codec vidéo
settings-codec-tip = Comment les nouveaux clips sont compressés.
settings-codec-hint = H.264 se lit partout et garde le son. Les autres demandent le programme ffmpeg et laissent le son de côté.
settings-names = Noms de fichiers
settings-names-example = Par exemple { $name }
settings-folders-models = Dossiers de modèles…
settings-folders-gallery = Dossiers de la galerie…

## À propos de Sluice

settings-licence = Licence : { $licence }. D'autres ordinateurs ne peuvent pas s'y connecter.
settings-licences = Licences de ce qui l’accompagne
settings-licences-tip = Polices, icônes, upscaler et tokenizers fournis avec Sluice.
settings-licences-of = La licence de { $name }.
settings-data = Exécutions passées, étoiles et étiquettes
settings-data-open = Ouvrir le dossier des exécutions passées, étoiles et étiquettes
settings-cache = Miniatures et ce qui peut être recréé
settings-cache-open = Ouvrir le dossier des miniatures et de ce qui peut être recréé
settings-logs = Journaux des derniers jours
settings-logs-open = Ouvrir le dossier des journaux des derniers jours
settings-report = Signaler un problème
settings-report-hint = Copie la machine, le modèle, les paramètres, les derniers messages et la fin du journal.
settings-report-all = Avec les chemins et les prompts
settings-report-all-tip = Sinon, le rapport ne contient ni prompts ni noms de vos fichiers et dossiers.
settings-report-copy = Copier le rapport
settings-engine = Moteur : { $engine }
settings-engine-within = Moteur : ne s'exécute pas dans son propre processus

## Ce que devient un champ d'un modèle de noms

settings-field-name = le nom du fichier
settings-field-number = la place dans l'exportation, à partir de 1
settings-field-date = le jour de création
settings-field-seed = la graine
settings-field-model = le modèle
settings-field-prompt = le début du prompt
settings-field-width = la largeur en pixels
settings-field-height = la hauteur en pixels
settings-field = { $field } est { $meaning }
settings-language-tip = La langue de la fenêtre, qui change aussitôt.
settings-folders-gallery-tip = Ouvre la galerie, où l'on ajoute des dossiers.
settings-folders-models-tip = Ouvre les modèles, où l'on ajoute des dossiers.
settings-format-jpeg-tip = Fait de petits fichiers qui s'ouvrent partout, avec de légères pertes.
settings-format-png-tip = Garde chaque pixel, dans des fichiers plus gros.
settings-format-webp-tip = Fait les plus petits fichiers, avec de légères pertes.
settings-names-tip = Nomme les nouveaux fichiers ; ce qui est entre accolades est remplacé.
settings-open-folder-tip = Affiche le dossier dans le gestionnaire de fichiers.
settings-output-choose-tip = Enregistre les nouvelles images et les nouveaux clips dans un autre dossier.
settings-rendering-dedicated-tip = Dessine la fenêtre plus vite et prend de la mémoire aux modèles.
settings-rendering-integrated-tip = Laisse la mémoire du GPU rapide aux modèles.
settings-report-copy-tip = Copie dans le presse-papiers ce qui aide à trouver une erreur.
settings-search-tip = Trouve des réglages par leurs mots.

settings-words-updates = mise à jour version nouvelle
settings-updates = Chercher une nouvelle version au démarrage
settings-updates-tip = Interroge la page où les versions sont annoncées, et n'envoie que le nom et la version du programme.
settings-updates-now = Chercher maintenant
settings-updates-now-tip = Demande une fois la dernière version.
settings-updates-page = Ouvrir sa page
settings-updates-asking = Recherche…
settings-updates-newest = C'est la dernière version.
settings-updates-newer = Sluice { $version } est disponible.
settings-updates-nowhere = Cette copie du programme ne sait pas où les nouvelles versions sont annoncées.
settings-libraries = Bibliothèques
settings-libraries-tip = Les bibliothèques de ce programme et leurs licences.
settings-tags = Tags
settings-tags-open = Ajouter un fichier de tags…
settings-tags-open-tip = Un fichier CSV de a1111-tagcomplete, qui complète les prompts pendant la saisie.
settings-tags-count = { $count ->
    [one] { $count } tag est proposé pendant la saisie.
   *[other] { $count } tags sont proposés pendant la saisie.
}
settings-file-remove = Retirer { $name }
