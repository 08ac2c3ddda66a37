### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = Prompt de imagen
image-prompts-title-used = Prompt de imagen ({ $count })
image-prompts-tip = Haga que el modelo lea imágenes junto al prompt, mediante un IP-Adapter.
image-prompts-add = Añadir IP-Adapter…
image-prompts-add-tip = Elija un IP-Adapter para este modelo.
image-prompts-library = En la biblioteca
image-prompts-library-tip = Los IP-Adapters encontrados en sus carpetas de modelos.
image-prompts-library-spoken = IP-Adapters en la biblioteca
image-prompts-remove = Quitar { $name }
image-prompts-image = Añadir imagen…
image-prompts-image-tip = Elija una imagen para leer. Se lee su centro, en un cuadrado.
image-prompts-image-remove = No leer { $name }
image-prompts-weight = Peso
image-prompts-weight-tip = Cuánto cuentan las imágenes. 1 es como se entrenó; menos deja más al prompt.
image-prompts-start = Inicio
image-prompts-start-tip = La fracción de los pasos antes de la cual no se leen las imágenes.
image-prompts-end = Fin
image-prompts-end-tip = La fracción de los pasos tras la cual no se leen las imágenes.
image-prompts-without = No usar el IP-Adapter { $name }
