### Archivos y diálogos.

files-use-folder = Usar esta carpeta
files-up = Subir
files-up-tip = La carpeta superior.
files-path = Ruta de la carpeta
files-path-tip = Va a esta carpeta con Intro.
files-folder-unreadable = No se puede leer esta carpeta: { $reason }
files-folder-gone = no existe
files-folder-forbidden = no tienes permiso
files-reading = Leyendo…
files-nothing-here = Aquí no hay nada que elegir.
files-no-folders = Aquí no hay carpetas.
files-pickle = Conviértalo primero a .safetensors
files-pickle-tip = Los archivos de este tipo pueden ejecutar cualquier programa al abrirse, por eso no se leen.
files-save = Guardar
files-save-tip = Guarda la imagen con este nombre.
files-save-name-tip = La terminación .png, .jpg o .webp indica el formato.
files-name-taken = Ya hay un archivo con este nombre.
files-take-name-tip = Toma el nombre de este archivo.
files-carried = { $count } archivos
files-not-copied = No se puede copiar el archivo al portapapeles
files-not-copied-advice = Abra su carpeta y cópielo desde allí.
files-not-copied-gone = Se movió o se eliminó. Vuelva a leer las carpetas de la galería.

## Títulos de los diálogos de archivos

files-model-file = Abrir un archivo de modelo
files-model-folder = Abrir una carpeta de modelo
files-library-folder = Añadir una carpeta de modelos
files-input-image = Elegir una imagen de entrada
files-styles = Abrir un archivo de estilos
files-tags = Abrir un archivo de etiquetas
files-cuda-engine = Abrir un motor para GPU NVIDIA
files-input-folder = Elegir una carpeta de imágenes de entrada
files-changed-folder = Elegir una carpeta de imágenes y clips
files-changed-folder-clips = Elegir una carpeta de clips
files-changed-folder-images = Elegir una carpeta de imágenes
files-last-image = Elegir una imagen final
files-keyframe = Añadir un fotograma clave
files-reference = Añadir una imagen de referencia
files-control-clip = Elegir un clip de control
files-control-mask = Elegir una máscara para el clip de control
files-input-clip = Elegir un clip de entrada
files-mask = Abrir una máscara
files-adapter = Añadir un LoRA
files-refiner = Abrir un refiner
files-redux = Abrir un modelo Redux
files-gallery-folder = Añadir una carpeta a la galería
files-export-folder = Elegir una carpeta
files-save-image = Guardar la imagen
files-download-folder = Elegir una carpeta para los modelos

## Tipos de archivos en los diálogos

files-kind-models = Modelos
files-kind-images = Imágenes
files-kind-videos = Vídeos
files-kind-videos-and-images = Vídeos e imágenes
files-kind-loras = LoRA
files-kind-styles = Estilos
files-kind-tags = Etiquetas
files-kind-archives = Archivos comprimidos
files-kind-all = Todos los archivos

## Lo que falla

files-file-unusable = Este archivo no se puede usar
files-mask-not-saved = No se pudo guardar la máscara
files-pasted-not-saved = No se pudo guardar la imagen pegada
files-frame-not-saved = No se pudo guardar el fotograma
files-image-not-saved = No se pudo guardar la imagen
files-text-not-saved = No se pudo guardar el texto sobre una imagen
files-clip-not-exported = No se pudo exportar el clip
files-folder-unusable = La carpeta no se puede usar
files-folder-unusable-advice = Elija otra carpeta de imágenes.
files-folder-unusable-any-advice = Elija otra carpeta de imágenes y clips.
files-folder-unusable-clips-advice = Elija otra carpeta de clips.
files-folder-not-opened = No se pudo abrir la carpeta
files-folder-no-program = Ningún programa abrió { $path }.
files-folder-not-opened-advice = Ábrala en su gestor de archivos.
files-setting-not-saved = No se pudo guardar el ajuste
files-setting-not-saved-advice = Se aplica hasta que se cierre la ventana.
files-preset-not-changed = No se pudo cambiar el preajuste
files-grid-not-saved = No se pudo guardar la cuadrícula
files-not-saved-advice = Libere espacio en el disco o elija otra carpeta de salida en los ajustes.
files-no-frames = { $path } no tiene fotogramas
files-no-frames-advice = Elija otro archivo.
files-no-mp4 = { $path } no es un archivo MP4
files-no-mp4-advice = Elija un archivo MP4.
files-unreadable = No se puede leer { $path }: { $error }
files-unreadable-advice = Compruebe que el archivo aún existe y es una imagen PNG completa.

## Formatos de los clips

files-format-mp4 = vídeo MP4
files-format-webp = WebP animado
files-format-gif = GIF animado
files-format-frames = carpeta de imágenes PNG
files-control-net = Elegir un ControlNet
files-control-image = Elegir una imagen para el ControlNet
files-ip-adapter = Elegir un IP-Adapter
files-prompt-image = Elegir una imagen para leer
files-map-estimator = Elegir un estimador de mapas
files-segmenter = Elegir un modelo de segmentación
files-detector = Elegir un detector
files-region-mask = Elegir la máscara de la región
files-language-model = Elegir un modelo de lenguaje
files-upscaler = Elegir un upscaler
files-interpolator = Elegir un interpolador
files-file-tip = Elige este archivo.
files-folder-tip = Abre esta carpeta.
files-in-folder-tip = Esta imagen está en la carpeta. Se elige la carpeta misma.
