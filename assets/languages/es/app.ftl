### Mensajes sobre lo que se hizo o falló.

app-copied = Copiado al portapapeles
app-file-copied = { $name } copiado como archivo
app-files-copied = { $count } archivos copiados
app-dialog-failed-advice = Suelte el archivo en la ventana o escriba su ruta.
app-dialog-failed = No se pudo abrir el diálogo de archivos
app-settings-of = Ajustes de { $name }
app-settings-wait = Los ajustes de { $name } se aplicarán cuando los modelos estén listados
app-reference = Referencia: { $name }
app-input-image = Imagen de entrada: { $name }
app-hires-waits = Hires fix espera a que se quite la imagen de entrada.
app-extending = Prolongación de { $name }
app-input-clip = Clip de entrada: { $name }
app-try-again = Vuelva a intentarlo en un momento.
app-too-many-files = Demasiados archivos a la vez
app-files-are-read = Todavía se están leyendo otros archivos.
app-saved = { $name } guardado
app-images-not-used =
    { $count ->
        [one] { $count } imagen no usada: suelte solo una a la vez.
       *[other] { $count } imágenes no usadas: suelte solo una a la vez.
    }
app-first-image-used = Solo se usa la primera imagen
app-clip-unusable = Este clip no se puede usar
app-no-settings = { $name } no contiene ajustes
app-clip-unusable-advice = Elija un modelo que cambie o prolongue clips para usarlo como clip de entrada.
app-image-cannot-be-shown = No se puede mostrar esta imagen
app-report-copied = Informe copiado al portapapeles
app-already-open = Sluice ya está abierto
app-already-open-details = Esta ventana no guarda sus ajustes ni sus imágenes sin terminar.
app-gallery-failed = No se pudo abrir la galería
app-too-much = Demasiado a la vez
app-gallery-busy = La galería sigue ocupada.
app-prompt-copied = Prompt copiado
app-prompt-replaced = Prompt sustituido
app-compare-two = Se pueden comparar dos imágenes o dos clips
app-settings-unreadable = { $name } no tiene ajustes: { $reason }
app-model-kept = Creado con { $model }. Se mantiene el modelo actual.
app-named-not-found = «{ $name }» no está en sus carpetas de modelos y se deja fuera.
app-named-not-for-model = «{ $name }» no es para este modelo y se deja fuera.
app-named-upscaler = El upscaler «{ $name }» no está en sus carpetas de modelos; se usa el de Sluice en su lugar.
app-no-token = Esto no es un token.
app-downloaded-details = Para abrir en «Obtener modelos…», en el menú de arriba a la izquierda.
app-downloaded = Descargado: { $models }
app-no-data-folder = Este usuario no tiene carpeta de datos.
app-presets-not-kept = No se pueden conservar los preajustes
app-preset = Preajuste { $name }
app-model-defaults = Valores predeterminados del modelo
app-styles-unreadable = No se puede leer un archivo de estilos
app-model-settings = Ajustes propios del modelo
app-grid-failed = No se puede generar la cuadrícula
app-grid-failed-why = No hay carpeta donde guardar sus imágenes, o hay que cambiar los ajustes.
app-folder-empty = { $name } no contiene imágenes.
app-nothing-to-generate = Nada que generar
app-cannot-generate = Ahora no se puede generar nada
app-check-settings = Compruebe primero los ajustes.
app-folder-results = Los resultados se guardan en { $folder }.
app-folder-batch = Un resultado por imagen. El tamaño del lote no se usa.
app-folder-left-out =
    { $count ->
        [one] { $count } imagen omitida: ya estaba terminada.
       *[other] { $count } imágenes omitidas: ya estaban terminadas.
    }
app-folder-unreadable =
    { $count ->
        [one] { $count } imagen omitida: no se puede leer.
       *[other] { $count } imágenes omitidas: no se pueden leer.
    }
app-folder-queued =
    { $count ->
        [one] { $count } imagen de { $name } en la cola
       *[other] { $count } imágenes de { $name } en la cola
    }
app-folder-ask = Imágenes de { $name }
app-folder-subfolders =
    { $count ->
        [one] Incluir subcarpetas: { $count } imagen
       *[other] Incluir subcarpetas: { $count } imágenes
    }
app-folder-subfolders-tip = Los resultados se guardan en subcarpetas con los mismos nombres.
app-folder-count =
    { $count ->
        [one] { $count } imagen de partida
       *[other] { $count } imágenes de partida
    }
app-folder-rest =
    { $count ->
        [one] Solo la imagen que no está terminada
       *[other] Solo las { $count } imágenes que no están terminadas
    }
app-folder-rest-tip = Omite las imágenes cuyos resultados ya existen.
app-folder-again =
    { $count ->
        [one] { $count } imagen otra vez, en una carpeta nueva
       *[other] Las { $count } imágenes otra vez, en una carpeta nueva
    }
app-folder-again-tip = Los resultados existentes se quedan como están.
app-folder-more-unreadable =
    { $count ->
        [one] { $count } imagen más no se puede leer
       *[other] { $count } imágenes más no se pueden leer
    }
app-folder-generate = Generar
app-folder-generate-tip = Pone en cola un trabajo por imagen.
app-preset-deleted = Preajuste { $name } eliminado
app-queue-done = Todas las tareas han terminado.
app-update = Sluice { $version } está disponible
app-update-details = Ajustes, Acerca de lleva a su página.
app-style-not-saved = No se guardó el estilo
app-style-taken = Ya hay un estilo llamado { $name }.
app-chips-removed = Se quitó todo lo que estaba activo
