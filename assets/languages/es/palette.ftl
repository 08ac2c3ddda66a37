### La paleta de comandos, que se abre con Ctrl+K.

palette-hint = Buscar comandos, ajustes, modelos, preajustes, estilos y prompts
palette-search = Buscar comandos
palette-nothing-found = Nada tiene un nombre parecido.
palette-model = Modelo
palette-built-in = Integrado.
palette-lora = LoRA
palette-preset = Preajuste
palette-style = Estilo
palette-style-in-use = Estilo en uso
palette-prompt = Prompt
palette-section = Ajuste
palette-section-tip = Muestra { $name } en el panel de ajustes.
palette-clip-inputs = Imagen inicial, imagen final, clip de entrada, clip de control y referencias
palette-refiner = Refinador
palette-search-tip = Encuentra comandos, ajustes, modelos, preajustes, estilos y prompts.
