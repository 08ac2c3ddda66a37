### Was sich gegen einen Fehler tun lässt.

advice-start-it-again-to-go-on = Noch einmal starten; es geht dort weiter, wo es war.
advice-check-the-connection-the-proxy-and = Verbindung, Proxy und Spiegel prüfen, dann weitermachen. Was angekommen ist, bleibt erhalten.
advice-try-again-later-it-goes-on = Später noch einmal versuchen: Was angekommen ist, bleibt erhalten.
advice-check-the-clock-of-this-computer = Die Uhr dieses Computers prüfen. In einem Netz mit eigenen Zertifikaten deren Datei in der Variablen SSL_CERT_FILE nennen.
advice-write-it-as-http-hostport-or = Als http://host:port oder http://name:password@host:port schreiben, oder leer lassen.
advice-accept-the-conditions-on-create-a = Die Bedingungen auf { $page } annehmen, in den Einstellungen des Kontos ein Token mit Leserecht anlegen und es Sluice geben: im Fenster unter „Modelle holen“, „Verbindung“, oder in der Variablen HF_TOKEN.
advice-sign-in-on-the-site-and = Auf der Website anmelden und das Token Sluice geben: für Civitai in der Variablen CIVITAI_API_TOKEN.
advice-open-with-the-account-of-your = { $page } mit dem Konto des Tokens öffnen und die Bedingungen annehmen. Manche werden von Hand freigegeben; das kann Tage dauern.
advice-check-the-name-it-may-have = Den Namen prüfen. Vielleicht wurde das Gesuchte umbenannt oder entfernt.
advice-check-the-mirror-and-the-link = Spiegel und Link prüfen. Vielleicht ist eine Anmeldeseite des Netzes im Weg.
advice-download-it-again-if-it-happens = Noch einmal herunterladen. Geschieht es wieder, wurde die Datei dort geändert, oder dem Spiegel ist nicht zu trauen.
advice-free-some-space-or-choose-a = Platz schaffen oder einen Ordner auf einem anderen Datenträger wählen.
advice-move-that-file-away-or-choose = Diese Datei verschieben oder einen anderen Ordner wählen.
advice-wait-until-that-download-ends-or = Warten, bis dieser Download fertig ist, oder ihn anhalten.
advice-check-that-the-folder-exists-and = Prüfen, ob es den Ordner gibt und in ihn geschrieben werden kann.
advice-choose-another-file = Eine andere Datei wählen.

advice-use-files-that-end-with-safetensors = Dateien verwenden, die auf .safetensors oder .gguf enden. Fast jedes Modell gibt es so.
advice-look-for-another-repository-of-the = Ein anderes Repository desselben Modells suchen.
advice-paste-the-link-of-a-file = Den Link einer Datei oder eines Repositorys bei Hugging Face oder eines Modells bei Civitai einfügen, oder Besitzer/Name.

advice-this-system-has-no-keyring-set = Dieses System hat keinen Schlüsselbund. Stattdessen die Variable HF_TOKEN setzen oder mit `hf auth login` anmelden.

advice-choose-a-safetensors-file-of-a = Eine .safetensors-Datei einer LoRA, LoCon, LoHa, LoKr oder DoRA wählen.
advice-the-file-is-damaged-or-incomplete = Die Datei ist beschädigt oder unvollständig. Noch einmal herunterladen.
advice-remove-it-or-open-a-model = Entfernen, oder ein Modell der Familie { $family } öffnen.
advice-remove-it-or-open-the-model = Entfernen, oder das Modell öffnen, für das es gemacht wurde.
advice-put-its-file-into-a-folder = Die Datei in einen Ordner namens loras neben dem Modell legen, oder die LoRA als Datei hinzufügen.
advice-remove-it-from-the-prompt-or = Aus dem Prompt entfernen, oder die Datei hierhin legen: { $value }.
advice-write-loraname-or-loraname08 = <lora:name> oder <lora:name:0.8> schreiben.

advice-download-the-model-and-open-its = Das Modell herunterladen und seinen Ordner öffnen.
advice-download-it-from-huggingfaceco-and-choose = Von huggingface.co/{ $hub } herunterladen und den Ordner oder die Datei wählen.
advice-check-the-path-or-choose-the = Den Pfad prüfen oder das Modell noch einmal wählen.
advice-check-that-you-are-allowed-to = Prüfen, ob die Datei gelesen werden darf und ihr Laufwerk verbunden ist.
advice-check-that-the-folder-exists-that = Prüfen, ob es den Ordner gibt, ob in ihn geschrieben werden darf und ob der Datenträger nicht voll ist.
advice-choose-a-diffusers-folder-with-modelindexjson = Einen diffusers-Ordner (mit model_index.json) wählen, einen Ordner mit diffusion_models, text_encoders und vae darin, oder eine .safetensors- oder .gguf-Datei.
advice-reinstall-sluice-or-set-sluiceassets-to = Sluice neu installieren oder SLUICE_ASSETS auf den Ordner assets setzen.
advice-choose-a-safetensors-file-a-gguf = Eine .safetensors-Datei, eine .gguf-Datei oder einen Modellordner wählen.
advice-sluice-never-opens-such-files-look = Sluice öffnet solche Dateien nie. Eine .safetensors-Version des Modells suchen.
advice-the-download-probably-stopped-early-download = Der Download wurde vermutlich zu früh beendet. Die Datei noch einmal herunterladen.
advice-the-file-is-damaged-or-is = Die Datei ist beschädigt oder kein Modell. Noch einmal herunterladen.
advice-the-file-is-damaged-download-it = Die Datei ist beschädigt. Noch einmal herunterladen.
advice-download-into-the-same-folder = { $value } in denselben Ordner herunterladen.
advice-put-the-missing-files-there-and = Die fehlenden Dateien dorthin legen und das Modell noch einmal öffnen.
advice-put-the-file-into-one-of = Die Datei in einen dieser Ordner legen und das Modell noch einmal öffnen, oder ihren Ordner zu SLUICE_MODEL_FOLDERS hinzufügen (auf der Befehlszeile auch mit --model-folder).
advice-sluice-supports = Sluice unterstützt { $value }.
advice-choose-the-refiner-of-stable-diffusion = Den Refiner von Stable Diffusion XL mit einem Modell von Stable Diffusion XL wählen, oder keinen.
advice-sluice-never-opens-such-files-look-2 = Sluice öffnet solche Dateien nie. Eine .safetensors-Version suchen oder wie in docs/upscaling.md umwandeln.
advice-choose-a-safetensors-file-of-esrgan = Eine .safetensors-Datei von ESRGAN, Real-ESRGAN Compact, SPAN, DAT oder RealPLKSR mit einem Faktor von 1 bis 4 wählen, oder den mitgelieferten Vergrößerer.
advice-sluice-never-opens-such-files-look-3 = Sluice öffnet solche Dateien nie. Eine .safetensors-Version suchen oder wie in docs/frame-interpolation.md umwandeln.
advice-choose-a-safetensors-file-of-rife = Eine .safetensors-Datei von RIFE 4 wählen, etwa rife_v4.26.safetensors.
advice-choose-flux1reduxdev-with-a-flux1-model = flux1-redux-dev mit einem FLUX.1-Modell wählen, oder keines.
advice-choose-a-controlnet-made-for-the = Ein ControlNet wählen, das für das Modell gemacht ist, als .safetensors.
advice-choose-an-ip-adapter-made-for = Einen IP-Adapter wählen, der für das Modell gemacht ist, als .safetensors; die für Stable Diffusion 1.5 und XL gibt es auf huggingface.co/h94/IP-Adapter.
advice-download-it-into-image-encoder-beside = Ihn nach image_encoder neben dem IP-Adapter laden oder nach clip_vision eines Modellordners, und noch einmal erzeugen.
advice-the-file-belongs-to-another-model = Die Datei gehört zu einem anderen Modell oder ist unvollständig.
advice-the-weights-and-the-configuration-belong = Gewichte und Konfiguration gehören zu verschiedenen Modellen. Beide vom selben Ort herunterladen.
advice-use-a-version-of-the-model = Eine Version des Modells in f32, f16, bf16, fp8 oder GGUF verwenden.
advice-use-a-gguf-or-fp8-file = Eine GGUF- oder fp8-Datei desselben Modells verwenden.
advice-use-the-model-of-this-family = Das Modell dieser Familie verwenden, das aus Text erzeugt.
advice-use-the-configuration-file-that-came = Die Konfigurationsdatei verwenden, die zum Modell gehört.
advice-download-the-models-tokenizer-files-again = Die Tokenizer-Dateien des Modells noch einmal herunterladen.

advice-choose-a-file-name-that-ends = Einen Dateinamen wählen, der auf eine davon endet; .png erhält jedes Pixel.
advice-choose-one-of-these-or-the = Eine davon wählen, oder den Namen eines Ordners für ein PNG je Frame.
advice-choose-one-of-these-or-another = Eine davon oder einen anderen Codec wählen.
advice-choose-a-new-folder-for-the = Einen neuen Ordner für die Frames wählen.
advice-save-the-frames-as-a-folder = Die Frames als Ordner mit PNG-Bildern speichern oder einen kleineren Clip erzeugen.
advice-save-the-clip-in-another-format = Den Clip in einem anderen Format speichern, etwa als Ordner mit PNG-Bildern.
advice-install-ffmpeg-or-use-the-codec = ffmpeg installieren oder den Codec h264 verwenden.
advice-install-a-build-of-ffmpeg-with = Ein ffmpeg mit diesem Encoder installieren oder den Codec h264 verwenden.
advice-add-a-file-name-that-ends = Einen Dateinamen anhängen, der auf .png endet.
advice-choose-a-folder-that-you-can = Einen Ordner wählen, in den geschrieben werden darf.
advice-free-some-disk-space-or-choose = Platz auf dem Datenträger schaffen oder einen Ordner auf einem anderen wählen.
advice-choose-another-folder = Einen anderen Ordner wählen.
advice-choose-another-file-name = Einen anderen Dateinamen wählen.
advice-choose-png-or-webp-or-leave = PNG oder WebP wählen, oder die Einstellungen weglassen.
advice-move-it-to-a-safe-place = An einen sicheren Ort verschieben: Das System löscht temporäre Dateien von Zeit zu Zeit.
advice-choose-an-image-or-a-clip = Ein Bild oder einen Clip wählen, von Sluice oder einem anderen Programm, das seine Einstellungen in Dateien schreibt.
advice-use-the-original-file-this-copy = Die Originaldatei verwenden: Diese Kopie stammt vielleicht aus einer unterbrochenen Übertragung.
advice-use-the-original-file-many-programs = Die Originaldatei verwenden: Viele Programme und Websites entfernen die Einstellungen beim Speichern.
advice-update-sluice = Sluice aktualisieren.

advice-change-the-setting-and-generate-again = Die Einstellung ändern und noch einmal erzeugen.
advice-give-it-with-to-sluice-map = Mit { $option } angeben, bei `sluice map` mit --model, oder im Fenster unter der Vorverarbeitung wählen.
advice-choose-another-model = Ein anderes Modell wählen.
advice-choose-a-clip-with-several-frames = Einen Clip mit mehreren Frames wählen.
advice-choose-another-image = Ein anderes Bild wählen.
advice-give-points-or-a-box-in = Punkte oder ein Rechteck in Pixeln des Bildes angeben.
advice-change-the-setting-and-try-again = Die Einstellung ändern und es noch einmal versuchen.
advice-choose-an-mp4-or-mov-clip = Einen MP4- oder MOV-Clip wählen.
advice-close-it-behind-the-options = Sie hinter den Optionen schließen, oder einen Backslash vor eine Klammer setzen, die Text ist.
advice-write-a-smaller-number-before = Eine kleinere Zahl vor $$ schreiben oder Optionen hinzufügen.
advice-use-a-smaller-image-or-batch = Ein kleineres Bild oder einen kleineren Batch verwenden, oder mehr Speicher erlauben.
advice-choose-one-of = Zur Wahl stehen: { $value }.
advice-this-version-of-sluice-computes-on = Diese Version von Sluice rechnet auf der CPU. Die Engine für NVIDIA-GPUs installieren, oder mit `--card` eine GPU simulieren.
advice-no-nvidia-gpu-was-found-check = Keine NVIDIA-GPU gefunden. Den Treiber prüfen oder auf der CPU rechnen.
advice-install-an-nvidia-driver-that-supports = Einen NVIDIA-Treiber installieren, der CUDA 13 unterstützt, oder auf der CPU rechnen.
advice-restart-sluice-if-this-happens-often = Sluice neu starten. Geschieht das oft, ist vielleicht der Treiber oder der Speicher der GPU fehlerhaft.
advice-close-other-programs-and-try-again = Andere Programme schließen und noch einmal versuchen: Das System konnte keinen weiteren Thread starten.
advice-please-report-this-bug-with-the = Bitte diesen Fehler melden, mit dem Modell und den verwendeten Einstellungen.
advice-use-a-safetensors-file-with-a = Eine safetensors-Datei verwenden, deren Tensor namens latents die richtige Form hat.
advice-choose-a-file-in-a-folder = Eine Datei in einem Ordner wählen, in den geschrieben werden darf.
advice-the-weights-are-probably-damaged-download = Die Gewichte sind vermutlich beschädigt. Das Modell noch einmal herunterladen.
advice-compute-in-f32-or-bf16 = In f32 oder bf16 rechnen.

advice-update-the-gpu-driver-and-remove = Den GPU-Treiber aktualisieren und Übertaktung zurücknehmen. Einzelheiten stehen im Protokoll.
advice-allow-less-memory-or-use-a = Weniger Speicher erlauben oder ein kleineres Bild verwenden. Einzelheiten stehen im Protokoll.

advice-the-engine-is-restarting-finished-images = Die Engine startet neu. Fertige Bilder sind sicher.
advice-another-engine-generates-images-instead = Stattdessen erzeugt eine andere Engine die Bilder.
advice-reinstall-sluice-the-log-has-details = Sluice neu installieren. Einzelheiten stehen im Protokoll.
advice-make-a-clip-of-the-images-first = Aus den Bildern zuerst einen Clip machen, etwa eine MP4-Datei.
advice-copy-it-to-the-engines-computer = Die Datei auf den Computer der Engine kopieren und ihren dortigen Pfad angeben.
advice-wait-until-it-is-complete = Warten, bis sie vollständig ist, und es erneut versuchen.
advice-leave-the-report-out = Den Bericht weglassen oder die Engine dieses Computers verwenden.
advice-try-again-and-look-whether-the-disk = Es erneut versuchen und prüfen, ob das Laufwerk des Computers der Engine voll ist.
advice-check-the-name-of-the-program = Den Namen des Programms prüfen, und ob es installiert ist.
advice-run-the-command-to-see-what-it-says = Den Befehl in einem Terminal ausführen, um zu sehen, was er meldet. Sluice muss dort installiert sein, wohin er führt.
advice-what-a-shell-prints-when-it-starts = Was eine Shell dort beim Start ausgibt, etwa eine Begrüßung, darf sie ohne Terminal nicht ausgeben.
advice-run-the-command-if-it-asks = Den Befehl in einem Terminal ausführen. Wenn er etwas fragt, etwa nach einem Passwort, kann hier niemand antworten.
advice-install-the-same-version = Auf dem Computer der Engine und auf diesem dieselbe Version von Sluice installieren.

advice-choose-a-file-that-exists-and = Eine Datei wählen, die es gibt und die gelesen werden darf.
advice-use-the-original-file-or-a = Die Originaldatei verwenden, oder einen Bereich von Frames, die da sind.
advice-choose-a-file-with-video = Eine Datei mit Video wählen.
advice-choose-frames-that-are-in-the = Frames wählen, die im Clip sind.
advice-use-fewer-frames-a-longer-range = Weniger Frames, einen längeren Bereich oder einen längeren Clip verwenden.
advice-choose-a-shorter-range-of-frames = Einen kürzeren Bereich von Frames wählen.
advice-scale-the-clip-down-first = Den Clip zuerst verkleinern.
advice-install-ffmpeg-or-convert-the-clip = ffmpeg installieren oder den Clip in MP4 mit H.264 umwandeln.
advice-convert-the-clip-to-mp4-with = Den Clip in MP4 mit H.264 umwandeln.

advice-choose-a-png-jpeg-or-webp = Ein PNG-, JPEG- oder WebP-Bild wählen.
advice-paint-the-area-to-inpaint-white = Den Bereich für das Inpainting weiß malen, oder ohne Maske erzeugen.
advice-mask-a-larger-area = Einen größeren Bereich maskieren.

advice-give-the-two-files-different-names = Den beiden Dateien verschiedene Namen geben.
advice-choose-an-existing-folder-that-you = Einen vorhandenen Ordner wählen, in den geschrieben werden darf.
advice-choose-another-folder-for-the-file = Einen anderen Ordner für die Datei wählen.
advice-choose-a-telemetry-file-written-by = Eine Telemetriedatei wählen, die Sluice geschrieben hat.
advice-read-it-with-the-version-of = Mit der Version von Sluice lesen, die sie geschrieben hat; sie steht im Kopf der Datei.
advice-use-the-original-file-this-copy-2 = Die Originaldatei verwenden: Diese Kopie wurde vielleicht bearbeitet oder unvollständig übertragen.

advice-put-a-text-file-with-one = Eine Textdatei mit einem Eintrag je Zeile in einen Ordner `wildcards` neben dem Modell legen.
advice-text-files-were-searched-in = Textdateien wurden gesucht in { $value }.
advice-save-the-file-as-text-in = Die Datei als Text in UTF-8 speichern.
advice-add-a-line-for-each-entry = Für jeden Eintrag eine Zeile hinzufügen. Zeilen, die mit # beginnen, sind Kommentare.
advice-remove-the-name-of-the-file = Den Namen der Datei aus ihren eigenen Zeilen entfernen.
advice-add-more-pixels-around-the-image = Mehr Pixel um das Bild hinzufügen.
advice-choose-a-safetensors-file-of-depth = Eine .safetensors-Datei von Depth Anything V2 Small, Base oder Large wählen, oder einen Ordner davon, wie transformers ihn speichert.
advice-choose-a-safetensors-file-of-pose = Eine .safetensors-Datei von YOLOv8-pose wählen, etwa yolov8n-pose, umgewandelt wie in docs/controlnet.md beschrieben.
advice-choose-a-safetensors-file-of-segformer = Eine .safetensors-Datei von SegFormer (B0 bis B5) für ADE20K wählen, oder einen Ordner davon, wie transformers ihn speichert.
advice-choose-a-safetensors-file-of-hed = Eine .safetensors-Datei von HED wählen, etwa ControlNetHED, umgewandelt wie in docs/controlnet.md beschrieben.
advice-pickled-estimator = Sluice öffnet solche Dateien nie. Eine .safetensors-Version suchen oder sie umwandeln, wie docs/controlnet.md es beschreibt.
advice-choose-a-safetensors-file-of-segment = Eine .safetensors-Datei von Segment Anything (ViT-B, L oder H) oder von MobileSAM wählen, oder einen Ordner davon, wie transformers ihn speichert.
advice-choose-a-gguf-or-safetensors-file = Eine .gguf- oder .safetensors-Datei von Qwen3 wählen, etwa Qwen3-4B-Instruct-2507-Q4_K_M.gguf, oder den Text-Encoder von Z-Image; zum Beschreiben von Bildern Qwen2.5-VL oder Qwen3-VL.
advice-try-another-seed-allow-more-tokens = Einen anderen Seed versuchen, mehr Tokens erlauben oder ein Modell wählen, das nicht zuerst nachdenkt, etwa Qwen3-4B-Instruct-2507.
advice-choose-a-safetensors-file-of-yolov8 = Eine .safetensors-Datei von YOLOv8 wählen, etwa face_yolov8n oder person_yolov8n-seg, umgewandelt wie in docs/detailer.md.
advice-sluice-never-opens-such-files-look-4 = Sluice öffnet solche Dateien nie. Eine .safetensors-Version suchen oder wie in docs/detailer.md umwandeln.
advice-make-the-box-larger-or = Das Feld vergrößern, oder die Maske weiß malen, wo die Region ist.

## Die Engine für NVIDIA-GPUs, wie sie installiert wird

advice-compute-on-the-cpu-or-on = Auf der CPU rechnen oder auf einer Engine anderswo.
advice-set-the-variable-home = Die Variable HOME oder XDG_DATA_HOME setzen.
advice-install-it-from-an-archive = Sie aus einem Archiv auf diesem Computer installieren oder mit packaging/cuda/build bauen.
advice-put-it-beside-the-archive = Sie neben das Archiv legen: Sie kommt vom selben Ort.
advice-fetch-it-again-from-where = Noch einmal von dort laden, woher es kam.
advice-use-an-archive-and-a-list = Ein Archiv und eine Liste benutzen, die zusammen gemacht wurden.
advice-check-that-the-nvidia-driver-is-or = Prüfen, ob der NVIDIA-Treiber installiert ist, oder sie mit --capability angeben.
advice-compute-on-the-cpu-or-another = Auf der CPU rechnen oder auf einer anderen GPU.
advice-do-not-use-this-archive = Dieses Archiv nicht benutzen: Es wurde gemacht, um in andere Ordner zu schreiben.
advice-check-that-the-nvidia-driver-is-and = Prüfen, ob der NVIDIA-Treiber installiert ist und CUDA 13 unterstützt. Nichts wurde geändert.
advice-use-the-engine-of-the-same = Die Engine derselben Version benutzen. Nichts wurde geändert.
