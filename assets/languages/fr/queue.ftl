### La file d'attente dans la barre du haut : ce qui s'exécute et ce qui attend.

queue-title = File { $count }
queue-title-empty-paused = File · en pause
queue-title-paused = File { $count } · en pause
queue-nothing = Rien n'est en attente. « Générer » ajoute ici des images et des clips.
queue-tip = Les tâches en cours ou en attente.
queue-name = File d'attente
queue-resume = Reprendre
queue-resume-tip = Continue là où la file d'attente a été mise en pause.
queue-pause = Pause
queue-pause-tip = S'arrête après l'étape en cours et libère la mémoire. Reprendre continue à partir de là.
queue-cancel-all = Tout annuler
queue-cancel-all-tip = Annule ce qui est en cours et ce qui attend.
queue-resume-cancelled = Reprendre l’annulée
queue-resume-cancelled-tip = Reprend « { $name } » là où la tâche a été annulée.
queue-resume-cancelled-and-others-tip =
    { $others ->
        [one] Reprend « { $name } » là où la tâche a été annulée. Ensuite, une autre tâche peut être reprise.
       *[other] Reprend « { $name } » là où la tâche a été annulée. Ensuite, { $others } autres tâches peuvent être reprises.
    }
queue-no-prompt = Pas de prompt
queue-images =
    { $count ->
        [one] { $count } image
       *[other] { $count } images
    }
queue-clips =
    { $count ->
        [one] { $count } clip
       *[other] { $count } clips
    }
queue-size =
    { $count ->
        [one] { $size } · { $count } étape
       *[other] { $size } · { $count } étapes
    }
queue-ended = Terminée
queue-cancelling = Annulation…
queue-waiting = En attente
queue-running = En cours
queue-actions = Actions pour la tâche { $job }
queue-cancel = Annuler la tâche { $job }
queue-grid-ended = Grille · terminée
queue-grid-cancelling = Grille · annulation…
queue-grid-done = Grille · { $done } sur { $all }
queue-grid-tip = Les images d'une grille. Une fois terminées, elles sont assemblées en une seule.
queue-grid-cancel = Annuler la grille
queue-folder-ended = { $name } · terminé
queue-folder-cancelling = { $name } · annulation…
queue-folder-done = { $name } · { $done } sur { $all }
queue-folder-tip = Les images d’un dossier.
queue-folder-cancel = Annuler le dossier
queue-files-done = { $done } sur { $all }
queue-files-tip = Des fichiers mis ensemble en file d’attente.
queue-files-cancel = Annuler tous ces fichiers
queue-run-next = Exécuter ensuite
queue-run-next-tip = L’exécuter après la tâche en cours.
queue-is-next = Elle est déjà la prochaine.
queue-run-last = Exécuter en dernier
queue-run-last-tip = L’exécuter après toutes les autres.
queue-is-last = Elle est déjà la dernière.
queue-duplicate = Dupliquer avec une autre graine
queue-duplicate-tip = Ajouter la même tâche avec une graine aléatoire.
queue-edit = Modifier
queue-edit-tip = Modifier ses réglages dans le panneau ; elle garde sa place dans la file.
queue-upscale = Agrandir { $name }
queue-interpolate = Interpoler { $name }
queue-detail = Redessiner les détails de { $name }
queue-depth = Carte de profondeur de { $name }
queue-pose = Pose de { $name }
queue-segments = Segments de { $name }
queue-soft-edge = Contours doux de { $name }
queue-mask = Masque de { $name }
queue-enhance = Enrichir le prompt
queue-describe = Décrire { $names }
queue-describe-files = Décrire { $count } images
queue-repeat = Répéter
queue-repeat-tip = Quand la file est terminée, regénère sa dernière image ou son dernier clip avec une autre graine, jusqu'à l'annulation ou la désactivation.
queue-time-left = Environ { $time } au total
queue-time-left-tip = Jusqu'à la fin de la file, selon la prévision pour les réglages actuels.
