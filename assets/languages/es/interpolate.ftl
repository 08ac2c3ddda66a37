### The question before clips get more frames.

interpolate-title = Interpolar { $count } clips
interpolate-title-one = Interpolar { $name }
interpolate-model = Interpolador
interpolate-model-tip = La red que crea los fotogramas intermedios.
interpolate-open-tip = Usar un archivo .safetensors de RIFE 4, como rife_v4.26.
interpolate-factor = Fotogramas
interpolate-factor-tip = { $factor } fotogramas, en el mismo tiempo.
interpolate-across-cuts = También a través de los cortes
interpolate-across-cuts-tip = Crea también fotogramas entre dos escenas. Si no, se repite el último de una escena.
interpolate-start = Interpolar
interpolate-cancel-tip = No interpola nada.
interpolate-choose = Elija primero un archivo de RIFE 4
interpolate-folder-empty = { $name } no contiene clips.
interpolate-no-clip = { $name } no es un clip
interpolate-rates = { $before } fotogramas por segundo pasan a { $after }
interpolate-chosen = { $name } es un interpolador: «Interpolar…» lo usa a partir de ahora
interpolate-section = Interpolación de fotogramas
interpolate-section-tip = Más fotogramas en el mismo tiempo, para un movimiento más fluido.
interpolate-off = No
interpolate-without = No interpolar fotogramas
interpolate-in-force = Fotogramas × { $factor }
