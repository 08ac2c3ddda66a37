### Ce qui n’a pas pu être repris des paramètres d’un fichier, et ce qui n’est pas lu d’un prompt.

note-of-keys-did-not-match-for = { $value } clés sur { $value2 } ne correspondent pas, par exemple { $first }.

note-only-a-prompt-was-found-all = Seul un prompt a été trouvé ; tous les autres paramètres ont leurs valeurs par défaut.
note-is-not-valid-here-the-default = { $name } « { $value } » n’est pas valide ici ; la valeur par défaut est utilisée.
note-the-sampler-is-not-available-is = L’échantillonneur « { $name } » n’est pas disponible ; { $chosen } est utilisé à la place.
note-the-schedule-is-not-available-the = Le planificateur « { $value } » n’est pas disponible ; celui par défaut du modèle est utilisé.
note-this-image-was-made-from-an = Cette image a été créée à partir d’une image d’entrée, qui n’est pas incluse.
note-the-preprocessor-is-not-available-is = Le préprocesseur « { $name } » n’est pas disponible ; { $chosen } est utilisé à la place.
note-the-preprocessor-is-not-available-choose = Le préprocesseur « { $name } » n’est pas disponible ; choisissez une image qui est déjà une carte.
note-the-images-of-controlnets-are-not = Les images des ControlNets ne sont pas dans le fichier ; choisissez-les de nouveau.
note-the-images-of-ip-adapters-are-not = Les images des IP-Adapters ne sont pas dans le fichier ; choisissez-les de nouveau.
note-the-image-was-enlarged-afterwards = L’image a ensuite été agrandie avec « { $name } » ; cela n’est pas rétabli.
note-the-prompt-names-a-lora-which = Le prompt nomme un LoRA, que Sluice cherche par le nom de son fichier.
note-the-graph-has-further-passes = Le graphe a d'autres passes sur l'image, qui ne sont pas rétablies.
note-not-taken-over = Non repris : { $names }.

note-it-was-made-from-an-image = Une image générée auparavant a servi de départ ; elle n’est pas rétablie.
note-the-comfyui-graph-has-no-sampler = Le graphe de ComfyUI ne contient aucun échantillonneur que Sluice connaît.
note-it-was-made-from-an-input = Une image d’entrée a servi de départ ; elle n’est pas incluse.
note-controlnets-took-part-that-is-not = Des ControlNets sont intervenus ; cela n’est pas rétabli.

note-fooocuss-sharpness-and-adm-guidance-are = La netteté et l’ADM Guidance de Fooocus ne sont pas disponibles.

note-took-part-that-is-not-restored = Aussi utilisé : { $what }. Cela n’est pas rétabli.
note-regional-guidance = guidage par régions

note-the-schedule-is-not-available-the-2 = Le planificateur « { $name } » n’est pas disponible ; celui par défaut du modèle est utilisé.

note-novelais-and-12-weigh-words-in = Les {"{ }"}, [ ] et 1.2:: :: de NovelAI pondèrent les mots à leur manière ; ils restent tels quels.
note-the-prompts-of-characters-are-appended = Les prompts des personnages sont ajoutés à la fin ; leurs emplacements ne sont pas rétablis.

note-a-refiner-or-an-upscaler-took = Un refiner ou un upscaler est intervenu ; cela n’est pas rétabli.
note-this-clip-was-made-from-an = Ce clip a été créé à partir d’une image avec le modèle « { $model } » ; les paramètres de l’image sont rétablis.

note-this-clip-was-made-from-a = Ce clip a été créé à partir d’une image de début, qui n’est pas rétablie.
note-a-loras-weight-changed-from-step = Le poids d’un LoRA a changé d’une étape à l’autre ; cela n’est pas rétabli.

note-it-was-enlarged-times-and-denoised = L’image a été agrandie { $scale } fois puis débruitée à nouveau, ce qui n’est pas possible ici.
note-the-upscaler-is-not-available-is = L’upscaler « { $name } » n’est pas disponible ; { $latent } est utilisé à la place.
note-the-upscaler-is-not-restored-the = L’upscaler « { $name } » n’est pas rétabli ; celui de Sluice est utilisé à la place.
note-is-not-restored-the-second-pass = { $name } n’est pas rétabli ; la seconde passe utilise celui de la première.

note-this-image-was-generated-with-which = Cette image a été générée avec { $value } ; c’est un paramètre de mémoire, qui n’est pas rétabli.

note-ignores-the-last-token = { $encoder } ignore le dernier token.
note-ignores-the-last-tokens = { $encoder } ignore les { $cut } derniers tokens.
note-the-detailer-is-not-restored-choose = Le detailer « { $name } » n’est pas rétabli ; choisissez de nouveau son détecteur.

## De quoi se compose un modèle dans un fichier

note-parts-denoisers = { $family } : débruiteurs
note-parts-denoiser-autoencoder = { $family } : débruiteur, auto-encodeur
note-parts-one-encoder = { $family } : débruiteur, 1 encodeur de texte
note-parts-one-encoder-autoencoder = { $family } : débruiteur, 1 encodeur de texte, auto-encodeur
note-parts-encoders = { $family } : débruiteur, { $count } encodeurs de texte
note-parts-encoders-autoencoder = { $family } : débruiteur, { $count } encodeurs de texte, auto-encodeur
note-part-denoiser = { $family } : débruiteur
note-part-redux = Redux pour { $family }
note-part-ip-adapter = IP-Adapter pour { $family }
note-part-t2i-adapter = T2I-Adapter pour { $family }
note-part-control-net = ControlNet pour { $family }
note-part-lora = LoRA, { $matrices }, rang { $rank }
note-part-lora-for = LoRA pour { $family }, { $matrices }, rang { $rank }
note-part-loha = LoHa ou LoKr, { $matrices }
note-part-loha-for = LoHa ou LoKr pour { $family }, { $matrices }
note-part-one-matrix = 1 matrice
note-part-matrices = { $count } matrices
note-part-upscaler = upscaler, { $architecture }, ×{ $factor }
note-part-interpolator = interpolateur, { $architecture }
note-part-map-estimator = estimateur pour { $maps }, { $architecture }, { $size }
note-part-segmenter = modèle de segmentation, { $architecture }, { $size }
note-part-detector = détecteur, { $architecture }, { $size }, { $classes }
note-part-one-class = 1 classe
note-part-classes = { $count } classes
note-part-of-another-size = d’une autre taille
note-part-another-size = autre taille
note-part-text-encoder = encodeur de texte { $name }, largeur { $width }
note-part-image-encoder = encodeur d’images { $name }, largeur { $width }
note-part-text-conditioner = conditionneur de texte de { $family }, largeur { $width }
note-part-vision-tower = encodeur d’images de { $name }, largeur { $width }
note-part-autoencoder = auto-encodeur, { $count } canaux
note-part-autoencoder-of = auto-encodeur de { $family }, { $count } canaux
note-part-stranger = un modèle que Sluice ne prend pas en charge
note-part-stranger-known = un modèle que Sluice ne prend pas en charge : { $what }
note-part-preview-clips = TAEHV, un petit auto-encodeur pour les aperçus de clips
note-part-preview = TAESD, un petit auto-encodeur pour les aperçus
note-part-an-upscaler = un upscaler
note-part-a-textual-inversion = une textual inversion
note-part-an-image-encoder = un encodeur d’images
note-part-a-language-model = un modèle de langage d’un autre genre
note-part-for-refiner = le refiner de Stable Diffusion XL
note-part-for-width = un modèle aux prompts de largeur { $width }
note-part-for-no-prompts = un modèle sans prompts
note-part-stable-diffusion = Stable Diffusion 1 et 2
note-part-diffusers-folder = dossier diffusers
note-part-gguf-files = GGUF, { $count } fichiers
note-part-safetensors-files = safetensors, { $count } fichiers
