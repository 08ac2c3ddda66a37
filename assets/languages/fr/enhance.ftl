### Un meilleur prompt par un modèle de langage.

enhance-open = Enrichir le prompt…
enhance-open-tip = Faire écrire un prompt plus long par un modèle de langage sur cet ordinateur
enhance-close = Fermer
enhance-model = Modèle de langage
enhance-model-tip = Un fichier Qwen3, en GGUF ou safetensors, qui écrit le prompt
enhance-no-model = Aucun modèle de langage n’a été trouvé. Choisissez un fichier .gguf ou .safetensors de Qwen3, par exemple Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Écrivez d’abord quelques mots comme prompt
enhance-takes = Demande jusqu’à { $memory } de mémoire et au plus environ { $time }
enhance-writing = Le modèle de langage écrit
enhance-stop = Arrêter
enhance-stop-tip = Ne plus écrire
enhance-keep = Utiliser
enhance-keep-tip = Mettre ce texte à la place du prompt
enhance-write = Écrire
enhance-write-tip = Écrire un prompt plus long
enhance-again = Réessayer
enhance-again-tip = En écrire un autre, avec une autre graine
enhance-instruction = Consigne
enhance-instruction-tip = Ce qui est dit au modèle de langage
enhance-instruction-for = Pour { $kind }
enhance-instruction-usual = Consigne habituelle
enhance-instruction-usual-tip = Reprendre la consigne fournie avec Sluice
enhance-kind-tags = les modèles qui lisent des tags
enhance-kind-sentences = les modèles qui lisent des phrases
enhance-kind-motion = les modèles pour les clips
enhance-kept = Le prompt a été enrichi
