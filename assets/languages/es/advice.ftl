### Lo que se puede hacer ante un error.

advice-start-it-again-to-go-on = Iníciela de nuevo para continuar donde estaba.
advice-check-the-connection-the-proxy-and = Compruebe la conexión, el proxy y la réplica, y después reanude. Lo que ha llegado se conserva.
advice-try-again-later-it-goes-on = Vuelva a intentarlo más tarde: continúa a partir de lo que ha llegado.
advice-check-the-clock-of-this-computer = Compruebe el reloj de este equipo. En una red con certificados propios, indique su archivo en la variable SSL_CERT_FILE.
advice-write-it-as-http-hostport-or = Escríbalo como http://host:port o http://name:password@host:port, o déjelo vacío.
advice-accept-the-conditions-on-create-a = Acepte las condiciones en { $page }, cree un token con acceso de lectura en los ajustes de su cuenta y déselo a Sluice: en la ventana, en Obtener modelos, Conexión, o en la variable HF_TOKEN.
advice-sign-in-on-the-site-and = Inicie sesión en el sitio y dé su token a Sluice: para Civitai, en la variable CIVITAI_API_TOKEN.
advice-open-with-the-account-of-your = Abra { $page } con la cuenta de su token y acéptelas. Algunas se conceden a mano, lo que puede tardar días.
advice-check-the-name-it-may-have = Compruebe el nombre. Puede que se haya renombrado o eliminado.
advice-check-the-mirror-and-the-link = Compruebe la réplica y el enlace. Puede que se interponga una página de inicio de sesión de la red.
advice-download-it-again-if-it-happens = Descárguelo de nuevo. Si vuelve a ocurrir, el archivo se cambió allí o la réplica no es de fiar.
advice-free-some-space-or-choose-a = Libere espacio, o elija una carpeta en otro disco.
advice-move-that-file-away-or-choose = Mueva ese archivo a otro sitio, o elija otra carpeta.
advice-wait-until-that-download-ends-or = Espere a que termine esa descarga, o deténgala.
advice-check-that-the-folder-exists-and = Compruebe que la carpeta existe y que se puede escribir en ella.
advice-choose-another-file = Elija otro archivo.

advice-use-files-that-end-with-safetensors = Use archivos que terminen en .safetensors o .gguf. Casi todos los modelos existen así.
advice-look-for-another-repository-of-the = Busque otro repositorio del mismo modelo.
advice-paste-the-link-of-a-file = Pegue el enlace de un archivo o repositorio de Hugging Face o de un modelo de Civitai, o propietario/nombre.

advice-this-system-has-no-keyring-set = Este sistema no tiene llavero. Defina en su lugar la variable HF_TOKEN, o inicie sesión con `hf auth login`.

advice-choose-a-safetensors-file-of-a = Elija un archivo .safetensors de un LoRA, LoCon, LoHa, LoKr o DoRA.
advice-the-file-is-damaged-or-incomplete = El archivo está dañado o incompleto. Descárguelo de nuevo.
advice-remove-it-or-open-a-model = Quítelo, o abra un modelo { $family }.
advice-remove-it-or-open-the-model = Quítelo, o abra el modelo para el que se creó.
advice-put-its-file-into-a-folder = Ponga su archivo en una carpeta llamada loras junto al modelo, o añada el LoRA por su archivo.
advice-remove-it-from-the-prompt-or = Quítelo del prompt, o ponga su archivo en { $value }.
advice-write-loraname-or-loraname08 = Escriba <lora:name> o <lora:name:0.8>.

advice-download-the-model-and-open-its = Descargue el modelo y abra su carpeta.
advice-download-it-from-huggingfaceco-and-choose = Descárguelo de huggingface.co/{ $hub } y elija la carpeta o el archivo.
advice-check-the-path-or-choose-the = Compruebe la ruta, o elija el modelo de nuevo.
advice-check-that-you-are-allowed-to = Compruebe que tiene permiso para leer el archivo y que su unidad está conectada.
advice-check-that-the-folder-exists-that = Compruebe que la carpeta existe, que puede escribir en ella y que el disco no está lleno.
advice-choose-a-diffusers-folder-with-modelindexjson = Elija una carpeta de diffusers (con model_index.json), una carpeta que contenga diffusion_models, text_encoders y vae, o un archivo .safetensors o .gguf.
advice-reinstall-sluice-or-set-sluiceassets-to = Reinstale Sluice, o defina SLUICE_ASSETS con la ruta de su carpeta assets.
advice-choose-a-safetensors-file-a-gguf = Elija un archivo .safetensors, un archivo .gguf o una carpeta de modelo.
advice-sluice-never-opens-such-files-look = Sluice nunca abre esos archivos. Busque una versión .safetensors del modelo.
advice-the-download-probably-stopped-early-download = Probablemente la descarga se cortó antes de tiempo. Descargue el archivo de nuevo.
advice-the-file-is-damaged-or-is = El archivo está dañado o no es un modelo. Descárguelo de nuevo.
advice-the-file-is-damaged-download-it = El archivo está dañado. Descárguelo de nuevo.
advice-download-into-the-same-folder = Descargue { $value } en la misma carpeta.
advice-put-the-missing-files-there-and = Ponga allí los archivos que faltan y abra el modelo de nuevo.
advice-put-the-file-into-one-of = Ponga el archivo en una de estas carpetas y abra el modelo de nuevo, o añada su carpeta a SLUICE_MODEL_FOLDERS (en la línea de comandos, también con --model-folder).
advice-sluice-supports = Sluice admite { $value }.
advice-choose-the-refiner-of-stable-diffusion = Elija el refiner de Stable Diffusion XL con un modelo Stable Diffusion XL, o ninguno.
advice-sluice-never-opens-such-files-look-2 = Sluice nunca abre esos archivos. Busque una versión .safetensors, o conviértalo como explica docs/upscaling.md.
advice-choose-a-safetensors-file-of-esrgan = Elija un archivo .safetensors de ESRGAN, Real-ESRGAN Compact, SPAN, DAT o RealPLKSR con un factor de 1 a 4, o el upscaler que viene con Sluice.
advice-sluice-never-opens-such-files-look-3 = Sluice nunca abre esos archivos. Busque una versión .safetensors, o conviértalo como explica docs/frame-interpolation.md.
advice-choose-a-safetensors-file-of-rife = Elija un archivo .safetensors de RIFE 4, como rife_v4.26.safetensors.
advice-choose-flux1reduxdev-with-a-flux1-model = Elija flux1-redux-dev con un modelo FLUX.1, o ninguno.
advice-choose-a-controlnet-made-for-the = Elija un ControlNet hecho para el modelo, en .safetensors.
advice-choose-an-ip-adapter-made-for = Elija un IP-Adapter hecho para el modelo, en .safetensors; los de Stable Diffusion 1.5 y XL están en huggingface.co/h94/IP-Adapter.
advice-download-it-into-image-encoder-beside = Descárguelo en image_encoder junto al IP-Adapter, o en clip_vision de una carpeta de modelos, y vuelva a generar.
advice-the-file-belongs-to-another-model = El archivo es de otro modelo o está incompleto.
advice-the-weights-and-the-configuration-belong = Los pesos y la configuración son de modelos distintos. Descargue ambos del mismo sitio.
advice-use-a-version-of-the-model = Use una versión del modelo guardada como f32, f16, bf16, fp8 o GGUF.
advice-use-a-gguf-or-fp8-file = Use un archivo GGUF o fp8 del mismo modelo.
advice-use-the-model-of-this-family = Use el modelo de esta familia que genera a partir de texto.
advice-use-the-configuration-file-that-came = Use el archivo de configuración que venía con el modelo.
advice-download-the-models-tokenizer-files-again = Descargue de nuevo los archivos del tokenizador del modelo.

advice-choose-a-file-name-that-ends = Elija un nombre de archivo que termine en uno de estos; .png conserva cada píxel.
advice-choose-one-of-these-or-the = Elija uno de estos, o el nombre de una carpeta para un PNG por fotograma.
advice-choose-one-of-these-or-another = Elija uno de estos, u otro códec.
advice-choose-a-new-folder-for-the = Elija una carpeta nueva para los fotogramas.
advice-save-the-frames-as-a-folder = Guarde los fotogramas como carpeta de imágenes PNG, o genere un clip más pequeño.
advice-save-the-clip-in-another-format = Guarde el clip en otro formato, por ejemplo como carpeta de imágenes PNG.
advice-install-ffmpeg-or-use-the-codec = Instale ffmpeg, o use el códec h264.
advice-install-a-build-of-ffmpeg-with = Instale una versión de ffmpeg con este codificador, o use el códec h264.
advice-add-a-file-name-that-ends = Añada un nombre de archivo que termine en .png.
advice-choose-a-folder-that-you-can = Elija una carpeta en la que pueda escribir.
advice-free-some-disk-space-or-choose = Libere espacio en el disco, o elija una carpeta en otro disco.
advice-choose-another-folder = Elija otra carpeta.
advice-choose-another-file-name = Elija otro nombre de archivo.
advice-choose-png-or-webp-or-leave = Elija PNG o WebP, o no guarde los ajustes.
advice-move-it-to-a-safe-place = Muévalo a un lugar seguro: el sistema elimina de vez en cuando los archivos temporales.
advice-choose-an-image-or-a-clip = Elija una imagen o un clip creados con Sluice o con otro programa que escriba sus ajustes en los archivos.
advice-use-the-original-file-this-copy = Use el archivo original: puede que esta copia venga de una transferencia interrumpida.
advice-use-the-original-file-many-programs = Use el archivo original: muchos programas y sitios web quitan los ajustes al guardar una imagen.
advice-update-sluice = Actualice Sluice.

advice-change-the-setting-and-generate-again = Cambie el ajuste y genere de nuevo.
advice-give-it-with-to-sluice-map = Indíquelo con { $option }, a `sluice map` con --model, o elíjalo bajo el preprocesador en la ventana.
advice-choose-another-model = Elija otro modelo.
advice-choose-a-clip-with-several-frames = Elija un clip con varios fotogramas.
advice-choose-another-image = Elija otra imagen.
advice-give-points-or-a-box-in = Indique puntos o un rectángulo en píxeles de la imagen.
advice-change-the-setting-and-try-again = Cambie el ajuste e inténtelo de nuevo.
advice-choose-an-mp4-or-mov-clip = Elija un clip MP4 o MOV.
advice-close-it-behind-the-options = Ciérrela tras las opciones, o ponga una barra invertida ante una llave que sea texto.
advice-write-a-smaller-number-before = Escriba un número menor ante $$, o añada opciones.
advice-use-a-smaller-image-or-batch = Use una imagen o un lote más pequeños, o permita más memoria.
advice-choose-one-of = Elija entre { $value }.
advice-this-version-of-sluice-computes-on = Esta versión de Sluice calcula en la CPU. Instale el motor para GPU NVIDIA, o use `--card` para simular una GPU.
advice-no-nvidia-gpu-was-found-check = No se encontró ninguna GPU NVIDIA. Compruebe el controlador, o use la CPU.
advice-install-an-nvidia-driver-that-supports = Instale un controlador de NVIDIA compatible con CUDA 13, o use la CPU.
advice-restart-sluice-if-this-happens-often = Reinicie Sluice. Si ocurre a menudo, puede que falle el controlador o la memoria de la GPU.
advice-close-other-programs-and-try-again = Cierre otros programas y vuelva a intentarlo: el sistema no pudo iniciar otro hilo.
advice-please-report-this-bug-with-the = Informe de este error, con el modelo y los ajustes que usó.
advice-use-a-safetensors-file-with-a = Use un archivo safetensors con un tensor llamado latents que tenga la forma correcta.
advice-choose-a-file-in-a-folder = Elija un archivo en una carpeta en la que pueda escribir.
advice-the-weights-are-probably-damaged-download = Probablemente los pesos están dañados. Descargue el modelo de nuevo.
advice-compute-in-f32-or-bf16 = Calcule en f32 o bf16.

advice-update-the-gpu-driver-and-remove = Actualice el controlador de la GPU y quite cualquier overclocking. El registro tiene los detalles.
advice-allow-less-memory-or-use-a = Permita menos memoria, o use una imagen más pequeña. El registro tiene los detalles.

advice-the-engine-is-restarting-finished-images = El motor se está reiniciando. Las imágenes terminadas están a salvo.
advice-another-engine-generates-images-instead = En su lugar, otro motor genera las imágenes.
advice-reinstall-sluice-the-log-has-details = Reinstale Sluice. El registro tiene los detalles.
advice-make-a-clip-of-the-images-first = Haga primero un clip con las imágenes, por ejemplo un archivo MP4.
advice-copy-it-to-the-engines-computer = Cópielo al equipo del motor e indique la ruta que tiene allí.
advice-wait-until-it-is-complete = Espere a que esté completo e inténtelo de nuevo.
advice-leave-the-report-out = Omita el informe o use el motor de este equipo.
advice-try-again-and-look-whether-the-disk = Inténtelo de nuevo y compruebe si el disco del equipo del motor está lleno.
advice-check-the-name-of-the-program = Compruebe el nombre del programa y si está instalado.
advice-run-the-command-to-see-what-it-says = Ejecute el comando en una terminal para ver qué dice. Sluice tiene que estar instalado en el lugar al que lleva.
advice-what-a-shell-prints-when-it-starts = Lo que un shell muestra allí al iniciarse, como un saludo, no debe mostrarse sin terminal.
advice-run-the-command-if-it-asks = Ejecute el comando en una terminal. Si pide algo, como una contraseña, aquí nadie puede responder.
advice-install-the-same-version = Instale la misma versión de Sluice en el equipo del motor y en este.

advice-choose-a-file-that-exists-and = Elija un archivo que exista y que pueda leer.
advice-use-the-original-file-or-a = Use el archivo original, o un intervalo de fotogramas que estén en él.
advice-choose-a-file-with-video = Elija un archivo con vídeo.
advice-choose-frames-that-are-in-the = Elija fotogramas que estén en el clip.
advice-use-fewer-frames-a-longer-range = Use menos fotogramas, un intervalo más largo o un clip más largo.
advice-choose-a-shorter-range-of-frames = Elija un intervalo de fotogramas más corto.
advice-scale-the-clip-down-first = Reduzca primero el tamaño del clip.
advice-install-ffmpeg-or-convert-the-clip = Instale ffmpeg, o convierta el clip a MP4 con H.264.
advice-convert-the-clip-to-mp4-with = Convierta el clip a MP4 con H.264.

advice-choose-a-png-jpeg-or-webp = Elija una imagen PNG, JPEG o WebP.
advice-paint-the-area-to-inpaint-white = Pinte de blanco la zona del inpainting, o genere sin máscara.
advice-mask-a-larger-area = Enmascare una zona mayor.

advice-give-the-two-files-different-names = Dé nombres distintos a los dos archivos.
advice-choose-an-existing-folder-that-you = Elija una carpeta existente en la que pueda escribir.
advice-choose-another-folder-for-the-file = Elija otra carpeta para el archivo.
advice-choose-a-telemetry-file-written-by = Elija un archivo de telemetría escrito por Sluice.
advice-read-it-with-the-version-of = Léalo con la versión de Sluice que lo escribió, indicada en la cabecera del archivo.
advice-use-the-original-file-this-copy-2 = Use el archivo original: puede que esta copia se haya editado o que su transferencia se interrumpiera.

advice-put-a-text-file-with-one = Ponga un archivo de texto con una entrada por línea en una carpeta `wildcards` junto al modelo.
advice-text-files-were-searched-in = Se buscaron archivos de texto en { $value }.
advice-save-the-file-as-text-in = Guarde el archivo como texto en UTF-8.
advice-add-a-line-for-each-entry = Añada una línea para cada entrada. Las líneas que empiezan por # son comentarios.
advice-remove-the-name-of-the-file = Quite el nombre del archivo de sus propias líneas.
advice-add-more-pixels-around-the-image = Añada más píxeles alrededor de la imagen.
advice-choose-a-safetensors-file-of-depth = Elija un archivo .safetensors de Depth Anything V2 Small, Base o Large, o una carpeta como las que guarda transformers.
advice-choose-a-safetensors-file-of-pose = Elija un archivo .safetensors de YOLOv8-pose, como yolov8n-pose, convertido como explica docs/controlnet.md.
advice-choose-a-safetensors-file-of-segformer = Elija un archivo .safetensors de SegFormer (B0 a B5) para ADE20K, o una carpeta como las que guarda transformers.
advice-choose-a-safetensors-file-of-hed = Elija un archivo .safetensors de HED, como ControlNetHED, convertido como explica docs/controlnet.md.
advice-pickled-estimator = Sluice nunca abre archivos así. Busque una versión .safetensors, o conviértalo como explica docs/controlnet.md.
advice-choose-a-safetensors-file-of-segment = Elija un archivo .safetensors de Segment Anything (ViT-B, L o H) o de MobileSAM, o una carpeta como las que guarda transformers.
advice-choose-a-gguf-or-safetensors-file = Elija un archivo .gguf o .safetensors de Qwen3, por ejemplo Qwen3-4B-Instruct-2507-Q4_K_M.gguf, o el codificador de texto de Z-Image; para describir imágenes, Qwen2.5-VL o Qwen3-VL.
advice-try-another-seed-allow-more-tokens = Pruebe otra semilla, permita más tokens o elija un modelo que no piense primero, por ejemplo Qwen3-4B-Instruct-2507.
advice-choose-a-safetensors-file-of-yolov8 = Elija un archivo .safetensors de YOLOv8, como face_yolov8n o person_yolov8n-seg, convertido como indica docs/detailer.md.
advice-sluice-never-opens-such-files-look-4 = Sluice nunca abre esos archivos. Busque una versión .safetensors, o conviértalo como explica docs/detailer.md.
advice-make-the-box-larger-or = Agrande el recuadro o pinte de blanco la máscara donde está la región.

## El motor para GPU NVIDIA, al instalarse

advice-compute-on-the-cpu-or-on = Calcule en la CPU, o en un motor de otro equipo.
advice-set-the-variable-home = Defina la variable HOME o XDG_DATA_HOME.
advice-install-it-from-an-archive = Instálelo desde un archivo comprimido de este equipo, o compílelo con packaging/cuda/build.
advice-put-it-beside-the-archive = Póngala junto al archivo comprimido: viene del mismo lugar.
advice-fetch-it-again-from-where = Vuelva a descargarlo de donde vino.
advice-use-an-archive-and-a-list = Use un archivo comprimido y una lista hechos juntos.
advice-check-that-the-nvidia-driver-is-or = Compruebe que el controlador de NVIDIA está instalado, o indíquela con --capability.
advice-compute-on-the-cpu-or-another = Calcule en la CPU, o en otra GPU.
advice-do-not-use-this-archive = No use este archivo comprimido: se hizo para escribir en otras carpetas.
advice-check-that-the-nvidia-driver-is-and = Compruebe que el controlador de NVIDIA está instalado y es compatible con CUDA 13. No se ha cambiado nada.
advice-use-the-engine-of-the-same = Use el motor de la misma versión. No se ha cambiado nada.
