### Los ajustes de la próxima imagen, a la izquierda.

## Números y más ajustes

side-panel-steps = Pasos
side-panel-steps-tip = Pasos de denoising: más tardan más y refinan la imagen, hasta cierto punto.
side-panel-guidance = Guía (CFG)
side-panel-guidance-tip = Con qué fidelidad sigue la imagen al prompt (escala CFG).
side-panel-batch-size = Tamaño del lote
side-panel-batch-size-tip = Imágenes que se generan juntas. Más necesitan más memoria.
side-panel-batch-as-grid = Lote como cuadrícula
side-panel-batch-as-grid-tip = Compone además las imágenes de un lote en una sola.
side-panel-more = Más ajustes
side-panel-sampler = Muestreador
side-panel-sampler-tip = El método que convierte el ruido en una imagen (sampler).
side-panel-schedule = Planificador
side-panel-schedule-tip = Cómo se reparten los niveles de ruido entre los pasos (scheduler).
side-panel-schedule-model = El del modelo
side-panel-precision = Precisión
side-panel-precision-tip = Formato de los números del cálculo. 16 bits necesitan menos memoria.
side-panel-precision-32-bit = 32 bits
side-panel-precision-16-bit = 16 bits ({ $format })
side-panel-precision-automatic-planned = Automática ({ $format })
side-panel-precision-automatic = Automática

## Prompts

side-panel-prompt = Prompt
side-panel-negative-prompt = Prompt negativo
side-panel-describe-clip = Describa su clip
side-panel-describe-image = Describa su imagen
side-panel-what-to-avoid = Lo que hay que evitar
side-panel-negative-unused = No se usa mientras la guía es 0.
side-panel-examples = Ejemplos
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }, { $chunks } segmentos
side-panel-tokens-spoken = { $prompt }, { $tokens } de { $room } tokens
side-panel-history = Historial
side-panel-history-tip = Los prompts que ya usó. ↑ en un campo vacío recupera el último.
side-panel-history-search = Buscar prompts
side-panel-history-nothing = Ningún prompt contiene esto.
side-panel-tag-images = { $count } imágenes

## Estilos

side-panel-styles = Estilos
side-panel-styles-tip = Partes con nombre que se añaden a los prompts, de archivos de A1111 y Fooocus.
side-panel-styles-search = Buscar estilos
side-panel-styles-nothing = Aún no hay estilos. styles.csv de A1111 y sdxl_styles de Fooocus se encuentran por encima de la carpeta del modelo; o abra un archivo.
side-panel-style-negative = Prompt negativo: { $prompt }
side-panel-styles-open = Abrir un archivo de estilos…
side-panel-styles-open-tip = CSV de A1111, o JSON de Fooocus.

## Fragmentos

side-panel-snippets = Fragmentos
side-panel-snippets-tip = Palabras que guarda para ponerlas en los prompts.
side-panel-snippets-nothing = Aún no hay fragmentos. Seleccione palabras en el prompt y guárdelas.
side-panel-snippet-delete = Eliminar el fragmento { $words }
side-panel-snippet-use = Pone { $words } en el cursor.
side-panel-snippet-keep-selected = Guardar las palabras seleccionadas
side-panel-snippet-keep-prompt = Guardar el prompt
side-panel-snippet-keep-tip = Añade las palabras a los fragmentos.
side-panel-snippet-undo-tip = Guarda el fragmento de nuevo.
side-panel-negative-snippets = Preajustes negativos
side-panel-negative-snippets-tip = Palabras que guarda para volver a evitar lo mismo.
side-panel-negative-snippets-nothing = Aún no hay preajustes negativos. Escriba qué hay que evitar y guárdelo.
side-panel-negative-snippet-delete = Eliminar el preajuste negativo { $words }
side-panel-negative-snippet-keep-prompt = Guardar el prompt negativo
side-panel-negative-snippet-keep-tip = Añade las palabras a los preajustes negativos.
side-panel-negative-snippet-undo-tip = Guarda el preajuste negativo de nuevo.

## Preajustes

side-panel-saved-settings = Ajustes guardados
side-panel-presets = Preajustes
side-panel-presets-tip = Conserva los ajustes con un nombre, para volver a usarlos.
side-panel-presets-nothing = Aún no se conserva nada. Los preajustes contienen todo menos el prompt, la semilla y las imágenes de entrada.
side-panel-reset = Restablecer los valores del modelo
side-panel-reset-tip = Todo menos los prompts, la semilla y las imágenes de entrada.
side-panel-preset-new-name = Nuevo nombre de { $name }
side-panel-rename = Renombrar
side-panel-preset-delete = Eliminar { $name }
side-panel-preset-rename = Renombrar { $name }
side-panel-preset-use = Usar estos ajustes: { $settings }
side-panel-preset-name = Nombre de un preajuste
side-panel-save = Guardar
side-panel-preset-with-model = Con el modelo
side-panel-preset-with-model-tip = El preajuste abre también este modelo.
side-panel-preset-name-tip = El nombre de su archivo en la carpeta de datos. Sustituye a un preajuste del mismo nombre.
side-panel-preset-save-tip = Lo conserva con este nombre.

## Tamaño

side-panel-size = Tamaño
side-panel-width = Ancho
side-panel-height = Alto
side-panel-swap-sides = Intercambiar ancho y alto
side-panel-round-size = Redondear el tamaño
side-panel-round-size-tip = Usa el tamaño más cercano que el modelo puede generar.
side-panel-size-larger = El modelo se entrenó para unos { $width } × { $height }. Las imágenes más grandes se repiten.
side-panel-size-smaller = El modelo se entrenó para unos { $width } × { $height }. A las imágenes más pequeñas les falta detalle.
side-panel-use-size = Usar { $width } × { $height }
side-panel-use-size-trained-tip = El tamaño más cercano para el que se entrenó el modelo.
side-panel-aspect-far = Los modelos están hechos para clips entre { $tallest } y { $widest }. Los demás suelen deformarse.
side-panel-aspect-far-image = El modelo está hecho para imágenes entre { $tallest } y { $widest }. Las más anchas y las más altas repiten cosas.
side-panel-clip-longer = El modelo está hecho para unos { $length }. Los clips más largos se repiten o se descomponen.
side-panel-use-length = Usar { $length }
side-panel-use-length-tip = La longitud para la que está hecho el modelo.
side-panel-side-tip = En píxeles, un múltiplo de { $multiple }.

## Clips

side-panel-kind-image = Imagen
side-panel-kind-video = Vídeo
side-panel-duration = Duración
side-panel-duration-tip = Longitud del clip. Escriba segundos, o un número de fotogramas como 33 fotogramas.
side-panel-duration-multiple-tip = Longitud del clip: 1 fotograma y un múltiplo de { $multiple } más. Escriba segundos o fotogramas.
side-panel-frame-rate = Velocidad de fotogramas
side-panel-frame-rate-tip = Fotogramas por segundo. Los mismos fotogramas van más deprisa o más despacio; los modelos siguen la velocidad para la que se entrenaron.
side-panel-windows = Generar por ventanas
side-panel-windows-tip = Genera un clip largo por ventanas de fotogramas que se solapan. Necesita la memoria de una ventana, y el modelo no ve a la vez más fotogramas de los que se usaron para entrenarlo.
side-panel-window = Ventana
side-panel-window-tip = Los fotogramas que se generan juntos.
side-panel-overlap = Solapamiento
side-panel-overlap-tip = Los fotogramas que una ventana comparte con la anterior. Más se funden mejor y tardan más.

## Entradas de los clips

side-panel-choose = Elegir…
side-panel-replace = Reemplazar…
side-panel-replace-tip = Elija otro archivo para este lugar.
side-panel-file-remove-tip = El archivo en sí queda donde está.
side-panel-start-image-tip = El clip empieza con esta imagen. También puede soltar una en la ventana, o pegarla.
side-panel-start-image = Imagen inicial
side-panel-start-image-remove = Quitar la imagen inicial
side-panel-end-image-tip = El clip termina con esta imagen.
side-panel-end-image = Imagen final
side-panel-end-image-remove = Quitar la imagen final
side-panel-input-clip-tip = Cambia un clip, o lo continúa. También puede soltar uno en la ventana.
side-panel-input-clip = Clip de entrada
side-panel-input-clip-remove = Quitar el clip de entrada
side-panel-clip-change = Cambiar
side-panel-clip-extend = Prolongar
side-panel-clip-continues = Continúa desde sus últimos { $frames } fotogramas.
side-panel-denoising-strength = Fuerza de denoising
side-panel-denoising-strength-clip-tip = Cuánto cambia el clip. 1 no conserva nada de él.
side-panel-range-tip = Se cuenta a la velocidad de fotogramas del resultado.
side-panel-first-frame = Primer fotograma
side-panel-last-frame = Último fotograma
side-panel-fit = Ajuste
side-panel-fit-clip-tip = Cómo se lleva la entrada al tamaño del clip.
side-panel-keyframes-tip = El clip muestra esta imagen en el fotograma que usted elija.
side-panel-keyframes = Fotogramas clave
side-panel-keyframe-remove = Quitar el fotograma clave { $name }
side-panel-frame = Fotograma
side-panel-frame-tip = El fotograma en que se muestra la imagen.
side-panel-control-clip-tip = Un clip de profundidades, poses o líneas que el resultado sigue, o uno en que una máscara muestra lo que cambia.
side-panel-control-clip = Clip de control
side-panel-control-clip-remove = Quitar el clip de control
side-panel-control = Control
side-panel-control-remove = Quitar el control
side-panel-control-strength = Fuerza del control
side-panel-control-strength-tip = Con qué fidelidad sigue el resultado al clip de control y a las referencias. 1 es como se entrenó.
side-panel-control-preprocessor-tip = Lo que primero se saca de cada fotograma. Ninguno si ya son mapas.
side-panel-control-start-tip = La fracción de los pasos antes de la cual el clip no actúa.
side-panel-control-end-tip = La fracción de los pasos después de la cual el clip ya no actúa.
side-panel-control-mask-tip = Lo blanco se genera, lo negro queda como en el clip de control. Un clip, o una imagen para todos los fotogramas.
side-panel-control-mask = Máscara de control
side-panel-control-mask-remove = Quitar la máscara de control

## Imagen a imagen

side-panel-dropped-dismiss = Descartar la imagen soltada
side-panel-dropped = { $name } contiene ajustes
side-panel-dropped-use-settings = Usar los ajustes
side-panel-dropped-use-clip = Usar como clip de entrada
side-panel-dropped-use-image = Usar como imagen de entrada
side-panel-image-to-image = Imagen a imagen
side-panel-input-image-tip = Parte de una imagen. También puede soltar una en la ventana, o pegarla.
side-panel-input-folder = Carpeta…
side-panel-input-folder-tip = Genera a partir de cada imagen de una carpeta, con estos ajustes. Los resultados llevan los nombres de las imágenes, y lo que ya está terminado se omite.
side-panel-reference-folder = Carpeta de imágenes de referencia…
side-panel-input-image-remove = Quitar la imagen de entrada
side-panel-denoising-strength-tip = Cuánto cambia la imagen de entrada. 1 no conserva nada de ella.
side-panel-fit-tip = Cómo se lleva la imagen de entrada al tamaño de la imagen nueva.
side-panel-mask = Máscara de inpainting
side-panel-mask-open = Abrir…
side-panel-mask-open-tip = Abre una imagen que es blanca donde debe cambiar la imagen de entrada.
side-panel-mask-paint = Pintar…
side-panel-mask-paint-tip = Pinta sobre la zona que debe cambiar.
side-panel-mask-remove = Quitar la máscara
side-panel-mask-keep = Conservar intacto lo no enmascarado
side-panel-mask-keep-tip = Copia de la imagen de entrada los píxeles de fuera de la máscara.
side-panel-mask-feather = Borde suave (px)
side-panel-mask-feather-tip = En qué anchura se funde el borde de la máscara con la imagen de entrada.
side-panel-reading = Leyendo…
side-panel-fit-crop = Recortar
side-panel-fit-stretch = Estirar
side-panel-fit-pad = Rellenar

## Imágenes de referencia

side-panel-references =
    { $most ->
        [one] Imagen de referencia
       *[other] Imágenes de referencia
    }
side-panel-reference-edits-tip = El prompt dice cómo cambia esta imagen. También puede soltar una en la ventana, o pegarla.
side-panel-reference-seen-tip = El resultado se le parece; cuánto, se ajusta abajo.
side-panel-reference-clip-tip = Algo que aparece en el clip.
side-panel-reference-add = Añadir…
side-panel-reference-remove = Quitar la referencia { $number }
side-panel-references-swap = Intercambiar las referencias { $first } y { $second }
side-panel-redux = Leída con { $name }
side-panel-redux-remove = Quitar Redux
side-panel-redux-add = Añadir Redux…
side-panel-redux-add-tip = Elige un modelo con el que las imágenes de referencia dicen cómo es el resultado.
side-panel-redux-strength = Fuerza de la referencia { $number }
side-panel-redux-strength-tip = Cuánto cuenta { $name } junto al prompt.

## Semilla

side-panel-seed = Semilla
side-panel-seed-tip = La misma semilla (seed) y los mismos ajustes vuelven a dar la misma imagen.
side-panel-seed-lock = Bloquear la semilla
side-panel-seed-randomize = Sortear otra semilla
side-panel-seed-locked = Semilla bloqueada
side-panel-seed-random = Semilla aleatoria cada vez
side-panel-variation-strength = Fuerza de la variación
side-panel-variation-strength-tip = Imágenes parecidas a la de la semilla: gira su ruido hacia el de una segunda semilla.
side-panel-variation-seed = Semilla de la variación
side-panel-variation-seed-tip = La segunda semilla. Las imágenes de un lote tienen esta y las siguientes.

## LoRA

side-panel-loras = LoRA
side-panel-loras-used = LoRA ({ $count })
side-panel-lora-add = Añadir un LoRA…
side-panel-lora-add-tip = Elija un archivo LoRA, o suelte uno en la ventana.
side-panel-lora-remove = Quitar { $name }
side-panel-lora-weight = Peso de { $name }
side-panel-lora-weight-tip = Cuánto actúa el LoRA. 1 es como se entrenó; por debajo de 0, lo contrario.
side-panel-lora-half = { $name } se usa con él.
side-panel-loras-near = Hallados junto al modelo
side-panel-loras-near-spoken = LoRA hallados junto al modelo

## En Más ajustes

side-panel-shift = Shift
side-panel-shift-tip = Dedica más pasos al ruido alto, donde se deciden la composición y el movimiento. El shift propio del modelo es { $own }.
side-panel-clip-skip = Clip skip
side-panel-clip-skip-tip = Toma el prompt de una capa anterior de CLIP. 1 es la última capa.
side-panel-clip-skip-without-effect = Clip skip no tiene efecto en { $family }.
side-panel-refiner = Refiner { $name }
side-panel-refiner-remove = Quitar el refiner
side-panel-refiner-switch = Paso al refiner
side-panel-refiner-switch-tip = El refiner toma el relevo tras esta fracción del denoising.
side-panel-refiner-add = Añadir un refiner…
side-panel-refiner-add-tip = Elige un segundo modelo que hace los últimos pasos y añade detalle.
side-panel-guidance-and-speed = Guía y velocidad
side-panel-guidance-rescale = Reescalado de la guía
side-panel-guidance-rescale-tip = Contrarresta los colores que una guía alta hace demasiado intensos.
side-panel-guidance-start = Inicio de la guía
side-panel-guidance-start-tip = La guía empieza tras esta fracción de los pasos.
side-panel-guidance-end = Fin de la guía
side-panel-guidance-end-tip = La guía termina tras esta fracción de los pasos.
side-panel-guidance-interval-hint = Fracción de los pasos. Los pasos sin guía cuestan la mitad.
side-panel-true-cfg = CFG verdadero
side-panel-true-cfg-tip = Por encima de 1, modelos como FLUX.1 usan el prompt negativo. Cada paso tarda el doble.
side-panel-true-cfg-hint = Para el prompt negativo en modelos como FLUX.1. Duplica el tiempo.
side-panel-step-cache = Caché de pasos
side-panel-step-cache-tip = Cuánto puede cambiar un paso y aun así omitirse. 0 no omite ninguno.
side-panel-step-cache-hint = Omite pasos parecidos: más rápido, pero la imagen cambia un poco.

## Lo que cambia la próxima imagen, encima de Generar

side-panel-without-input-image = No usar la imagen de entrada
side-panel-in-force-mask = Máscara
side-panel-without-mask = No usar la máscara
side-panel-in-force-end-image = Final: { $name }
side-panel-without-end-image = No usar la imagen final
side-panel-in-force-keyframe = Fotograma { $frame }: { $name }
side-panel-without-keyframe = No usar el fotograma clave { $name }
side-panel-without-input-clip = No usar el clip de entrada
side-panel-in-force-reference = Referencia: { $name }
side-panel-without-reference = No usar la referencia { $name }
side-panel-in-force-control = Control: { $name }
side-panel-in-force-control-strength = Fuerza del control { $strength }
side-panel-without-control = No usar lo que controla el clip
side-panel-in-force-redux = Redux: { $name }
side-panel-without-redux = No usar Redux
side-panel-in-force-refiner = Refiner: { $name }
side-panel-without-refiner = No usar el refiner
side-panel-in-force-seed = Semilla { $seed }
side-panel-without-seed = No volver a usar la misma semilla
side-panel-in-force-style = Estilo: { $name }
side-panel-chip-show = Mostrar en los ajustes
side-panel-chip-show-tip = Abre la sección donde se ajusta.
side-panel-chip-copy-tip = Lo copia como texto.
side-panel-chip-copy-seed = Copiar la semilla
side-panel-chip-copy-style = Copiar su prompt
side-panel-chip-copy-name = Copiar para prompts
side-panel-chip-off = Desactivar
side-panel-chip-off-tip = Sigue en la lista sin usarse.
side-panel-chip-remove-tip = Seguir sin esto.
side-panel-chip-remove-all = Quitar todo esto
side-panel-chip-remove-all-tip = Seguir sin nada de lo que figura aquí; Deshacer lo devuelve.
side-panel-kept-use = Usar
side-panel-kept-rename = Cambiar el nombre…
side-panel-kept-duplicate = Duplicar
side-panel-kept-delete = Eliminar
side-panel-kept-use-tip = Lo usa o deja de usarlo.
side-panel-kept-rename-tip = Le da otro nombre.
side-panel-kept-duplicate-tip = Guarda una copia con otro nombre.
side-panel-kept-delete-tip = Lo elimina; Deshacer lo devuelve.
side-panel-style-new-name = Nuevo nombre de { $name }
side-panel-style-new-name-tip = Entrar cambia el nombre del estilo.
side-panel-without-style = No usar el estilo { $name }
side-panel-in-force-variation = Variación { $strength }
side-panel-without-variation = No usar la variación
side-panel-without-lora = No usar el LoRA { $name }

## Generar y lo que requiere

side-panel-notice-dismiss = Cerrar el aviso
side-panel-undo = Deshacer
side-panel-undo-tip = Vuelve a los ajustes anteriores.
side-panel-prompt-undo-tip = Recupera el prompt anterior.
side-panel-edit-undo-tip = Devuelve la tarea a la cola y restaura los ajustes de antes.
side-panel-resume = Reanudar
side-panel-resume-tip = Continúa donde se canceló.
side-panel-generate = Generar
side-panel-grid = Cuadrícula…
side-panel-grid-tip = Cuadrícula: varía hasta tres ajustes y compone las imágenes en una sola.
side-panel-engine-stopped = El motor se ha detenido. Reinicie Sluice.
side-panel-model-loading = Cargando el modelo…
side-panel-model-missing = Elija primero un modelo.
side-panel-cancelling = Cancelando…
side-panel-planning = Planificando…
side-panel-fits = Cabe · { $memory } · { $time }
side-panel-fits-about = Cabe · { $memory } · unos { $time }
side-panel-fits-up-to = Cabe · { $memory } · hasta { $time }
side-panel-fits-about-there = Cabe · { $memory } · unos { $time } en esa GPU
side-panel-fits-up-to-there = Cabe · { $memory } · hasta { $time } en esa GPU
side-panel-fits-spoken = Previsión, cabe, { $memory }, { $time }
side-panel-fits-about-spoken = Previsión, cabe, { $memory }, unos { $time }
side-panel-fits-up-to-spoken = Previsión, cabe, { $memory }, hasta { $time }
side-panel-fits-simulated = Simulado: aquí, en la CPU, tarda más.
side-panel-fits-simulated-about = Simulado: unos { $time } aquí, en la CPU.
side-panel-accuracy-tip = Cuánto se desviaron las previsiones anteriores para este modelo, en esta precisión y en este dispositivo: el pico de memoria y los segundos de un paso. Cada ejecución mejora la siguiente previsión.
side-panel-needs-limit = Necesita { $needed }, su límite es { $allowed }
side-panel-needs = Necesita { $needed }, { $allowed } permitidos
side-panel-needs-ram-limit = Necesita { $needed } de RAM, su límite es { $allowed }
side-panel-needs-ram = Necesita { $needed } de RAM, { $allowed } permitidos
side-panel-needs-spoken = Previsión, no cabe, { $reason }
side-panel-remove-limit = Quitar mi límite
side-panel-use-recommended = Usar los ajustes recomendados
side-panel-use-way = Usar { $way }
side-panel-use-tiles = Decodificar por teselas
side-panel-use-8-bit = Pesos en 8 bits
side-panel-use-4-bit = Pesos en 4 bits
side-panel-use-size-smaller-tip = Genera una imagen más pequeña.
side-panel-use-fewer-frames-tip = Genera un clip más corto.
side-panel-accuracy =
    { $count ->
        [one] Desvío máximo de { $memory } en memoria, { $time } en tiempo en { $count } ejecución
       *[other] Desvío máximo de { $memory } en memoria, { $time } en tiempo en { $count } ejecuciones
    }
side-panel-accuracy-of-memory =
    { $count ->
        [one] Desvío máximo de { $memory } en memoria en { $count } ejecución
       *[other] Desvío máximo de { $memory } en memoria en { $count } ejecuciones
    }
side-panel-preset-undo-tip = Devuelve el preajuste a la lista.
side-panel-clip-change-tip = Genera el clip de nuevo siguiendo sus fotogramas.
side-panel-clip-extend-tip = Continúa tras el último fotograma del clip.
side-panel-example-tip = Escribe esto en el prompt.
side-panel-examples-tip = Muestra prompts adecuados para este modelo.
side-panel-generate-tip = Pone en la cola una imagen o un clip con estos ajustes.
side-panel-cancel-tip = Cancela lo que se ejecuta; se puede reanudar. Tecla: Esc.
side-panel-cancel-idle-tip = No se ejecuta nada.
side-panel-guidance-and-speed-tip = Muestra lo que afina la guía o ahorra pasos.
side-panel-history-search-tip = Encuentra los prompts que contienen estas palabras.
side-panel-kind-image-tip = Usa el último modelo de imágenes.
side-panel-kind-video-tip = Usa el último modelo de clips.
side-panel-loras-near-tip = Muestra los LoRA de las carpetas junto al modelo.
side-panel-loras-tip = Muestra los LoRA que cambian lo que dibuja el modelo.
side-panel-more-tip = Muestra muestreador, planificador, precisión y más.
side-panel-negative-prompt-tip = Dice qué hay que evitar.
side-panel-prompt-tip = Describir lo que hay que generar; Ctrl+↑ y Ctrl+↓ ponderan las palabras.
side-panel-remove-limit-tip = Permite a Sluice usar toda la memoria libre.
side-panel-styles-search-tip = Encuentra estilos por su nombre.
side-panel-mask-only = Solo lo enmascarado
side-panel-mask-only-tip = Genera solo la zona enmascarada a tamaño completo y la devuelve a la imagen de entrada, que conserva su tamaño.
side-panel-mask-padding = Margen alrededor de la máscara (px)
side-panel-mask-padding-tip = Cuántos píxeles alrededor de la zona enmascarada ve el modelo.
side-panel-accuracy-time-varies =
    { $count ->
        [one] Error máximo del { $memory } en memoria en { $count } ejecución; el tiempo varió mucho
       *[other] Error máximo del { $memory } en memoria en { $count } ejecuciones; los tiempos variaron mucho
    }
side-panel-negative-unread = El modelo no lo lee con estos ajustes.

## Outpainting

side-panel-outpaint = Outpainting
side-panel-outpaint-tip = Añade píxeles alrededor de la imagen y los genera. Arrastre los bordes del marco.
side-panel-outpaint-left = Izquierda
side-panel-outpaint-top = Arriba
side-panel-outpaint-right = Derecha
side-panel-outpaint-bottom = Abajo
side-panel-outpaint-feather = Difuminado del outpainting (px)
side-panel-outpaint-feather-tip = Hasta dónde se funde la imagen con lo añadido.
side-panel-outpaint-frame = Marco alrededor de la imagen de entrada
side-panel-outpaint-edge = Borde del marco: { $edge }
side-panel-outpaint-edge-tip = Arrástrelo hacia fuera para añadir píxeles.
side-panel-outpaint-side-tip = Cuántos píxeles de la imagen de entrada se añaden en este lado.
side-panel-without-outpaint = No hacer outpainting
side-panel-style-name = Nombre de un estilo nuevo
side-panel-style-name-tip = Los prompts se guardan con este nombre. Donde contienen {"{prompt}"}, el estilo rodea el prompt al que se aplica.
side-panel-style-save = Guardar estilo
side-panel-style-save-tip = Guarda el prompt y el prompt negativo como estilo, en lugar del que tenga este nombre.
side-panel-style-delete = Eliminar el estilo { $name }
side-panel-style-undo-tip = Vuelve a guardar el estilo.
side-panel-trash-undo-tip = Recupera el archivo de la papelera.
