### La barre du bas : l'activité en cours et le matériel.

## Ce qui se passe

status-bar-cancelling = Annulation…
status-bar-per-step = { $time } par étape
status-bar-engine-stopped = Le moteur s'est arrêté
status-bar-paused = En pause
status-bar-waiting = En attente du moteur…
status-bar-loading = Chargement du modèle…
status-bar-no-model = Aucun modèle chargé
status-bar-ready = Prêt
status-bar-preparing = Préparation
status-bar-encoding-image = Encodage de l'image
status-bar-encoding-prompt = Encodage du prompt
status-bar-denoising = Débruitage
status-bar-step = Étape { $step } sur { $steps }
status-bar-decoding = Décodage

## Les poids, pendant la génération d'une image

status-bar-link = bus { $speed }
status-bar-stall = attente { $share }
status-bar-peak = pic { $memory }
status-bar-traffic-tip = La vitesse à laquelle les poids arrivent sur l'appareil, la part du temps où il les attend, et le maximum de sa mémoire utilisé par l'exécution.

## Matériel

status-bar-cpu-tip = { $name }, { $threads } threads.
status-bar-ram-tip = Sluice utilise { $memory }
status-bar-ram-tip-limited = Sluice utilise { $memory } ; limité à { $limit } par { $cause }
status-bar-gpu-tip = { $name }, occupé à { $load }
status-bar-gpu-tip-degrees = { $name }, occupé à { $load }, { $degrees } °C
status-bar-no-gpu = Pas de GPU NVIDIA
status-bar-no-gpu-tip = Le CPU calcule les images. Les GPU d'AMD, d'Intel et d'Apple ne peuvent pas encore servir au calcul. Un moteur sur un autre ordinateur avec un GPU NVIDIA peut déjà servir : Paramètres, Moteur.
status-bar-no-gpu-elsewhere-tip = Le CPU de l’autre ordinateur calcule les images.
status-bar-upscaling = Agrandissement
status-bar-interpolating = Interpolation d’images
status-bar-preprocessing = Création des cartes
status-bar-detecting = Recherche des détails
status-bar-writing = Écriture
status-bar-tile = Tuile { $tile } sur { $tiles }
status-bar-frame = Frame { $frame } sur { $frames }
