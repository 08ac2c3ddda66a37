### La imagen del centro, sus barras y la lista de abajo.

## El centro de la ventana

viewer-live-preview = Vista previa en vivo
viewer-next-clip = Su clip es el siguiente
viewer-next-image = Su imagen es la siguiente
viewer-next-tip = Aparece aquí en cuanto empieza el motor.
viewer-describe-image = Describa su imagen a la izquierda y pulse Generar.
viewer-describe-image-or-example = Describa su imagen a la izquierda, o empiece con un ejemplo.
viewer-describe-clip = Describa su clip a la izquierda y pulse Generar.
viewer-describe-clip-or-example = Describa su clip a la izquierda, o empiece con un ejemplo.
viewer-what-to-create = ¿Qué desea crear?
viewer-model-loading = Cargando el modelo…
viewer-model-loading-tip = Tarda un momento.
viewer-model-missing-tip = Elija uno arriba, o abra uno de su disco.
viewer-model-missing = Ningún modelo cargado
viewer-model-open = Abrir un archivo de modelo…
viewer-replanned-dismiss = Cerrar el aviso del nuevo plan
viewer-replanned = La ejecución continúa con un nuevo plan
viewer-replanned-times =
    { $count ->
        [one] La ejecución continúa con un nuevo plan (cambiado { $count } vez)
       *[other] La ejecución continúa con un nuevo plan (cambiado { $count } veces)
    }
viewer-dismiss = Cerrar
viewer-dismiss-all = Cerrar todo ({ $count })
viewer-copy-message = Copiar el mensaje
viewer-more-failures = +{ $count } más
viewer-drop = Suelte una imagen para partir de ella o usar sus ajustes
viewer-drop-model = o un modelo o un LoRA para cargarlo
viewer-unfinished-question = Sluice se cerró mientras generaba. ¿Reanudar donde se detuvo?
viewer-unfinished-resume = Reanudar
viewer-unfinished-discard = Descartar
viewer-unfinished =
    { $count ->
        [one] { $count } imagen sin terminar
       *[other] { $count } imágenes sin terminar
    }
viewer-live-thumbnail = Vista previa en vivo, miniatura

## La barra debajo de la imagen

viewer-zoom-actual-tip = Muestra un píxel de la imagen por píxel de la pantalla. Doble clic en la imagen para alternar.
viewer-zoom-fit-tip = Muestra la imagen entera. La rueda amplía, arrastrar mueve.
viewer-zoom-fit = Ajustar
viewer-compare-tip = Compara con otra imagen, que se elige en la lista de abajo. Tecla: C.
viewer-compare = Comparar
viewer-compare-lacks-image = No hay otra imagen con la que comparar.
viewer-compare-lacks-clip = No hay otro clip con el que comparar.
viewer-compare-stop = Dejar de comparar
viewer-compare-stop-tip = Tecla: Esc
viewer-compare-swap = Intercambiar A y B
viewer-compare-side-by-side = Lado a lado
viewer-compare-side-by-side-tip = Muestra las imágenes una junto a otra en vez de con un separador.
viewer-compare-choose = Haga clic en una imagen de abajo para comparar
viewer-copy-frame = Copiar el fotograma
viewer-save-frame = Guardar el fotograma como PNG
viewer-use-frame = Usar el fotograma como imagen de entrada
viewer-use-frame-as-end = Usar el fotograma como imagen final
viewer-extend-tip = Continúa este clip desde el final del tramo reproducido.
viewer-extend = Prolongar
viewer-similar-tip = Cuatro imágenes como esta: la misma semilla, con un poco del ruido de otras semillas.
viewer-variations-tip = Cuatro imágenes con los mismos ajustes y otras semillas.
viewer-use-settings-tip = Carga el prompt, la semilla y todos los demás ajustes que crearon esta imagen.
viewer-actions = Acciones
viewer-actions-spoken = Acciones para la imagen
viewer-export-range = Exportar el tramo reproducido
viewer-export = Exportar
viewer-caption-frames =
    { $count ->
        [one] { $count } fotograma
       *[other] { $count } fotogramas
    }
viewer-caption-rate = { $rate } fps
viewer-caption-upscaled = ampliada × { $scale }
viewer-caption-upscaled-with = ampliada × { $scale } con { $upscaler }
viewer-caption-interpolated-with = fotogramas × { $factor } con { $model }
viewer-caption-seed = semilla { $seed }
viewer-caption-variation = variación { $seed }
viewer-caption-steps =
    { $count ->
        [one] { $count } paso
       *[other] { $count } pasos
    }
viewer-caption-guidance = guía { $guidance }
viewer-caption-took = en { $time }
viewer-divider = Separador
viewer-divider-tip = Arrastre para comparar, o use las teclas de flecha.

## Pintar una máscara

viewer-mask = Máscara sobre la imagen
viewer-brush = Pincel
viewer-brush-tip = Tamaño del pincel en píxeles de la imagen.
viewer-mask-rectangle = Rectángulo
viewer-mask-lasso = Lazo
viewer-mask-object = Objeto
viewer-mask-object-tip = Haga clic en él para añadirlo, haga clic con Alt en lo que no le pertenece o arrastre un recuadro a su alrededor.
viewer-mask-object-how = Haga clic en el objeto o arrastre un recuadro a su alrededor. Un clic con Alt deja algo fuera.
viewer-mask-object-made = Se está creando la máscara
viewer-mask-object-next = Objeto siguiente
viewer-mask-object-next-tip = Conserva lo marcado para hacer clic en otra cosa.
viewer-segmenter = Modelo de segmentación
viewer-segmenter-tip = Un archivo de Segment Anything o MobileSAM, que encuentra lo que va junto.
viewer-segmenter-chosen = A partir de ahora, { $name } encuentra los objetos.
viewer-segmenter-missing = Un modelo de segmentación encuentra los objetos. Elija un archivo .safetensors de Segment Anything o MobileSAM para hacer clic en lo que se debe marcar.
viewer-mask-object-none = No se encontró nada ahí. Haga clic en otra parte o arrastre un recuadro alrededor.
viewer-masked = { $name } con su máscara
viewer-mask-tool = Herramienta
viewer-mask-tool-tip = Pintar trazos, rectángulos o contornos, o hacer clic en lo que se quiere marcar.
viewer-brush-size = Tamaño del pincel
viewer-mask-grow =
    { $pixels ->
        [one] Ampliar 1 píxel
       *[other] Ampliar { $pixels } píxeles
    }
viewer-mask-shrink =
    { $pixels ->
        [one] Reducir 1 píxel
       *[other] Reducir { $pixels } píxeles
    }
viewer-mask-paint = Pintar
viewer-mask-paint-tip = Marca la zona que debe cambiar.
viewer-mask-erase = Borrar
viewer-mask-erase-tip = Desmarca partes de esa zona.
viewer-mask-undo-tip = Deshace el último trazo. Teclas: Ctrl+Z, y Ctrl+Mayús+Z o Ctrl+Y para rehacerlo.
viewer-mask-undo = Deshacer el trazo
viewer-mask-invert = Invertir
viewer-mask-clear = Vaciar
viewer-mask-apply = Aplicar la máscara
viewer-mask-discard-tip = Deja de pintar y conserva la máscara anterior.
viewer-mask-discard = Descartar
viewer-mask-ask = ¿Dejar de pintar?
viewer-mask-ask-hint = La máscara aún no está aplicada.
viewer-mask-go-on = Seguir pintando
viewer-mask-go-on-tip = Cierra esta pregunta. Tecla: Esc.

## Reproducir un clip

viewer-pause = Pausa
viewer-play = Reproducir
viewer-play-tip = Tecla: Espacio.
viewer-previous-frame = Fotograma anterior
viewer-previous-frame-tip = Tecla: ←.
viewer-next-frame = Fotograma siguiente
viewer-next-frame-tip = Tecla: →.
viewer-mute = Silenciar
viewer-mute-tip = Reproduce sin sonido. El sonido se oye a velocidad normal, hacia delante. Tecla: M.
viewer-boomerang = Bumerán
viewer-boomerang-tip = Reproduce alternando hacia delante y hacia atrás.
viewer-play-whole = Reproducir todo el clip
viewer-play-whole-tip = Quita el inicio y el final que usted fijó.
viewer-end-here = Terminar aquí
viewer-end-here-tip = Reproduce solo hasta este fotograma. Tecla: O.
viewer-start-here = Empezar aquí
viewer-start-here-tip = Reproduce solo desde este fotograma. Tecla: I.
viewer-speed = Velocidad
viewer-speed-tip = Velocidad de reproducción.
viewer-place-tip = Fotograma y tiempo.
viewer-range-start = Inicio del tramo
viewer-range-start-tip = Inicio del tramo, fotograma { $frame }
viewer-range-end = Final del tramo
viewer-range-end-tip = Final del tramo, fotograma { $frame }
viewer-frame = Fotograma
viewer-frame-at = Fotograma { $frame } · { $time }
viewer-use-frame-as-end-tip = El próximo clip termina con este fotograma.
viewer-use-frame-tip = Guarda este fotograma y empieza con él la próxima imagen o el próximo clip.
viewer-save-frame-tip = Guarda este fotograma en la carpeta de salida, con los ajustes.
viewer-copy-frame-tip = Copia los píxeles de este fotograma al portapapeles.
viewer-actions-tip = Lo que se puede hacer con esta imagen.
viewer-export-range-tip = Escribe el tramo reproducido en un archivo nuevo.
viewer-upscale = Ampliar…
viewer-upscale-tip = La amplía con un upscaler.
viewer-interpolate = Interpolar…
viewer-interpolate-tip = Hace su movimiento más fluido, con más fotogramas.
viewer-inpaint = Inpainting…
viewer-inpaint-tip = Usa esta imagen como imagen de entrada, para pintar sobre lo que debe cambiar.
viewer-save-as = Guardar como…
viewer-save-as-tip = Guarda una copia en PNG, JPEG o WebP, con los ajustes.
viewer-trash-tip = Elimina el archivo, con vuelta atrás. Tecla: Supr.
viewer-copy-message-tip = Copia al portapapeles el mensaje y lo que hay que hacer.
viewer-dismiss-all-tip = Oculta todos los mensajes.
viewer-dismiss-tip = Oculta este mensaje.
viewer-frame-tip = Arrastrar hasta un fotograma o avanzar con las flechas.
viewer-live-thumbnail-tip = Muestra lo que se está generando.
viewer-mask-apply-tip = Usa esta máscara para la imagen de entrada.
viewer-unfinished-discard-tip = Los descarta y compone las cuadrículas con lo que se dibujó.
viewer-unfinished-resume-tip = Los vuelve a poner en la cola tras su último paso terminado.
