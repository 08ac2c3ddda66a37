### Lo que no se pudo recuperar de los ajustes de un archivo, y lo que no se lee de un prompt.

note-of-keys-did-not-match-for = { $value } de { $value2 } claves no coinciden, por ejemplo { $first }.

note-only-a-prompt-was-found-all = Solo se encontró un prompt; los demás ajustes tienen sus valores predeterminados.
note-is-not-valid-here-the-default = { $name } «{ $value }» no es válido aquí; se usa el valor predeterminado.
note-the-sampler-is-not-available-is = El muestreador «{ $name }» no está disponible; se usa { $chosen } en su lugar.
note-the-schedule-is-not-available-the = El planificador «{ $value }» no está disponible; se usa el predeterminado del modelo.
note-this-image-was-made-from-an = Esta imagen se creó a partir de una imagen de entrada, que no está incluida.
note-the-preprocessor-is-not-available-is = El preprocesador «{ $name }» no está disponible; se usa { $chosen } en su lugar.
note-the-preprocessor-is-not-available-choose = El preprocesador «{ $name }» no está disponible; elija una imagen que ya sea un mapa.
note-the-images-of-controlnets-are-not = Las imágenes de los ControlNets no están en el archivo; elíjalas de nuevo.
note-the-images-of-ip-adapters-are-not = Las imágenes de los IP-Adapters no están en el archivo; elíjalas de nuevo.
note-the-image-was-enlarged-afterwards = Después, la imagen se amplió con «{ $name }»; eso no se restaura.
note-the-prompt-names-a-lora-which = El prompt nombra un LoRA, que Sluice busca por el nombre de su archivo.
note-the-graph-has-further-passes = El grafo tiene más pasadas sobre la imagen, que no se restauran.
note-not-taken-over = No se ha tomado: { $names }.

note-it-was-made-from-an-image = Se creó a partir de una imagen generada antes, que no se restaura.
note-the-comfyui-graph-has-no-sampler = El grafo de ComfyUI no tiene ningún muestreador que Sluice conozca.
note-it-was-made-from-an-input = Se creó a partir de una imagen de entrada, que no está incluida.
note-controlnets-took-part-that-is-not = Intervinieron ControlNets; eso no se restaura.

note-fooocuss-sharpness-and-adm-guidance-are = La nitidez y ADM Guidance de Fooocus no están disponibles.

note-took-part-that-is-not-restored = También se usó: { $what }. Eso no se restaura.
note-regional-guidance = guía por regiones

note-the-schedule-is-not-available-the-2 = El planificador «{ $name }» no está disponible; se usa el predeterminado del modelo.

note-novelais-and-12-weigh-words-in = Los {"{ }"}, [ ] y 1.2:: :: de NovelAI ponderan las palabras a su manera; se dejan como están.
note-the-prompts-of-characters-are-appended = Los prompts de los personajes se añaden al final; sus posiciones no se restauran.

note-a-refiner-or-an-upscaler-took = Intervino un refiner o un upscaler; eso no se restaura.
note-this-clip-was-made-from-an = Este clip se creó a partir de una imagen con el modelo «{ $model }»; se restauran los ajustes de la imagen.

note-this-clip-was-made-from-a = Este clip se creó a partir de una imagen inicial, que no se restaura.
note-a-loras-weight-changed-from-step = El peso de un LoRA cambió de un paso a otro; eso no se restaura.

note-it-was-enlarged-times-and-denoised = Se amplió { $scale } veces y se hizo otro denoising, lo que aquí no es posible.
note-the-upscaler-is-not-available-is = El upscaler «{ $name }» no está disponible; se usa { $latent } en su lugar.
note-the-upscaler-is-not-restored-the = El upscaler «{ $name }» no se restaura; se usa el de Sluice en su lugar.
note-is-not-restored-the-second-pass = { $name } no se restaura; la segunda pasada usa lo de la primera.

note-this-image-was-generated-with-which = Esta imagen se generó con { $value }; es un ajuste de memoria y no se restaura.

note-ignores-the-last-token = { $encoder } ignora el último token.
note-ignores-the-last-tokens = { $encoder } ignora los últimos { $cut } tokens.
note-the-detailer-is-not-restored-choose = El detailer «{ $name }» no se restaura; elija de nuevo su detector.

## De qué consta un modelo en un archivo

note-parts-denoisers = { $family }: denoisers
note-parts-denoiser-autoencoder = { $family }: denoiser, autocodificador
note-parts-one-encoder = { $family }: denoiser, 1 codificador de texto
note-parts-one-encoder-autoencoder = { $family }: denoiser, 1 codificador de texto, autocodificador
note-parts-encoders = { $family }: denoiser, { $count } codificadores de texto
note-parts-encoders-autoencoder = { $family }: denoiser, { $count } codificadores de texto, autocodificador
note-part-denoiser = { $family }: denoiser
note-part-redux = Redux para { $family }
note-part-ip-adapter = IP-Adapter para { $family }
note-part-t2i-adapter = T2I-Adapter para { $family }
note-part-control-net = ControlNet para { $family }
note-part-lora = LoRA, { $matrices }, rango { $rank }
note-part-lora-for = LoRA para { $family }, { $matrices }, rango { $rank }
note-part-loha = LoHa o LoKr, { $matrices }
note-part-loha-for = LoHa o LoKr para { $family }, { $matrices }
note-part-one-matrix = 1 matriz
note-part-matrices = { $count } matrices
note-part-upscaler = upscaler, { $architecture }, ×{ $factor }
note-part-interpolator = interpolador, { $architecture }
note-part-map-estimator = estimador para { $maps }, { $architecture }, { $size }
note-part-segmenter = modelo de segmentación, { $architecture }, { $size }
note-part-detector = detector, { $architecture }, { $size }, { $classes }
note-part-one-class = 1 clase
note-part-classes = { $count } clases
note-part-of-another-size = de otro tamaño
note-part-another-size = otro tamaño
note-part-text-encoder = codificador de texto { $name }, anchura { $width }
note-part-image-encoder = codificador de imágenes { $name }, anchura { $width }
note-part-text-conditioner = acondicionador de texto de { $family }, anchura { $width }
note-part-vision-tower = codificador de imágenes de { $name }, anchura { $width }
note-part-autoencoder = autocodificador, { $count } canales
note-part-autoencoder-of = autocodificador de { $family }, { $count } canales
note-part-stranger = un modelo que Sluice no admite
note-part-stranger-known = un modelo que Sluice no admite: { $what }
note-part-preview-clips = TAEHV, un autocodificador pequeño para vistas previas de clips
note-part-preview = TAESD, un autocodificador pequeño para vistas previas
note-part-an-upscaler = un upscaler
note-part-a-textual-inversion = una textual inversion
note-part-an-image-encoder = un codificador de imágenes
note-part-a-language-model = un modelo de lenguaje de otro tipo
note-part-for-refiner = el refiner de Stable Diffusion XL
note-part-for-width = un modelo con prompts de anchura { $width }
note-part-for-no-prompts = un modelo sin prompts
note-part-stable-diffusion = Stable Diffusion 1 y 2
note-part-diffusers-folder = carpeta de diffusers
note-part-gguf-files = GGUF, { $count } archivos
note-part-safetensors-files = safetensors, { $count } archivos
