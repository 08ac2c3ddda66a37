### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet ({ $count })
control-nets-tip = Guía la imagen por los bordes, la profundidad o la pose de otra.
control-nets-add = Añadir ControlNet…
control-nets-add-tip = Elige un ControlNet para este modelo.
control-nets-library = En la biblioteca
control-nets-library-tip = Los ControlNets encontrados en tus carpetas de modelos.
control-nets-library-spoken = ControlNets en la biblioteca
control-nets-remove = Quitar { $name }
control-nets-image = Imagen…
control-nets-image-tip = Elige la imagen que sigue el ControlNet.
control-nets-image-remove = Quitar la imagen del ControlNet
control-nets-map = Lo que ve el ControlNet
control-nets-preprocessor = Preprocesador
control-nets-preprocessor-tip = Lo que primero se saca de la imagen. Ninguno si ya es un mapa.
control-nets-preprocessor-none = Ninguno
control-nets-preprocessor-canny = Bordes de Canny
control-nets-preprocessor-invert = Invertir
control-nets-weight = Peso
control-nets-weight-tip = Cuánto cuenta el ControlNet. 1 es como se entrenó.
control-nets-start = Inicio
control-nets-start-tip = La fracción de los pasos antes de la cual el ControlNet no actúa.
control-nets-end = Fin
control-nets-end-tip = La fracción de los pasos tras la cual el ControlNet no actúa.
control-nets-without = No usar el ControlNet { $name }
