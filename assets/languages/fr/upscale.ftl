### La question avant d'agrandir des images et des clips.

upscale-title = Agrandir { $count } fichiers
upscale-title-one = Agrandir { $name }
upscale-model = Upscaler
upscale-model-tip = Le réseau qui agrandit.
upscale-open = Choisir un fichier…
upscale-open-tip = Utiliser votre propre upscaler : un fichier .safetensors d'ESRGAN, de Real-ESRGAN Compact, de SPAN, de DAT, de HAT, de SwinIR ou de RealPLKSR.
upscale-scale = Facteur
upscale-start = Agrandir
upscale-start-tip = Met dans la file d'attente, comme les autres tâches.
upscale-cancel-tip = N'agrandit rien.
upscale-reading = Lecture des fichiers…
upscale-asking = Calcul de ce que cela demande…
upscale-more-refused = { $count } autres fichiers ne peuvent pas être agrandis
upscale-sizes = { $before } devient { $after }
upscale-takes = Prend environ { $time } et jusqu'à { $memory } de mémoire
upscale-takes-there = Prend environ { $time } sur ce GPU, et jusqu'à { $memory } de mémoire
upscale-beside = Les résultats sont placés à côté des originaux, sous de nouveaux noms
upscale-queued =
    { $count ->
        [one] { $count } fichier est agrandi
       *[other] { $count } fichiers sont agrandis
    }
upscale-built-in = Fourni, pour les dessins
upscale-chosen = { $name } est un upscaler : « Agrandir… » l'utilise désormais
upscale-scale-tip = Le résultat est { $scale } aussi large et aussi haut.
upscale-folder = Choisir un dossier…
upscale-folder-tip = Prend les fichiers d'un dossier ; leurs résultats vont dans un dossier du même nom.
upscale-folder-empty = { $name } ne contient ni image ni clip.
upscale-done =
    { $count ->
        [one] { $count } fichier est terminé et omis
       *[other] { $count } fichiers sont terminés et omis
    }
upscale-again =
    { $count ->
        [one] Le refaire
       *[other] Les refaire
    }
upscale-again-tip = Les résultats existants restent tels quels ; les nouveaux reçoivent d'autres noms.
