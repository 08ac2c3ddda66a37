### Un prompt mejor de un modelo de lenguaje.

enhance-open = Mejorar el prompt…
enhance-open-tip = Hacer que un modelo de lenguaje de este equipo escriba un prompt más largo.
enhance-close = Cerrar
enhance-model = Modelo de lenguaje
enhance-model-tip = Un archivo de Qwen3, en GGUF o safetensors, que escribe el prompt.
enhance-no-model = No se encontró ningún modelo de lenguaje. Elija un archivo .gguf o .safetensors de Qwen3, por ejemplo Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Escriba primero unas palabras como prompt
enhance-takes = Necesita hasta { $memory } de memoria y como máximo unos { $time }
enhance-writing = El modelo de lenguaje está escribiendo
enhance-stop = Detener
enhance-stop-tip = No escribir más.
enhance-keep = Usarlo
enhance-keep-tip = Ponerlo en lugar del prompt.
enhance-write = Escribir
enhance-write-tip = Escribir un prompt más largo.
enhance-again = Otra vez
enhance-again-tip = Escribir otro, con otra semilla.
enhance-instruction = Instrucción
enhance-instruction-tip = Lo que se le dice al modelo de lenguaje.
enhance-instruction-for = Para { $kind }
enhance-instruction-usual = Instrucción habitual
enhance-instruction-usual-tip = Volver a usar la instrucción que viene con Sluice.
enhance-kind-tags = modelos que leen etiquetas
enhance-kind-sentences = modelos que leen frases
enhance-kind-motion = modelos de clips
enhance-kept = El prompt se ha mejorado
enhance-describe-open = Describir la imagen…
enhance-describe-open-all = Describir las imágenes…
enhance-describe-open-tip = Hacer que un modelo de lenguaje de este equipo diga lo que se ve.
enhance-each-open = Describir cada una…
enhance-each-open-tip = Guardar un texto junto a cada imagen, como los leen los programas que entrenan LoRA.
enhance-each =
    { $count ->
        [one] Se describe 1 imagen y su texto se guarda junto a ella
       *[other] Se describen { $count } imágenes una a una, cada una en un texto junto a ella
    }
enhance-each-done =
    { $count ->
        [one] Se omite 1 imagen porque su texto ya existe
       *[other] Se omiten { $count } imágenes porque sus textos ya existen
    }
enhance-each-takes = Cada una necesita hasta { $memory } de memoria y como mucho unos { $time }
enhance-each-start = Describir cada una
enhance-each-start-tip = Poner en la cola un trabajo por imagen y guardar su texto junto a ella.
enhance-each-queued =
    { $count ->
        [one] Se está describiendo 1 imagen
       *[other] Se están describiendo { $count } imágenes
    }
enhance-each-described =
    { $count ->
        [one] 1 imagen está descrita. El texto está junto a ella.
       *[other] { $count } imágenes están descritas. Los textos están junto a ellas.
    }
enhance-describer-tip = Qwen2.5-VL o Qwen3-VL, que ve la imagen y dice lo que muestra.
enhance-no-describer = No se encontró ningún modelo de lenguaje que vea imágenes. Elija Qwen2.5-VL Instruct o Qwen3-VL Instruct en safetensors, o en GGUF con su archivo mmproj al lado.
enhance-describes = Descripción de { $names }
enhance-as = Describir como
enhance-as-tip = El tipo de palabras que escribe el modelo de lenguaje.
enhance-as-prompt = Prompt
enhance-as-tags = Etiquetas
enhance-as-short = Descripción corta
enhance-as-motion = Prompt para un clip
enhance-describe = Describir
enhance-describe-tip = Escribir lo que se ve.
enhance-use = Usar como prompt
enhance-append = Añadir
enhance-append-tip = Añadir esto al final del prompt.
enhance-copy = Copiar
enhance-copy-tip = Copiar estas palabras.
enhance-described = El prompt describe lo que se ve
