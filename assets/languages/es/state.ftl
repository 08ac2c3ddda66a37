### Avisos, fallos y nombres de lo generado.

## Duraciones y nombres

state-still-image = Imagen fija
state-clip-length =
    { $duration }, { $count ->
        [one] { $count } fotograma
       *[other] { $count } fotogramas
    }
state-clip-of-seed = Clip con semilla { $seed }
state-image-of-seed = Imagen con semilla { $seed }
state-clip-of-number = Clip { $number }
state-image-of-number = Imagen { $number }

## El equipo

state-device = { $cpu }, { $ram } de RAM, sin GPU NVIDIA
state-device-without-name = Este equipo, { $ram } de RAM, sin GPU NVIDIA

## Cómo funciona un modelo

state-fit-well = Funciona bien · { $time }
state-fit-well-about = Funciona bien · unos { $time }
state-fit-streamed = Funciona en streaming · { $time }
state-fit-streamed-about = Funciona en streaming · unos { $time }
state-fit-slowly = Funciona despacio · { $time }
state-fit-slowly-about = Funciona despacio · unos { $time }
state-fit-very-slowly = Funciona muy despacio · { $time }
state-fit-very-slowly-about = Funciona muy despacio · unos { $time }
state-fit-too-big-ram = Muy grande, necesita { $needed } de RAM
state-fit-too-big = Muy grande, necesita { $needed }
state-fit-cannot = No funciona

## Avisos

state-lora-added = LoRA { $name } añadido
state-lora-made-for = { $name } está hecho para estos ajustes.
state-model-own-steps = Pasos y guía propios del modelo
state-queue-paused = La cola está en pausa
state-queue-paused-detail = Lo que se reanudó espera hasta que la cola continúe.
state-cancelled-at = El paso { $step } de { $steps } estaba terminado.
state-cancelled = Cancelado
state-jobs-cancelled =
    { $count ->
        [one] { $count } tarea cancelada
       *[other] { $count } tareas canceladas
    }

## Fallos

state-engine-stopped-message = No se puede generar nada hasta reiniciar Sluice.
state-engine-stopped-advice = Sus ajustes se conservan.
state-engine-stopped = El motor se ha detenido
state-not-saved = La imagen no se guardó en la carpeta de salida
state-engine-restarted = Motor reiniciado, se reanuda
state-image-goes-on = La imagen continúa después del paso { $step }.
state-clip-goes-on = El clip continúa después del paso { $step }.
state-generation-failed = La generación ha fallado
state-upscale-failed = La ampliación de { $name } ha fallado
state-interpolation-failed = La interpolación de { $name } ha fallado
state-detail-failed = No se pudieron repintar los detalles de { $name }
state-description-failed = La descripción de { $names } ha fallado
state-map-failed = El mapa de { $name } ha fallado
state-mask-failed = La máscara de { $name } ha fallado
state-enhance-failed = La mejora del prompt ha fallado
state-model-not-opened = No se pudo abrir este modelo
state-other-model-not-opened = No se pudo abrir { $name }
state-went-wrong = Algo salió mal
state-snippet-deleted = Fragmento eliminado: { $words }
state-negative-snippet-deleted = Preajuste negativo eliminado: { $words }
state-job-edited = Editando una tarea
state-job-goes-back = Generar la devuelve a su lugar, con estos ajustes.
state-style-deleted = Estilo { $name } eliminado
