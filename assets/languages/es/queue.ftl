### La cola en la barra de arriba: lo que se ejecuta y lo que espera.

queue-title = Cola { $count }
queue-title-empty-paused = Cola · en pausa
queue-title-paused = Cola { $count } · en pausa
queue-nothing = No hay nada en la cola. «Generar» añade aquí imágenes y clips.
queue-tip = Tareas en curso o en espera.
queue-name = Cola
queue-resume = Reanudar
queue-resume-tip = Continúa donde se pausó la cola.
queue-pause = Pausa
queue-pause-tip = Para tras el paso actual y libera la memoria. Reanudar continúa desde ahí.
queue-cancel-all = Cancelar todo
queue-cancel-all-tip = Cancela lo que se ejecuta y lo que espera.
queue-resume-cancelled = Reanudar la cancelada
queue-resume-cancelled-tip = Continúa «{ $name }» donde se canceló.
queue-resume-cancelled-and-others-tip =
    { $others ->
        [one] Continúa «{ $name }» donde se canceló. Después se puede reanudar otro trabajo.
       *[other] Continúa «{ $name }» donde se canceló. Después se pueden reanudar otros { $others } trabajos.
    }
queue-no-prompt = Sin prompt
queue-images =
    { $count ->
        [one] { $count } imagen
       *[other] { $count } imágenes
    }
queue-clips =
    { $count ->
        [one] { $count } clip
       *[other] { $count } clips
    }
queue-size =
    { $count ->
        [one] { $size } · { $count } paso
       *[other] { $size } · { $count } pasos
    }
queue-ended = Terminada
queue-cancelling = Cancelando…
queue-waiting = En espera
queue-running = En curso
queue-actions = Acciones para la tarea { $job }
queue-cancel = Cancelar la tarea { $job }
queue-grid-ended = Cuadrícula · terminada
queue-grid-cancelling = Cuadrícula · cancelando…
queue-grid-done = Cuadrícula · { $done } de { $all }
queue-grid-tip = Las imágenes de una cuadrícula. Cuando están terminadas, se componen en una sola.
queue-grid-cancel = Cancelar la cuadrícula
queue-folder-ended = { $name } · terminada
queue-folder-cancelling = { $name } · cancelando…
queue-folder-done = { $name } · { $done } de { $all }
queue-folder-tip = Las imágenes de una carpeta.
queue-folder-cancel = Cancelar la carpeta
queue-files-done = { $done } de { $all }
queue-files-tip = Archivos que se pusieron juntos en la cola.
queue-files-cancel = Cancelar todos estos archivos
queue-run-next = Ejecutar a continuación
queue-run-next-tip = Ejecutarlo después del trabajo en curso.
queue-is-next = Ya es el siguiente.
queue-run-last = Ejecutar al final
queue-run-last-tip = Ejecutarlo después de todos los demás.
queue-is-last = Ya es el último.
queue-duplicate = Duplicar con otra semilla
queue-duplicate-tip = Añadir el mismo trabajo con una semilla aleatoria.
queue-edit = Editar
queue-edit-tip = Cambiar sus ajustes en el panel; conserva su lugar en la cola.
queue-upscale = Ampliar { $name }
queue-interpolate = Interpolar { $name }
queue-detail = Repintar detalles de { $name }
queue-depth = Mapa de profundidad de { $name }
queue-pose = Pose de { $name }
queue-segments = Segmentos de { $name }
queue-soft-edge = Bordes suaves de { $name }
queue-mask = Máscara de { $name }
queue-enhance = Mejorar el prompt
queue-describe = Describir { $names }
queue-describe-files = Describir { $count } imágenes
queue-repeat = Repetir
queue-repeat-tip = Cuando termina la cola, vuelve a generar su última imagen o su último clip con otra semilla, hasta que se cancele o se desactive.
queue-time-left = Unos { $time } en total
queue-time-left-tip = Hasta que termine la cola, según la previsión para los ajustes actuales.
