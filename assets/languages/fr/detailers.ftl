### Detailers : ce qui est détecté dans une image et redessiné.

detailers-title = Detailers
detailers-title-tip = Visages, mains ou personnes redessinés un par un, en pleine résolution.
detailers-title-used = Detailers ({ $count })
detailers-add = Ajouter un détecteur…
detailers-add-tip = Un fichier .safetensors de YOLOv8, comme face_yolov8n.
detailers-library = De la bibliothèque
detailers-library-tip = Les détecteurs de vos dossiers.
detailers-library-spoken = Détecteurs de la bibliothèque
detailers-missing = Aucun détecteur n’a été trouvé dans vos dossiers de modèles. Choisissez un fichier .safetensors de YOLOv8, comme face_yolov8n, par exemple sur Hugging Face.
detailers-remove = Retirer le detailer { $name }
detailers-strength = Force
detailers-strength-tip = Dans quelle mesure un cadre change.
detailers-confidence = Confiance
detailers-confidence-tip = À quel point le détecteur doit être sûr : plus bas, il détecte davantage.
detailers-prompt = Prompt des cadres
detailers-prompt-tip = Décrit ce qu’il y a dans les cadres. Vide, c’est le prompt de l’image.
detailers-prompt-hint = Celui de l’image
detailers-negative = Prompt négatif des cadres
detailers-negative-tip = Ce qu’il faut éviter dans les cadres. Vide, c’est ce que l’image évite.
detailers-more = Plus pour { $name }
detailers-without = Ne pas utiliser { $name }
detailers-more-tip = Ordre, masque et étapes.
detailers-most = Cadres au plus
detailers-most-tip = Nombre maximal de cadres redessinés par image.
detailers-order = Ordre
detailers-order-tip = Quels cadres passent en premier, et comptent s’il y en a plus.
detailers-order-largest = Les plus grands d’abord
detailers-order-surest = Les plus sûrs d’abord
detailers-order-left = De gauche à droite
detailers-order-middle = Le centre d’abord
detailers-grow = Agrandir le masque
detailers-grow-tip = Pixels ajoutés de chaque côté à ce qui est détecté.
detailers-blur = Flou du masque
detailers-blur-tip = Pixels sur lesquels un cadre se fond dans le reste.
detailers-padding = Marge
detailers-padding-tip = Pixels autour d’un cadre que le modèle voit.
detailers-steps = Étapes propres
detailers-steps-tip = Étapes par cadre, dont la force en omet certaines. Sinon autant que pour l’image.
detailers-forecast = La prévision compte un cadre par image.
detailers-chosen = { $name } est un détecteur : un detailer l’utilise désormais
detailers-ask-open = Redessiner les détails…
detailers-ask-open-all = Redessiner les détails des images…
detailers-ask-open-tip = Détecter visages, mains ou personnes, et redessiner chacun d’eux.
detailers-ask-title = Redessiner les détails de { $count } images
detailers-ask-title-one = Redessiner les détails de { $name }
detailers-ask-own = Utilise { $names }, comme réglé sous Detailers
detailers-ask-detectors = Détecteurs
detailers-ask-detector-tip = Ce qu’il détecte est redessiné.
detailers-ask-choose = Choisissez d’abord un détecteur
detailers-ask-model = Ouvrez d’abord un modèle pour les images
detailers-ask-prompt-own = Le prompt est celui qui est dans l’image
detailers-ask-prompt-panel = Le prompt est celui des réglages, car l’image n’en a pas
detailers-folder-empty = { $name } ne contient aucune image.
detailers-ask-clip = { $name } est un clip
detailers-ask-start = Redessiner
detailers-ask-cancel-tip = Laisser les images telles quelles.
detailers-queued =
    { $count ->
        [one] Les détails de { $count } image sont redessinés
       *[other] Les détails de { $count } images sont redessinés
    }
detailers-found-nothing = Le détecteur { $name } n’a rien trouvé
detailers-found-nothing-detail = Il n’y a donc rien à redessiner. Avec une confiance plus basse, il détecte davantage.
