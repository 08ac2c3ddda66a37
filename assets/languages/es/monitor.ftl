### La memoria que usa una ejecución: cronología, capas, pasos.

monitor-empty = La cronología muestra la memoria usada mientras se genera una imagen.
monitor-title = Memoria
monitor-title-unit = Memoria ({ $unit })
monitor-last-run = última ejecución
monitor-this-run = esta ejecución
monitor-close = Cerrar la cronología
monitor-resume = Reanudar
monitor-pause = Pausa
monitor-pause-tip = Congela la cronología; la ejecución continúa.
monitor-whole = Toda la ejecución
monitor-whole-tip = Vuelve a mostrar toda la ejecución. O haga doble clic en la cronología.
monitor-weights = pesos
monitor-activations = activaciones
monitor-others = otros
monitor-free = libre
monitor-predicted = previsto
monitor-allowed = permitido

## Pasos

monitor-steps = Pasos
monitor-step-took = { $time } en total
monitor-step-computing = { $time } de cálculo
monitor-step-waiting = { $time } esperando pesos
monitor-step-copied = { $memory } copiados
monitor-step-skipped = Omitido por la caché de pasos
monitor-steps-none = Pasos, ninguno terminado
monitor-steps-summary = Pasos, { $count } terminados, { $time } de media, { $share } esperando

## La cronología

monitor-vram = VRAM a lo largo del tiempo, pico medido de { $memory }
monitor-ram = RAM a lo largo del tiempo, pico de { $memory }
monitor-run-ram = RAM de la ejecución a lo largo del tiempo, pico medido de { $memory }
monitor-process-ram = RAM de Sluice a lo largo del tiempo, pico de { $memory }
monitor-sample-host = Pesos en RAM { $memory }
monitor-sample-host-pinned = Pesos en RAM { $memory } ({ $pinned } fijados)
monitor-sample-weights = Pesos { $memory }
monitor-sample-activations = Activaciones { $memory }
monitor-sample-others = Otros programas { $memory }
monitor-sample-free = Libre { $memory }
monitor-sample-process = Sluice en RAM { $memory }

## Capas

monitor-layers = Capas
monitor-layers-none = Capas, ninguna conocida
monitor-layers-summary =
    { $part ->
        [text-encoder] Capas del codificador de texto, { $resident } residentes, { $streamed } en streaming
        [denoiser] Capas del denoiser, { $resident } residentes, { $streamed } en streaming
        [upscaler] Capas del upscaler, { $resident } residentes, { $streamed } en streaming
        [interpolator] Capas del interpolador, { $resident } residentes, { $streamed } en streaming
        [preprocessor] Capas del preprocesador, { $resident } residentes, { $streamed } en streaming
        [segmenter] Capas del modelo de segmentación, { $resident } residentes, { $streamed } en streaming
        [detector] Capas del detector, { $resident } residentes, { $streamed } en streaming
        [language-model] Capas del modelo de lenguaje, { $resident } residentes, { $streamed } en streaming
       *[autoencoder] Capas del autocodificador, { $resident } residentes, { $streamed } en streaming
    }
monitor-layers-now =
    { $part ->
        [text-encoder] Capas del codificador de texto, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [denoiser] Capas del denoiser, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [upscaler] Capas del upscaler, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [interpolator] Capas del interpolador, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [preprocessor] Capas del preprocesador, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [segmenter] Capas del modelo de segmentación, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [detector] Capas del detector, { $resident } residentes, { $streamed } en streaming, ahora { $block }
        [language-model] Capas del modelo de lenguaje, { $resident } residentes, { $streamed } en streaming, ahora { $block }
       *[autoencoder] Capas del autocodificador, { $resident } residentes, { $streamed } en streaming, ahora { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] Bloque { $number } del codificador de texto
        [denoiser] Bloque { $number } del denoiser
        [upscaler] Bloque { $number } del upscaler
        [interpolator] Bloque { $number } del interpolador
        [preprocessor] Bloque { $number } del preprocesador
        [segmenter] Bloque { $number } del modelo de segmentación
        [detector] Bloque { $number } del detector
        [language-model] Bloque { $number } del modelo de lenguaje
       *[autoencoder] Bloque { $number } del autocodificador
    }
monitor-block-resident = { $memory }, residente durante su fase
monitor-block-streamed = { $memory }, en streaming
monitor-block-leaves = { $memory }, en streaming tensor por tensor
monitor-now-resident = Ahora en el dispositivo
monitor-now-in-flight = Ahora cargándose o en una ranura
monitor-now-waiting = Ahora esperando pesos
monitor-now-computing = Ahora calculando
monitor-now-idle = Ahora fuera del dispositivo
monitor-not-used = Aún sin usar
monitor-from-disk = desde el disco
monitor-from-ram = desde la RAM
monitor-from-device = ya estaba
monitor-last-use = Último uso: { $from }
monitor-last-use-slot = Último uso: { $from }, ranura { $slot }
monitor-time-waiting = espera { $time }, de media { $mean }
monitor-time-loading = carga { $time }, de media { $mean }
monitor-time-computing = cálculo { $time }, de media { $mean }
monitor-time-evict = desalojo { $time }, de media { $mean }
