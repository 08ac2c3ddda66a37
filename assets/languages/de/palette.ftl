### Die Befehlspalette, geöffnet mit Strg+K.

palette-hint = Befehle, Modelle, Presets, Stile und Prompts suchen
palette-search = Befehle suchen
palette-nothing-found = Nichts hat einen solchen Namen.
palette-model = Modell
palette-built-in = Eingebaut.
palette-lora = LoRA
palette-preset = Preset
palette-style = Stil
palette-style-in-use = Stil, verwendet
palette-prompt = Prompt
palette-search-tip = Findet Befehle, Modelle, Presets, Stile und Prompts.
