### Los ajustes, que se abren con Ctrl+coma.

settings-title = Ajustes
settings-search = Buscar ajustes
settings-nothing-found = Ningún ajuste trata de «{ $search }». Con menos palabras se encuentra más.

## Secciones

settings-section-look = Aspecto
settings-section-saving = Guardado
settings-section-folders = Carpetas
settings-section-prompts = Prompts
settings-section-engine = Motor
settings-section-about = Acerca de

## Palabras con las que se encuentra un ajuste, además de las que muestra

settings-words-theme = tema oscuro claro sistema colores
settings-words-scale = tamaño tamano del contenido escala zoom letra fuente interfaz
settings-words-notifications = notificación escritorio aviso
settings-words-motion = menos movimiento animación animacion accesibilidad
settings-words-previews = vista previa en vivo al generar
settings-words-sound = sonido silencio silenciar clips
settings-words-rendering = dibujo ventana gpu tarjeta gráfica grafica integrada dedicada vram
settings-words-output = carpeta de salida imágenes imagenes clips dónde donde
settings-words-format = formato de imagen png jpeg webp calidad
settings-words-codec = códec codec de vídeo video clips h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = nombres de archivo plantilla fecha semilla seed prompt
settings-words-folders = modelos loras checkpoints galería galeria
settings-words-connection = espejo proxy token hugging face descargas conexión
settings-words-styles = estilos csv json prompts
settings-words-tags = etiquetas tags archivo csv danbooru autocompletar
settings-words-engine = equipo ssh comando remoto clúster cluster slurm docker
settings-words-about = versión version licencia motor datos registros informe problema ayuda privacidad actualización actualizacion
settings-words-language = idioma lengua traducción traduccion language

## La ventana

settings-language = Idioma
settings-language-of-system = Idioma del sistema
settings-language-without-font = Ninguna fuente de este equipo tiene los caracteres de: { $languages }. Noto Sans CJK los tiene.
settings-theme = Tema
settings-theme-system = Sistema
settings-theme-dark = Oscuro
settings-theme-light = Claro
settings-scale = Tamaño del contenido
settings-scale-tip = Escala el texto y los controles. Teclas: Ctrl+Más y Ctrl+Menos
settings-motion = Menos movimiento
settings-motion-system = Sistema ({ $now })
settings-motion-on = Sí
settings-motion-off = No
settings-motion-tip = Los paneles y menús aparecen de golpe, sin fundido, y los clips solo se reproducen cuando usted los inicia.
settings-notifications = Avisar cuando termine la cola
settings-notifications-tip = El escritorio lo indica mientras otra ventana está delante.
settings-previews = Vista previa en vivo
settings-previews-tip = Muestra la imagen mientras se genera.
settings-mute = Clips sin sonido
settings-mute-tip = Reproduce los clips sin su sonido. Tecla: M.
settings-rendering = GPU de la ventana
settings-rendering-integrated = Integrada
settings-rendering-dedicated = Dedicada
settings-rendering-hint = La GPU integrada deja a los modelos toda la VRAM de la dedicada. Tiene efecto tras reiniciar.
settings-rendering-hint-now = La GPU integrada deja a los modelos toda la VRAM de la dedicada. Tiene efecto tras reiniciar. Ahora: { $gpu }.

## Dónde se guardan las imágenes y los clips

settings-output = Carpeta de salida
settings-output-none = No se guarda nada: este usuario no tiene carpeta de imágenes.
settings-output-choose = Elegir…
settings-format = Formato de imagen
settings-format-hint = PNG conserva cada píxel. JPEG y WebP son más pequeños y pierden un poco. Todos guardan los ajustes.
settings-codec = Códec de vídeo
settings-codec-tip = Cómo se comprimen los clips nuevos.
settings-codec-hint = H.264 se reproduce en todas partes y conserva el sonido. Los demás necesitan el programa ffmpeg y omiten el sonido.
settings-names = Nombres de archivo
settings-names-example = Por ejemplo { $name }
settings-folders-models = Carpetas de modelos…
settings-folders-gallery = Carpetas de la galería…

## Acerca de Sluice

settings-licence = Licencia: { $licence }. Otros equipos no pueden conectarse a él.
settings-licences = Licencias de lo que incluye
settings-licences-tip = Fuentes, iconos, el escalador y los tokenizadores que vienen con Sluice.
settings-licences-of = La licencia de { $name }.
settings-data = Ejecuciones anteriores, estrellas y etiquetas
settings-data-open = Abrir la carpeta de ejecuciones anteriores, estrellas y etiquetas
settings-cache = Miniaturas y lo que se puede volver a crear
settings-cache-open = Abrir la carpeta de miniaturas y de lo que se puede volver a crear
settings-logs = Registros de los últimos días
settings-logs-open = Abrir la carpeta de los registros de los últimos días
settings-report = Informar de un problema
settings-report-hint = Copia el equipo, el modelo, los ajustes, los últimos mensajes y el final del registro.
settings-report-all = Con rutas y prompts
settings-report-all-tip = Si no, el informe no contiene ni prompts ni nombres de sus archivos y carpetas.
settings-report-copy = Copiar el informe
settings-engine = Motor: { $engine }
settings-engine-within = Motor: no se ejecuta en un proceso propio

## En qué se convierte un campo de una plantilla de nombres

settings-field-name = el nombre del archivo
settings-field-number = el lugar en la exportación, desde 1
settings-field-date = el día en que se creó
settings-field-seed = la semilla
settings-field-model = el modelo
settings-field-prompt = el comienzo del prompt
settings-field-width = el ancho en píxeles
settings-field-height = el alto en píxeles
settings-field = { $field } es { $meaning }
settings-language-tip = El idioma de la ventana, que cambia al momento.
settings-folders-gallery-tip = Abre la galería, donde se añaden carpetas.
settings-folders-models-tip = Abre los modelos, donde se añaden carpetas.
settings-format-jpeg-tip = Crea archivos pequeños que se abren en todas partes, con ligeras pérdidas.
settings-format-png-tip = Conserva cada píxel, en archivos más grandes.
settings-format-webp-tip = Crea los archivos más pequeños, con ligeras pérdidas.
settings-names-tip = Nombra los archivos nuevos; lo que va entre llaves se sustituye.
settings-open-folder-tip = Muestra la carpeta en el gestor de archivos.
settings-output-choose-tip = Guarda las imágenes y los clips nuevos en otra carpeta.
settings-rendering-dedicated-tip = Dibuja la ventana más rápido y quita memoria a los modelos.
settings-rendering-integrated-tip = Deja la memoria de la GPU rápida a los modelos.
settings-report-copy-tip = Copia al portapapeles lo que ayuda a encontrar un fallo.
settings-search-tip = Encuentra ajustes por sus palabras.

settings-words-updates = actualización versión nueva
settings-updates = Buscar una versión nueva al iniciar
settings-updates-tip = Pregunta a la página donde se anuncian las versiones, y solo envía el nombre y la versión del programa.
settings-updates-now = Buscar ahora
settings-updates-now-tip = Pregunta una vez por la última versión.
settings-updates-page = Abrir su página
settings-updates-asking = Buscando…
settings-updates-newest = Esta es la última versión.
settings-updates-newer = Sluice { $version } está disponible.
settings-updates-nowhere = Esta compilación no sabe dónde se anuncian las versiones nuevas.
settings-libraries = Bibliotecas
settings-libraries-tip = Las bibliotecas de este programa y sus licencias.
settings-tags = Etiquetas
settings-tags-open = Añadir un archivo de etiquetas…
settings-tags-open-tip = Un archivo CSV de a1111-tagcomplete, con el que los prompts se completan al escribir.
settings-tags-count = { $count ->
    [one] Se ofrece { $count } etiqueta al escribir.
   *[other] Se ofrecen { $count } etiquetas al escribir.
}
settings-file-remove = Quitar { $name }
