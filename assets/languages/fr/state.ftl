### Avis, échecs et noms de ce qui a été généré.

## Durées et noms

state-still-image = Image fixe
state-clip-length =
    { $duration }, { $count ->
        [one] { $count } frame
       *[other] { $count } frames
    }
state-clip-of-seed = Clip avec la graine { $seed }
state-image-of-seed = Image avec la graine { $seed }
state-clip-of-number = Clip { $number }
state-image-of-number = Image { $number }

## La machine

state-device = { $cpu }, { $ram } de RAM, pas de GPU NVIDIA
state-device-without-name = Cet ordinateur, { $ram } de RAM, pas de GPU NVIDIA

## Comment un modèle tourne

state-fit-well = Tourne bien · { $time }
state-fit-well-about = Tourne bien · environ { $time }
state-fit-streamed = Tourne en streaming · { $time }
state-fit-streamed-about = Tourne en streaming · environ { $time }
state-fit-slowly = Tourne lentement · { $time }
state-fit-slowly-about = Tourne lentement · environ { $time }
state-fit-very-slowly = Tourne très lentement · { $time }
state-fit-very-slowly-about = Tourne très lentement · environ { $time }
state-fit-too-big-ram = Trop gros, demande { $needed } de RAM
state-fit-too-big = Trop gros, demande { $needed }
state-fit-cannot = Ne tourne pas

## Avis

state-lora-added = LoRA { $name } ajouté
state-lora-made-for = { $name } est fait pour ces paramètres.
state-model-own-steps = Étapes et guidage propres au modèle
state-queue-paused = La file d’attente est en pause
state-queue-paused-detail = Ce qui a été repris attend que la file continue.
state-cancelled-at = L'étape { $step } sur { $steps } était terminée.
state-cancelled = Annulé
state-jobs-cancelled =
    { $count ->
        [one] { $count } tâche annulée
       *[other] { $count } tâches annulées
    }

## Échecs

state-engine-stopped-message = Rien ne peut être généré avant le redémarrage de Sluice.
state-engine-stopped-advice = Vos paramètres sont conservés.
state-engine-stopped = Le moteur s'est arrêté
state-not-saved = L'image n'a pas été enregistrée dans le dossier de sortie
state-engine-restarted = Moteur redémarré, reprise en cours
state-image-goes-on = L'image reprend après l'étape { $step }.
state-clip-goes-on = Le clip reprend après l’étape { $step }.
state-generation-failed = La génération a échoué
state-upscale-failed = L’agrandissement de { $name } a échoué
state-interpolation-failed = L’interpolation de { $name } a échoué
state-detail-failed = Les détails de { $name } n’ont pas pu être redessinés
state-description-failed = La description de { $names } a échoué
state-map-failed = La carte de { $name } a échoué
state-mask-failed = Le masque de { $name } a échoué
state-enhance-failed = L’enrichissement du prompt a échoué
state-model-not-opened = Impossible d'ouvrir ce modèle
state-other-model-not-opened = Impossible d'ouvrir { $name }
state-went-wrong = Une erreur s'est produite
state-snippet-deleted = Extrait supprimé : { $words }
state-negative-snippet-deleted = Préréglage négatif supprimé : { $words }
state-job-edited = Édition d’une tâche
state-job-goes-back = Générer la remet à sa place, avec ces paramètres.
state-style-deleted = Style { $name } supprimé
