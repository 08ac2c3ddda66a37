### Detailers: lo que se detecta en una imagen y se repinta.

detailers-title = Detailers
detailers-title-tip = Caras, manos o personas que se repintan una a una, a resolución completa.
detailers-title-used = Detailers ({ $count })
detailers-add = Añadir detector…
detailers-add-tip = Un archivo .safetensors de YOLOv8, como face_yolov8n.
detailers-library = De la biblioteca
detailers-library-tip = Los detectores de sus carpetas.
detailers-library-spoken = Detectores de la biblioteca
detailers-missing = No se encontró ningún detector en sus carpetas de modelos. Elija un archivo .safetensors de YOLOv8, como face_yolov8n, por ejemplo de Hugging Face.
detailers-remove = Quitar el detailer { $name }
detailers-strength = Fuerza
detailers-strength-tip = Cuánto cambia un recuadro.
detailers-confidence = Confianza
detailers-confidence-tip = Cuán seguro debe estar el detector: los valores menores detectan más.
detailers-prompt = Prompt de los recuadros
detailers-prompt-tip = Describe lo que hay en los recuadros. Vacío, es el prompt de la imagen.
detailers-prompt-hint = El de la imagen
detailers-negative = Prompt negativo de los recuadros
detailers-negative-tip = Lo que se evita en los recuadros. Vacío, lo que evita la imagen.
detailers-more = Más de { $name }
detailers-without = No usar { $name }
detailers-more-tip = Orden, máscara y pasos.
detailers-most = Recuadros como máximo
detailers-most-tip = Cuántos recuadros de una imagen se repintan como máximo.
detailers-order = Orden
detailers-order-tip = Qué recuadros van primero, y cuentan si hay más.
detailers-order-largest = Primero los más grandes
detailers-order-surest = Primero los más seguros
detailers-order-left = De izquierda a derecha
detailers-order-middle = Primero el centro
detailers-grow = Ampliar máscara
detailers-grow-tip = Píxeles que crece lo detectado por cada lado.
detailers-blur = Desenfoque de máscara
detailers-blur-tip = Píxeles en los que un recuadro se funde con el resto.
detailers-padding = Margen
detailers-padding-tip = Píxeles alrededor de un recuadro que ve el modelo.
detailers-steps = Pasos propios
detailers-steps-tip = Pasos de cada recuadro, de los que la fuerza omite algunos. Si no, tantos como los de la imagen.
detailers-forecast = La previsión cuenta un recuadro por imagen.
detailers-chosen = { $name } es un detector: a partir de ahora lo usa un detailer
detailers-ask-open = Repintar detalles…
detailers-ask-open-all = Repintar detalles de las imágenes…
detailers-ask-open-tip = Detectar caras, manos o personas y repintar cada una.
detailers-ask-title = Repintar detalles de { $count } imágenes
detailers-ask-title-one = Repintar detalles de { $name }
detailers-ask-own = Usa { $names }, como se ajustó en Detailers
detailers-ask-detectors = Detectores
detailers-ask-detector-tip = Lo que detecta se repinta.
detailers-ask-choose = Elija primero un detector
detailers-ask-model = Abra primero un modelo para imágenes
detailers-ask-prompt-own = El prompt es el que está en la imagen
detailers-ask-prompt-panel = El prompt es el de los ajustes, porque la imagen no tiene ninguno
detailers-folder-empty = { $name } no contiene imágenes.
detailers-ask-clip = { $name } es un clip
detailers-ask-start = Repintar
detailers-ask-cancel-tip = Dejar las imágenes como están.
detailers-queued =
    { $count ->
        [one] Se repintan los detalles de 1 imagen
       *[other] Se repintan los detalles de { $count } imágenes
    }
detailers-found-nothing = El detector { $name } no ha encontrado nada
detailers-found-nothing-detail = Así que no hay nada que repintar. Con una confianza menor detecta más.
