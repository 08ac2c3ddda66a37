### La barre du haut : le modèle, les panneaux et les paramètres.

## Panneaux

top-bar-timeline-tip = Montre comment une exécution utilise la mémoire au fil du temps.
top-bar-plan-tip = Montre comment le modèle tient en mémoire, et permet de le changer.
top-bar-gallery-tip = Parcourt tout ce qui a été généré. Touche : G.

## Modèles

top-bar-models = Modèles
top-bar-all-models-detail = Sur cet ordinateur et des modèles connus, avec leurs prévisions (Ctrl+M)
top-bar-all-models-tip = Ouvre la vue de tous les modèles et LoRA.
top-bar-downloads =
    { $count ->
        [one] { $count } téléchargement, { $percent }
       *[other] { $count } téléchargements, { $percent }
    }
top-bar-get-models-detail = Un catalogue, des liens et Hugging Face
top-bar-get-models = Obtenir des modèles…
top-bar-get-models-tip = Télécharge des modèles.
top-bar-starter-detail = Intégré : de petites images, pour essayer
top-bar-starter-clip-detail = Intégré : de courts clips, pour essayer
top-bar-forget-model = Retirer { $name } de la liste
top-bar-path = Chemin du modèle
top-bar-path-example = /chemin/du/modèle
top-bar-open = Ouvrir
top-bar-loading = chargement…
top-bar-failed = ne s'ouvre pas
top-bar-model = Modèle
top-bar-choose-model = Choisir un modèle
top-bar-component = { $role } : { $architecture }, { $weights } paramètres, { $size }
top-bar-starter = Starter
top-bar-starter-clip = Starter de clips
top-bar-choose-model-tip = Génère désormais avec ce modèle.
top-bar-upscaler = Upscaler fourni
top-bar-path-tip = Prend le chemin d'un fichier ou d'un dossier de modèle.
