### Mots communs à plusieurs zones de la fenêtre.

common-close = Fermer
common-cancel = Annuler
common-open-folder = Ouvrir le dossier
common-time-left = encore { $time }
common-almost-done = presque terminé
common-part-of-whole = { $part } sur { $whole }
common-aspect = Proportions { $aspect }
common-automatic = automatique
common-in-unit = { $name } en { $unit }
common-close-tip = Ferme ceci, comme Échap.
common-edit-cut = Couper
common-edit-copy = Copier
common-edit-paste = Coller
common-edit-all = Tout sélectionner

## Touches, comme sur les claviers

common-key-ctrl = Ctrl
common-key-shift = Maj
common-key-enter = Entrée
common-key-esc = Échap
common-key-space = Espace
common-key-del = Suppr
common-key-home = Début
common-key-end = Fin
common-key-comma = Virgule
common-key-plus = Plus
common-key-minus = Moins
