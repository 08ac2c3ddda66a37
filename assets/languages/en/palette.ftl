### The command palette, opened with Ctrl+K.

palette-hint = Search commands, settings, models, presets, styles and prompts
palette-search = Search commands
palette-nothing-found = No results
palette-model = Model
palette-built-in = Built in.
palette-lora = LoRA
palette-preset = Preset
palette-style = Style
palette-style-in-use = Style in use
palette-prompt = Prompt
palette-section = Settings
palette-section-tip = Show { $name } in the settings panel.
palette-clip-inputs = Start image, end image, input clip, control clip and references
palette-refiner = Refiner
palette-search-tip = Finds commands, settings, models, presets, styles and prompts.
