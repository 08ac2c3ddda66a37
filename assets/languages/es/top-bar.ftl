### La barra de arriba: el modelo, los paneles y los ajustes.

## Paneles

top-bar-timeline-tip = Muestra cómo una ejecución usa la memoria a lo largo del tiempo.
top-bar-plan-tip = Muestra cómo cabe el modelo en la memoria, y permite cambiarlo.
top-bar-gallery-tip = Recorre todo lo que se ha generado. Tecla: G.

## Modelos

top-bar-models = Modelos
top-bar-all-models-detail = De este equipo y otros conocidos, con sus previsiones (Ctrl+M)
top-bar-all-models-tip = Abre la vista de todos los modelos y LoRA.
top-bar-downloads =
    { $count ->
        [one] { $count } descarga, { $percent }
       *[other] { $count } descargas, { $percent }
    }
top-bar-get-models-detail = Un catálogo, enlaces y Hugging Face
top-bar-get-models = Obtener modelos…
top-bar-get-models-tip = Descarga modelos.
top-bar-starter-detail = Integrado: imágenes pequeñas, para probar
top-bar-starter-clip-detail = Integrado: clips cortos, para probar
top-bar-forget-model = Quitar { $name } de la lista
top-bar-path = Ruta del modelo
top-bar-path-example = /ruta/del/modelo
top-bar-open = Abrir
top-bar-loading = cargando…
top-bar-failed = no se pudo abrir
top-bar-model = Modelo
top-bar-choose-model = Elegir un modelo
top-bar-component = { $role }: { $architecture }, { $weights } parámetros, { $size }
top-bar-starter = Starter
top-bar-starter-clip = Starter de clips
top-bar-choose-model-tip = Genera con este modelo a partir de ahora.
top-bar-upscaler = Upscaler incluido
top-bar-path-tip = Toma la ruta de un archivo o de una carpeta de modelo.
