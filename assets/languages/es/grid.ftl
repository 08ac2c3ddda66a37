### El diálogo de las cuadrículas: qué varía, y cuántas imágenes son.

grid-title = Cuadrícula
grid-hint = Una imagen por cada combinación de valores, y una imagen de todas con rótulos.
grid-columns = Columnas
grid-columns-values = Valores de las columnas
grid-columns-all = Todos los valores para las columnas
grid-rows = Filas
grid-rows-values = Valores de las filas
grid-rows-all = Todos los valores para las filas
grid-tables = Tablas
grid-tables-values = Valores de las tablas
grid-tables-all = Todos los valores para las tablas
grid-nothing = Nada
grid-setting-tip = Lo que cambia a lo largo de este eje.
grid-advice-prompt = Separados por comas. Las primeras palabras se sustituyen por cada una de las otras, en ambos prompts. Ponga entre comillas las palabras con comas.
grid-advice-lora = Separados por comas. Si hay varios LoRA, nombre primero uno: ink: 0.5, 1
grid-advice-added = Nombres separados por comas, uno por imagen. none no añade nada.
grid-advice-names = Separados por comas. Por ejemplo { $example }.
grid-advice-models = Rutas de modelos, separadas por comas. El botón de al lado toma los de su biblioteca que crean imágenes.
grid-advice-one = Valores separados por comas, usados para todos. Para variar uno, escriba primero su nombre o número: 2: 0.5, 1 varía el segundo.
grid-advice-upscalers = Rutas de upscalers, separadas por comas. El botón de al lado toma los de su biblioteca.
grid-example-models = rutas de modelos, separadas por comas
grid-example-images = rutas de imágenes, separadas por comas
grid-example-words = zorro, lobo, oso: el primero se sustituye por los demás
grid-advice-numbers = Separados por comas. 1-5 cuenta de 1 a 5, 1-10 (+2) avanza de 2 en 2, y 1-10 [4] tiene 4 valores.
grid-choose = Elija qué varía.
grid-type-values = Escriba los valores.
grid-generate = Generar cuadrícula
grid-generate-tip = Pone en la cola todas sus imágenes. Tecla: Ctrl+Intro
grid-cancel-tip = Tecla: Esc
grid-summary =
    { $count ->
        [one] { $count } imagen · { $sides }
       *[other] { $count } imágenes · { $sides }
    }
grid-summary-time =
    { $count ->
        [one] { $count } imagen · { $sides } · unos { $time }
       *[other] { $count } imágenes · { $sides } · unos { $time }
    }
grid-lora-weight = Peso del LoRA
grid-lora = LoRA
grid-style = Estilo
grid-words = Palabras del prompt
grid-model = Modelo
grid-frames = Fotogramas
grid-hires-scale = Escala de hires fix
grid-control-weight = Peso de ControlNet
grid-image-prompt-weight = Peso del prompt de imagen
grid-hires-strength = Fuerza de hires fix
grid-hires-steps = Pasos de hires fix
grid-hires-upscaler = Upscaler de hires fix
grid-control-start = Inicio de ControlNet
grid-control-end = Fin de ControlNet
grid-image-prompt-start = Inicio del prompt de imagen
grid-image-prompt-end = Fin del prompt de imagen
grid-reference-strength = Fuerza de las referencias
grid-reference-side = Tamaño de las referencias
grid-detailer-strength = Fuerza de los detailers
grid-detailer-confidence = Confianza de los detailers
grid-detailer-steps = Pasos de los detailers
grid-detailer-padding = Margen de los detailers
grid-region-weight = Peso de las regiones
grid-region-base = Toda la imagen en las regiones
grid-region-fade = Bordes suaves de las regiones
grid-window-frames = Fotogramas por ventana
grid-window-overlap = Solapamiento de las ventanas
