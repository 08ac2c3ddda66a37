### Donde se encuentran y se descargan modelos.

get-search = Buscar en Hugging Face, o pegar un enlace
get-search-tip = Un enlace a un archivo o repositorio de Hugging Face o a un modelo de Civitai, o propietario/nombre. Otras palabras se buscan.
get-find = Buscar
get-find-tip = Consulta el enlace, o busca.
get-links-hint = Civitai, otras réplicas y archivos de otros sitios funcionan por sus enlaces.
get-back = Volver al catálogo
get-back-tip = Vuelve a mostrar los modelos del catálogo.

## El catálogo

get-catalogue = Catálogo
get-kind-all = Todo
get-kind-images = Imágenes
get-kind-clips = Clips
get-suits-device = Apto para { $device }
get-suits-computer = Apto para este equipo
get-all-models = Todos los modelos
get-free = { $memory } libres
get-free-tip = En el disco de la carpeta de modelos.
get-checking-fit = comprobando
get-licence-on-page = Licencia: vea su página
get-needs-token = necesita un token
get-lacks-space = no hay suficiente espacio libre
get-lacks-space-tip = Necesita más que los { $memory } libres en el disco de la carpeta de modelos.
get-version-of = Versión de { $name }
get-version-tip = Con menos bits es más pequeña y se carga antes, con algo menos de calidad.

## Los botones de un modelo, y sus nombres para un lector de pantalla

get-open = Abrir
get-open-named = Abrir { $name }
get-try-again = Reintentar
get-try-again-named = Reintentar { $name }
get-go-on = Reanudar
get-go-on-named = Reanudar { $name }
get-again = De nuevo
get-again-named = Descargar de nuevo { $name }
get-download = Descargar
get-download-named = Descargar { $name }
get-open-tip = Genera con este modelo a partir de ahora.
get-again-tip = Los archivos de esta versión ya están en este equipo.
get-download-tip = Lo descarga en la carpeta de modelos.
get-fit-unknown = Sin previsión
get-checking = Comprobando…

## Cómo se llega a los servidores

get-connection = Conexión
get-mirror = Réplica
get-mirror-tip = Una réplica (mirror) de Hugging Face. Vacío: HF_ENDPOINT, o Hugging Face.
get-proxy = Proxy
get-proxy-tip = Vacío: el del entorno, como HTTPS_PROXY.
get-use = Usar
get-use-tip = Para lo que empiece a partir de ahora.
get-token = Token de Hugging Face
get-token-tip = Para modelos cuyas condiciones hay que aceptar.
get-token-keep = Guardar en el llavero
get-token-keep-tip = Lo guarda en el llavero del sistema y en ningún otro sitio.
get-token-remove = Quitar
get-token-remove-tip = Lo quita del llavero.
get-hugging-face-token-keep = Guardar el token de Hugging Face en el llavero
get-hugging-face-token-remove = Quitar el token de Hugging Face
get-token-kept = Hay un token en el llavero.
get-token-hint = Sin uno aquí se usan HF_TOKEN y el de `hf auth login`. Solo se muestra al servidor de arriba, y solo si este lo pide.
get-civitai-token = Token de Civitai
get-civitai-token-tip = Para modelos que solo puede descargar quien ha iniciado sesión.
get-civitai-token-keep = Guardar el token de Civitai en el llavero
get-civitai-token-remove = Quitar el token de Civitai
get-civitai-token-hint = Sin uno aquí se usa CIVITAI_API_TOKEN. Solo se muestra a Civitai, y solo si lo pide.

## Adónde lleva un enlace, y qué encontró una búsqueda

get-looking = Buscando «{ $what }»…
get-offline = Sin conexión
get-offline-advice = Compruebe la conexión, el proxy y el espejo, e inténtelo de nuevo.
get-not-found = No se encontró
get-licence = Licencia: { $licence }
get-gated = Primero hay que aceptar sus condiciones en su página, con la cuenta de su token (vea Conexión, a la derecha).
get-open-page = Abrir su página
get-open-page-tip = Abre la página en el navegador.
get-unknown-size = tamaño desconocido
get-files =
    { $count ->
        [one] { $name } · { $count } archivo
       *[other] { $name } · { $count } archivos
    }
get-results = «{ $words }» en Hugging Face
get-no-results = Sin resultados. Con menos palabras se encuentra más.
get-show-files = Mostrar archivos
get-show-files-of = Mostrar archivos de { $name }
get-families = Sluice solo genera con algunas familias; un archivo de otra se señala como tal tras descargarlo.
get-downloads-a-month = { $count } descargas al mes
get-likes =
    { $count ->
        [one] { $count } me gusta
       *[other] { $count } me gusta
    }

## Descargas en curso, terminadas y fallidas

get-downloads = Descargas
get-downloads-none = No se está descargando nada. Lo que está en pausa o interrumpido continúa más tarde donde estaba.
get-verified = { $size }, verificado
get-size-checked = { $size }, tamaño comprobado; nadie dice cuál debe ser su SHA-256
get-open-this = Abrir este modelo
get-show-in-folder = Mostrar en la carpeta
get-phase-waiting = espera a otras
get-phase-connecting = conectando
get-phase-checking = leyendo lo que ya hay
get-phase-paused = en pausa
get-phase-retrying = { $why }; se vuelve a intentar
get-phase-offline = { $why }; continúa cuando la haya
get-take-off = Quitar { $title } de la lista
get-cancel = Cancelar { $title } y eliminar lo que ya hay
get-resume = Reanudar { $title }
get-retry = Reintentar { $title }
get-pause = Pausar { $title }
get-folder = Carpeta de modelos
get-free-on-disk = { $memory } libres en este disco
get-another-folder = Otra carpeta…
get-another-folder-tip = Por ejemplo, la carpeta models de ComfyUI: los archivos van a sus propias subcarpetas.
get-reset = Restablecer
get-reset-tip = Vuelve a usar la carpeta propia de Sluice.
get-catalogue-as-of = Nombres y tamaños a fecha de { $date }. Cada versión tiene su propia previsión, con tantos bits como sus archivos.
get-connection-tip = Muestra el espejo, el proxy y el token.
get-go-on-tip = Continúa donde se detuvo la descarga.
get-kind-all-tip = Muestra los modelos de imágenes y de clips.
get-kind-clips-tip = Muestra los modelos de clips.
get-kind-images-tip = Muestra los modelos de imágenes.
get-show-files-tip = Muestra lo que se puede descargar de este repositorio.
get-try-again-tip = Vuelve a preguntar al servidor.
