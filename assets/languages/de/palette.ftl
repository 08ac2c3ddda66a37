### Die Befehlspalette, geöffnet mit Strg+K.

palette-hint = Befehle, Einstellungen, Modelle, Presets, Stile und Prompts suchen
palette-search = Befehle suchen
palette-nothing-found = Nichts hat einen solchen Namen.
palette-model = Modell
palette-built-in = Eingebaut.
palette-lora = LoRA
palette-preset = Preset
palette-style = Stil
palette-style-in-use = Stil, verwendet
palette-prompt = Prompt
palette-section = Einstellung
palette-section-tip = Zeigt { $name } im Einstellungsbereich.
palette-clip-inputs = Startbild, Endbild, Eingabeclip, Steuerclip und Referenzbilder
palette-refiner = Refiner
palette-search-tip = Findet Befehle, Einstellungen, Modelle, Presets, Stile und Prompts.
