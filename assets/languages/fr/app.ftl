### Messages sur ce qui a été fait ou a échoué.

app-copied = Copié dans le presse-papiers
app-file-copied = { $name } copié en tant que fichier
app-files-copied = { $count } fichiers copiés
app-dialog-failed-advice = Déposez le fichier sur la fenêtre ou saisissez son chemin.
app-dialog-failed = Impossible d'ouvrir la boîte de dialogue de fichiers
app-settings-of = Paramètres de { $name }
app-settings-wait = Les paramètres de { $name } suivront dès que les modèles seront listés
app-reference = Référence : { $name }
app-input-image = Image d'entrée : { $name }
app-hires-waits = Hires fix attend que l'image d'entrée soit retirée.
app-extending = Prolongement de { $name }
app-input-clip = Clip d'entrée : { $name }
app-try-again = Réessayez dans un instant.
app-too-many-files = Trop de fichiers à la fois
app-files-are-read = D'autres fichiers sont encore en cours de lecture.
app-saved = { $name } enregistré
app-images-not-used =
    { $count ->
        [one] { $count } image non utilisée : déposez-en une à la fois.
       *[other] { $count } images non utilisées : déposez-en une à la fois.
    }
app-first-image-used = Seule la première image est utilisée
app-clip-unusable = Ce clip ne peut pas être utilisé
app-no-settings = { $name } ne contient pas de paramètres
app-clip-unusable-advice = Choisissez un modèle qui modifie ou prolonge des clips pour en faire le clip d'entrée.
app-image-cannot-be-shown = Impossible d'afficher cette image
app-report-copied = Rapport copié dans le presse-papiers
app-already-open = Sluice est déjà ouvert
app-already-open-details = Cette fenêtre n'enregistre ni ses paramètres ni ses images inachevées.
app-gallery-failed = Impossible d'ouvrir la galerie
app-too-much = Trop de choses à la fois
app-gallery-busy = La galerie est encore occupée.
app-prompt-copied = Prompt copié
app-prompt-replaced = Prompt remplacé
app-compare-two = Il est possible de comparer deux images ou deux clips
app-settings-unreadable = { $name } n'a pas de paramètres : { $reason }
app-model-kept = Créé avec { $model }. Le modèle actuel est conservé.
app-named-not-found = « { $name } » n’est pas dans vos dossiers de modèles et est laissé de côté.
app-named-not-for-model = « { $name } » n’est pas pour ce modèle et est laissé de côté.
app-named-upscaler = L’upscaler « { $name } » n’est pas dans vos dossiers de modèles ; celui de Sluice est utilisé à la place.
app-no-token = Ce n'est pas un token.
app-downloaded-details = À ouvrir sous « Obtenir des modèles… » dans le menu en haut à gauche.
app-downloaded = Téléchargé : { $models }
app-no-data-folder = Cet utilisateur n'a pas de dossier de données.
app-presets-not-kept = Impossible de conserver les préréglages
app-preset = Préréglage { $name }
app-model-defaults = Valeurs par défaut du modèle
app-styles-unreadable = Impossible de lire un fichier de styles
app-model-settings = Paramètres propres au modèle
app-grid-failed = Impossible de générer la grille
app-grid-failed-why = Il n'y a pas de dossier où enregistrer ses images, ou les paramètres doivent être modifiés.
app-folder-empty = { $name } ne contient pas d'images.
app-nothing-to-generate = Rien à générer
app-cannot-generate = Rien ne peut être généré pour l'instant
app-check-settings = Vérifiez d'abord les paramètres.
app-folder-results = Les résultats sont enregistrés dans { $folder }.
app-folder-batch = Un résultat par image. La taille du lot n'est pas utilisée.
app-folder-left-out =
    { $count ->
        [one] { $count } image ignorée : déjà terminée.
       *[other] { $count } images ignorées : déjà terminées.
    }
app-folder-unreadable =
    { $count ->
        [one] { $count } image ignorée : illisible.
       *[other] { $count } images ignorées : illisibles.
    }
app-folder-queued =
    { $count ->
        [one] { $count } image de { $name } mise en file d'attente
       *[other] { $count } images de { $name } mises en file d'attente
    }
app-folder-ask = Images de { $name }
app-folder-subfolders =
    { $count ->
        [one] Inclure les sous-dossiers : { $count } image
       *[other] Inclure les sous-dossiers : { $count } images
    }
app-folder-subfolders-tip = Les résultats sont enregistrés dans des sous-dossiers de mêmes noms.
app-folder-count =
    { $count ->
        [one] { $count } image de départ
       *[other] { $count } images de départ
    }
app-folder-rest =
    { $count ->
        [one] Seulement l’image qui n’est pas terminée
       *[other] Seulement les { $count } images qui ne sont pas terminées
    }
app-folder-rest-tip = Omet les images dont les résultats existent.
app-folder-again =
    { $count ->
        [one] { $count } image de nouveau, dans un nouveau dossier
       *[other] Les { $count } images de nouveau, dans un nouveau dossier
    }
app-folder-again-tip = Les résultats existants restent tels quels.
app-folder-more-unreadable =
    { $count ->
        [one] { $count } autre image est illisible
       *[other] { $count } autres images sont illisibles
    }
app-folder-generate = Générer
app-folder-generate-tip = Met une tâche en file pour chaque image.
app-preset-deleted = Préréglage { $name } supprimé
app-queue-done = Toutes les tâches sont terminées.
app-update = Sluice { $version } est disponible
app-update-details = Paramètres, À propos mène à sa page.
app-style-not-saved = Le style n'a pas été enregistré
app-style-taken = Il y a déjà un style nommé { $name }.
app-chips-removed = Tout ce qui était actif a été retiré
