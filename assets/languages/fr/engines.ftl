### Les moteurs : la liste des réglages, et ce que font plusieurs d’entre eux.

## La liste

engines-here = Cet ordinateur
engines-here-tip = Génère sur cet ordinateur, sur sa carte NVIDIA s’il en a une.
engines-here-alone-tip = Aucun autre moteur n’est activé.
engines-card = { $name } (GPU { $number })
engines-card-tip = Cette carte de cet ordinateur reçoit ses propres tâches.
engines-use = Utiliser le moteur { $number }
engines-use-tip = Lui donne des tâches.
engines-name = Nom du moteur { $number }
engines-name-tip = Le nom de ce moteur dans la fenêtre.
engines-name-hint = Nom
engines-command = Commande du moteur { $number }
engines-command-tip = Mène à l’ordinateur qui calcule. Aucun shell ne l’exécute. Les mots de passe et les clés n’ont pas leur place ici.
engines-empty = Écrivez la commande qui mène au moteur.
engines-quotes = Il manque un guillemet.
engines-remove = Retirer le moteur { $number }
engines-add = Ajouter un moteur…
engines-add-tip = Ajoute une commande pour commencer, où les majuscules tiennent lieu de vos noms.
engines-container = Conteneur
engines-other-command = Une autre commande
engines-hint = Chaque tâche va à un moteur qui est libre et qui a son modèle. Les images sont enregistrées sur cet ordinateur. Ni mots de passe ni clés ne sont conservés ici.
engines-change-waits = Prend effet quand la file d’attente est terminée.

## En essayer un

engines-try = Essayer
engines-try-tip = Démarre { $name } et demande sa version, son périphérique et sa mémoire.
engines-stop-trying = Arrêter
engines-stop-trying-tip = N’attend plus { $name }.
engines-trying = En attente d’une réponse depuis { $seconds } s…
engines-answers = Répond : { $words }
engines-there = Sur l'ordinateur du moteur : { $words }

## Ce qu’ils font

engines-title = Moteurs
engines-shown = Moteur
engines-shown-tip = Le moteur dont la prévision, le matériel et la chronologie sont affichés.
engines-show-tip = Affiche la prévision, le matériel et la chronologie de ce moteur.
engines-begins = Commence
engines-starts = Démarrage…
engines-restarts = Redémarrage…
engines-gone = Ne répond pas
engines-lacks-model = N’a pas ce modèle
engines-idle = Libre · { $engine }
engines-given-up = Moteur désormais inutilisé : { $name }
engines-restarted = Moteur redémarré, reprise : { $name }
engines-not-started = Les moteurs n’ont pas pu être démarrés

## Installer celui des GPU NVIDIA

engines-cuda = Moteur pour les GPU NVIDIA
engines-cuda-install = Installer le moteur pour les GPU NVIDIA…
engines-cuda-install-tip = Demande sa taille à la page des versions. Ce qui est téléchargé, et d’où, est affiché avant.
engines-cuda-file = Choisir un fichier…
engines-cuda-install-file = Installer le moteur pour les GPU NVIDIA depuis un fichier…
engines-cuda-file-tip = L’installe depuis une archive de cet ordinateur. Sa liste doit se trouver à côté.
engines-cuda-asking = Demande de sa taille…
engines-cuda-program = Le programme, { $size }, de { $host }
engines-cuda-offer = { $program }. Les bibliothèques de NVIDIA, { $libraries }, de { $host }. Sur le disque, le tout prend { $disk }.
engines-cuda-offer-alone = { $program }. Sur le disque, il prend { $disk }.
engines-cuda-begin = Installer
engines-cuda-begin-tip = Le télécharge, compare son SHA-256 et le démarre une fois. Il n’est utilisé qu’ensuite.
engines-cuda-cancel-tip = Met fin à l’installation et supprime ce qui est arrivé.
engines-cuda-fetching = Téléchargement, { $amount }
engines-cuda-retrying = Nouvel essai : { $why }
engines-cuda-unpacking = Vérification et extraction…
engines-cuda-starting = Démarrage d’essai…
engines-cuda-installed = Le moteur pour les GPU NVIDIA est installé
engines-cuda-remove = Retirer le moteur pour les GPU NVIDIA
engines-cuda-remove-tip = Supprime son programme et les bibliothèques de NVIDIA de votre dossier de données. Sluice calcule alors sur le CPU.
engines-cuda-remove-later = Possible quand plus rien n’est généré.
engines-cuda-removing = Suppression…
