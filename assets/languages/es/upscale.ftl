### La pregunta antes de ampliar imágenes y clips.

upscale-title = Ampliar { $count } archivos
upscale-title-one = Ampliar { $name }
upscale-model = Upscaler
upscale-model-tip = La red que amplía.
upscale-open = Elegir un archivo…
upscale-open-tip = Usar un upscaler propio: un archivo .safetensors de ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR o RealPLKSR.
upscale-scale = Factor
upscale-start = Ampliar
upscale-start-tip = Se pone en la cola como otros trabajos.
upscale-cancel-tip = No amplía nada.
upscale-reading = Leyendo los archivos…
upscale-asking = Calculando lo que necesita…
upscale-more-refused = { $count } archivos más no se pueden ampliar
upscale-sizes = { $before } pasa a { $after }
upscale-takes = Tarda unos { $time } y necesita hasta { $memory } de memoria
upscale-takes-there = Tarda unos { $time } en esa GPU y necesita hasta { $memory } de memoria
upscale-beside = Los resultados quedan junto a los originales, con nombres nuevos
upscale-queued =
    { $count ->
        [one] Se amplía { $count } archivo
       *[other] Se amplían { $count } archivos
    }
upscale-built-in = Incluido, para dibujos
upscale-chosen = { $name } es un upscaler: «Ampliar…» lo usa a partir de ahora
upscale-scale-tip = El resultado es { $scale } de ancho y de alto.
upscale-folder = Elegir una carpeta…
upscale-folder-tip = Toma los archivos de una carpeta; sus resultados van a una carpeta del mismo nombre.
upscale-folder-empty = { $name } no contiene imágenes ni clips.
upscale-done =
    { $count ->
        [one] { $count } archivo ya está terminado y se omite
       *[other] { $count } archivos ya están terminados y se omiten
    }
upscale-again =
    { $count ->
        [one] Crearlo otra vez
       *[other] Crearlos otra vez
    }
upscale-again-tip = Los resultados existentes se quedan como están; los nuevos reciben otros nombres.
