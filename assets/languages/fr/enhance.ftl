### Un meilleur prompt par un modèle de langage.

enhance-open = Enrichir le prompt…
enhance-open-tip = Faire écrire un prompt plus long par un modèle de langage sur cet ordinateur.
enhance-close = Fermer
enhance-model = Modèle de langage
enhance-model-tip = Un fichier Qwen3, en GGUF ou safetensors, qui écrit le prompt.
enhance-no-model = Aucun modèle de langage n’a été trouvé. Choisissez un fichier .gguf ou .safetensors de Qwen3, par exemple Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Écrivez d’abord quelques mots comme prompt
enhance-takes = Demande jusqu’à { $memory } de mémoire et au plus environ { $time }
enhance-writing = Le modèle de langage écrit
enhance-stop = Arrêter
enhance-stop-tip = Ne plus écrire.
enhance-keep = Utiliser
enhance-keep-tip = Mettre ce texte à la place du prompt.
enhance-write = Écrire
enhance-write-tip = Écrire un prompt plus long.
enhance-again = Réessayer
enhance-again-tip = En écrire un autre, avec une autre graine.
enhance-instruction = Consigne
enhance-instruction-tip = Ce qui est dit au modèle de langage.
enhance-instruction-for = Pour { $kind }
enhance-instruction-usual = Consigne habituelle
enhance-instruction-usual-tip = Reprendre la consigne fournie avec Sluice.
enhance-kind-tags = les modèles qui lisent des tags
enhance-kind-sentences = les modèles qui lisent des phrases
enhance-kind-motion = les modèles pour les clips
enhance-kept = Le prompt a été enrichi
enhance-describe-open = Décrire l’image…
enhance-describe-open-all = Décrire les images…
enhance-describe-open-tip = Faire dire par un modèle de langage sur cet ordinateur ce que l’on voit.
enhance-each-open = Décrire chacune…
enhance-each-open-tip = Enregistrer un texte à côté de chaque image, comme les lisent les outils d’entraînement de LoRA.
enhance-each =
    { $count ->
        [one] { $count } image est décrite, et son texte enregistré à côté
       *[other] { $count } images sont décrites une par une, chacune dans un texte à côté
    }
enhance-each-done =
    { $count ->
        [one] { $count } image est laissée de côté car son texte existe déjà
       *[other] { $count } images sont laissées de côté car leurs textes existent déjà
    }
enhance-each-takes = Chacune demande jusqu’à { $memory } de mémoire et au plus environ { $time }
enhance-each-start = Décrire chacune
enhance-each-start-tip = Mettre une tâche en file d’attente pour chaque image, et enregistrer son texte à côté.
enhance-each-queued =
    { $count ->
        [one] { $count } image est en cours de description
       *[other] { $count } images sont en cours de description
    }
enhance-each-described =
    { $count ->
        [one] { $count } image est décrite. Le texte se trouve à côté.
       *[other] { $count } images sont décrites. Les textes se trouvent à côté.
    }
enhance-describer-tip = Qwen2.5-VL ou Qwen3-VL, qui voit l’image et dit ce qu’elle montre.
enhance-no-describer = Aucun modèle de langage qui voit les images n’a été trouvé. Choisissez Qwen2.5-VL Instruct ou Qwen3-VL Instruct en safetensors, ou en GGUF avec son fichier mmproj à côté.
enhance-describes = Description de { $names }
enhance-as = Décrire comme
enhance-as-tip = Le genre de mots qu’écrit le modèle de langage.
enhance-as-prompt = Prompt
enhance-as-tags = Tags
enhance-as-short = Légende courte
enhance-as-motion = Prompt pour un clip
enhance-describe = Décrire
enhance-describe-tip = Écrire ce que l’on voit.
enhance-use = Utiliser comme prompt
enhance-append = Ajouter
enhance-append-tip = Ajouter ce texte à la fin du prompt.
enhance-copy = Copier
enhance-copy-tip = Copier ces mots.
enhance-described = Le prompt décrit ce que l’on voit
