### Ce que l’on peut faire contre une erreur.

advice-start-it-again-to-go-on = Relancez-le pour continuer là où il en était.
advice-check-the-connection-the-proxy-and = Vérifiez la connexion, le proxy et le miroir, puis reprenez. Ce qui est arrivé est conservé.
advice-try-again-later-it-goes-on = Réessayez plus tard : la suite part de ce qui est arrivé.
advice-check-the-clock-of-this-computer = Vérifiez l’horloge de cet ordinateur. Dans un réseau qui a ses propres certificats, indiquez leur fichier dans la variable SSL_CERT_FILE.
advice-write-it-as-http-hostport-or = Écrivez-le sous la forme http://host:port ou http://name:password@host:port, ou laissez vide.
advice-accept-the-conditions-on-create-a = Acceptez les conditions sur { $page }, créez un token avec accès en lecture dans les paramètres de votre compte, et donnez-le à Sluice : dans la fenêtre sous Obtenir des modèles, Connexion, ou dans la variable HF_TOKEN.
advice-sign-in-on-the-site-and = Connectez-vous sur le site et donnez votre token à Sluice : pour Civitai, dans la variable CIVITAI_API_TOKEN.
advice-open-with-the-account-of-your = Ouvrez { $page } avec le compte de votre token et acceptez-les. Certains accès sont accordés à la main, ce qui peut prendre des jours.
advice-check-the-name-it-may-have = Vérifiez le nom. L’élément a peut-être été renommé ou retiré.
advice-check-the-mirror-and-the-link = Vérifiez le miroir et le lien. Une page de connexion au réseau s’interpose peut-être.
advice-download-it-again-if-it-happens = Téléchargez-le de nouveau. Si cela se reproduit, le fichier a été modifié là-bas, ou le miroir n’est pas fiable.
advice-free-some-space-or-choose-a = Libérez de la place, ou choisissez un dossier sur un autre disque.
advice-move-that-file-away-or-choose = Déplacez ce fichier, ou choisissez un autre dossier.
advice-wait-until-that-download-ends-or = Attendez la fin de ce téléchargement, ou arrêtez-le.
advice-check-that-the-folder-exists-and = Vérifiez que le dossier existe et qu’il est possible d’y écrire.
advice-choose-another-file = Choisissez un autre fichier.

advice-use-files-that-end-with-safetensors = Utilisez des fichiers qui se terminent par .safetensors ou .gguf. Presque tous les modèles existent ainsi.
advice-look-for-another-repository-of-the = Cherchez un autre dépôt du même modèle.
advice-paste-the-link-of-a-file = Collez le lien d’un fichier ou d’un dépôt de Hugging Face ou d’un modèle de Civitai, ou propriétaire/nom.

advice-this-system-has-no-keyring-set = Ce système n’a pas de trousseau. Définissez plutôt la variable HF_TOKEN, ou connectez-vous avec `hf auth login`.

advice-choose-a-safetensors-file-of-a = Choisissez un fichier .safetensors d’un LoRA, LoCon, LoHa, LoKr ou DoRA.
advice-the-file-is-damaged-or-incomplete = Le fichier est endommagé ou incomplet. Téléchargez-le de nouveau.
advice-remove-it-or-open-a-model = Retirez-le, ou ouvrez un modèle { $family }.
advice-remove-it-or-open-the-model = Retirez-le, ou ouvrez le modèle pour lequel il a été fait.
advice-put-its-file-into-a-folder = Mettez son fichier dans un dossier nommé loras à côté du modèle, ou ajoutez le LoRA par son fichier.
advice-remove-it-from-the-prompt-or = Retirez-le du prompt, ou mettez son fichier dans { $value }.
advice-write-loraname-or-loraname08 = Écrivez <lora:name> ou <lora:name:0.8>.

advice-download-the-model-and-open-its = Téléchargez le modèle et ouvrez son dossier.
advice-download-it-from-huggingfaceco-and-choose = Téléchargez-le depuis huggingface.co/{ $hub }, et choisissez le dossier ou le fichier.
advice-check-the-path-or-choose-the = Vérifiez le chemin, ou choisissez de nouveau le modèle.
advice-check-that-you-are-allowed-to = Vérifiez que vous avez le droit de lire le fichier et que son disque est connecté.
advice-check-that-the-folder-exists-that = Vérifiez que le dossier existe, que vous pouvez y écrire et que son disque n’est pas plein.
advice-choose-a-diffusers-folder-with-modelindexjson = Choisissez un dossier diffusers (avec model_index.json), un dossier contenant diffusion_models, text_encoders et vae, ou un fichier .safetensors ou .gguf.
advice-reinstall-sluice-or-set-sluiceassets-to = Réinstallez Sluice, ou définissez SLUICE_ASSETS sur son dossier assets.
advice-choose-a-safetensors-file-a-gguf = Choisissez un fichier .safetensors, un fichier .gguf ou un dossier de modèle.
advice-sluice-never-opens-such-files-look = Sluice n’ouvre jamais de tels fichiers. Cherchez une version .safetensors du modèle.
advice-the-download-probably-stopped-early-download = Le téléchargement s’est sans doute arrêté trop tôt. Téléchargez de nouveau le fichier.
advice-the-file-is-damaged-or-is = Le fichier est endommagé ou n’est pas un modèle. Téléchargez-le de nouveau.
advice-the-file-is-damaged-download-it = Le fichier est endommagé. Téléchargez-le de nouveau.
advice-download-into-the-same-folder = Téléchargez { $value } dans le même dossier.
advice-put-the-missing-files-there-and = Mettez-y les fichiers manquants et ouvrez de nouveau le modèle.
advice-put-the-file-into-one-of = Mettez le fichier dans l’un de ces dossiers et ouvrez de nouveau le modèle, ou ajoutez son dossier à SLUICE_MODEL_FOLDERS (en ligne de commande, aussi avec --model-folder).
advice-sluice-supports = Sluice prend en charge { $value }.
advice-choose-the-refiner-of-stable-diffusion = Choisissez le refiner de Stable Diffusion XL avec un modèle Stable Diffusion XL, ou aucun.
advice-sluice-never-opens-such-files-look-2 = Sluice n’ouvre jamais de tels fichiers. Cherchez une version .safetensors, ou convertissez-le comme l’explique docs/upscaling.md.
advice-choose-a-safetensors-file-of-esrgan = Choisissez un fichier .safetensors d’ESRGAN, de Real-ESRGAN Compact, de SPAN, de DAT ou de RealPLKSR avec un facteur de 1 à 4, ou l’upscaler fourni avec Sluice.
advice-sluice-never-opens-such-files-look-3 = Sluice n’ouvre jamais de tels fichiers. Cherchez une version .safetensors, ou convertissez-le comme l’explique docs/frame-interpolation.md.
advice-choose-a-safetensors-file-of-rife = Choisissez un fichier .safetensors de RIFE 4, par exemple rife_v4.26.safetensors.
advice-choose-flux1reduxdev-with-a-flux1-model = Choisissez flux1-redux-dev avec un modèle FLUX.1, ou aucun.
advice-choose-a-controlnet-made-for-the = Choisissez un ControlNet fait pour le modèle, en .safetensors.
advice-choose-an-ip-adapter-made-for = Choisissez un IP-Adapter fait pour le modèle, en .safetensors ; ceux de Stable Diffusion 1.5 et XL sont sur huggingface.co/h94/IP-Adapter.
advice-download-it-into-image-encoder-beside = Téléchargez-le dans image_encoder à côté de l’IP-Adapter, ou dans clip_vision d’un dossier de modèles, et générez à nouveau.
advice-the-file-belongs-to-another-model = Le fichier est celui d’un autre modèle ou est incomplet.
advice-the-weights-and-the-configuration-belong = Les poids et la configuration viennent de modèles différents. Téléchargez les deux au même endroit.
advice-use-a-version-of-the-model = Utilisez une version du modèle stockée en f32, f16, bf16, fp8 ou GGUF.
advice-use-a-gguf-or-fp8-file = Utilisez un fichier GGUF ou fp8 du même modèle.
advice-use-the-model-of-this-family = Utilisez le modèle de cette famille qui génère à partir de texte.
advice-use-the-configuration-file-that-came = Utilisez le fichier de configuration fourni avec le modèle.
advice-download-the-models-tokenizer-files-again = Téléchargez de nouveau les fichiers du tokenizer du modèle.

advice-choose-a-file-name-that-ends = Choisissez un nom de fichier qui se termine par l’une de ces extensions ; .png conserve chaque pixel.
advice-choose-one-of-these-or-the = Choisissez l’une de ces extensions, ou le nom d’un dossier pour un PNG par frame.
advice-choose-one-of-these-or-another = Choisissez l’une de ces extensions, ou un autre codec.
advice-choose-a-new-folder-for-the = Choisissez un nouveau dossier pour les frames.
advice-save-the-frames-as-a-folder = Enregistrez les frames dans un dossier d’images PNG, ou générez un clip plus petit.
advice-save-the-clip-in-another-format = Enregistrez le clip dans un autre format, par exemple un dossier d’images PNG.
advice-install-ffmpeg-or-use-the-codec = Installez ffmpeg, ou utilisez le codec h264.
advice-install-a-build-of-ffmpeg-with = Installez une version de ffmpeg avec cet encodeur, ou utilisez le codec h264.
advice-add-a-file-name-that-ends = Ajoutez un nom de fichier qui se termine par .png.
advice-choose-a-folder-that-you-can = Choisissez un dossier dans lequel vous pouvez écrire.
advice-free-some-disk-space-or-choose = Libérez de l’espace disque, ou choisissez un dossier sur un autre disque.
advice-choose-another-folder = Choisissez un autre dossier.
advice-choose-another-file-name = Choisissez un autre nom de fichier.
advice-choose-png-or-webp-or-leave = Choisissez PNG ou WebP, ou n’enregistrez pas les paramètres.
advice-move-it-to-a-safe-place = Déplacez ce fichier en lieu sûr : le système supprime de temps en temps les fichiers temporaires.
advice-choose-an-image-or-a-clip = Choisissez une image ou un clip créé par Sluice ou par un autre programme qui écrit ses paramètres dans les fichiers.
advice-use-the-original-file-this-copy = Utilisez le fichier d’origine : cette copie vient peut-être d’un transfert interrompu.
advice-use-the-original-file-many-programs = Utilisez le fichier d’origine : beaucoup de programmes et de sites retirent les paramètres en enregistrant une image.
advice-update-sluice = Mettez Sluice à jour.

advice-change-the-setting-and-generate-again = Modifiez le paramètre et générez de nouveau.
advice-give-it-with-to-sluice-map = Indiquez-le avec { $option }, à `sluice map` avec --model, ou choisissez-le sous le préprocesseur dans la fenêtre.
advice-choose-another-model = Choisissez un autre modèle.
advice-choose-a-clip-with-several-frames = Choisissez un clip de plusieurs images.
advice-choose-another-image = Choisissez une autre image.
advice-give-points-or-a-box-in = Indiquez des points ou un cadre en pixels de l’image.
advice-change-the-setting-and-try-again = Modifiez le paramètre et réessayez.
advice-choose-an-mp4-or-mov-clip = Choisissez un clip MP4 ou MOV.
advice-close-it-behind-the-options = Fermez-la après les options, ou mettez une barre oblique inverse devant une accolade qui est du texte.
advice-write-a-smaller-number-before = Écrivez un nombre plus petit devant $$, ou ajoutez des options.
advice-use-a-smaller-image-or-batch = Utilisez une image plus petite ou un lot plus petit, ou autorisez plus de mémoire.
advice-choose-one-of = Choisissez parmi { $value }.
advice-this-version-of-sluice-computes-on = Cette version de Sluice calcule sur le CPU. Installez le moteur pour les GPU NVIDIA, ou utilisez `--card` pour simuler un GPU.
advice-no-nvidia-gpu-was-found-check = Aucun GPU NVIDIA trouvé. Vérifiez le pilote, ou calculez sur le CPU.
advice-install-an-nvidia-driver-that-supports = Installez un pilote NVIDIA qui prend en charge CUDA 13, ou calculez sur le CPU.
advice-restart-sluice-if-this-happens-often = Redémarrez Sluice. Si cela arrive souvent, le pilote ou la mémoire du GPU est peut-être en cause.
advice-close-other-programs-and-try-again = Fermez d’autres programmes et réessayez : le système n’a pas pu démarrer un autre thread.
advice-please-report-this-bug-with-the = Merci de signaler ce bug, avec le modèle et les paramètres que vous avez utilisés.
advice-use-a-safetensors-file-with-a = Utilisez un fichier safetensors dont le tenseur nommé latents a la bonne forme.
advice-choose-a-file-in-a-folder = Choisissez un fichier dans un dossier où vous pouvez écrire.
advice-the-weights-are-probably-damaged-download = Les poids sont sans doute endommagés. Téléchargez de nouveau le modèle.
advice-compute-in-f32-or-bf16 = Calculez en f32 ou en bf16.

advice-update-the-gpu-driver-and-remove = Mettez à jour le pilote du GPU, et retirez tout surcadençage. Les détails sont dans le journal.
advice-allow-less-memory-or-use-a = Autorisez moins de mémoire, ou utilisez une image plus petite. Les détails sont dans le journal.

advice-the-engine-is-restarting-finished-images = Le moteur redémarre. Les images terminées sont en sécurité.
advice-another-engine-generates-images-instead = Un autre moteur génère les images à la place.
advice-reinstall-sluice-the-log-has-details = Réinstallez Sluice. Les détails sont dans le journal.
advice-make-a-clip-of-the-images-first = Faites d’abord un clip des images, par exemple un fichier MP4.
advice-copy-it-to-the-engines-computer = Copiez-le sur l’ordinateur du moteur, et donnez son chemin là-bas.
advice-wait-until-it-is-complete = Attendez qu’il soit complet, puis réessayez.
advice-leave-the-report-out = Omettez le rapport, ou utilisez le moteur de cet ordinateur.
advice-try-again-and-look-whether-the-disk = Réessayez, et vérifiez si le disque de l’ordinateur du moteur est plein.
advice-check-the-name-of-the-program = Vérifiez le nom du programme, et s’il est installé.
advice-run-the-command-to-see-what-it-says = Lancez la commande dans un terminal pour voir ce qu’elle dit. Sluice doit être installé là où elle mène.
advice-what-a-shell-prints-when-it-starts = Ce qu’un shell affiche là-bas à son démarrage, comme un message d’accueil, ne doit pas l’être sans terminal.
advice-run-the-command-if-it-asks = Lancez la commande dans un terminal. Si elle demande quelque chose, comme un mot de passe, personne ne peut répondre ici.
advice-install-the-same-version = Installez la même version de Sluice sur l’ordinateur du moteur et sur celui-ci.

advice-choose-a-file-that-exists-and = Choisissez un fichier qui existe et que vous avez le droit de lire.
advice-use-the-original-file-or-a = Utilisez le fichier d’origine, ou une plage de frames qui s’y trouvent.
advice-choose-a-file-with-video = Choisissez un fichier avec de la vidéo.
advice-choose-frames-that-are-in-the = Choisissez des frames qui sont dans le clip.
advice-use-fewer-frames-a-longer-range = Utilisez moins de frames, une plage plus longue ou un clip plus long.
advice-choose-a-shorter-range-of-frames = Choisissez une plage de frames plus courte.
advice-scale-the-clip-down-first = Réduisez d’abord la taille du clip.
advice-install-ffmpeg-or-convert-the-clip = Installez ffmpeg, ou convertissez le clip en MP4 avec H.264.
advice-convert-the-clip-to-mp4-with = Convertissez le clip en MP4 avec H.264.

advice-choose-a-png-jpeg-or-webp = Choisissez une image PNG, JPEG ou WebP.
advice-paint-the-area-to-inpaint-white = Peignez en blanc la zone de l’inpainting, ou générez sans masque.
advice-mask-a-larger-area = Masquez une zone plus grande.

advice-give-the-two-files-different-names = Donnez des noms différents aux deux fichiers.
advice-choose-an-existing-folder-that-you = Choisissez un dossier existant dans lequel vous pouvez écrire.
advice-choose-another-folder-for-the-file = Choisissez un autre dossier pour le fichier.
advice-choose-a-telemetry-file-written-by = Choisissez un fichier de télémétrie écrit par Sluice.
advice-read-it-with-the-version-of = Lisez-la avec la version de Sluice qui l’a écrite, indiquée dans l’en-tête du fichier.
advice-use-the-original-file-this-copy-2 = Utilisez le fichier d’origine : cette copie a peut-être été modifiée, ou son transfert interrompu.

advice-put-a-text-file-with-one = Mettez un fichier texte avec une entrée par ligne dans un dossier `wildcards` à côté du modèle.
advice-text-files-were-searched-in = Des fichiers texte ont été cherchés dans { $value }.
advice-save-the-file-as-text-in = Enregistrez le fichier comme texte en UTF-8.
advice-add-a-line-for-each-entry = Ajoutez une ligne pour chaque entrée. Les lignes qui commencent par # sont des commentaires.
advice-remove-the-name-of-the-file = Retirez le nom du fichier de ses propres lignes.
advice-add-more-pixels-around-the-image = Ajoutez plus de pixels autour de l’image.
advice-choose-a-safetensors-file-of-depth = Choisissez un fichier .safetensors de Depth Anything V2 Small, Base ou Large, ou le dossier de l’un d’eux tel que transformers l’enregistre.
advice-choose-a-safetensors-file-of-pose = Choisissez un fichier .safetensors de YOLOv8-pose, comme yolov8n-pose, converti comme l’explique docs/controlnet.md.
advice-choose-a-safetensors-file-of-segformer = Choisissez un fichier .safetensors de SegFormer (B0 à B5) pour ADE20K, ou le dossier de l’un d’eux tel que transformers l’enregistre.
advice-choose-a-safetensors-file-of-hed = Choisissez un fichier .safetensors de HED, comme ControlNetHED, converti comme l’explique docs/controlnet.md.
advice-pickled-estimator = Sluice n’ouvre jamais de tels fichiers. Cherchez une version .safetensors, ou convertissez-le comme l’explique docs/controlnet.md.
advice-choose-a-safetensors-file-of-segment = Choisissez un fichier .safetensors de Segment Anything (ViT-B, L ou H) ou de MobileSAM, ou le dossier de l’un d’eux tel que transformers l’enregistre.
advice-choose-a-gguf-or-safetensors-file = Choisissez un fichier .gguf ou .safetensors de Qwen3, par exemple Qwen3-4B-Instruct-2507-Q4_K_M.gguf, ou l’encodeur de texte de Z-Image ; pour décrire des images, Qwen2.5-VL ou Qwen3-VL.
advice-try-another-seed-allow-more-tokens = Essayez une autre graine, autorisez plus de tokens ou choisissez un modèle qui ne réfléchit pas d’abord, par exemple Qwen3-4B-Instruct-2507.
advice-choose-a-safetensors-file-of-yolov8 = Choisissez un fichier .safetensors de YOLOv8, comme face_yolov8n ou person_yolov8n-seg, converti comme l’indique docs/detailer.md.
advice-sluice-never-opens-such-files-look-4 = Sluice n’ouvre jamais de tels fichiers. Cherchez une version .safetensors, ou convertissez-le comme l’explique docs/detailer.md.
advice-make-the-box-larger-or = Agrandissez le cadre, ou peignez le masque en blanc là où se trouve la région.

## Le moteur pour les GPU NVIDIA, à son installation

advice-compute-on-the-cpu-or-on = Calculez sur le CPU, ou sur un moteur ailleurs.
advice-set-the-variable-home = Définissez la variable HOME ou XDG_DATA_HOME.
advice-install-it-from-an-archive = Installez-le depuis une archive de cet ordinateur, ou construisez-le avec packaging/cuda/build.
advice-put-it-beside-the-archive = Placez-la à côté de l’archive : elle vient du même endroit.
advice-fetch-it-again-from-where = Téléchargez-le de nouveau de là où il venait.
advice-use-an-archive-and-a-list = Utilisez une archive et une liste faites ensemble.
advice-check-that-the-nvidia-driver-is-or = Vérifiez que le pilote NVIDIA est installé, ou indiquez-la avec --capability.
advice-compute-on-the-cpu-or-another = Calculez sur le CPU, ou sur un autre GPU.
advice-do-not-use-this-archive = N’utilisez pas cette archive : elle a été faite pour écrire dans d’autres dossiers.
advice-check-that-the-nvidia-driver-is-and = Vérifiez que le pilote NVIDIA est installé et prend en charge CUDA 13. Rien n’a été modifié.
advice-use-the-engine-of-the-same = Utilisez le moteur de la même version. Rien n’a été modifié.
