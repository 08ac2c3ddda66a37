### What one can do about an error.
### The English texts are those of the source: they find what to translate.

advice-start-it-again-to-go-on = Start it again to go on from where it was.
advice-check-the-connection-the-proxy-and = Check the connection, the proxy and the mirror, then go on. What has arrived is kept.
advice-try-again-later-it-goes-on = Try again later: it goes on from what has arrived.
advice-check-the-clock-of-this-computer = Check the clock of this computer. In a network with certificates of its own, name their file in the variable SSL_CERT_FILE.
advice-write-it-as-http-hostport-or = Write it as http://host:port, or http://name:password@host:port, or leave it empty.
advice-accept-the-conditions-on-create-a = Accept the conditions on { $page }, create a token with read access in the settings of your account, and give it to Sluice: in the window under Get models, Connection, or in the variable HF_TOKEN.
advice-sign-in-on-the-site-and = Sign in on the site and give your token to Sluice: for Civitai in the window under Get models, Connection, or in the variable CIVITAI_API_TOKEN.
advice-open-with-the-account-of-your = Open { $page } with the account of your token and accept them. Some are granted by hand, which may take days.
advice-check-the-name-it-may-have = Check the name. It may have been renamed or removed.
advice-check-the-mirror-and-the-link = Check the mirror and the link. A page for signing in to the network may be in the way.
advice-download-it-again-if-it-happens = Download it again. If it happens again, the file was changed there, or the mirror is not to be trusted.
advice-free-some-space-or-choose-a = Free some space, or choose a folder on another disk.
advice-move-that-file-away-or-choose = Move that file away, or choose another folder.
advice-wait-until-that-download-ends-or = Wait until that download ends, or stop it.
advice-check-that-the-folder-exists-and = Check that the folder exists and can be written to.
advice-choose-another-file = Choose another file.

advice-use-files-that-end-with-safetensors = Use files that end with .safetensors or .gguf. Nearly every model exists as one.
advice-look-for-another-repository-of-the = Look for another repository of the same model.
advice-paste-the-link-of-a-file = Paste the link of a file or repository on Hugging Face, a model on Civitai, or owner/name.

advice-this-system-has-no-keyring-set = This system has no keyring. Set the variable HF_TOKEN instead, or sign in with `hf auth login`.
advice-this-system-has-no-keyring-civitai = This system has no keyring. Set the variable CIVITAI_API_TOKEN instead.

advice-choose-a-safetensors-file-of-a = Choose a .safetensors file of a LoRA, LoCon, LoHa, LoKr or DoRA.
advice-the-file-is-damaged-or-incomplete = The file is damaged or incomplete. Download it again.
advice-remove-it-or-open-a-model = Remove it, or open a { $family } model.
advice-remove-it-or-open-the-model = Remove it, or open the model that it was made for.
advice-put-its-file-into-a-folder = Put its file into a folder named loras next to the model, or add the LoRA by its file.
advice-remove-it-from-the-prompt-or = Remove it from the prompt, or put its file into { $value }.
advice-write-loraname-or-loraname08 = Write <lora:name> or <lora:name:0.8>.

advice-download-the-model-and-open-its = Download the model and open its folder.
advice-download-it-from-huggingfaceco-and-choose = Download it from huggingface.co/{ $hub }, and choose the folder or the file.
advice-check-the-path-or-choose-the = Check the path, or choose the model again.
advice-check-that-you-are-allowed-to = Check that you are allowed to read the file and that its drive is connected.
advice-check-that-the-folder-exists-that = Check that the folder exists, that you can write to it, and that its disk is not full.
advice-choose-a-diffusers-folder-with-modelindexjson = Choose a diffusers folder (with model_index.json), a folder with diffusion_models, text_encoders and vae inside, or a .safetensors or .gguf file.
advice-reinstall-sluice-or-set-sluiceassets-to = Reinstall Sluice, or set SLUICE_ASSETS to its assets folder.
advice-choose-a-safetensors-file-a-gguf = Choose a .safetensors file, a .gguf file or a model folder.
advice-sluice-never-opens-such-files-look = Sluice never opens such files. Look for a .safetensors version of the model.
advice-the-download-probably-stopped-early-download = The download probably stopped early. Download the file again.
advice-the-file-is-damaged-or-is = The file is damaged or is not a model. Download it again.
advice-the-file-is-damaged-download-it = The file is damaged. Download it again.
advice-download-into-the-same-folder = Download { $value } into the same folder.
advice-put-the-missing-files-there-and = Put the missing files there and open the model again.
advice-put-the-file-into-one-of = Put the file into one of these folders and open the model again, or add its folder to SLUICE_MODEL_FOLDERS (on the command line also with --model-folder).
advice-sluice-supports = Sluice supports { $value }.
advice-choose-the-refiner-of-stable-diffusion = Choose the refiner of Stable Diffusion XL with a Stable Diffusion XL model, or none.
advice-sluice-never-opens-such-files-look-2 = Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load, then safetensors.torch.save_file.
advice-choose-a-safetensors-file-of-esrgan = Choose a .safetensors file of ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR or RealPLKSR with a factor of 1 to 8, or the upscaler that comes with Sluice.
advice-choose-a-safetensors-file-of-rife = Choose a .safetensors file of RIFE 4, such as rife_v4.26.safetensors.
advice-choose-flux1reduxdev-with-a-flux1-model = Choose flux1-redux-dev with a FLUX.1 model, or none.
advice-choose-a-controlnet-made-for-the = Choose a ControlNet made for the model, as .safetensors.
advice-choose-an-ip-adapter-made-for = Choose an IP-Adapter made for the model, as .safetensors; those for Stable Diffusion 1.5 and XL are at huggingface.co/h94/IP-Adapter.
advice-download-it-into-image-encoder-beside = Download it into image_encoder beside the IP-Adapter, or into clip_vision of a model folder, and generate again.
advice-the-file-belongs-to-another-model = The file belongs to another model or is incomplete.
advice-the-weights-and-the-configuration-belong = The weights and the configuration belong to different models. Download both from the same place.
advice-use-a-version-of-the-model = Use a version of the model stored as f32, f16, bf16, fp8 or GGUF.
advice-use-a-gguf-or-fp8-file = Use a GGUF or fp8 file of the same model.
advice-use-the-model-of-this-family = Use the model of this family that generates from text.
advice-use-the-configuration-file-that-came = Use the configuration file that came with the model.
advice-download-the-models-tokenizer-files-again = Download the model's tokenizer files again.

advice-choose-a-file-name-that-ends = Choose a file name that ends in one of these; .png keeps every pixel.
advice-choose-one-of-these-or-the = Choose one of these, or the name of a folder for a PNG of each frame.
advice-choose-one-of-these-or-another = Choose one of these, or another codec.
advice-choose-a-new-folder-for-the = Choose a new folder for the frames.
advice-save-the-frames-as-a-folder = Save the frames as a folder of PNG images, or generate a smaller clip.
advice-save-the-clip-in-another-format = Save the clip in another format, such as a folder of PNG images.
advice-install-ffmpeg-or-use-the-codec = Install ffmpeg, or use the codec h264.
advice-install-a-build-of-ffmpeg-with = Install a build of ffmpeg with this encoder, or use the codec h264.
advice-add-a-file-name-that-ends = Add a file name that ends in .png.
advice-choose-a-folder-that-you-can = Choose a folder that you can write to.
advice-free-some-disk-space-or-choose = Free some disk space, or choose a folder on another disk.
advice-choose-another-folder = Choose another folder.
advice-choose-another-file-name = Choose another file name.
advice-choose-png-or-webp-or-leave = Choose PNG or WebP, or leave the settings out.
advice-move-it-to-a-safe-place = Move it to a safe place: the system deletes temporary files from time to time.
advice-choose-an-image-or-a-clip = Choose an image or a clip made by Sluice or another program that writes its settings into files.
advice-use-the-original-file-this-copy = Use the original file: this copy may be the result of an interrupted transfer.
advice-use-the-original-file-many-programs = Use the original file: many programs and websites strip settings when they save an image.
advice-update-sluice = Update Sluice.

advice-change-the-setting-and-generate-again = Change the setting and generate again.
advice-choose-one-below-the-preprocessor = Choose one below the preprocessor.
advice-choose-another-model = Choose another model.
advice-choose-a-clip-with-several-frames = Choose a clip with several frames.
advice-choose-another-image = Choose another image.
advice-give-points-or-a-box-in = Give points or a box in pixels of the image.
advice-change-the-setting-and-try-again = Change the setting and try again.
advice-choose-an-mp4-or-mov-clip = Choose an MP4 or MOV clip.
advice-close-it-behind-the-options = Close it after the options. Put a backslash before a brace that is text.
advice-write-a-smaller-number-before = Write a smaller number before $$, or add options.
advice-use-a-smaller-image-or-batch = Use a smaller image or batch, or allow more memory.
advice-choose-one-of = Choose one of { $value }.
advice-this-version-of-sluice-computes-on = This version of Sluice computes on the CPU. Install the engine for NVIDIA GPUs, or run on the CPU.
advice-no-nvidia-gpu-was-found-check = No NVIDIA GPU was found. Check the driver, or run on the CPU.
advice-install-an-nvidia-driver-that-supports = Install an NVIDIA driver that supports CUDA 13, or run on the CPU.
advice-restart-sluice-if-this-happens-often = Restart Sluice. If this happens often, the driver or the GPU's memory may be faulty.
advice-close-other-programs-and-try-again = Close other programs and try again: the system could not start another thread.
advice-please-report-this-bug-with-the = Please report this bug, with the model and the settings that you used.
advice-use-a-safetensors-file-with-a = Use a safetensors file with a tensor named latents that has the right shape.
advice-choose-a-file-in-a-folder = Choose a file in a folder that you can write to.
advice-the-weights-are-probably-damaged-download = The weights are probably damaged. Download the model again.
advice-compute-in-f32-or-bf16 = Compute in f32 or bf16.

advice-update-the-gpu-driver-and-remove = Update the GPU driver, and remove any overclocking. The log has details.
advice-allow-less-memory-or-use-a = Allow less memory, or use a smaller image. The log has details.

advice-the-engine-is-restarting-finished-images = The engine is restarting. Finished images are safe.
advice-another-engine-generates-images-instead = Another engine generates images instead.
advice-reinstall-sluice-the-log-has-details = Reinstall Sluice. The log has details.
advice-make-a-clip-of-the-images-first = Make a clip of the images first, such as an MP4 file.
advice-copy-it-to-the-engines-computer = Copy it to the engine's computer, and give its path there.
advice-wait-until-it-is-complete = Wait until it is complete, and try again.
advice-leave-the-report-out = Leave the report out, or use the engine of this computer.
advice-try-again-and-look-whether-the-disk = Try again, and look whether the disk of the engine's computer is full.
advice-check-the-name-of-the-program = Check the name of the program, and whether it is installed.
advice-run-the-command-to-see-what-it-says = Run the command in a terminal to see what it says. Sluice has to be installed where it leads to.
advice-what-a-shell-prints-when-it-starts = What a shell prints when it starts there, such as a greeting, must not be printed without a terminal.
advice-run-the-command-if-it-asks = Run the command in a terminal. If it asks for something, such as a password, nobody can answer here.
advice-install-the-same-version = Install the same version of Sluice on the engine's computer and on this one.

advice-choose-a-file-that-exists-and = Choose a file that exists and that you are allowed to read.
advice-use-the-original-file-or-a = Use the original file, or a range of frames that are there.
advice-choose-a-file-with-video = Choose a file with video.
advice-choose-frames-that-are-in-the = Choose frames that are in the clip.
advice-use-fewer-frames-a-longer-range = Use fewer frames, a longer range, or a longer clip.
advice-choose-a-shorter-range-of-frames = Choose a shorter range of frames.
advice-scale-the-clip-down-first = Scale the clip down first.
advice-install-ffmpeg-or-convert-the-clip = Install ffmpeg, or convert the clip to MP4 with H.264.
advice-convert-the-clip-to-mp4-with = Convert the clip to MP4 with H.264.

advice-choose-a-png-jpeg-or-webp = Choose a PNG, JPEG or WebP image.
advice-paint-the-area-to-inpaint-white = Paint the area to inpaint white, or generate without a mask.
advice-mask-a-larger-area = Mask a larger area.

advice-give-the-two-files-different-names = Give the two files different names.
advice-choose-an-existing-folder-that-you = Choose an existing folder that you can write to.
advice-choose-another-folder-for-the-file = Choose another folder for the file.
advice-choose-a-telemetry-file-written-by = Choose a telemetry file written by Sluice.
advice-read-it-with-the-version-of = Read it with the version of Sluice that wrote it, which is in the file's header.
advice-use-the-original-file-this-copy-2 = Use the original file: this copy may have been edited, or its transfer interrupted.

advice-put-a-text-file-with-one = Put a text file with one entry per line into a folder `wildcards` next to the model.
advice-text-files-were-searched-in = Text files were searched in { $value }.
advice-save-the-file-as-text-in = Save the file as text in UTF-8.
advice-add-a-line-for-each-entry = Add a line for each entry. Lines that begin with # are comments.
advice-remove-the-name-of-the-file = Remove the name of the file from its own lines.
advice-add-more-pixels-around-the-image = Add more pixels around the image.
advice-choose-a-safetensors-file-of-depth = Choose a .safetensors file of Depth Anything V2 small, base or large, or the folder of one as transformers saves it.
advice-choose-a-safetensors-file-of-pose = Choose a .safetensors file of YOLOv8-pose, such as yolov8n-pose.
advice-choose-a-safetensors-file-of-segformer = Choose a .safetensors file of SegFormer (B0 to B5) for ADE20K, or the folder of one as transformers saves it.
advice-choose-a-safetensors-file-of-hed = Choose a .safetensors file of HED, such as ControlNetHED.
advice-choose-a-safetensors-file-of-segment = Choose a .safetensors file of Segment Anything (ViT-B, L or H) or of MobileSAM, or the folder of one as transformers saves it.
advice-choose-a-gguf-or-safetensors-file = Choose a .gguf or .safetensors file of Qwen3, such as Qwen3-4B-Instruct-2507-Q4_K_M.gguf, or the text encoder of Z-Image; to describe images, Qwen2.5-VL or Qwen3-VL.
advice-choose-a-gguf-or-safetensors-file-that-sees = Choose a .gguf or .safetensors file of Qwen2.5-VL or Qwen3-VL, or the folder of one as transformers saves it.
advice-choose-qwen-vl-with-mmproj = Choose Qwen2.5-VL or Qwen3-VL, a GGUF file of one with its mmproj file in the same folder.
advice-try-another-seed-allow-more-tokens = Try another seed, allow more tokens, or choose a model that does not think first, such as Qwen3-4B-Instruct-2507.
advice-choose-a-safetensors-file-of-yolov8 = Choose a .safetensors file of YOLOv8, such as face_yolov8n or person_yolov8n-seg.
advice-sluice-never-opens-such-files-look-4 = Sluice never opens such files. Look for a .safetensors version, or convert it in Python: torch.load (YOLO of ultralytics for its files), then safetensors.torch.save_file.
advice-make-the-box-larger-or = Make the box larger, or paint the mask white where the region is.

## The engine for NVIDIA GPUs, as it is installed

advice-compute-on-the-cpu-or-on = Compute on the CPU, or on an engine elsewhere.
advice-set-the-variable-home = Set the variable HOME or XDG_DATA_HOME.
advice-install-it-from-an-archive = Install it from an archive on this computer, or build it with packaging/cuda/build.
advice-put-it-beside-the-archive = Put it beside the archive: it comes from the same place.
advice-fetch-it-again-from-where = Fetch it again from where it came from.
advice-use-an-archive-and-a-list = Use an archive and a list that were made together.
advice-check-that-the-nvidia-driver-is-installed = Check that the NVIDIA driver is installed.
advice-install-it-with-sluice-engine = Install it with `sluice engine install`, or build it with packaging/cuda/build.
advice-compute-on-the-cpu-or-another = Compute on the CPU, or on another GPU.
advice-do-not-use-this-archive = Do not use this archive: it was made to write into other folders.
advice-check-that-the-nvidia-driver-is-and = Check that the NVIDIA driver is installed and supports CUDA 13. Nothing was changed.
advice-use-the-engine-of-the-same = Use the engine of the same version. Nothing was changed.
