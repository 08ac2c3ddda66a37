### Was sich von den Einstellungen einer Datei nicht übernehmen ließ, und was von einem Prompt nicht gelesen wird.

note-of-keys-did-not-match-for = { $value } von { $value2 } Schlüsseln passten nicht, zum Beispiel { $first }.

note-only-a-prompt-was-found-all = Nur ein Prompt wurde gefunden; alle anderen Einstellungen haben ihre Standardwerte.
note-is-not-valid-here-the-default = { $name } „{ $value }“ ist hier ungültig; der Standard wird verwendet.
note-the-sampler-is-not-available-is = Den Sampler „{ $name }“ gibt es nicht; stattdessen wird { $chosen } verwendet.
note-the-schedule-is-not-available-the = Den Schedule „{ $value }“ gibt es nicht; der Standard des Modells wird verwendet.
note-this-image-was-made-from-an = Dieses Bild entstand aus einem Eingabebild, das nicht enthalten ist.
note-the-preprocessor-is-not-available-is = Die Vorverarbeitung „{ $name }“ gibt es nicht; stattdessen wird { $chosen } verwendet.
note-the-preprocessor-is-not-available-choose = Die Vorverarbeitung „{ $name }“ gibt es nicht; ein Bild wählen, das schon eine Karte ist.
note-the-images-of-controlnets-are-not = Die Bilder der ControlNets sind nicht in der Datei; sie neu wählen.
note-the-images-of-ip-adapters-are-not = Die Bilder der IP-Adapter sind nicht in der Datei; sie neu wählen.
note-the-image-was-enlarged-afterwards = Das Bild wurde danach mit „{ $name }“ vergrößert; das wird nicht übernommen.
note-the-prompt-names-a-lora-which = Der Prompt nennt eine LoRA; Sluice sucht sie nach dem Namen ihrer Datei.
note-the-graph-has-further-passes = Der Graph hat weitere Durchgänge über das Bild, die nicht wiederhergestellt werden.
note-not-taken-over = Nicht übernommen: { $names }.

note-it-was-made-from-an-image = Es entstand aus einem zuvor erzeugten Bild, das nicht übernommen wird.
note-the-comfyui-graph-has-no-sampler = Der ComfyUI-Graph enthält keinen Sampler, den Sluice kennt.
note-it-was-made-from-an-input = Es entstand aus einem Eingabebild, das nicht enthalten ist.
note-controlnets-took-part-that-is-not = ControlNets waren beteiligt; das wird nicht übernommen.

note-fooocuss-sharpness-and-adm-guidance-are = Schärfe und ADM Guidance von Fooocus gibt es hier nicht.

note-took-part-that-is-not-restored = Auch beteiligt: { $what }. Das wird nicht übernommen.
note-regional-guidance = Guidance für Regionen

note-the-schedule-is-not-available-the-2 = Den Schedule „{ $name }“ gibt es nicht; der Standard des Modells wird verwendet.

note-novelais-and-12-weigh-words-in = {"{ }"}, [ ] und 1.2:: :: von NovelAI gewichten Wörter auf eigene Art; sie bleiben, wie sie sind.
note-the-prompts-of-characters-are-appended = Die Prompts der Figuren werden angehängt; deren Plätze werden nicht übernommen.

note-a-refiner-or-an-upscaler-took = Ein Refiner oder Vergrößerer war beteiligt; das wird nicht übernommen.
note-this-clip-was-made-from-an = Dieser Clip entstand aus einem Bild des Modells „{ $model }“; dessen Einstellungen werden übernommen.

note-this-clip-was-made-from-a = Dieser Clip entstand aus einem Startbild, das nicht übernommen wird.
note-a-loras-weight-changed-from-step = Das Gewicht einer LoRA änderte sich von Schritt zu Schritt; das wird nicht übernommen.

note-it-was-enlarged-times-and-denoised = Es wurde { $scale }-fach vergrößert und noch einmal entrauscht, was hier nicht geht.
note-the-upscaler-is-not-available-is = Den Vergrößerer „{ $name }“ gibt es nicht; stattdessen wird { $latent } verwendet.
note-the-upscaler-is-not-restored-the = Der Vergrößerer „{ $name }“ wird nicht übernommen; stattdessen wird der von Sluice verwendet.
note-is-not-restored-the-second-pass = { $name } wird nicht übernommen; der zweite Durchgang verwendet dasselbe wie der erste.

note-this-image-was-generated-with-which = Dieses Bild wurde erzeugt mit { $value }; das ist eine Speichereinstellung und wird nicht übernommen.

note-ignores-the-last-token = { $encoder } liest das letzte Token nicht.
note-ignores-the-last-tokens = { $encoder } liest die letzten { $cut } Tokens nicht.
note-the-detailer-is-not-restored-choose = Der Detailer „{ $name }“ wird nicht wiederhergestellt; seinen Detektor neu wählen.

## Woraus ein Modell in einer Datei besteht

note-parts-denoisers = { $family }: Denoiser
note-parts-denoiser-autoencoder = { $family }: Denoiser, Autoencoder
note-parts-one-encoder = { $family }: Denoiser, 1 Textencoder
note-parts-one-encoder-autoencoder = { $family }: Denoiser, 1 Textencoder, Autoencoder
note-parts-encoders = { $family }: Denoiser, { $count } Textencoder
note-parts-encoders-autoencoder = { $family }: Denoiser, { $count } Textencoder, Autoencoder
note-part-denoiser = { $family }: Denoiser
note-part-redux = Redux für { $family }
note-part-ip-adapter = IP-Adapter für { $family }
note-part-t2i-adapter = T2I-Adapter für { $family }
note-part-control-net = ControlNet für { $family }
note-part-lora = LoRA, { $matrices }, Rang { $rank }
note-part-lora-for = LoRA für { $family }, { $matrices }, Rang { $rank }
note-part-loha = LoHa oder LoKr, { $matrices }
note-part-loha-for = LoHa oder LoKr für { $family }, { $matrices }
note-part-one-matrix = 1 Matrix
note-part-matrices = { $count } Matrizen
note-part-upscaler = Vergrößerer, { $architecture }, ×{ $factor }
note-part-interpolator = Netz für Zwischenbilder, { $architecture }
note-part-map-estimator = Schätzer für { $maps }, { $architecture }, { $size }
note-part-segmenter = Segmentierer, { $architecture }, { $size }
note-part-detector = Detektor, { $architecture }, { $size }, { $classes }
note-part-one-class = 1 Klasse
note-part-classes = { $count } Klassen
note-part-of-another-size = andere Größe
note-part-another-size = andere Größe
note-part-text-encoder = Textencoder { $name }, Breite { $width }
note-part-image-encoder = Bildencoder { $name }, Breite { $width }
note-part-text-conditioner = Textkonditionierer von { $family }, Breite { $width }
note-part-vision-tower = Bildencoder von { $name }, Breite { $width }
note-part-autoencoder = Autoencoder, { $count } Kanäle
note-part-autoencoder-of = Autoencoder von { $family }, { $count } Kanäle
note-part-stranger = kein Modell, das Sluice unterstützt
note-part-stranger-known = kein Modell, das Sluice unterstützt: { $what }
note-part-preview-clips = TAEHV, ein kleiner Autoencoder für Vorschauen von Clips
note-part-preview = TAESD, ein kleiner Autoencoder für Vorschauen
note-part-an-upscaler = ein Vergrößerer
note-part-a-textual-inversion = eine Textual Inversion
note-part-an-image-encoder = ein Bildencoder
note-part-a-language-model = ein Sprachmodell anderer Art
note-part-for-refiner = Refiner von Stable Diffusion XL
note-part-for-width = ein Modell mit Prompts der Breite { $width }
note-part-for-no-prompts = ein Modell ohne Prompts
note-part-stable-diffusion = Stable Diffusion 1 und 2
note-part-diffusers-folder = diffusers-Ordner
note-part-gguf-files = GGUF, { $count } Dateien
note-part-safetensors-files = safetensors, { $count } Dateien
