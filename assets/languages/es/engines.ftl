### Motores: la lista de los ajustes y lo que hacen varios de ellos.

## La lista

engines-here = Este equipo
engines-here-tip = Genera en este equipo, en su tarjeta NVIDIA si la tiene.
engines-here-alone-tip = Ningún otro motor está activado.
engines-card = { $name } (GPU { $number })
engines-card-tip = Esta tarjeta de este equipo recibe trabajos propios.
engines-use = Usar el motor { $number }
engines-use-tip = Le da trabajos.
engines-name = Nombre del motor { $number }
engines-name-tip = Cómo se llama este motor en la ventana.
engines-name-hint = Nombre
engines-command = Comando del motor { $number }
engines-command-tip = Lleva al equipo que calcula. Ninguna shell lo ejecuta. Las contraseñas y las claves no van aquí.
engines-empty = Escriba el comando que lleva al motor.
engines-quotes = Falta una comilla.
engines-remove = Quitar el motor { $number }
engines-add = Añadir un motor…
engines-add-tip = Añade un comando para empezar, en el que las mayúsculas están en lugar de sus nombres.
engines-container = Contenedor
engines-other-command = Otro comando
engines-hint = Cada trabajo va a un motor que está libre y tiene su modelo. Las imágenes se guardan en este equipo. Aquí no se guardan contraseñas ni claves.
engines-change-waits = Tiene efecto cuando termine la cola.

## Probar uno

engines-try = Probar
engines-try-tip = Inicia { $name } y pregunta por su versión, su dispositivo y su memoria.
engines-stop-trying = Detener
engines-stop-trying-tip = Deja de esperar a { $name }.
engines-trying = Esperando una respuesta desde hace { $seconds } s…
engines-answers = Responde: { $words }
engines-there = En el equipo del motor: { $words }

## Lo que hacen

engines-title = Motores
engines-shown = Motor
engines-shown-tip = El motor cuya previsión, cuyo hardware y cuya línea de tiempo se muestran.
engines-show-tip = Muestra la previsión, el hardware y la línea de tiempo de este motor.
engines-begins = Empieza
engines-starts = Iniciando…
engines-restarts = Reiniciando…
engines-gone = No responde
engines-lacks-model = No tiene este modelo
engines-idle = Libre · { $engine }
engines-given-up = Motor que ya no se usa: { $name }
engines-restarted = Motor reiniciado, se reanuda: { $name }
engines-not-started = No se pudieron iniciar los motores

## Instalar el de las GPU NVIDIA

engines-cuda = Motor para GPU NVIDIA
engines-cuda-install = Instalar el motor para GPU NVIDIA…
engines-cuda-install-tip = Pregunta su tamaño a la página de versiones. Antes se muestra qué se descarga y de dónde.
engines-cuda-file = Elegir un archivo…
engines-cuda-install-file = Instalar el motor para GPU NVIDIA desde un archivo…
engines-cuda-file-tip = Lo instala desde un archivo comprimido de este equipo. Su lista debe estar al lado.
engines-cuda-asking = Preguntando su tamaño…
engines-cuda-program = El programa, { $size }, de { $host }
engines-cuda-offer = { $program }. Las bibliotecas de NVIDIA, { $libraries }, de { $host }. En el disco ocupan { $disk }.
engines-cuda-offer-alone = { $program }. En el disco ocupa { $disk }.
engines-cuda-begin = Instalar
engines-cuda-begin-tip = Lo descarga, compara su SHA-256 y lo inicia una vez. Solo entonces se usa.
engines-cuda-cancel-tip = Termina la instalación y elimina lo que ha llegado.
engines-cuda-fetching = Descargando, { $amount }
engines-cuda-retrying = Otro intento: { $why }
engines-cuda-unpacking = Comprobando y extrayendo…
engines-cuda-starting = Iniciándolo una vez…
engines-cuda-installed = El motor para GPU NVIDIA está instalado
engines-cuda-remove = Quitar el motor para GPU NVIDIA
engines-cuda-remove-tip = Elimina su programa y las bibliotecas de NVIDIA de su carpeta de datos. Después Sluice calcula en la CPU.
engines-cuda-remove-later = Se puede cuando ya no se genera nada.
engines-cuda-removing = Quitando…
