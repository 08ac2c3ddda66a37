### Por qué un plan es como es.

## Frases

reason-all-streamed = Los { $used } bloques del { $role } { $how }, { $why }.
reason-one-stays = { $stay } de los { $used } bloques del { $role } se queda { $where } y los demás { $how }, { $why }.
reason-some-stay = { $stay } de los { $used } bloques del { $role } se quedan { $where } y los demás { $how }, { $why }.
reason-everything-stays = El modelo entero ({ $size }) cabe y se queda { $where }.
reason-parts-in-turn = Cada parte del modelo está { $where } solo mientras se usa, { $why }.
reason-part-in-use = El { $role } está { $where } solo mientras se usa, { $why }.
reason-parts-in-use = El { $roles } están { $where } solo mientras se usan, { $why }.
reason-decoded-in-tiles = La imagen se decodifica en teselas de hasta { $width }×{ $height } latentes.
reason-enlarged-in-tiles = La imagen se amplía en teselas de hasta { $width }×{ $height } píxeles.
reason-interpolated-in-tiles = Los fotogramas se interpolan en teselas de hasta { $width }×{ $height } píxeles.
reason-uses-per-step = Usa { $part } de { $whole }, { $time } por paso.
reason-uses = Usa { $part } de { $whole }, { $time }.
reason-weights-in-8-bits = Los pesos se tienen en 8 bits ({ $format }), lo que cambia un poco la imagen.
reason-text-in-8-bits = Los pesos de los codificadores de texto se tienen en 8 bits ({ $format }), lo que cambia un poco la imagen.
reason-offer-with-error = «{ $name }» usaría { $memory } y tardaría { $time } por paso, con un error de los pesos de { $error }.
reason-offer = «{ $name }» usaría { $memory } y tardaría { $time } por paso.

## Lo que no cabe

reason-does-not-fit = No cabe { $where }: { $what } necesita { $needed } en la fase de { $stage }, { $over } más que los { $allowed } permitidos.
reason-not-enough-ram = No hay RAM suficiente: cargar los pesos necesita { $needed } y se permiten { $allowed }.
reason-allow-or-smaller = { $allow }, o use una imagen o un lote más pequeños.
reason-allow-smaller-or-auto = { $allow }, use una imagen o un lote más pequeños, o elija el modo automático.
reason-smaller = Use una imagen o un lote más pequeños.
reason-smaller-or-auto = Use una imagen o un lote más pequeños, o elija el modo automático.
reason-allow-ram = Permita { $memory } más de RAM
reason-allow-vram = Permita al menos { $memory } de VRAM
reason-allow-memory = Permita al menos { $memory } de memoria
reason-what-everything = tenerlo todo en el dispositivo
reason-what-all-but-text = tener en el dispositivo todo menos el codificador de texto
reason-what-autoencoder = tener el autocodificador junto a la parte en uso
reason-what-largest = la parte más grande por sí sola
reason-what-smallest = incluso el reparto más pequeño

## Por qué no se quedan los pesos

reason-because-too-large = porque los { $size } no caben a la vez
reason-because-little-free = porque tener los { $size } dejaría poca memoria libre
reason-because-least-memory = porque se debe usar la menor memoria posible
reason-because-mode = porque el modo es «{ $mode }»

## Qué pasa con los pesos que no se quedan

reason-how-some-by-tensor = van en streaming, { $blocks } de ellos tensor por tensor
reason-how-by-tensor = se cargan tensor por tensor
reason-how-computation = van en streaming durante el cálculo
reason-how-link = van en streaming tan rápido como permite el bus de la GPU
reason-how-disk = van en streaming tan rápido como permite el disco

## Dónde están los pesos

reason-where-memory = en la memoria
reason-where-gpu = en la GPU
reason-where-into-memory = en la memoria

## Partes de un modelo

reason-role-text-encoder = codificador de texto
reason-role-denoiser = denoiser
reason-role-autoencoder = autocodificador
reason-role-upscaler = upscaler
reason-role-frame-interpolator = interpolador
reason-role-preprocessor = preprocesador
reason-role-segmenter = modelo de segmentación
reason-role-detector = detector
reason-role-language-model = modelo de lenguaje
reason-roles-text-and-denoiser = codificador de texto y el denoiser
reason-roles-text-and-autoencoder = codificador de texto y el autocodificador
reason-roles-denoiser-and-autoencoder = denoiser y el autocodificador

## Fases

reason-stage-encode = codificación
reason-stage-encode-image = codificación de la imagen
reason-stage-encode-control-image = codificación de la imagen de control
reason-stage-encode-image-prompt = codificación del prompt de imagen
reason-stage-encode-enlarged-image = codificación de la imagen ampliada
reason-stage-denoise = denoising
reason-stage-decode = decodificación
reason-stage-upscale = ampliación
reason-stage-interpolate = interpolación
reason-stage-make-maps = creación de mapas
reason-stage-detect = detección
reason-stage-write = escribir
reason-stage-high-noise = mucho ruido
reason-stage-low-noise = poco ruido
reason-stage-refine = refinado
reason-stage-denoise-again = otra vez denoising
reason-stage-prior = prior
reason-stage-decoder = decodificador

## Mapas

reason-maps-depth = mapas de profundidad
reason-maps-pose = poses
reason-maps-segments = segmentos
reason-maps-soft-edge = bordes suaves

## Cambios del plan durante una ejecución

reason-ran-out = Se agotó la memoria ({ $needed } necesarios, { $allowed } permitidos). Ahora: { $changes }
reason-now-fewer-stay = { $stay } en vez de { $stayed } bloques del { $role } se quedan en el dispositivo
reason-now-fewer-stay-more = { $stay } en vez de { $stayed } bloques del { $role } se quedan en el dispositivo, { $more }
reason-now-enlarged = la imagen se amplía en teselas de { $width }×{ $height } píxeles
reason-now-enlarged-more = la imagen se amplía en teselas de { $width }×{ $height } píxeles, { $more }
reason-now-interpolated = los fotogramas se interpolan en teselas de { $width }×{ $height } píxeles
reason-now-interpolated-more = los fotogramas se interpolan en teselas de { $width }×{ $height } píxeles, { $more }
reason-now-decoded = la imagen se decodifica en teselas de { $width }×{ $height } latentes
reason-now-decoded-more = la imagen se decodifica en teselas de { $width }×{ $height } latentes, { $more }
reason-now-windows = las ventanas del clip se calculan una tras otra
reason-now-windows-more = las ventanas del clip se calculan una tras otra, { $more }
reason-now-fewer-slots = los bloques van en streaming por { $slots } ranuras en vez de { $before }
reason-now-fewer-slots-more = los bloques van en streaming por { $slots } ranuras en vez de { $before }, { $more }
reason-now-smaller-pieces = los pesos se cargan en trozos más pequeños
reason-timings-one = Los tiempos del primer paso cambiaron el lugar de 1 bloque
reason-timings = Los tiempos del primer paso cambiaron el lugar de { $blocks } bloques
reason-driver-moved = El controlador movió { $memory } de la memoria de la GPU a la RAM, lo que ralentiza cada paso. Ponga «CUDA - Sysmem Fallback Policy» en «Prefer No Sysmem Fallback» en el Panel de control de NVIDIA, o permita menos VRAM
reason-slow-link = Este equipo copia { $measured } y el enlace simulado { $simulated }: los pasos que lo esperan tardan más que en la GPU
