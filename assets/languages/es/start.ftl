### Lo que muestra una ventana sin modelo.

start-looking = Examinando este equipo…
start-finding = Buscando modelos adecuados…
start-quickest = Sin GPU, estos son los más rápidos. Dibujan casi cualquier cosa y se descargan una sola vez:
start-suited = Estos modelos son adecuados. Dibujan casi cualquier cosa y se descargan una sola vez:
start-get-others = Obtener otros modelos…
start-get-others-tip = Todo el catálogo, enlaces y Hugging Face.
start-have-models = Ya tengo modelos
start-have-models-tip = Encuentra los de ComfyUI, A1111 y otros programas, y los de sus carpetas.
start-models-found =
    { $count ->
        [one] { $count } modelo encontrado
       *[other] { $count } modelos encontrados
    }
start-models-found-tip = Abre la lista de los modelos encontrados.
start-licence = vea su página para la licencia
