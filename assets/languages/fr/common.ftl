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
