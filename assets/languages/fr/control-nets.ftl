### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet ({ $count })
control-nets-tip = Guider l’image par les contours, la profondeur ou la pose d’une autre.
control-nets-add = Ajouter un ControlNet…
control-nets-add-tip = Choisir un ControlNet pour ce modèle.
control-nets-library = Dans la bibliothèque
control-nets-library-tip = Les ControlNets trouvés dans vos dossiers de modèles.
control-nets-library-spoken = ControlNets dans la bibliothèque
control-nets-remove = Retirer { $name }
control-nets-image = Image…
control-nets-image-tip = Choisir l’image que suit le ControlNet.
control-nets-image-remove = Retirer l’image du ControlNet
control-nets-map = Ce que voit le ControlNet
control-nets-preprocessor = Préprocesseur
control-nets-preprocessor-tip = Ce qui est d’abord tiré de l’image. Aucun si elle est déjà une carte.
control-nets-preprocessor-none = Aucun
control-nets-preprocessor-canny = Contours de Canny
control-nets-preprocessor-invert = Inverser
control-nets-weight = Poids
control-nets-weight-tip = L’importance du ControlNet. 1 correspond à l’entraînement.
control-nets-start = Début
control-nets-start-tip = La fraction des étapes avant laquelle le ControlNet n’agit pas.
control-nets-end = Fin
control-nets-end-tip = La fraction des étapes après laquelle le ControlNet n’agit plus.
control-nets-without = Ne pas utiliser le ControlNet { $name }
