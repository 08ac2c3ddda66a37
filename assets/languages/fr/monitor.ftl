### La mémoire utilisée par une exécution : chronologie, couches, étapes.

monitor-empty = La chronologie montre la mémoire utilisée pendant la génération d'une image.
monitor-title = Mémoire
monitor-title-unit = Mémoire ({ $unit })
monitor-last-run = dernière exécution
monitor-this-run = cette exécution
monitor-close = Fermer la chronologie
monitor-resume = Reprendre
monitor-pause = Pause
monitor-pause-tip = Fige la chronologie ; l'exécution continue.
monitor-whole = Toute l'exécution
monitor-whole-tip = Affiche de nouveau toute l'exécution. Ou double-cliquez sur la chronologie.
monitor-weights = poids
monitor-activations = activations
monitor-others = autres
monitor-free = libre
monitor-predicted = prévu
monitor-allowed = autorisé

## Étapes

monitor-steps = Étapes
monitor-step-took = { $time } au total
monitor-step-computing = { $time } de calcul
monitor-step-waiting = { $time } d'attente des poids
monitor-step-copied = { $memory } copiés
monitor-step-skipped = Sautée par le cache d'étapes
monitor-steps-none = Étapes, aucune terminée
monitor-steps-summary = Étapes, { $count } terminées, { $time } en moyenne, { $share } d'attente

## La chronologie

monitor-vram = VRAM au fil du temps, pic mesuré de { $memory }
monitor-ram = RAM au fil du temps, pic de { $memory }
monitor-run-ram = RAM de l'exécution au fil du temps, pic mesuré de { $memory }
monitor-process-ram = RAM de Sluice au fil du temps, pic de { $memory }
monitor-sample-host = Poids en RAM { $memory }
monitor-sample-host-pinned = Poids en RAM { $memory } (dont { $pinned } épinglés)
monitor-sample-weights = Poids { $memory }
monitor-sample-activations = Activations { $memory }
monitor-sample-others = Autres programmes { $memory }
monitor-sample-free = Libre { $memory }
monitor-sample-process = Sluice en RAM { $memory }

## Couches

monitor-layers = Couches
monitor-layers-none = Couches, aucune connue
monitor-layers-summary =
    { $part ->
        [text-encoder] Couches de l'encodeur de texte, { $resident } résidentes, { $streamed } en streaming
        [denoiser] Couches du débruiteur, { $resident } résidentes, { $streamed } en streaming
        [upscaler] Couches de l'upscaler, { $resident } résidentes, { $streamed } en streaming
        [interpolator] Couches de l'interpolateur, { $resident } résidentes, { $streamed } en streaming
        [preprocessor] Couches du préprocesseur, { $resident } résidentes, { $streamed } en streaming
        [segmenter] Couches du modèle de segmentation, { $resident } résidentes, { $streamed } en streaming
        [detector] Couches du détecteur, { $resident } résidentes, { $streamed } en streaming
        [language-model] Couches du modèle de langage, { $resident } résidentes, { $streamed } en streaming
       *[autoencoder] Couches de l'auto-encodeur, { $resident } résidentes, { $streamed } en streaming
    }
monitor-layers-now =
    { $part ->
        [text-encoder] Couches de l'encodeur de texte, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [denoiser] Couches du débruiteur, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [upscaler] Couches de l'upscaler, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [interpolator] Couches de l'interpolateur, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [preprocessor] Couches du préprocesseur, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [segmenter] Couches du modèle de segmentation, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [detector] Couches du détecteur, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
        [language-model] Couches du modèle de langage, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
       *[autoencoder] Couches de l'auto-encodeur, { $resident } résidentes, { $streamed } en streaming, en ce moment { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] Bloc { $number } de l'encodeur de texte
        [denoiser] Bloc { $number } du débruiteur
        [upscaler] Bloc { $number } de l'upscaler
        [interpolator] Bloc { $number } de l'interpolateur
        [preprocessor] Bloc { $number } du préprocesseur
        [segmenter] Bloc { $number } du modèle de segmentation
        [detector] Bloc { $number } du détecteur
        [language-model] Bloc { $number } du modèle de langage
       *[autoencoder] Bloc { $number } de l'auto-encodeur
    }
monitor-block-resident = { $memory }, résident pendant sa phase
monitor-block-streamed = { $memory }, en streaming
monitor-block-leaves = { $memory }, en streaming tenseur par tenseur
monitor-now-resident = Actuellement sur l'appareil
monitor-now-in-flight = Actuellement en chargement ou dans un emplacement
monitor-now-waiting = Attend actuellement des poids
monitor-now-computing = Calcule actuellement
monitor-now-idle = Actuellement pas sur l'appareil
monitor-not-used = Pas encore utilisé
monitor-from-disk = depuis le disque
monitor-from-ram = depuis la RAM
monitor-from-device = déjà là
monitor-last-use = Dernier usage : { $from }
monitor-last-use-slot = Dernier usage : { $from }, emplacement { $slot }
monitor-time-waiting = attente { $time }, en moyenne { $mean }
monitor-time-loading = chargement { $time }, en moyenne { $mean }
monitor-time-computing = calcul { $time }, en moyenne { $mean }
monitor-time-evict = éviction { $time }, en moyenne { $mean }
