### Los modelos de este equipo, y otros conocidos.

## La barra

library-models = Modelos
library-models-tip = Modelos de este equipo, y otros conocidos.
library-loras = LoRA
library-loras-tip = Los LoRA, primero los del modelo abierto.
library-others = Otros archivos
library-others-tip = Codificadores de texto, autocodificadores y archivos que Sluice no usa.
library-favourites = Favoritos
library-favourites-tip = Muestra solo lo que tiene estrella.
library-close = Cerrar los modelos
library-get-models-share = Obtener modelos… { $percent } %
library-get-models-ask = Obtener modelos…
library-get-models-tip = Descarga modelos: un catálogo, enlaces y Hugging Face.
library-reading = Leídos { $read } de { $count } archivos…
library-looking = Buscando modelos…
library-files =
    { $count ->
        [one] { $count } archivo
       *[other] { $count } archivos
    }
library-all-models = Todos los modelos
library-all-models-tip = Vuelve a los modelos de este equipo.
library-get-models = Obtener modelos
library-search = Buscar modelos
library-search-tip = Encuentra palabras en nombres, descripciones, palabras de activación, etiquetas y notas, y en cómo funciona un modelo.
library-nothing-starred = Nada tiene estrella todavía. La estrella de un modelo lo guarda aquí.
library-nothing-loras = Aquí no hay LoRA. Añada la carpeta donde están.
library-nothing-others = No hay otros archivos.
library-nothing-found = Nada coincide con «{ $words }». Con menos palabras se encuentra más.
library-found-in = En { $name }, { $count }
library-show-everything = Mostrar todo
library-heading-spoken =
    { $count ->
        [one] { $title }, { $count } fila
       *[other] { $title }, { $count } filas
    }

## La lista

library-built-in = Integrados
library-suited = Aptos para { $device }, para descargar
library-suited-here = Aptos para este equipo, para descargar
library-cannot-be-opened = No se pueden abrir
library-not-here = No están aquí
library-loras-fitting = Compatibles con { $family }
library-loras-perhaps-fitting = Quizá compatibles: para un modelo desconocido
library-loras-for = Para { $family }
library-loras-for-unknown = Para un modelo desconocido
library-parts-of-models = Codificadores de texto y autocodificadores
library-not-used = No usados por Sluice
library-starter = Starter
library-clip-starter = Starter de clips
library-clip-starter-detail = Clips cortos, para probar
library-starter-detail = Imágenes pequeñas, para probar
library-role-upscaler = Escalador
library-role-interpolator = Interpolador de fotogramas
library-role-preprocessor = Preprocesador
library-role-segmenter = Segmentador
library-role-detector = Detector
library-role-language-model = Modelo de lenguaje
library-row-duplicate = duplicado
library-row-checking-spoken = Comprobando
library-row-opened-spoken = abierto
library-row-added = Añadido
library-row-add = Añadir
library-row-remove-spoken = Quitar { $name }
library-row-remove-tip = Quita el LoRA de la próxima imagen.
library-row-add-spoken = Añadir { $name }
library-row-add-tip = Usa el LoRA para la próxima imagen.
library-row-opened = Abierto
library-checking = Comprobando…
library-favourite-spoken = Favorito { $name }
library-unstar-tip = Quita la estrella.
library-star-tip = Pone una estrella, para mostrarlo primero.

## Las carpetas en que se busca

library-folders = Carpetas
library-folders-tip = Muestra dónde se buscan modelos.
library-folders-nothing = No se encontró en este equipo ninguna carpeta de otro programa.
library-search-folders = Buscar de nuevo
library-search-folders-tip = Busca en las carpetas ahora. También se hace cada vez que se abre esta vista.
library-folder-add = Añadir una carpeta…
library-folder-add-tip = Busca en otra carpeta y sus subcarpetas. No se mueve ni cambia nada en ella.
library-folder-named = Indicada al iniciar
library-folder-own = Carpeta propia de Sluice
library-folder-added = Añadida
library-folder-remove = Quitar { $path }
library-folder-open = Abrir { $path }
library-model-files =
    { $count ->
        [one] { $count } archivo de modelo
       *[other] { $count } archivos de modelo
    }

## Lo que está seleccionado

library-nothing-selected = Seleccione un modelo para ver lo que se sabe de él.
library-file-gone = Este archivo ya no está.
library-control-net-tip = Elígelo en ControlNet, en el panel lateral, con un modelo para el que esté hecho.
library-ip-adapter-tip = Elíjalo en Prompt de imagen, en el panel lateral, con un modelo para el que esté hecho.
library-part-tip = Los modelos que necesitan esta parte la encuentran aquí por sí mismos.
library-not-used-tip = Sluice no genera con este archivo.
library-preview = Vista previa de { $name }
library-preview-ask = Usar como vista previa…
library-preview-ask-tip = La convierte en la miniatura de un modelo o de un LoRA.
library-preview-title = Usar como vista previa
library-preview-hint = La imagen se guarda junto al modelo, donde también la encuentran otros programas.
library-preview-replaces = { $name } ya tiene una vista previa. Se sustituye.
library-preview-use = Guardar la vista previa
library-preview-replace = Sustituir la vista previa
library-preview-use-tip = Guarda una copia pequeña de la imagen junto al modelo.
library-preview-cancel-tip = Tecla: Esc
library-preview-saved = { $name } tiene una vista previa nueva
library-preview-failed = No se puede guardar la vista previa
library-preview-no-model = Los modelos de { $name } no están aquí y el modelo abierto viene con Sluice.
library-copy-path = Copiar la ruta
library-open-folder = Abrir su carpeta
library-keep-defaults = Ajustes actuales como predeterminados
library-keep-defaults-tip = Este modelo empieza con los ajustes de ahora, incluidos los LoRA y el prompt negativo. El prompt, la semilla y las entradas no forman parte.
library-open-model = Abrir este modelo
library-open-model-tip = Genera con este modelo a partir de ahora.
library-reset-defaults = Olvidar estos valores
library-reset-defaults-tip = El modelo vuelve a empezar con sus propios ajustes.
library-fit-on = Previsión en { $device }
library-fit = Previsión
library-on-engine = En { $name }. La previsión se conoce cuando está abierto.
library-something-missing = Falta algo
library-parts = Partes
library-part-from = de { $name }
library-part-from-more = de { $name } y { $count } más
library-file = Archivo
library-fact-what = Contenido
library-fact-size = Tamaño
library-fact-weights = Pesos
library-fact-stored-as = Guardado en
library-fact-format = Formato
library-lora-remove = Quitar de la próxima imagen
library-lora-add = Añadir a la próxima imagen
library-lora-add-tip = Usa el LoRA con peso 1; se cambia en LoRA.
library-lora-unfit = Hecho para { $family }, pero el modelo abierto es { $model }.
library-trigger-words = Palabras de activación
library-trigger-add-spoken = Añadir { $words } al prompt
library-trigger-add-tip = Añade estas palabras al final del prompt.
library-trigger-add = Añadir
library-copies = Copias
library-comparing = Comparando el contenido…
library-files-same = Mismo contenido: se puede eliminar uno de los archivos.
library-files-differ = Mismo tamaño y misma cabecera, pero otro contenido.
library-based-on = Basado en
library-tags = Etiquetas
library-description = Descripción
library-not-on-computer = No está en este equipo.
library-download = Descargar
library-repository = Repositorio
library-licence = Licencia
library-licence-unknown = Vea el repositorio
library-size-in-16-bits = { $size } en 16 bits
library-gated = Acepte primero las condiciones en su página y dé su token a Sluice en Obtener modelos, Conexión.
library-open-page = Abrir su página
library-open-page-tip = Abre el repositorio en el navegador.
library-copy-link = Copiar el enlace
library-copy-link-tip = Copia la dirección del repositorio.
library-download-yourself = Los archivos que descargue usted mismo en una de las carpetas en que se busca también aparecen aquí.
library-starter-tip = Viene con Sluice, para tener los primeros resultados sin descargar nada.
library-own-tags = Sus etiquetas
library-own-tags-tip = Palabras con las que la búsqueda lo encuentra. Intro añade una.
library-note = Su nota
library-note-hint = Solo la ve usted
library-note-tip = Se guarda en este equipo; la búsqueda encuentra sus palabras.
library-menu-star = Poner una estrella
library-menu-unstar = Quitar la estrella
library-open-folder-tip = Muestra el archivo en el gestor de archivos.
library-copy-path-tip = Copia la ruta del archivo al portapapeles.
library-row-tip = Seleccionar para ver lo que se sabe de él; un doble clic lo usa.
