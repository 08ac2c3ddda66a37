### Lo que falló, como lo dicen el motor y las descargas.

error-downloads-stopped = la descarga se detuvo
error-downloads-offline = no hay conexión con { $host }
error-downloads-stalled = { $host } ya no envía nada
error-downloads-dropped = { $host } cerró la conexión antes de que el archivo estuviera completo
error-downloads-insecure = la conexión segura con { $host } falló: { $reason }
error-downloads-proxy = el proxy no funciona: { $reason }
error-downloads-busy = { $host } pide esperar, porque hubo demasiadas peticiones
error-downloads-server = { $host } no puede responder ahora (error { $status })
error-downloads-needs-token = { $what } es solo para quienes han iniciado sesión{ $detail }
error-downloads-not-allowed = { $what } es solo para quienes han aceptado sus condiciones
error-downloads-not-found = { $what } no está en { $host }
error-downloads-answer = no se entiende la respuesta de { $host }: { $reason }
error-downloads-wrong-hash = { $name } está dañado o es otro archivo: su SHA-256 es { $found }…, se esperaba { $expected }…
error-downloads-wrong-size = { $name } tiene otro tamaño que el anunciado: { $found } bytes, se esperaban { $expected }
error-downloads-no-space = no hay espacio suficiente en { $folder }: se necesitan { $needed } y hay { $allowed } libres
error-downloads-occupied = { $path } ya existe, con otro contenido
error-downloads-in-use = { $path } ya se está descargando
error-downloads-file =
    no se puede { $doing ->
        [created] crear
        [written] escribir
        [read] leer
        [removed] eliminar
       *[other] procesar ({ $doing })
    } { $path }: { $source }
error-downloads-name = { $name } no es válido como nombre de archivo

error-link-empty = no hay ningún enlace
error-link-not-a-link = «{ $value }» no es un enlace ni el nombre de un repositorio
error-link-no-model = «{ $value }» no lleva a ningún modelo
error-link-other-file = Sluice no abre { $value }
error-link-no-weights = { $value } no tiene archivos .safetensors ni .gguf
error-link-several = { $repository } tiene { $count } archivos; indique cuál

error-the-keyring-refuses = El llavero deniega el acceso: { $error }.

error-the-engine-for-nvidia-gpus-is = El motor para GPU NVIDIA no está instalado: falta { $value }.

error-presets-no-folder = este usuario no tiene carpeta de datos
error-presets-name = un preajuste no puede llamarse { $value }; use letras, números y espacios
error-presets-taken = ya hay un preajuste llamado { $value }
error-presets-missing = no hay ningún preajuste llamado { $name }
error-presets-malformed = { $path } no es un preajuste: { $message }

error-adapters-not-an-adapter = { $path } no es un LoRA ni otro adaptador compatible con Sluice; su primer tensor es { $first }
error-adapters-layer = { $path }: los tensores de la capa { $layer } no encajan entre sí: { $reason }
error-adapters-other-family = { $path } ({ $family }) no sirve para este modelo ({ $model })
error-adapters-unknown = no hay ningún LoRA llamado { $name }
error-adapters-tag = no se entiende <lora:{ $tag }>

error-checkpoint-not-found = no existe el archivo o la carpeta { $path }
error-checkpoint-not-here = { $name } no está en este equipo
error-checkpoint-io = no se puede leer { $path }: { $source }
error-checkpoint-io-it = no se puede leer: { $source }
error-checkpoint-write = no se puede escribir { $path }: { $source }
error-checkpoint-hollow = los pesos de { $path } no están en este equipo
error-checkpoint-no-model = no se encontró ningún modelo en { $path }
error-checkpoint-no-model-it = no se encontró ningún modelo en la carpeta
error-checkpoint-no-asset = { $name } es parte de Sluice, pero no se encontró en { $path }
error-checkpoint-not-a-model-file = { $path } no es un archivo de modelo que Sluice pueda leer
error-checkpoint-not-a-model-file-it = no es un archivo de modelo que Sluice pueda leer
error-checkpoint-not-safetensors = { $path } no es un archivo safetensors: no empieza con una cabecera
error-checkpoint-not-safetensors-it = no es un archivo safetensors: no empieza con una cabecera
error-checkpoint-pickle = { $path } es un archivo pickle, que puede ejecutar cualquier código al abrirse
error-checkpoint-pickle-it = es un archivo pickle, que puede ejecutar cualquier código al abrirse
error-checkpoint-empty-file = { $path } está vacío
error-checkpoint-empty-file-it = el archivo está vacío
error-checkpoint-header-past-end = { $path } está dañado o incompleto: su cabecera debería tener { $header } bytes, pero el archivo solo tiene { $length }
error-checkpoint-header-past-end-it = el archivo está dañado o incompleto: su cabecera debería tener { $header } bytes, pero el archivo solo tiene { $length }
error-checkpoint-header = la cabecera de { $path } está dañada: { $reason }
error-checkpoint-header-it = la cabecera está dañada: { $reason }
error-checkpoint-truncated = { $path } está incompleto: debería tener { $expected } bytes, pero solo tiene { $length }
error-checkpoint-truncated-it = el archivo está incompleto: debería tener { $expected } bytes, pero solo tiene { $length }
error-checkpoint-json = no se entiende { $path }: { $reason }
error-checkpoint-other-task = { $path } es un modelo que Sluice todavía no admite ({ $task })
error-checkpoint-missing-shard = falta { $shard }, pero { $index } lo menciona
error-checkpoint-missing-shard-it = falta { $shard }, que forma parte del modelo
error-checkpoint-missing-part = falta el { $role } de { $model }: { $expected }
error-checkpoint-unknown-family = { $path } es un modelo que Sluice no admite{ $kind }
error-checkpoint-refiner = { $path } no puede servir de refiner: { $reason }
error-checkpoint-upscaler = { $path } no puede ampliar imágenes: { $reason }
error-checkpoint-interpolator = { $path } no puede interpolar fotogramas: { $reason }
error-checkpoint-redux = { $path } no se puede usar como Redux: { $reason }
error-checkpoint-control-net = { $path } no se puede usar como ControlNet: { $reason }
error-checkpoint-ip-adapter = { $path } no se puede usar como IP-Adapter: { $reason }
error-checkpoint-no-image-encoder = no se encontró el codificador de imágenes para { $adapter }: { $wanted }
error-checkpoint-missing-tensor = a { $path } le falta el tensor { $name }
error-checkpoint-shape = el tensor { $name } de { $path } tiene la forma { $found } en lugar de { $expected }
error-checkpoint-dtype = el tensor { $name } de { $path } está guardado como { $found }, algo que Sluice no admite aquí
error-checkpoint-quantization = los pesos de { $path } están guardados como { $found }, algo que Sluice no admite
error-checkpoint-quantization-it = los pesos están guardados como { $found }, algo que Sluice no admite
error-checkpoint-config = { $path } tiene { $field } = { $value }, pero { $reason }
error-checkpoint-tokenizer = no se puede usar el tokenizador { $path }: { $reason }

error-account = el dispositivo se quedó sin memoria: { $needed } necesarios, { $allowed } permitidos

error-plan-device = { $what } necesita { $needed } de memoria ({ $device }) en la fase de { $stage }, pero solo se permiten { $allowed }
error-plan-host = cargar los pesos necesita { $needed } de RAM, pero solo se permiten { $allowed }

error-output-extension = { $path } no termina en .png, .jpg ni .webp
error-output-clip-extension = { $path } no termina en { $endings }
error-output-other-files = la carpeta { $path } contiene otros archivos
error-output-clip-too-large = los fotogramas de { $width }×{ $height } píxeles son demasiado grandes para { $path }
error-output-encoder = no se puede codificar { $path }: { $detail }
error-output-no-ffmpeg = el códec { $name } necesita el programa ffmpeg, que no está en el PATH
error-output-ffmpeg = ffmpeg no pudo escribir { $path }: { $detail }
error-output-is-folder = { $path } es una carpeta, no un nombre de archivo
error-output-not-a-folder = { $path } es un archivo, no una carpeta
error-output-create-folder = no se puede crear la carpeta { $folder }: { $cause }
error-output-not-writable = no se puede escribir en la carpeta { $folder }: { $cause }
error-output-disk-full = no se puede escribir { $path }: el disco está lleno
error-output-write = no se puede escribir { $path }: { $cause }
error-output-exists = { $path } ya existe
error-output-settings-too-long = los ajustes son demasiado largos para un archivo JPEG: { $path }
error-output-pixels = no se puede escribir una imagen de { $width }×{ $height } píxeles con { $bytes } bytes
error-output-kept-elsewhere = { $cause }; en su lugar se guardó como { $path }
error-output-read = no se puede leer { $path }: { $cause }
error-output-not-media = { $path } no es un archivo PNG, JPEG, WebP, GIF ni MP4
error-output-truncated = { $path } está incompleto
error-output-damaged = los ajustes de { $path } están dañados: { $detail }
error-output-too-large = la parte { $keyword } de { $path } es demasiado grande para contener ajustes
error-output-no-settings = { $path } no contiene ajustes de generación
error-output-newer-version = { $path } se creó con una versión más reciente de Sluice: sus ajustes tienen la versión { $found }, y esta lee hasta la { $known }

error-names-empty = escriba un nombre, por ejemplo {"{"}name{"}"}
error-names-unknown = no hay ningún campo {"{"}{ $value }{"}"}; use {"{"}name{"}"}, {"{"}number{"}"}, {"{"}date{"}"}, {"{"}seed{"}"}, {"{"}model{"}"}, {"{"}prompt{"}"}, {"{"}width{"}"} o {"{"}height{"}"}
error-names-open = falta la {"}"} que cierra una {"{"}

error-pipeline-card = no se puede usar la GPU: { $value }
error-pipeline-no-such-gpu = no hay aquí ninguna GPU { $number }
error-pipeline-unknown-card = no hay ninguna GPU simulada llamada { $id }
error-pipeline-unknown-model = no hay ningún modelo conocido llamado { $id }
error-pipeline-initial-latents = no se pueden usar los latentes iniciales de { $path }: { $reason }
error-pipeline-dump = no se pueden escribir los tensores en { $path }: { $reason }
error-pipeline-not-finite = la imagen contiene valores no válidos (NaN), calculados en { $dtype }

error-clip = escriba el primer fotograma, dos puntos seguidos y el fotograma posterior al último, por ejemplo 0..48 o 12..

error-request-size-not-multiple =
    { $side ->
        [width] el ancho
        [height] el alto
       *[other] { $side }
    } { $pixels } no es múltiplo de { $multiple }; use { $below } o { $above }
error-request-side-too-long =
    { $side ->
        [width] el ancho
        [height] el alto
       *[other] { $side }
    } { $pixels } es demasiado grande; use { $longest } o menos
error-request-scale = el factor { $value } no está entre 1 y 4
error-request-only-upscales = este modelo es un upscaler: amplía imágenes y no genera ninguna; use `sluice upscale`, o «Ampliar…» en la ventana
error-request-no-upscaler = este modelo genera imágenes y no es un upscaler
error-request-only-interpolates = este modelo crea los fotogramas entre los de un clip y no genera ninguno; use `sluice interpolate`, o «Interpolar…» en la ventana
error-request-no-interpolator = este modelo no interpola fotogramas; elija un archivo .safetensors de RIFE 4
error-request-interpolation-factor = { $value } veces más fotogramas no son posibles; use de { $least } a { $most }
error-request-interpolates-image = una imagen no tiene fotogramas entre los que poner otros; elija un clip
error-request-smooths-image = la interpolación de fotogramas es para clips; use más de 1 fotograma, o quítela
error-request-nothing-between = el clip tiene un solo fotograma y nada entre ellos; elija uno más largo
error-request-hires-of-clip = hires fix es para imágenes, no para clips; quítelo y amplíe el clip
error-request-hires-of-input = hires fix parte del prompt; quite la imagen de entrada, o quite hires fix y use un tamaño mayor
error-request-no-hires = hires fix necesita imagen a imagen, que este modelo no hace; quítelo y amplíe la imagen
error-request-no-steps = con 0 pasos solo quedaría ruido; use 1 o más
error-request-no-frames = con 0 fotogramas no se genera nada; use 1 o más
error-request-one-frame-only = este modelo genera imágenes, no clips; use 1 fotograma en lugar de { $value }
error-request-frames-not-multiple = este modelo genera 1 fotograma y un múltiplo de { $multiple } más, no { $frames }; use { $below } o { $above }
error-request-no-such-mode = este modelo no puede hacer esto: { $wanted }; puede hacer: { $modes }
error-request-image-and-clip = hay una imagen de entrada y un clip de entrada; quite uno de los dos
error-request-variation = la fuerza de la variación { $value } no es válida; use de 0 a 1
error-request-last-image-alone = una imagen final necesita una imagen inicial
error-request-clip-input-of-image = la imagen final, los fotogramas clave, el clip de entrada y el control son para clips; use más de 1 fotograma o quítelos
error-request-keyframe-twice = hay dos imágenes para el fotograma { $value }; quite una de ellas
error-request-keyframes-and-clip = los fotogramas clave no se pueden combinar con un clip de entrada; quite una de las dos cosas
error-request-keyframes-in-windows = con este modelo, los fotogramas clave y la imagen final no se pueden usar por ventanas; quite las imágenes o las ventanas
error-request-nothing-controls = nada controla el clip; indique un clip de control o imágenes de referencia
error-request-mask-without-control = la máscara va con un clip de control; indique también el clip
error-request-control-strength = la fuerza del control { $value } no es válida; use un valor de 0 a { $strongest-control }
error-request-control-range = un clip no se puede controlar de { $start } a { $end } de los pasos; use valores de 0 a 1, primero el menor
error-request-preprocessor-without-control = se ha elegido un preprocesador para un clip de control, y no hay ninguno; indique uno o no elija preprocesador
error-request-control-preprocessor = el preprocesador { $value } no crea mapas de un clip de control; elija otro
error-request-no-references = este modelo no admite imágenes de referencia; quítelas o use una como imagen de entrada
error-request-too-many-references = demasiadas imágenes de referencia ({ $given }); el modelo admite { $amount }
error-request-reference-side = el lado de las referencias { $value } no es válido; use de { $least } a { $most } píxeles
error-request-references-in-windows = las imágenes de referencia no se pueden usar por ventanas; quite las imágenes o las ventanas
error-request-nothing-to-fill-in = este modelo rellena una parte de una imagen; indique una imagen y una máscara de esa parte
error-request-mask-of-clip = una máscara es para imágenes; quítela o use 1 fotograma
error-request-nothing-added = { $frames } fotogramas no añaden nada: los primeros { $overlap } repiten el final del clip de entrada; use { $least } o más
error-request-frame-rate = { $value } fotogramas por segundo no es un valor válido; use de 1 a 60
error-request-windows = las ventanas de { $frames } fotogramas que comparten { $overlap } no avanzan; una ventana debe ser más larga que su solapamiento
error-request-empty-batch = con un lote de 0 no se genera nada; use 1 o más
error-request-batch-too-large = el tamaño del lote { $value } es demasiado grande; use { $largest-batch } o menos
error-request-no-tokens = con un límite de 0 tokens no queda nada del prompt; use 1 o más
error-request-guidance = la guía { $value } no es válida; use 0 o más
error-request-adapter-weight = el peso { $value } del LoRA no es un número finito
error-request-too-many-steps = { $value } pasos son demasiados; use 1000 o menos
error-request-clip-skip = clip skip { $value } son más capas de las que tiene CLIP; use { $largest-clip-skip } o menos
error-request-step-cache = el umbral { $value } de la caché de pasos no es válido; use 0 o más
error-request-shift = el shift { $value } no es válido; use de 0.01 a { $largest-shift }
error-request-no-shift = este modelo no tiene shift; quítelo
error-request-prompts-only = este modelo genera imágenes solo a partir de prompts; quite la imagen de entrada
error-request-no-such-levels = el planificador { $name } no está disponible para este modelo
error-request-frame-range = no hay fotogramas en { $value }; el segundo número debe ser mayor que el primero
error-request-strength = la fuerza de denoising { $value } no es válida; use un valor mayor que 0 y hasta 1
error-request-strength-takes-no-step = la fuerza de denoising { $strength } no deja ninguno de los { $steps } pasos; use { $least } o más, o más pasos
error-request-refiner-switch = el paso al refiner { $value } no es válido; use un valor entre 0 y 1, por ejemplo 0.8
error-request-redux-alone = Redux lee imágenes de referencia y no hay ninguna; indique una o quite Redux
error-request-redux-strengths = demasiadas fuerzas ({ $given }) para { $references }
error-request-redux-strength = la fuerza { $value } de una referencia no es válida; use de { $least } a { $most }
error-request-control-net-weight = el peso { $value } de un ControlNet no es válido; use de 0 a { $most }
error-request-control-net-range = un ControlNet no puede actuar de { $start } a { $end } de los pasos; use valores de 0 a 1, primero el menor
error-request-control-net-without-image = a un ControlNet le falta la imagen que debe seguir; elija una o quite el ControlNet
error-request-control-net-without-mask = un ControlNet sigue la imagen de entrada sin su parte enmascarada, y no hay imagen de entrada con máscara; añada ambas o elija otro preprocesador
error-request-control-net-reads-mask = un ControlNet es para inpainting y lee una máscara; elija para él el preprocesador inpaint
error-request-control-net-without-mode = un ControlNet sigue varios tipos de imágenes y no sabe cuál; elija uno de { $modes }
error-request-no-such-control-mode = un ControlNet no sigue imágenes del tipo { $mode }; elija uno de { $modes }
error-request-control-net-has-no-modes = un ControlNet solo sigue un tipo de imagen; no elija ninguno para él
error-request-too-many-control-nets = { $value } ControlNets son demasiados; use { $most } como máximo
error-request-image-prompt-without-image = a un IP-Adapter le falta una imagen que leer; elija una o quite el IP-Adapter
error-request-too-many-prompt-images = { $value } imágenes para un IP-Adapter son demasiadas; use { $most } como máximo
error-request-too-many-image-prompts = { $value } IP-Adapters son demasiados; use { $most } como máximo
error-request-image-prompt-weight = el peso { $value } de los prompts de imagen no es válido; use de 0 a { $most }
error-request-image-prompt-range = los prompts de imagen no se pueden leer de { $start } a { $end } de los pasos; use valores de 0 a 1, primero el menor
error-request-mask-blur = el borde suave { $value } de la máscara es demasiado grande; use { $widest-blur } o menos
error-request-mask-padding = un margen de { $value } píxeles alrededor de la máscara es demasiado grande; use { $most } o menos

error-grid-nothing = no varía nada; elija un ajuste y sus valores
error-grid-no-setting = { $value } no nombra ningún ajuste; escriba su nombre, dos puntos y sus valores, por ejemplo `steps: 10, 20, 30`
error-grid-unknown = no hay ningún ajuste llamado { $name }; use { $all }
error-grid-no-values = { $value } no tiene valores; escriba algunos, por ejemplo 1, 2, 3
error-grid-value = { $value } no es un valor de { $setting }; { $wanted }
error-grid-twice = { $value } varía dos veces; elija otro ajuste para una de ellas
error-grid-too-many = { $count } imágenes son demasiadas para una cuadrícula; use { $most } o menos
error-grid-not-in-prompt = ni el prompt ni el prompt negativo contienen { $value }, las palabras que se sustituyen
error-grid-which-lora = se usan varios LoRA; indique cuál, por ejemplo `lora { $value }: 0.5, 1`
error-grid-no-style = no hay ningún estilo llamado { $value }; elija uno de la lista de estilos o guárdelo antes
error-grid-no-input = la fuerza de denoising varía, pero no hay imagen de entrada ni hires fix; elija primero uno de los dos
error-grid-unused = { $setting } varía, pero nada usa { $what }; añádalo antes
error-grid-no-part = { $setting } varía para { $name }, pero sus nombres son { $used }; use uno de ellos o su número
error-grid-unused-variation = una fuerza de variación
error-grid-unused-control-net = un ControlNet
error-grid-unused-clip-control = un clip o referencias que controlen un clip
error-grid-unused-ip-adapter = un IP-Adapter
error-grid-unused-reference = una imagen de referencia
error-grid-unused-detailer = un detailer
error-grid-unused-region = una región
error-grid-unused-input = una imagen o un clip de entrada
error-grid-unused-mask = una máscara
error-grid-unused-only-masked = una máscara cuya zona se genere sola
error-grid-unused-outpainting = el outpainting
error-grid-unused-interpolation = la interpolación de fotogramas
error-grid-unused-windows = la generación por ventanas

error-guidance = se esperan dos números de 0 a 1, por ejemplo 0.2..0.8
error-guidance-rescale = el reescalado de la guía { $value } no es válido; use de 0 a 1
error-guidance-interval = el intervalo de la guía { $value } no es válido; use dos números crecientes de 0 a 1
error-guidance-true-cfg = el CFG verdadero { $value } no es válido; use 1 o más

error-keyframe = escriba el número del fotograma, = y el archivo, por ejemplo 40=image.png

error-residency-cancelled = cancelado
error-residency-thread = no se pudieron iniciar los hilos que cargan los pesos: { $value }
error-residency-out-of-order = el bloque { $block } se pidió fuera de orden
error-residency-compute = el cálculo falló: { $value }
error-residency-device-lost = la GPU dejó de funcionar: { $value }

error-serve-pipe = no se pueden leer los mensajes de la ventana: { $value }
error-serve-no-hello = la ventana no empezó con un saludo
error-serve-threads = no se pudieron iniciar los hilos del motor: { $value }
error-serve-ended = el motor ha terminado
error-serve-no-visit = quien llama no nombró su visita como se esperaba
error-serve-folder = no se puede usar la carpeta de los archivos que se envían a este motor: { $value }
error-serve-occupied = el motor de la conexión interrumpida sigue en marcha
error-serve-file = quien llama no envió un archivo como se esperaba

error-travel-read = no se puede enviar { $path } al motor: { $cause }
error-travel-folder = { $path } es una carpeta, y a un motor situado en otro lugar solo se pueden enviar archivos
error-travel-too-large = { $path } es demasiado grande para enviarse a un motor situado en otro lugar
error-travel-changed = { $path } cambió mientras se enviaba al motor
error-travel-report = un motor situado en otro lugar no puede escribir { $path }
error-travel-not-there = el motor no tiene { $name }: { $reason }
error-travel-not-sent = se pidió al motor que usara { $path }, que no se le envió
error-command-not-started = no se puede iniciar el comando del motor { $program }: { $cause }
error-command-ended = el comando del motor terminó antes de que el motor respondiera: { $how }
error-command-other-words = el comando del motor escribió algo distinto de lo que escribe un motor: { $words }
error-command-silent = el comando del motor no responde

error-clip-read = no se puede leer el clip { $path }: { $cause }
error-clip-damaged = el clip { $path } está dañado: { $detail }
error-clip-truncated = el clip { $path } está incompleto: termina tras el fotograma { $readable } de { $frames }
error-clip-no-index = el clip { $path } está incompleto: falta su lista de fotogramas
error-clip-no-video = { $path } no tiene vídeo
error-clip-not-aclip = { $path } no es un clip que se pueda leer
error-clip-no-frames = el vídeo de { $path } no tiene fotogramas
error-clip-beyond-end = el clip { $path } tiene { $frames } fotogramas, así que no contiene el { $start }
error-clip-too-short = { $frames } fotogramas de { $path } son muy pocos: se necesitan { $needed }
error-clip-too-long = { $frames } fotogramas de { $path } son demasiados; se pueden leer { $most } a la vez
error-clip-too-large = los fotogramas de { $path } son demasiado grandes: { $width }×{ $height } píxeles
error-clip-needs-ffmpeg = { $path } es { $format }, que Sluice lee con el programa ffmpeg, y ffmpeg no está en el PATH
error-clip-ffmpeg = ffmpeg no puede leer { $path }: { $detail }

error-source-read = no se puede leer la imagen { $path }: { $cause }
error-source-not-apicture = { $path } no es una imagen que se pueda leer: { $detail }
error-source-clip-for-image = { $path } es un clip, y se necesita una imagen
error-source-picture-unknown = su formato no se conoce
error-source-picture-large = es demasiado grande
error-source-picture-short = termina demasiado pronto
error-source-picture-damaged = está dañada, o es un archivo de otro tipo
error-source-nothing-masked = la máscara { $path } no selecciona nada para el inpainting: { $reason }

error-telemetry-same-file = { $path } no puede ser a la vez el archivo de telemetría y el de traza
error-telemetry-create = no se puede crear el archivo de telemetría { $path }: { $cause }
error-telemetry-disk-full = no se puede escribir la telemetría en { $path }: el disco está lleno
error-telemetry-write = no se puede escribir la telemetría en { $path }: { $cause }
error-telemetry-gone = { $path } se eliminó mientras se escribía en él la telemetría
error-telemetry-stopped = el hilo que mide la memoria se detuvo antes de tiempo; el resto de la telemetría se ha perdido
error-telemetry-not-telemetry = { $path } no es un archivo de telemetría de Sluice: su primera línea no es una cabecera
error-telemetry-version = la telemetría de { $path } tiene la versión { $found }, pero esta versión de Sluice lee la { $known }
error-telemetry-damaged = la línea { $line } de { $path } está dañada: { $detail }

error-styles-read = no se puede leer { $path }: { $error }
error-styles-too-large = { $path } es demasiado grande para un archivo de estilos
error-styles-csv = { $path } no tiene estilos: { $error }; el styles.csv de A1111 tiene las columnas name, prompt y negative_prompt
error-styles-json = { $path } no tiene estilos: { $error }; los archivos de Fooocus son listas de name, prompt y negative_prompt

error-wildcards-missing = no hay ningún archivo de comodines llamado { $name }.txt{ $similar }
error-wildcards-unreadable = no se puede leer el archivo de comodines { $path }: { $error }
error-wildcards-empty = el archivo de comodines { $path } no tiene líneas entre las que elegir
error-wildcards-endless = el archivo de comodines { $name }.txt se menciona a sí mismo
error-wildcards-unclosed = una llave del prompt no está cerrada: { $text }
error-wildcards-too-few-options = no se pueden tomar { $wanted } opciones distintas de { $options } en { $text }

error-wire-truncated = la conexión terminó en medio de un mensaje
error-wire-too-long = un mensaje dice tener { $value } bytes, más de los que tiene cualquier mensaje
error-wire-damaged = un mensaje se dañó por el camino
error-wire-not-understood = no se entiende un mensaje: { $value }
error-request-outpaint = { $value } píxeles alrededor de la imagen de entrada son demasiados; use { $most } o menos
error-request-control-and-input = el control no se puede combinar con una imagen o un clip de entrada; quite una de las dos cosas, o use la imagen como referencia
error-outpaint-no-sides = escriba un número de píxeles para todos los lados, o cuatro: izquierda,arriba,derecha,abajo, por ejemplo 0,0,256,0
error-grid-no-lora = no se usa ningún LoRA llamado { $name }; { $hint }
error-source-nothing-added = lo que se añade alrededor de { $path } es más pequeño que un latente
error-checkpoint-map-estimator = { $path } no puede crear esto ({ $maps }): { $reason }
error-request-only-makes-maps = este modelo crea mapas y no genera imágenes; elíjalo como preprocesador de un ControlNet
error-request-no-map-estimator = no se ha elegido ningún modelo que cree esto: { $maps }; elija un archivo .safetensors de { $networks }
error-checkpoint-segmenter = { $path } no puede crear máscaras: { $reason }
error-request-only-makes-masks = este modelo crea máscaras y no genera imágenes; use `sluice mask`, o las herramientas de máscara de la ventana
error-request-no-segmenter = una máscara a partir de puntos necesita Segment Anything; elija un archivo .safetensors suyo o de MobileSAM
error-request-nothing-to-mask = nada muestra de qué es la máscara; indique un punto en su interior o un recuadro a su alrededor
error-request-mask-point-outside = el punto { $x },{ $y } no está en la imagen, que tiene { $width }×{ $height } píxeles
error-request-mask-box = el recuadro { $left },{ $top },{ $right },{ $bottom } no es un recuadro de la imagen, que tiene { $width }×{ $height } píxeles; indique izquierda, arriba, derecha y abajo
error-checkpoint-language-model = { $path } no puede escribir prompts: { $reason }
error-checkpoint-image-describer = { $path } no puede describir imágenes: { $reason }
error-checkpoint-something-else = { $reason }, sino otra cosa: { $what }
error-checkpoint-no-upscaler = no es un upscaler
error-checkpoint-no-network = no es una red { $network }
error-checkpoint-no-segformer = no es una red SegFormer que reconozca segmentos
error-checkpoint-no-rife = no es un RIFE 4
error-checkpoint-no-language-model = no es un modelo de lenguaje Qwen3, Qwen2.5-VL o Qwen3-VL
error-checkpoint-no-control-net = no es un ControlNet
error-checkpoint-no-t2i-adapter = no es un T2I-Adapter
error-checkpoint-no-ip-adapter = no es un IP-Adapter: no tiene claves ni valores de imágenes
error-checkpoint-no-ip-adapter-alone = no es un IP-Adapter
error-pipeline-nothing-written = el modelo de lenguaje no escribió nada en { $tokens } tokens
error-request-nothing-to-enhance = no hay prompt que mejorar; escriba unas palabras
error-request-nothing-to-describe = no hay ninguna imagen que describir; indique una o varias
error-request-sees-no-images = el modelo de lenguaje no tiene codificador visual y no ve imágenes
error-request-seen-pixels = no se pueden describir imágenes de { $pixels } píxeles; use de { $least } a { $most }
error-request-too-narrow = una imagen de { $width }×{ $height } píxeles es demasiado estrecha para describirla; recórtela para que un lado sea como mucho 200 veces el otro
error-request-no-instruction = el modelo de lenguaje no tiene instrucción; omítala para usar la habitual
error-request-temperature = la temperatura { $value } no está entre 0 y 2
error-request-top-p = top-p { $value } no es mayor que 0 y como máximo 1
error-request-longest-prompt = un prompt de { $tokens } tokens no es posible; use de 1 a { $most }
error-request-keyframe-at-start = el fotograma 0 es el inicio del clip; indique su imagen como imagen inicial
error-request-keyframe-outside = el fotograma { $frame } no está en el clip; su último fotograma es el { $last }
error-adapters-for-another = para otro modelo
error-request-one-reference = una imagen de referencia
error-request-at-most-references = { $most } imágenes de referencia como máximo
error-request-1-reference = 1 imagen de referencia
error-request-references = { $count } imágenes de referencia
error-checkpoint-task-clips = genera clips a partir de imágenes
error-checkpoint-task-layers = genera imágenes por capas
error-grid-add-lora = añada uno primero
error-source-mask-small = su zona blanca es más pequeña que un latente
error-source-mask-none = no tiene zona blanca
error-downloads-token-refused = , y el token no se acepta

error-checkpoint-detector = { $path } no puede detectar caras ni otras cosas: { $reason }
error-request-no-detector = un detailer no tiene detector; elija un archivo .safetensors de YOLOv8, como face_yolov8n
error-request-no-detailer = nada indica qué buscar en la imagen; indique un detailer
error-request-too-many-detailers = se han indicado { $value } detailers; use como máximo { $most }
error-request-detailer-confidence = la confianza { $value } no es válida; use un valor entre 0 y 1, como 0.3
error-request-detailer-boxes = no se pueden repintar { $value } recuadros de una imagen; use de 1 a { $most }
error-request-detailer-growth = ampliar { $value } píxeles lo detectado es demasiado; use { $most } o menos
error-request-detailer-of-clip = los detailers son solo para imágenes; quítelos o genere una imagen
error-request-no-detailing = este modelo no hace inpainting, así que no admite detailers; quítelos
error-request-detailer-adapter = el prompt de un detailer nombra el LoRA { $value }, que la imagen no tiene; nómbrelo en el prompt de la imagen
error-request-not-for-details = los detalles de una imagen que ya existe se repintan sin { $value }; omítalo
error-request-details-regions = regiones
error-request-details-hires = hires fix
error-request-details-refiner = refiner
error-request-details-batch = lote
error-request-details-variation = semilla de la variación
error-request-only-detects = un detector solo detecta; elíjalo para un detailer de otro modelo

error-request-too-many-regions = se dan { $value } regiones; use { $most } como máximo
error-request-region-without-prompt = la región { $value } no tiene prompt; describa lo que hay en ella o quítela
error-request-region-area = el área { $value } de una región no está dentro de la imagen; use izquierda, arriba, ancho y alto entre 0 y 1, como 0,0,0.5,1
error-request-region-weight = el peso { $value } de una región no es válido; use un valor mayor que 0 y de { $most } como máximo
error-request-region-base = { $value } no es una parte que el prompt pueda tener dentro de las regiones; use de 0 a 1
error-request-region-fade = las regiones no pueden fundirse en { $value } de la imagen; use de 0 a { $most }
error-request-regions-of-part = no se pueden usar regiones cuando solo se genera la parte enmascarada; desactive una de las dos cosas
error-request-region-adapter = el prompt de una región nombra el LoRA { $value }, que la imagen no tiene; nómbrelo en el prompt de la imagen
error-source-empty-region = no hay nada de la imagen en la región { $area }
error-request-no-area = se esperan izquierda, arriba, ancho y alto entre 0 y 1, como 0,0,0.5,1, o el archivo de una máscara

## El motor para GPU NVIDIA, al instalarse

error-cuda-platform = el motor para GPU NVIDIA solo puede instalarse en Linux sobre x86-64
error-cuda-no-folder = este usuario no tiene carpeta de datos
error-cuda-no-releases = este programa no sabe dónde están sus versiones
error-cuda-not-released = no hay ningún motor para Sluice { $version } en { $host }
error-cuda-no-index = falta la lista de motores { $path }
error-cuda-index = no se entiende la lista de motores { $name }: { $reason }
error-cuda-path = un archivo comprimido tiene un nombre que es una ruta
error-cuda-no-name = una biblioteca no tiene nombre
error-cuda-not-listed = { $name } no está en la lista de motores
error-cuda-unknown-capability = no se conoce la capacidad de cómputo de la GPU NVIDIA
error-cuda-too-old = la GPU tiene la capacidad de cómputo { $found }; el motor necesita { $least }
error-cuda-damaged = { $name } está dañado: { $reason }
error-cuda-outside = { $inside } en { $name } lleva fuera de su carpeta
error-cuda-start = el motor para GPU NVIDIA no se inicia: { $reason }
error-cuda-version = el motor es de la versión { $found }, y este programa de la versión { $own }
error-cuda-larger = es más grande de lo anunciado
error-cuda-without-engine = no tiene ningún motor
error-cuda-neither = contiene algo que no es ni un archivo ni una carpeta
error-cuda-no-answer = no responde
