### La liste des raccourcis, ouverte avec F1.

## Les touches, et ce qu'elles font

help-escape = Quitter un champ, fermer ce qui est ouvert ou annuler l'image en cours
help-left-right = Image précédente ou suivante ; dans un clip, frame
help-up-down = Image ou clip précédent ou suivant de la liste
help-space = Lire le clip ou le mettre en pause
help-home-end = Première ou dernière frame lue
help-range = Lire à partir de cette frame, ou jusqu'à elle
help-gallery = Dans la galerie : étoile, corbeille, exportation
help-delete = Mettre l'image ou le clip à la corbeille, avec retour possible
help-weights = Dans le prompt : plus ou moins de poids pour les mots au curseur
help-undo = Défaire une modification de texte ou un trait du masque
help-paste = Utiliser l'image du presse-papiers
help-brush = Pinceau plus petit ou plus grand
help-zoom = Contenu de la fenêtre plus grand ou plus petit
help-tab = Élément suivant ou précédent
help-canvas = Sur l'image : zoomer, déplacer, passer d'ajusté à 100%
help-canvas-keys = Molette, glisser, double-clic
help-menu = Sur une image ou une tâche en attente : ce qu'on peut en faire
help-menu-keys = Clic droit
