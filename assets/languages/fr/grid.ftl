### La boîte de dialogue des grilles : ce qui varie, et combien d'images cela fait.

grid-title = Grille
grid-hint = Une image par combinaison de valeurs, et une image de toutes avec des légendes.
grid-columns = Colonnes
grid-columns-values = Valeurs des colonnes
grid-columns-all = Toutes les valeurs pour les colonnes
grid-rows = Lignes
grid-rows-values = Valeurs des lignes
grid-rows-all = Toutes les valeurs pour les lignes
grid-tables = Tableaux
grid-tables-values = Valeurs des tableaux
grid-tables-all = Toutes les valeurs pour les tableaux
grid-nothing = Rien
grid-setting-tip = Ce qui change le long de cet axe.
grid-advice-prompt = Séparés par des virgules. Les premiers mots sont remplacés par chacun des autres, dans les deux prompts. Mettez les mots avec virgules entre guillemets.
grid-advice-lora = Séparés par des virgules. S'il y a plusieurs LoRA, commencez par en nommer un : ink: 0.5, 1
grid-advice-added = Des noms séparés par des virgules, un par image. none n’ajoute rien.
grid-advice-names = Séparés par des virgules. Par exemple { $example }.
grid-advice-models = Chemins de modèles, séparés par des virgules. Le bouton à côté prend ceux de votre bibliothèque qui créent des images.
grid-advice-one = Valeurs séparées par des virgules, utilisées pour tous. Pour n’en faire varier qu’un, écrivez d’abord son nom ou son numéro : 2: 0.5, 1 fait varier le deuxième.
grid-advice-upscalers = Chemins d’upscalers, séparés par des virgules. Le bouton à côté prend ceux de votre bibliothèque.
grid-example-models = chemins de modèles, séparés par des virgules
grid-example-images = chemins d’images, séparés par des virgules
grid-example-words = renard, loup, ours : le premier est remplacé par les autres
grid-advice-numbers = Séparés par des virgules. 1-5 compte de 1 à 5, 1-10 (+2) avance de 2 en 2, et 1-10 [4] a 4 valeurs.
grid-choose = Choisissez ce qui varie.
grid-type-values = Saisissez les valeurs.
grid-generate = Générer la grille
grid-generate-tip = Met toutes ses images en file d'attente. Touche : Ctrl+Entrée
grid-cancel-tip = Touche : Échap.
grid-summary =
    { $count ->
        [one] { $count } image · { $sides }
       *[other] { $count } images · { $sides }
    }
grid-summary-time =
    { $count ->
        [one] { $count } image · { $sides } · environ { $time }
       *[other] { $count } images · { $sides } · environ { $time }
    }
grid-lora-weight = Poids du LoRA
grid-lora = LoRA
grid-style = Style
grid-words = Mots dans le prompt
grid-model = Modèle
grid-frames = Images du clip
grid-hires-scale = Échelle de hires fix
grid-control-weight = Poids du ControlNet
grid-image-prompt-weight = Poids du prompt par image
grid-hires-strength = Force de hires fix
grid-hires-steps = Étapes de hires fix
grid-hires-upscaler = Upscaler de hires fix
grid-control-start = Début du ControlNet
grid-control-end = Fin du ControlNet
grid-image-prompt-start = Début du prompt par image
grid-image-prompt-end = Fin du prompt par image
grid-reference-strength = Force des références
grid-reference-side = Taille des références
grid-detailer-strength = Force des detailers
grid-detailer-confidence = Confiance des detailers
grid-detailer-steps = Étapes des detailers
grid-detailer-padding = Marge des detailers
grid-region-weight = Poids des régions
grid-region-base = Toute l’image dans les régions
grid-region-fade = Bords doux des régions
grid-window-frames = Images par fenêtre
grid-window-overlap = Chevauchement des fenêtres
