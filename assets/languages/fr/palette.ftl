### La palette de commandes, ouverte avec Ctrl+K.

palette-hint = Chercher des commandes, réglages, modèles, préréglages, styles et prompts
palette-search = Chercher des commandes
palette-nothing-found = Rien ne porte un nom semblable.
palette-model = Modèle
palette-built-in = Intégré.
palette-lora = LoRA
palette-preset = Préréglage
palette-style = Style
palette-style-in-use = Style utilisé
palette-prompt = Prompt
palette-section = Réglage
palette-section-tip = Montre { $name } dans le panneau des réglages.
palette-clip-inputs = Image de début, image de fin, clip d’entrée, clip de contrôle et références
palette-refiner = Refiner
palette-search-tip = Trouve commandes, réglages, modèles, préréglages, styles et prompts.
