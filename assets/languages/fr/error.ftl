### Ce qui a échoué, tel que le moteur et les téléchargements le disent.

error-downloads-stopped = le téléchargement a été arrêté
error-downloads-offline = pas de connexion à { $host }
error-downloads-stalled = { $host } n’envoie plus rien
error-downloads-dropped = { $host } a coupé la connexion avant que le fichier soit complet
error-downloads-insecure = la connexion sécurisée à { $host } a échoué : { $reason }
error-downloads-proxy = le proxy ne fonctionne pas : { $reason }
error-downloads-busy = { $host } demande d’attendre, car il y a eu trop de requêtes
error-downloads-server = { $host } ne peut pas répondre pour le moment (erreur { $status })
error-downloads-needs-token = { $what } est réservé aux personnes connectées{ $detail }
error-downloads-not-allowed = { $what } est réservé aux personnes qui en ont accepté les conditions
error-downloads-not-found = { $what } ne se trouve pas sur { $host }
error-downloads-answer = la réponse de { $host } est incompréhensible : { $reason }
error-downloads-wrong-hash = { $name } est endommagé ou est un autre fichier : son SHA-256 est { $found }…, au lieu de { $expected }…
error-downloads-wrong-size = { $name } n’a pas la taille annoncée : { $found } octets, au lieu de { $expected }
error-downloads-no-space = pas assez de place dans { $folder } : il faut { $needed }, et { $allowed } sont libres
error-downloads-occupied = { $path } existe déjà, avec un autre contenu
error-downloads-in-use = { $path } est déjà en cours de téléchargement
error-downloads-file =
    impossible { $doing ->
        [created] de créer
        [written] d’écrire
        [read] de lire
        [removed] de supprimer
       *[other] de traiter ({ $doing })
    } { $path } : { $source }
error-downloads-name = { $name } ne convient pas comme nom de fichier

error-link-empty = aucun lien indiqué
error-link-not-a-link = « { $value } » n’est ni un lien ni le nom d’un dépôt
error-link-no-model = « { $value } » ne mène à aucun modèle
error-link-other-file = Sluice n’ouvre pas { $value }
error-link-no-weights = { $value } ne contient aucun fichier .safetensors ou .gguf
error-link-several = { $repository } contient { $count } fichiers ; précisez lequel

error-the-keyring-refuses = Le trousseau refuse : { $error }.

error-the-engine-for-nvidia-gpus-is = Le moteur pour les GPU NVIDIA n’est pas installé : il manque { $value }.

error-presets-no-folder = cet utilisateur n’a pas de dossier de données
error-presets-name = { $value } ne convient pas comme nom de préréglage ; utilisez des lettres, des chiffres et des espaces
error-presets-taken = il existe déjà un préréglage nommé { $value }
error-presets-missing = il n’existe pas de préréglage nommé { $name }
error-presets-malformed = { $path } n’est pas un préréglage : { $message }

error-adapters-not-an-adapter = { $path } n’est ni un LoRA ni un autre adaptateur que Sluice prend en charge ; son premier tenseur est { $first }
error-adapters-layer = { $path } : les tenseurs de la couche { $layer } ne vont pas ensemble : { $reason }
error-adapters-other-family = { $path } ({ $family }) ne convient pas à ce modèle ({ $model })
error-adapters-unknown = il n’y a pas de LoRA nommé { $name }
error-adapters-tag = impossible d’interpréter <lora:{ $tag }>

error-checkpoint-not-found = aucun fichier ni dossier { $path }
error-checkpoint-not-here = { $name } n’est pas sur cet ordinateur
error-checkpoint-io = impossible de lire { $path } : { $source }
error-checkpoint-io-it = lecture impossible : { $source }
error-checkpoint-write = impossible d’écrire { $path } : { $source }
error-checkpoint-hollow = les poids de { $path } ne se trouvent pas sur cet ordinateur
error-checkpoint-no-model = aucun modèle trouvé dans { $path }
error-checkpoint-no-model-it = aucun modèle trouvé dans ce dossier
error-checkpoint-no-asset = { $name } fait partie de Sluice, mais est introuvable dans { $path }
error-checkpoint-not-a-model-file = { $path } n’est pas un fichier de modèle que Sluice sait lire
error-checkpoint-not-a-model-file-it = ce n’est pas un fichier de modèle que Sluice sait lire
error-checkpoint-not-safetensors = { $path } n’est pas un fichier safetensors : il ne commence pas par un en-tête
error-checkpoint-not-safetensors-it = ce n’est pas un fichier safetensors : il ne commence pas par un en-tête
error-checkpoint-pickle = { $path } est un fichier pickle, qui peut exécuter n’importe quel code à l’ouverture
error-checkpoint-pickle-it = c’est un fichier pickle, qui peut exécuter n’importe quel code à l’ouverture
error-checkpoint-empty-file = { $path } est vide
error-checkpoint-empty-file-it = le fichier est vide
error-checkpoint-header-past-end = { $path } est endommagé ou incomplet : son en-tête devrait avoir { $header } octets, mais le fichier n’en a que { $length }
error-checkpoint-header-past-end-it = le fichier est endommagé ou incomplet : son en-tête devrait avoir { $header } octets, mais le fichier n’en a que { $length }
error-checkpoint-header = { $path } a un en-tête endommagé : { $reason }
error-checkpoint-header-it = l’en-tête est endommagé : { $reason }
error-checkpoint-truncated = { $path } est incomplet : il devrait avoir { $expected } octets, mais n’en a que { $length }
error-checkpoint-truncated-it = le fichier est incomplet : il devrait avoir { $expected } octets, mais n’en a que { $length }
error-checkpoint-json = impossible d’interpréter { $path } : { $reason }
error-checkpoint-other-task = { $path } est un modèle { $task }, que Sluice ne prend pas encore en charge
error-checkpoint-missing-shard = { $shard } est absent, mais { $index } y renvoie
error-checkpoint-missing-shard-it = { $shard } en fait partie, mais est absent
error-checkpoint-missing-part = il manque { $role } de { $model } : { $expected }
error-checkpoint-unknown-family = { $path } est un modèle que Sluice ne prend pas en charge{ $kind }
error-checkpoint-refiner = { $path } ne peut pas servir de refiner : { $reason }
error-checkpoint-upscaler = { $path } ne peut pas agrandir d’images : { $reason }
error-checkpoint-interpolator = { $path } ne peut pas interpoler d’images : { $reason }
error-checkpoint-redux = { $path } ne peut pas servir de Redux : { $reason }
error-checkpoint-control-net = { $path } ne peut pas servir de ControlNet : { $reason }
error-checkpoint-ip-adapter = { $path } ne peut pas servir d’IP-Adapter : { $reason }
error-checkpoint-no-image-encoder = l’encodeur d’images pour { $adapter } est introuvable : { $wanted }
error-checkpoint-missing-tensor = il manque le tenseur { $name } dans { $path }
error-checkpoint-shape = le tenseur { $name } de { $path } a la forme { $found } au lieu de { $expected }
error-checkpoint-dtype = le tenseur { $name } de { $path } est stocké en { $found }, ce que Sluice ne prend pas en charge ici
error-checkpoint-quantization = les poids de { $path } sont stockés en { $found }, ce que Sluice ne prend pas en charge
error-checkpoint-quantization-it = les poids sont stockés en { $found }, ce que Sluice ne prend pas en charge
error-checkpoint-config = { $path } a { $field } = { $value }, mais { $reason }
error-checkpoint-tokenizer = le tokenizer { $path } est inutilisable : { $reason }

error-account = la mémoire de l’appareil ne suffit pas : { $needed } nécessaires, { $allowed } autorisés

error-plan-device = { $what } demande { $needed } de mémoire ({ $device }) pendant la phase « { $stage } », mais seulement { $allowed } sont autorisés
error-plan-host = le chargement des poids demande { $needed } de RAM, mais seulement { $allowed } sont autorisés

error-output-extension = { $path } ne se termine pas par .png, .jpg ou .webp
error-output-clip-extension = { $path } ne se termine pas par { $endings }
error-output-other-files = le dossier { $path } contient d’autres fichiers
error-output-clip-too-large = des frames de { $width }×{ $height } pixels sont trop grandes pour { $path }
error-output-encoder = impossible d’encoder { $path } : { $detail }
error-output-no-ffmpeg = le codec { $name } demande le programme ffmpeg, qui n’est pas dans le PATH
error-output-ffmpeg = ffmpeg n’a pas pu écrire { $path } : { $detail }
error-output-is-folder = { $path } est un dossier, pas un nom de fichier
error-output-not-a-folder = { $path } est un fichier, pas un dossier
error-output-create-folder = impossible de créer le dossier { $folder } : { $cause }
error-output-not-writable = impossible d’écrire dans le dossier { $folder } : { $cause }
error-output-disk-full = impossible d’écrire { $path } : le disque est plein
error-output-write = impossible d’écrire { $path } : { $cause }
error-output-exists = { $path } existe déjà
error-output-settings-too-long = les paramètres sont trop longs pour un fichier JPEG : { $path }
error-output-pixels = impossible d’écrire une image de { $width }×{ $height } pixels avec { $bytes } octets
error-output-kept-elsewhere = { $cause } ; enregistré sous { $path } à la place
error-output-read = impossible de lire { $path } : { $cause }
error-output-not-media = { $path } n’est pas un fichier PNG, JPEG, WebP, GIF ou MP4
error-output-truncated = { $path } est incomplet
error-output-damaged = les paramètres de { $path } sont endommagés : { $detail }
error-output-too-large = la partie { $keyword } de { $path } est trop grande pour des paramètres
error-output-no-settings = { $path } ne contient pas de paramètres de génération
error-output-newer-version = { $path } vient d’une version plus récente de Sluice : ses paramètres ont la version { $found }, et celle-ci lit jusqu’à la version { $known }

error-names-empty = saisissez un nom, par exemple {"{"}name{"}"}
error-names-unknown = il n’y a pas de champ {"{"}{ $value }{"}"} ; utilisez {"{"}name{"}"}, {"{"}number{"}"}, {"{"}date{"}"}, {"{"}seed{"}"}, {"{"}model{"}"}, {"{"}prompt{"}"}, {"{"}width{"}"} ou {"{"}height{"}"}
error-names-open = une {"{"} n’est pas fermée par une {"}"}

error-pipeline-card = le GPU est inutilisable : { $value }
error-pipeline-no-such-gpu = il n’y a pas de GPU { $number } ici
error-pipeline-unknown-card = il n’y a pas de GPU simulé nommé { $id }
error-pipeline-unknown-model = il n’y a pas de modèle connu nommé { $id }
error-pipeline-initial-latents = les latents initiaux de { $path } sont inutilisables : { $reason }
error-pipeline-dump = impossible d’écrire les tenseurs dans { $path } : { $reason }
error-pipeline-not-finite = cette image contient des valeurs non valides (NaN), calculées en { $dtype }

error-clip = indiquez la première frame, deux points qui se suivent et la frame après la dernière, par exemple 0..48 ou 12..

error-request-size-not-multiple =
    { $side ->
        [width] la largeur
        [height] la hauteur
       *[other] { $side }
    } { $pixels } n’est pas un multiple de { $multiple } ; utilisez { $below } ou { $above }
error-request-side-too-long =
    { $side ->
        [width] la largeur
        [height] la hauteur
       *[other] { $side }
    } { $pixels } est trop grande ; utilisez { $longest } ou moins
error-request-scale = le facteur { $value } n’est pas compris entre 1 et 4
error-request-only-upscales = ce modèle est un upscaler, qui agrandit des images et n’en génère pas ; utilisez `sluice upscale`, ou « Agrandir… » dans la fenêtre
error-request-no-upscaler = ce modèle génère des images et n’est pas un upscaler
error-request-only-interpolates = ce modèle crée les images entre celles d’un clip et n’en génère pas ; utilisez `sluice interpolate`, ou « Interpoler… » dans la fenêtre
error-request-no-interpolator = ce modèle n’interpole pas d’images ; choisissez un fichier .safetensors de RIFE 4
error-request-interpolation-factor = { $value } fois plus d’images ne sont pas possibles ; utilisez de { $least } à { $most }
error-request-interpolates-image = une image fixe n’a pas d’images entre lesquelles en placer d’autres ; choisissez un clip
error-request-smooths-image = l’interpolation d’images est pour les clips ; utilisez plus d’une image, ou retirez-la
error-request-nothing-between = le clip a une seule image, entre laquelle il n’y a rien ; choisissez-en un plus long
error-request-hires-of-clip = hires fix s’applique aux images, pas aux clips ; retirez-le et agrandissez le clip
error-request-hires-of-input = hires fix part du prompt ; retirez l’image d’entrée, ou retirez hires fix et choisissez une plus grande taille
error-request-no-hires = hires fix demande « image vers image », que ce modèle ne sait pas faire ; retirez-le et agrandissez l’image
error-request-no-steps = avec 0 étape, il ne resterait que du bruit ; utilisez 1 ou plus
error-request-no-frames = avec 0 frame, rien n’est généré ; utilisez 1 ou plus
error-request-one-frame-only = ce modèle génère des images, pas des clips ; utilisez 1 frame au lieu de { $value }
error-request-frames-not-multiple = ce modèle génère 1 frame et un multiple de { $multiple } en plus, pas { $frames } ; utilisez { $below } ou { $above }
error-request-no-such-mode = ce modèle ne sait pas faire ceci : { $wanted } ; il sait faire : { $modes }
error-request-image-and-clip = une image d’entrée et un clip d’entrée sont indiqués ; retirez l’un des deux
error-request-variation = la force de variation { $value } n’est pas valide ; utilisez 0 à 1
error-request-last-image-alone = une image de fin demande une image de début
error-request-clip-input-of-image = image de fin, keyframes, clip d’entrée et contrôle sont pour les clips ; utilisez plus de 1 frame, ou retirez-les
error-request-keyframe-twice = deux images sont prévues pour la frame { $value } ; retirez l’une des deux
error-request-keyframes-and-clip = les keyframes et un clip d’entrée ne vont pas ensemble ; retirez les unes ou l’autre
error-request-keyframes-in-windows = avec ce modèle, keyframes et image de fin ne s’utilisent pas par fenêtres ; retirez les images ou les fenêtres
error-request-nothing-controls = rien ne contrôle le clip ; indiquez un clip de contrôle ou des images de référence
error-request-mask-without-control = le masque va avec un clip de contrôle ; indiquez aussi celui-ci
error-request-control-strength = la force du contrôle { $value } n’est pas valide ; utilisez une valeur de 0 à { $strongest-control }
error-request-control-range = un clip ne peut pas être contrôlé de { $start } à { $end } des étapes ; utilisez des valeurs de 0 à 1, la plus petite d’abord
error-request-preprocessor-without-control = un préprocesseur est choisi pour un clip de contrôle, et il n’y en a pas ; indiquez-en un, ou ne choisissez pas de préprocesseur
error-request-control-preprocessor = le préprocesseur { $value } ne crée pas de cartes d’un clip de contrôle ; choisissez-en un autre
error-request-no-references = ce modèle ne prend pas d’images de référence ; retirez-les, ou utilisez-en une comme image d’entrée
error-request-too-many-references = trop d’images de référence ({ $given }) ; ce modèle prend { $amount }
error-request-reference-side = le côté des références { $value } n’est pas valide ; utilisez { $least } à { $most } pixels
error-request-references-in-windows = les images de référence ne s’utilisent pas par fenêtres ; retirez les images ou les fenêtres
error-request-nothing-to-fill-in = ce modèle remplit une partie d’une image ; indiquez une image et un masque de cette partie
error-request-mask-of-clip = un masque ne s’applique qu’aux images ; retirez-le, ou utilisez 1 frame
error-request-nothing-added = { $frames } frames n’ajoutent rien : les { $overlap } premières répètent la fin du clip d’entrée ; utilisez { $least } ou plus
error-request-frame-rate = { $value } frames par seconde ne conviennent pas ; utilisez une valeur de 1 à 60
error-request-windows = des fenêtres de { $frames } frames qui en partagent { $overlap } n’avancent pas ; une fenêtre doit être plus longue que son chevauchement
error-request-empty-batch = un lot de taille 0 ne génère rien ; utilisez 1 ou plus
error-request-batch-too-large = la taille du lot { $value } est trop grande ; utilisez { $largest-batch } ou moins
error-request-no-tokens = une limite de 0 token ne laisse rien du prompt ; utilisez 1 ou plus
error-request-guidance = le guidage { $value } n’est pas valide ; utilisez 0 ou plus
error-request-adapter-weight = le poids { $value } du LoRA n’est pas un nombre fini
error-request-too-many-steps = { $value } étapes, c’est trop ; utilisez 1000 ou moins
error-request-clip-skip = clip skip { $value } dépasse le nombre de couches de CLIP ; utilisez { $largest-clip-skip } ou moins
error-request-step-cache = le seuil { $value } du cache d’étapes n’est pas valide ; utilisez 0 ou plus
error-request-shift = le shift { $value } n’est pas valide ; utilisez une valeur de 0.01 à { $largest-shift }
error-request-no-shift = ce modèle n’a pas de shift ; retirez-le
error-request-prompts-only = ce modèle crée des images à partir de prompts seulement ; retirez l’image d’entrée
error-request-no-such-levels = le planificateur { $name } n’est pas disponible pour ce modèle
error-request-frame-range = il n’y a aucune frame dans { $value } ; le second nombre doit être plus grand que le premier
error-request-strength = la force de débruitage { $value } n’est pas valide ; utilisez une valeur supérieure à 0 et d’au plus 1
error-request-strength-takes-no-step = la force de débruitage { $strength } ne laisse aucune des { $steps } étapes ; utilisez { $least } ou plus, ou davantage d’étapes
error-request-refiner-switch = le passage au refiner { $value } n’est pas valide ; utilisez une valeur entre 0 et 1, par exemple 0.8
error-request-redux-alone = Redux lit des images de référence, et il n’y en a aucune ; indiquez-en une, ou retirez Redux
error-request-redux-strengths = trop de forces ({ $given }) pour { $references }
error-request-redux-strength = la force { $value } d’une référence n’est pas valide ; utilisez une valeur de { $least } à { $most }
error-request-control-net-weight = le poids { $value } d’un ControlNet n’est pas valide ; utilisez une valeur de 0 à { $most }
error-request-control-net-range = un ControlNet ne peut pas agir de { $start } à { $end } des étapes ; utilisez des valeurs de 0 à 1, la plus petite d’abord
error-request-control-net-without-image = il manque à un ControlNet une image à suivre ; choisissez-en une, ou retirez le ControlNet
error-request-control-net-without-mask = un ControlNet suit l’image d’entrée sans sa partie masquée, et il n’y a pas d’image d’entrée avec un masque ; ajoutez les deux, ou choisissez un autre préprocesseur
error-request-control-net-reads-mask = un ControlNet est fait pour l’inpainting et lit un masque ; choisissez pour lui le préprocesseur inpaint
error-request-control-net-without-mode = un ControlNet suit plusieurs types d’images et ne sait pas lequel ; choisissez-en un parmi { $modes }
error-request-no-such-control-mode = un ControlNet ne suit pas d’images du type { $mode } ; choisissez-en un parmi { $modes }
error-request-control-net-has-no-modes = un ControlNet ne suit qu’un type d’image ; n’en choisissez pas
error-request-too-many-control-nets = { $value } ControlNets, c’est trop ; utilisez-en { $most } au plus
error-request-image-prompt-without-image = il manque à un IP-Adapter une image à lire ; choisissez-en une, ou retirez l’IP-Adapter
error-request-too-many-prompt-images = { $value } images pour un IP-Adapter, c’est trop ; utilisez-en { $most } au plus
error-request-too-many-image-prompts = { $value } IP-Adapters, c’est trop ; utilisez-en { $most } au plus
error-request-image-prompt-weight = le poids { $value } des prompts en image n’est pas valide ; utilisez une valeur de 0 à { $most }
error-request-image-prompt-range = les prompts en image ne peuvent pas être lus de { $start } à { $end } des étapes ; utilisez des valeurs de 0 à 1, la plus petite d’abord
error-request-mask-blur = le bord progressif { $value } du masque est trop large ; utilisez { $widest-blur } ou moins
error-request-mask-padding = une marge de { $value } pixels autour du masque est trop grande ; utilisez { $most } ou moins

error-grid-nothing = rien ne varie ; choisissez un paramètre et ses valeurs
error-grid-no-setting = { $value } ne nomme aucun paramètre ; écrivez son nom, deux-points et ses valeurs, par exemple `steps: 10, 20, 30`
error-grid-unknown = il n’y a pas de paramètre nommé { $name } ; utilisez { $all }
error-grid-no-values = { $value } n’a pas de valeurs ; écrivez-en, par exemple 1, 2, 3
error-grid-value = { $value } n’est pas une valeur de { $setting } ; { $wanted }
error-grid-twice = { $value } varie deux fois ; choisissez un autre paramètre pour l’une des deux
error-grid-too-many = { $count } images, c’est trop pour une grille ; utilisez-en { $most } ou moins
error-grid-not-in-prompt = ni le prompt ni le prompt négatif ne contient { $value }, les mots à remplacer
error-grid-which-lora = plusieurs LoRA sont utilisés ; précisez lequel, par exemple `lora { $value }: 0.5, 1`
error-grid-no-style = il n’y a pas de style nommé { $value } ; choisissez-en un dans la liste des styles, ou enregistrez-le d’abord
error-grid-no-input = la force de débruitage varie, mais il n’y a ni image d’entrée ni hires fix ; choisissez d’abord l’un des deux
error-grid-unused = { $setting } varie, mais rien n'utilise { $what } ; l'ajouter d'abord
error-grid-no-part = { $setting } varie pour { $name }, mais ses noms sont { $used } ; utilisez l’un d’eux, ou son numéro
error-grid-unused-variation = une force de variation
error-grid-unused-control-net = un ControlNet
error-grid-unused-clip-control = un clip ou des références qui contrôlent un clip
error-grid-unused-ip-adapter = un IP-Adapter
error-grid-unused-reference = une image de référence
error-grid-unused-detailer = un detailer
error-grid-unused-region = une région
error-grid-unused-input = une image ou un clip d’entrée
error-grid-unused-mask = un masque
error-grid-unused-only-masked = un masque dont la zone est générée seule
error-grid-unused-outpainting = l’outpainting
error-grid-unused-interpolation = l’interpolation d’images
error-grid-unused-windows = la génération par fenêtres

error-guidance = deux nombres de 0 à 1 sont attendus, par exemple 0.2..0.8
error-guidance-rescale = le rééchelonnage du guidage { $value } n’est pas valide ; utilisez 0 à 1
error-guidance-interval = cet intervalle de guidage n’est pas valide : { $value } ; utilisez deux nombres croissants de 0 à 1
error-guidance-true-cfg = le vrai CFG { $value } n’est pas valide ; utilisez 1 ou plus

error-keyframe = indiquez le numéro de la frame, = et le fichier, par exemple 40=image.png

error-residency-cancelled = calcul annulé
error-residency-thread = impossible de démarrer les threads qui chargent les poids : { $value }
error-residency-out-of-order = le bloc { $block } a été demandé dans le désordre
error-residency-compute = le calcul a échoué : { $value }
error-residency-device-lost = le GPU a cessé de fonctionner : { $value }

error-serve-pipe = impossible de lire les messages de la fenêtre : { $value }
error-serve-no-hello = la fenêtre n’a pas commencé par une salutation
error-serve-threads = impossible de démarrer les threads du moteur : { $value }
error-serve-ended = le moteur s’est arrêté
error-serve-no-visit = l’appelant n’a pas nommé sa visite comme prévu
error-serve-folder = impossible d’utiliser le dossier des fichiers envoyés à ce moteur : { $value }
error-serve-occupied = le moteur de la connexion interrompue tourne encore
error-serve-file = l’appelant n’a pas envoyé un fichier comme prévu

error-travel-read = impossible d’envoyer { $path } au moteur : { $cause }
error-travel-folder = { $path } est un dossier, et seuls des fichiers peuvent être envoyés à un moteur situé ailleurs
error-travel-too-large = { $path } est trop volumineux pour être envoyé à un moteur situé ailleurs
error-travel-changed = { $path } a changé pendant son envoi au moteur
error-travel-report = un moteur situé ailleurs ne peut pas écrire { $path }
error-travel-not-there = le moteur n’a pas { $name } : { $reason }
error-travel-not-sent = le moteur devait utiliser { $path }, qui ne lui a pas été envoyé
error-command-not-started = impossible de démarrer la commande du moteur { $program } : { $cause }
error-command-ended = la commande du moteur s’est terminée avant que le moteur réponde : { $how }
error-command-other-words = la commande du moteur a écrit autre chose que ce qu’écrit un moteur : { $words }
error-command-silent = la commande du moteur ne répond pas

error-clip-read = impossible de lire le clip { $path } : { $cause }
error-clip-damaged = le clip { $path } est endommagé : { $detail }
error-clip-truncated = le clip { $path } est incomplet : il se termine après la frame { $readable } sur { $frames }
error-clip-no-index = le clip { $path } est incomplet : sa liste de frames est absente
error-clip-no-video = { $path } ne contient pas de vidéo
error-clip-not-aclip = { $path } n’est pas un clip lisible
error-clip-no-frames = la vidéo de { $path } n’a aucune frame
error-clip-beyond-end = le clip { $path } a { $frames } frames, donc pas de frame { $start }
error-clip-too-short = { $frames } frames de { $path }, c’est trop peu : il en faut { $needed }
error-clip-too-long = { $frames } frames de { $path }, c’est trop ; { $most } peuvent être lues à la fois
error-clip-too-large = les frames de { $path } sont trop grandes : { $width }×{ $height } pixels
error-clip-needs-ffmpeg = { $path } est { $format }, que Sluice lit avec le programme ffmpeg, et ffmpeg n’est pas dans le PATH
error-clip-ffmpeg = ffmpeg ne peut pas lire { $path } : { $detail }

error-source-read = impossible de lire l’image { $path } : { $cause }
error-source-not-apicture = { $path } n’est pas une image lisible : { $detail }
error-source-clip-for-image = { $path } est un clip, et il faut une image
error-source-picture-unknown = son format est inconnu
error-source-picture-large = elle est trop grande
error-source-picture-short = elle se termine trop tôt
error-source-picture-damaged = elle est endommagée, ou c’est un fichier d’un autre type
error-source-nothing-masked = le masque { $path } ne sélectionne rien pour l’inpainting : { $reason }

error-telemetry-same-file = { $path } ne peut pas être à la fois le fichier de télémétrie et le fichier de trace
error-telemetry-create = impossible de créer le fichier de télémétrie { $path } : { $cause }
error-telemetry-disk-full = impossible d’écrire la télémétrie dans { $path } : le disque est plein
error-telemetry-write = impossible d’écrire la télémétrie dans { $path } : { $cause }
error-telemetry-gone = { $path } a été supprimé pendant que la télémétrie y était écrite
error-telemetry-stopped = le thread qui mesure la mémoire s’est arrêté trop tôt ; le reste de la télémétrie est perdu
error-telemetry-not-telemetry = { $path } n’est pas un fichier de télémétrie de Sluice : sa première ligne n’est pas un en-tête
error-telemetry-version = la télémétrie de { $path } a la version { $found }, mais cette version de Sluice lit la version { $known }
error-telemetry-damaged = la ligne { $line } de { $path } est endommagée : { $detail }

error-styles-read = impossible de lire { $path } : { $error }
error-styles-too-large = { $path } est trop gros pour un fichier de styles
error-styles-csv = { $path } ne contient pas de styles : { $error } ; le fichier styles.csv d’A1111 a les colonnes name, prompt et negative_prompt
error-styles-json = { $path } ne contient pas de styles : { $error } ; les fichiers de Fooocus sont des listes de name, prompt et negative_prompt

error-wildcards-missing = il n’y a pas de fichier de jokers nommé { $name }.txt{ $similar }
error-wildcards-unreadable = impossible de lire le fichier de jokers { $path } : { $error }
error-wildcards-empty = le fichier de jokers { $path } ne contient aucune ligne à choisir
error-wildcards-endless = le fichier de jokers { $name }.txt renvoie à lui-même
error-wildcards-unclosed = une accolade du prompt n’est pas fermée : { $text }
error-wildcards-too-few-options = { $wanted } options différentes ne peuvent pas être prises parmi { $options } dans { $text }

error-wire-truncated = la connexion s’est terminée au milieu d’un message
error-wire-too-long = un message prétend avoir { $value } octets, plus qu’aucun message n’en a
error-wire-damaged = un message a été endommagé en chemin
error-wire-not-understood = impossible d’interpréter un message : { $value }
error-request-outpaint = { $value } pixels autour de l’image d’entrée, c’est trop ; utilisez { $most } ou moins
error-request-control-and-input = le contrôle ne va pas avec une image ou un clip d’entrée ; retirez l’un des deux, ou donnez l’image comme référence
error-outpaint-no-sides = indiquez un nombre de pixels pour tous les côtés, ou quatre : gauche,haut,droite,bas, par exemple 0,0,256,0
error-grid-no-lora = aucun LoRA nommé { $name } n’est utilisé ; { $hint }
error-source-nothing-added = ce qui est ajouté autour de { $path } est plus petit qu’un latent
error-checkpoint-map-estimator = { $path } ne peut pas créer cela ({ $maps }) : { $reason }
error-request-only-makes-maps = ce modèle crée des cartes et ne génère pas d’images ; choisissez-le comme préprocesseur d’un ControlNet
error-request-no-map-estimator = aucun modèle n’est choisi pour créer ceci : { $maps } ; choisissez un fichier .safetensors de { $networks }
error-checkpoint-segmenter = { $path } ne peut pas créer de masques : { $reason }
error-request-only-makes-masks = ce modèle crée des masques et ne génère pas d’images ; utilisez `sluice mask`, ou les outils de masque de la fenêtre
error-request-no-segmenter = un masque à partir de points demande Segment Anything ; choisissez-en un fichier .safetensors, ou un de MobileSAM
error-request-nothing-to-mask = rien ne montre ce que le masque doit couvrir ; donnez un point à l’intérieur, ou un cadre autour
error-request-mask-point-outside = le point { $x },{ $y } n’est pas dans l’image, qui a { $width }×{ $height } pixels
error-request-mask-box = le cadre { $left },{ $top },{ $right },{ $bottom } n’est pas un cadre dans l’image, qui a { $width }×{ $height } pixels ; donnez la gauche, le haut, la droite et le bas
error-checkpoint-language-model = { $path } ne peut pas écrire de prompts : { $reason }
error-checkpoint-image-describer = { $path } ne peut pas décrire d’images : { $reason }
error-checkpoint-something-else = { $reason }, mais autre chose : { $what }
error-checkpoint-no-upscaler = ce n’est pas un upscaler
error-checkpoint-no-network = ce n’est pas un réseau { $network }
error-checkpoint-no-segformer = ce n’est pas un réseau SegFormer qui reconnaît des segments
error-checkpoint-no-rife = ce n’est pas un RIFE 4
error-checkpoint-no-language-model = ce n’est pas un modèle de langage Qwen3, Qwen2.5-VL ou Qwen3-VL
error-checkpoint-no-control-net = ce n’est pas un ControlNet
error-checkpoint-no-t2i-adapter = ce n’est pas un T2I-Adapter
error-checkpoint-no-ip-adapter = ce n’est pas un IP-Adapter : il n’a ni clés ni valeurs d’images
error-checkpoint-no-ip-adapter-alone = ce n’est pas un IP-Adapter
error-pipeline-nothing-written = le modèle de langage n’a rien écrit en { $tokens } tokens
error-request-nothing-to-enhance = il n’y a pas de prompt à enrichir ; écrivez quelques mots
error-request-nothing-to-describe = il n’y a pas d’image à décrire ; donnez-en une ou plusieurs
error-request-sees-no-images = le modèle de langage n’a pas d’encodeur visuel et ne voit pas d’images
error-request-seen-pixels = des images de { $pixels } pixels ne peuvent pas être décrites ; utilisez de { $least } à { $most }
error-request-too-narrow = une image de { $width }×{ $height } pixels est trop étroite pour être décrite ; recadrez-la pour qu’un côté fasse au plus 200 fois l’autre
error-request-no-instruction = le modèle de langage n’a pas de consigne ; omettez-la pour la consigne habituelle
error-request-temperature = la température { $value } n’est pas entre 0 et 2
error-request-top-p = top-p { $value } n’est pas supérieur à 0 et au plus égal à 1
error-request-longest-prompt = un prompt de { $tokens } tokens n’est pas possible ; utilisez 1 à { $most }
error-request-keyframe-at-start = la frame 0 est le début du clip ; indiquez son image comme image de début
error-request-keyframe-outside = la frame { $frame } n’est pas dans le clip ; sa dernière frame est { $last }
error-adapters-for-another = pour un autre modèle
error-request-one-reference = une image de référence
error-request-at-most-references = au plus { $most } images de référence
error-request-1-reference = 1 image de référence
error-request-references = { $count } images de référence
error-checkpoint-task-clips = qui génère des clips à partir d’images
error-checkpoint-task-layers = qui génère des images par calques
error-grid-add-lora = ajoutez-en un d’abord
error-source-mask-small = sa zone blanche est plus petite qu’un latent
error-source-mask-none = il n’a pas de zone blanche
error-downloads-token-refused = , et le token n’est pas accepté

error-checkpoint-detector = { $path } ne peut détecter ni visages ni autre chose : { $reason }
error-request-no-detector = un detailer n’a pas de détecteur ; choisissez un fichier .safetensors de YOLOv8, comme face_yolov8n
error-request-no-detailer = rien n’indique ce qu’il faut détecter dans l’image ; indiquez un detailer
error-request-too-many-detailers = { $value } detailers sont indiqués ; utilisez-en au plus { $most }
error-request-detailer-confidence = la confiance { $value } n’est pas valide ; utilisez une valeur entre 0 et 1, comme 0.3
error-request-detailer-boxes = { $value } cadres par image ne peuvent pas être redessinés ; utilisez de 1 à { $most }
error-request-detailer-growth = agrandir de { $value } pixels ce qui est détecté, c’est trop ; utilisez { $most } ou moins
error-request-detailer-of-clip = les detailers ne s’appliquent qu’aux images ; retirez-les, ou générez une image
error-request-no-detailing = ce modèle ne fait pas d’inpainting, donc pas de detailers ; retirez-les
error-request-detailer-adapter = le prompt d’un detailer nomme le LoRA { $value }, que l’image n’a pas ; nommez-le dans le prompt de l’image
error-request-not-for-details = les détails d’une image existante sont redessinés sans { $value } ; retirez ce réglage
error-request-details-regions = régions
error-request-details-hires = hires fix
error-request-details-refiner = refiner
error-request-details-batch = lot
error-request-details-variation = graine de variation
error-request-only-detects = un détecteur ne fait que détecter ; choisissez-le pour un detailer d’un autre modèle

error-request-too-many-regions = { $value } régions sont données ; utilisez-en { $most } au plus
error-request-region-without-prompt = la région { $value } n’a pas de prompt ; décrivez ce qui s’y trouve, ou retirez-la
error-request-region-area = la zone { $value } d’une région n’est pas dans l’image ; donnez gauche, haut, largeur et hauteur entre 0 et 1, comme 0,0,0.5,1
error-request-region-weight = le poids { $value } d’une région n’est pas valable ; utilisez une valeur supérieure à 0 et d’au plus { $most }
error-request-region-base = { $value } n’est pas une part que le prompt peut avoir dans les régions ; utilisez de 0 à 1
error-request-region-fade = les régions ne peuvent pas se fondre sur { $value } de l’image ; utilisez de 0 à { $most }
error-request-regions-of-part = les régions ne sont pas possibles quand seule la partie masquée est générée ; désactivez l’un des deux
error-request-region-adapter = le prompt d’une région nomme le LoRA { $value }, que l’image n’a pas ; nommez-le dans le prompt de l’image
error-source-empty-region = rien de l’image n’est dans la région { $area }
error-request-no-area = gauche, haut, largeur et hauteur entre 0 et 1 sont attendus, comme 0,0,0.5,1, ou le fichier d’un masque

## Le moteur pour les GPU NVIDIA, à son installation

error-cuda-platform = le moteur pour les GPU NVIDIA ne peut être installé que sous Linux sur x86-64
error-cuda-no-folder = cet utilisateur n’a pas de dossier de données
error-cuda-no-releases = ce programme ne sait pas où sont ses versions
error-cuda-not-released = il n’y a pas de moteur pour Sluice { $version } sur { $host }
error-cuda-no-index = la liste des moteurs { $path } manque
error-cuda-index = la liste des moteurs { $name } n’est pas comprise : { $reason }
error-cuda-path = une archive a un nom qui est un chemin
error-cuda-no-name = une bibliothèque n’a pas de nom
error-cuda-not-listed = { $name } n’est pas dans la liste des moteurs
error-cuda-unknown-capability = la capacité de calcul du GPU NVIDIA n’est pas connue
error-cuda-too-old = le GPU a la capacité de calcul { $found } ; le moteur demande { $least }
error-cuda-damaged = { $name } est endommagé : { $reason }
error-cuda-outside = { $inside } dans { $name } sort de son dossier
error-cuda-start = le moteur pour les GPU NVIDIA ne démarre pas : { $reason }
error-cuda-version = le moteur est de la version { $found }, et ce programme de la version { $own }
error-cuda-larger = il est plus grand qu’annoncé
error-cuda-without-engine = il n’a pas de moteur
error-cuda-neither = il contient autre chose que des fichiers et des dossiers
error-cuda-no-answer = il ne répond pas
