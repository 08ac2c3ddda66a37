### La barra de abajo: la actividad actual y el hardware.

## Lo que ocurre

status-bar-cancelling = Cancelando…
status-bar-per-step = { $time } por paso
status-bar-engine-stopped = El motor se ha detenido
status-bar-paused = En pausa
status-bar-waiting = Esperando al motor…
status-bar-loading = Cargando el modelo…
status-bar-no-model = Ningún modelo cargado
status-bar-ready = Listo
status-bar-preparing = Preparando
status-bar-encoding-image = Codificando la imagen
status-bar-encoding-prompt = Codificando el prompt
status-bar-denoising = Denoising
status-bar-step = Paso { $step } de { $steps }
status-bar-decoding = Decodificando

## Los pesos, mientras se genera una imagen

status-bar-link = bus { $speed }
status-bar-stall = espera { $share }
status-bar-peak = pico { $memory }
status-bar-traffic-tip = La velocidad a la que los pesos llegan al dispositivo, la parte del tiempo que los espera, y el máximo de su memoria que usó la ejecución.

## Hardware

status-bar-cpu-tip = { $name }, { $threads } hilos.
status-bar-ram-tip = Sluice usa { $memory }
status-bar-ram-tip-limited = Sluice usa { $memory }; limitado a { $limit } por { $cause }
status-bar-gpu-tip = { $name }, ocupada al { $load }
status-bar-gpu-tip-degrees = { $name }, ocupada al { $load }, { $degrees } °C
status-bar-no-gpu = Sin GPU NVIDIA
status-bar-no-gpu-tip = La CPU calcula las imágenes. Las GPU de AMD, Intel y Apple todavía no sirven para calcular. Hoy ya se puede usar un motor en otro equipo con GPU NVIDIA: Ajustes, Motor.
status-bar-no-gpu-elsewhere-tip = La CPU del otro equipo calcula las imágenes.
status-bar-upscaling = Ampliando
status-bar-interpolating = Interpolando fotogramas
status-bar-preprocessing = Creando mapas
status-bar-detecting = Buscando detalles
status-bar-writing = Escribiendo
status-bar-tile = Tesela { $tile } de { $tiles }
status-bar-frame = Fotograma { $frame } de { $frames }
