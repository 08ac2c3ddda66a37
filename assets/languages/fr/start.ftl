### Ce que montre une fenêtre sans modèle.

start-looking = Examen de cet ordinateur…
start-finding = Recherche de modèles adaptés…
start-quickest = Sans GPU, ceux-ci sont les plus rapides. Ils dessinent presque tout et se téléchargent une seule fois :
start-suited = Ces modèles conviennent. Ils dessinent presque tout et se téléchargent une seule fois :
start-get-others = Obtenir d'autres modèles…
start-get-others-tip = Tout le catalogue, des liens et Hugging Face.
start-have-models = J'ai déjà des modèles
start-have-models-tip = Trouve ceux de ComfyUI, d'A1111 et d'autres programmes, et ceux de vos dossiers.
start-models-found =
    { $count ->
        [one] { $count } modèle trouvé
       *[other] { $count } modèles trouvés
    }
start-models-found-tip = Ouvre la liste des modèles trouvés.
start-licence = voir sa page pour la licence
