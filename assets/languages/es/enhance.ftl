### Un prompt mejor de un modelo de lenguaje.

enhance-open = Mejorar el prompt…
enhance-open-tip = Hacer que un modelo de lenguaje de este equipo escriba un prompt más largo
enhance-close = Cerrar
enhance-model = Modelo de lenguaje
enhance-model-tip = Un archivo de Qwen3, en GGUF o safetensors, que escribe el prompt
enhance-no-model = No se encontró ningún modelo de lenguaje. Elija un archivo .gguf o .safetensors de Qwen3, por ejemplo Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Escriba primero unas palabras como prompt
enhance-takes = Necesita hasta { $memory } de memoria y como máximo unos { $time }
enhance-writing = El modelo de lenguaje está escribiendo
enhance-stop = Detener
enhance-stop-tip = No escribir más
enhance-keep = Usarlo
enhance-keep-tip = Ponerlo en lugar del prompt
enhance-write = Escribir
enhance-write-tip = Escribir un prompt más largo
enhance-again = Otra vez
enhance-again-tip = Escribir otro, con otra semilla
enhance-instruction = Instrucción
enhance-instruction-tip = Lo que se le dice al modelo de lenguaje
enhance-instruction-for = Para { $kind }
enhance-instruction-usual = Instrucción habitual
enhance-instruction-usual-tip = Volver a usar la instrucción que viene con Sluice
enhance-kind-tags = modelos que leen etiquetas
enhance-kind-sentences = modelos que leen frases
enhance-kind-motion = modelos de clips
enhance-kept = El prompt se ha mejorado
