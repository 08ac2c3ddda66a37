### La palette de commandes, ouverte avec Ctrl+K.

palette-hint = Chercher des commandes, modèles, préréglages, styles et prompts
palette-search = Chercher des commandes
palette-nothing-found = Rien ne porte un nom semblable.
palette-model = Modèle
palette-built-in = Intégré.
palette-lora = LoRA
palette-preset = Préréglage
palette-style = Style
palette-style-in-use = Style utilisé
palette-prompt = Prompt
palette-search-tip = Trouve commandes, modèles, préréglages, styles et prompts.
