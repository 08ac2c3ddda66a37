### La galería.

## Búsqueda y filtros

gallery-title = Galería
gallery-close = Cerrar la galería
gallery-close-tip = Vuelve a la imagen. Tecla: Esc
gallery-thumbnail-size = Tamaño de las miniaturas
gallery-thumbnail-size-tip = El tamaño de las miniaturas.
gallery-search-hint = Buscar prompts, modelos, LoRA, semillas, etiquetas, colecciones
gallery-search = Búsqueda
gallery-search-tip = Deben estar todas las palabras. -palabra excluye, "dos palabras" van juntas, y model: prompt: negative: lora: seed: tag: collection: name: date: from: to: dicen dónde buscar. Tecla: Ctrl+F
gallery-files =
    { $count ->
        [one] { $count } archivo
       *[other] { $count } archivos
    }
gallery-files-shown =
    { $count ->
        [one] { $shown } de { $count } archivo
       *[other] { $shown } de { $count } archivos
    }
gallery-files-reading =
    { $count ->
        [one] { $count } archivo, leyendo { $unread } más…
       *[other] { $count } archivos, leyendo { $unread } más…
    }
gallery-files-shown-reading =
    { $count ->
        [one] { $shown } de { $count } archivo, leyendo { $unread } más…
       *[other] { $shown } de { $count } archivos, leyendo { $unread } más…
    }
gallery-kind-all = Todo
gallery-kind-all-tip = Muestra imágenes y clips.
gallery-kind-images = Imágenes
gallery-kind-images-tip = Muestra solo imágenes.
gallery-kind-clips = Clips
gallery-kind-clips-tip = Muestra solo clips.
gallery-starred-only = Solo con estrella
gallery-starred-only-tip = Muestra solo lo que tiene estrella.
gallery-model = Modelo
gallery-model-all = Todos los modelos
gallery-model-tip = Muestra solo lo que creó este modelo.
gallery-tag = Etiqueta
gallery-tag-all = Todas las etiquetas
gallery-tag-tip = Muestra solo lo que tiene esta etiqueta.
gallery-date = Fecha
gallery-date-tip = Muestra solo lo que se creó en este periodo.
gallery-order = Orden
gallery-order-tip = El orden en que se muestran las imágenes.
gallery-folders = Carpetas
gallery-folders-spoken = Carpetas de la galería
gallery-output-folder = Carpeta de salida
gallery-output-folder-tip = Abre esta carpeta.
gallery-folder-remove = Quitar { $path } de la galería
gallery-folder-open = Abrir { $path }
gallery-folder-add = Añadir una carpeta…
gallery-folder-add-tip = Muestra también las imágenes de otra carpeta, como la de otro programa.
gallery-folders-read = Releer las carpetas
gallery-folders-read-tip = Encuentra lo que otros programas han cambiado. Tecla: F5.
gallery-when-always = Cualquier fecha
gallery-when-today = Hoy
gallery-when-week = Últimos 7 días
gallery-when-month = Últimos 30 días
gallery-when-year = Últimos 12 meses
gallery-sort-newest = Más recientes primero
gallery-sort-oldest = Más antiguas primero
gallery-sort-name = Por nombre
gallery-sort-model = Por modelo
gallery-sort-size = Archivos mayores primero

## Las miniaturas

gallery-thumbnails = Miniaturas
gallery-broken = No se puede mostrar este archivo: { $reason }
gallery-unstar-spoken = Quitar la estrella de { $name }
gallery-star-spoken = Poner una estrella a { $name }
gallery-unstar-tip = Quita la estrella.
gallery-star-here-tip = Marca con una estrella. Tecla: S.
gallery-reading = Leyendo sus imágenes…
gallery-reading-tip = Aparecen en cuanto se leen.
gallery-nothing-found = Sin resultados
gallery-nothing-found-tip =
    { $count ->
        [one] La búsqueda y los filtros excluyen { $count } archivo.
       *[other] La búsqueda y los filtros excluyen { $count } archivos.
    }
gallery-empty-tip = Lo que genere se guarda en { $folder } y aparece aquí.
gallery-empty-without-folder = Las imágenes no se guardan porque no hay carpeta de salida. Elija una en los ajustes.
gallery-empty = Aún no hay imágenes
gallery-clear-search = Borrar la búsqueda y los filtros
gallery-clear-search-tip = Vuelve a mostrar todo.
gallery-search-clear = Borrar la búsqueda
gallery-search-clear-tip = Vacía el campo de búsqueda; los filtros se quedan.

## Qué se puede hacer con las imágenes

gallery-open = Abrir
gallery-open-tip = Muestra en el visor. Tecla: Intro.
gallery-copy-prompt-tip = Copia el prompt al portapapeles.
gallery-copy-files = Copiar archivos
gallery-copy-files-tip = Copia los archivos en sí, para pegarlos en una carpeta, un chat o un navegador. Tecla: Ctrl+Mayús+C
gallery-show-in-folder = Mostrar en la carpeta
gallery-show-in-folder-tip = Abre la carpeta de este archivo.
gallery-use-as-image-tip = Parte de esta imagen para la siguiente.
gallery-use-as-clip = Usar como clip de entrada
gallery-use-as-clip-tip = Parte de este clip para el siguiente.
gallery-export-ask-tip = Escribe copias en PNG, JPEG o WebP, con o sin ajustes. Tecla: Ctrl+E
gallery-export-ask = Exportar…
gallery-trash-tip = Elimina, con vuelta atrás. Tecla: Supr.
gallery-trash = Mover a la papelera
gallery-star = Estrella
gallery-star-tip = Marca para encontrar más tarde.

## Lo que está seleccionado

gallery-nothing-selected = Nada seleccionado
gallery-nothing-selected-click = Un clic en una imagen muestra sus ajustes; un doble clic la abre.
gallery-nothing-selected-several = Ctrl o Mayús con un clic selecciona varias. Un clic derecho muestra lo que se puede hacer.
gallery-prompt = Prompt
gallery-starred = Con estrella
gallery-starred-key-tip = Quita la estrella. Tecla: S.
gallery-star-key-tip = Marca para encontrar más tarde. Tecla: S.
gallery-selected = Selección: { $count }
gallery-compare-tip = Compara ambas en el visor, con un separador o lado a lado. Tecla: C.
gallery-compare = Comparar
gallery-deselect-tip = Las conserva todas y no selecciona ninguna.
gallery-deselect = Deseleccionar
gallery-tags = Etiquetas
gallery-tag-remove = Quitar la etiqueta { $tag }
gallery-tag-add = Añadir una etiqueta
gallery-tag-add-tip = Una palabra para encontrar estas imágenes. Intro la añade.
gallery-collections = Colecciones
gallery-collections-tip = Muestra u oculta la lista de colecciones.
gallery-within-all = Todos los archivos
gallery-within-all-tip = Muestra todo, esté o no en una colección.
gallery-within-none = En ninguna colección
gallery-within-none-tip = Muestra solo lo que no está en ninguna colección.
gallery-collections-none = Todavía ninguna. Una imagen puede estar en varias. Su archivo se queda donde está.
gallery-collection-tip = Muestra { $name } o, de nuevo, todo. Arrastre imágenes hasta aquí para añadirlas.
gallery-collection-new = Nueva colección…
gallery-collection-new-tip = Da nombre a una nueva colección. Empieza con las imágenes que se arrastran hasta aquí.
gallery-collection-new-selected-tip = Da nombre a una nueva colección para ellas.
gallery-collection-name = Nombre de la colección
gallery-collection-name-tip = Intro acepta el nombre, Esc lo descarta.
gallery-collection-taken = Ya hay una colección con este nombre.
gallery-collection-rename = Cambiar nombre…
gallery-collection-rename-tip = Da otro nombre a la colección.
gallery-collection-delete = Eliminar la colección
gallery-collection-delete-tip = Elimina la colección. Sus imágenes se quedan.
gallery-collection-deleted = Colección { $name } eliminada
gallery-collection-deleted-detail =
    { $count ->
        [one] { $count } archivo sigue en su sitio.
       *[other] { $count } archivos siguen en su sitio.
    }
gallery-collection-empty = { $name } está vacía
gallery-collection-empty-tip = Muestre todos los archivos y arrastre imágenes hasta el nombre de la colección.
gallery-collect = Añadir a una colección
gallery-collect-tip = Añade la selección a una colección. Puede estar en varias.
gallery-collect-in = Añade a { $name }.
gallery-collected =
    { $count ->
        [one] { $count } archivo añadido a { $name }
       *[other] { $count } archivos añadidos a { $name }
    }
gallery-collection-made = Colección { $name } creada
gallery-collection-leave = Quitar de esta colección
gallery-collection-leave-named = Quitar de la colección { $name }
gallery-negative-prompt = Prompt negativo
gallery-made-with = Creado con
gallery-not-taken-over = No se puede adoptar con exactitud
gallery-none = Ninguno

## Lo que se acaba de hacer

gallery-dismiss = Cerrar el mensaje
gallery-undo = Deshacer
gallery-undo-tip = Deshace lo que se acaba de hacer. Tecla: Ctrl+Z
gallery-exported-folder-tip = Muestra los archivos exportados.
gallery-not-restored = No se pudo restaurar todo
gallery-restored-one = { $name } restaurado
gallery-restored =
    { $count ->
        [one] { $count } archivo restaurado
       *[other] { $count } archivos restaurados
    }
gallery-not-trashed = No se pudo mover todo a la papelera
gallery-trashed-one = { $name } movido a la papelera
gallery-trashed =
    { $count ->
        [one] { $count } archivo movido a la papelera
       *[other] { $count } archivos movidos a la papelera
    }
gallery-trashed-tip = Se puede devolver a su sitio desde la Papelera.
gallery-exporting = Exportando { $number } de { $count }…
gallery-not-exported =
    { $count ->
        [one] No se pudo exportar { $count } archivo
       *[other] No se pudieron exportar { $count } archivos
    }
gallery-exported =
    { $count ->
        [one] { $count } archivo exportado
       *[other] { $count } archivos exportados
    }
gallery-export-clips =
    { $count ->
        [one] { $count } clip se copia tal cual, con los ajustes que contiene.
       *[other] { $count } clips se copian tal cual, con los ajustes que contienen.
    }
gallery-trash-gone = ya no está en la papelera
gallery-trash-put-back = devuélvalo a su sitio desde la Papelera
gallery-trash-advice = Use su gestor de archivos para este archivo.
gallery-marks-unreadable-advice = Repare o elimine este archivo. Hasta entonces no se pueden cambiar las estrellas, las etiquetas ni las colecciones.
gallery-marks-unreadable = No se pueden leer las estrellas, las etiquetas y las colecciones
gallery-marks-unsaved = No se pudieron guardar las estrellas, las etiquetas y las colecciones
gallery-marks-unsaved-advice = Libere espacio en el disco y vuelva a intentarlo.
gallery-marks-newer = lo escribió una versión más reciente de Sluice

## Exportación

gallery-export-files =
    { $count ->
        [one] Exportar { $count } archivo
       *[other] Exportar { $count } archivos
    }
gallery-export-format = Formato
gallery-export-quality = Calidad
gallery-export-quality-tip = Más alta: más cerca de la imagen, y más grande.
gallery-export-settings = Incluir los ajustes
gallery-export-settings-tip = Si los archivos dicen cómo se crearon. Sin los ajustes, nadie puede leer en ellos el prompt.
gallery-export-name = Nombre de archivo
gallery-export-field = { $field } es { $meaning }.
gallery-export-example = Por ejemplo { $path }
gallery-export = Exportar
gallery-export-tip = Escribe los archivos; los que ya existen se conservan.
gallery-export-folder = Elegir una carpeta…
gallery-export-folder-tip = Dónde se escriben los archivos.
gallery-export-cancel-tip = Tecla: Esc
gallery-export-advice = Elija otra carpeta o libere espacio en el disco.
gallery-export-name-advice = Cambie el nombre de archivo.
gallery-upscale-tip = Amplía todo lo seleccionado.
gallery-interpolate-tip = Hace más fluido el movimiento de los clips seleccionados.

## Nombres de los ajustes, leídos de las imágenes

gallery-setting-keyframe = Fotograma clave
gallery-setting-extended-clip = Clip prolongado
gallery-setting-clip-frames = Fotogramas del clip
gallery-setting-reference-image = Imagen de referencia
gallery-setting-reference-strengths = Fuerza de las referencias
gallery-setting-input-image = Imagen de entrada
gallery-setting-inpaint-area = Zona de inpainting
gallery-setting-refiner = Refiner
gallery-setting-template = Plantilla
gallery-setting-negative-template = Plantilla negativa
gallery-setting-upscaled-by = Ampliado por
gallery-setting-interpolated-by = Interpolado por
gallery-setting-version = Versión
gallery-setting-guidance-interval = Intervalo de la guía
gallery-setting-frames = Fotogramas
gallery-setting-axis-x = Eje X
gallery-setting-axis-y = Eje Y
gallery-setting-axis-z = Eje Z
