### What of the settings of a file could not be taken over, and what of a prompt is not read.
### The English texts are those of the source: they find what to translate.

note-of-keys-did-not-match-for = { $value } of { $value2 } keys did not match, for example { $first }.

note-only-a-prompt-was-found-all = Only a prompt was found; all other settings have their defaults.
note-is-not-valid-here-the-default = { $name } “{ $value }” is not valid here; the default is used.
note-the-sampler-is-not-available-is = The sampler “{ $name }” is not available; { $chosen } is used instead.
note-the-schedule-is-not-available-the = The schedule “{ $value }” is not available; the model default is used.
note-this-image-was-made-from-an = This image was made from an input image, which is not included.
note-the-preprocessor-is-not-available-is = The preprocessor “{ $name }” is not available; { $chosen } is used instead.
note-the-preprocessor-is-not-available-choose = The preprocessor “{ $name }” is not available; choose an image that is a map already.
note-the-images-of-controlnets-are-not = The images of ControlNets are not in the file; choose them again.
note-the-images-of-ip-adapters-are-not = The images of IP-Adapters are not in the file; choose them again.
note-the-image-was-enlarged-afterwards = The image was enlarged afterwards with “{ $name }”; that is not restored.
note-the-prompt-names-a-lora-which = The prompt names a LoRA, which Sluice looks for by the name of its file.
note-the-graph-has-further-passes = The graph has further passes over the image, which are not restored.
note-not-taken-over = Not taken over: { $names }.

note-it-was-made-from-an-image = It was made from an image that was made before, which is not restored.
note-the-comfyui-graph-has-no-sampler = The ComfyUI graph has no sampler that Sluice knows.
note-it-was-made-from-an-input = It was made from an input image, which is not included.
note-controlnets-took-part-that-is-not = ControlNets took part; that is not restored.

note-fooocuss-sharpness-and-adm-guidance-are = Fooocus's sharpness and ADM guidance are not available.

note-took-part-that-is-not-restored = { $what } took part; that is not restored.
note-regional-guidance = Regional guidance

note-the-schedule-is-not-available-the-2 = The schedule “{ $name }” is not available; the model default is used.

note-novelais-and-12-weigh-words-in = NovelAI's {"{ }"}, [ ] and 1.2:: :: weigh words in its own way; they are kept as they are.
note-the-prompts-of-characters-are-appended = The prompts of characters are appended; their places are not restored.

note-a-refiner-or-an-upscaler-took = A refiner or an upscaler took part; that is not restored.
note-this-clip-was-made-from-an = This clip was made from an image with the model “{ $model }”; the image's settings are restored.

note-this-clip-was-made-from-a = This clip was made from a start image, which is not restored.
note-a-loras-weight-changed-from-step = A LoRA's weight changed from step to step; that is not restored.

note-it-was-enlarged-times-and-denoised = It was enlarged { $scale } times and denoised again, which is not possible here.
note-the-upscaler-is-not-available-is = The upscaler “{ $name }” is not available; { $latent } is used instead.
note-the-upscaler-is-not-restored-the = The upscaler “{ $name }” is not restored; the one of Sluice is used instead.
note-is-not-restored-the-second-pass = { $name } is not restored; the second pass uses that of the first.

note-this-image-was-generated-with-which = This image was generated with { $value }, which is a memory setting and is not restored.

note-ignores-the-last-token = { $encoder } ignores the last token.
note-ignores-the-last-tokens = { $encoder } ignores the last { $cut } tokens.
note-the-detailer-is-not-restored-choose = The detailer “{ $name }” is not restored; choose its detector again.

## What a model in a file consists of

note-parts-denoisers = { $family }: denoisers
note-parts-denoiser-autoencoder = { $family }: denoiser, autoencoder
note-parts-one-encoder = { $family }: denoiser, 1 text encoder
note-parts-one-encoder-autoencoder = { $family }: denoiser, 1 text encoder, autoencoder
note-parts-encoders = { $family }: denoiser, { $count } text encoders
note-parts-encoders-autoencoder = { $family }: denoiser, { $count } text encoders, autoencoder
note-part-denoiser = { $family } denoiser
note-part-redux = Redux for { $family }
note-part-ip-adapter = IP-Adapter for { $family }
note-part-t2i-adapter = T2I-Adapter for { $family }
note-part-control-net = ControlNet for { $family }
note-part-lora = LoRA, { $matrices }, rank { $rank }
note-part-lora-for = LoRA for { $family }, { $matrices }, rank { $rank }
note-part-loha = LoHa or LoKr, { $matrices }
note-part-loha-for = LoHa or LoKr for { $family }, { $matrices }
note-part-one-matrix = 1 matrix
note-part-matrices = { $count } matrices
note-part-upscaler = upscaler, { $architecture }, ×{ $factor }
note-part-interpolator = frame interpolator, { $architecture }
note-part-map-estimator = map estimator for { $maps }, { $architecture }, { $size }
note-part-segmenter = segmenter, { $architecture }, { $size }
note-part-detector = detector, { $architecture }, { $size }, { $classes }
note-part-one-class = 1 class
note-part-classes = { $count } classes
note-part-of-another-size = of another size
note-part-another-size = another size
note-part-text-encoder = { $name } text encoder, width { $width }
note-part-image-encoder = { $name } image encoder, width { $width }
note-part-text-conditioner = text conditioner of { $family }, width { $width }
note-part-vision-tower = vision tower of { $name }, width { $width }
note-part-autoencoder = autoencoder, { $count } channels
note-part-autoencoder-of = autoencoder of { $family }, { $count } channels
note-part-stranger = not a model that Sluice supports
note-part-stranger-known = not a model that Sluice supports: { $what }
note-part-preview-clips = TAEHV, a small autoencoder of clips for previews
note-part-preview = TAESD, a small autoencoder for previews
note-part-an-upscaler = an upscaler
note-part-a-textual-inversion = a textual inversion
note-part-an-image-encoder = an image encoder
note-part-a-language-model = a language model of another kind
note-part-for-refiner = the refiner of Stable Diffusion XL
note-part-for-width = a model with prompts of width { $width }
note-part-for-no-prompts = a model without prompts
note-part-stable-diffusion = Stable Diffusion 1 and 2
note-part-diffusers-folder = diffusers folder
note-part-gguf-files = GGUF, { $count } files
note-part-safetensors-files = safetensors, { $count } files
