### What went wrong, as the engine and the downloads say it.
### The English texts are those of the source: they find what to translate.

error-downloads-stopped = the download was stopped
error-downloads-offline = there is no connection to { $host }
error-downloads-stalled = { $host } sends nothing any more
error-downloads-dropped = { $host } ended the connection before the file was complete
error-downloads-insecure = the secure connection to { $host } failed: { $reason }
error-downloads-proxy = the proxy does not work: { $reason }
error-downloads-busy = { $host } asks to wait, because there were too many requests
error-downloads-server = { $host } cannot answer now (error { $status })
error-downloads-needs-token = { $what } is only for people who are signed in{ $detail }
error-downloads-not-allowed = { $what } is only for people who have accepted its conditions
error-downloads-not-found = { $what } is not on { $host }
error-downloads-answer = the answer of { $host } is not understood: { $reason }
error-downloads-wrong-hash = { $name } is damaged or another file: its SHA-256 is { $found }…, expected { $expected }…
error-downloads-wrong-size = { $name } has another size than announced: { $found } bytes, expected { $expected }
error-downloads-no-space = there is not enough space in { $folder }: { $needed } are needed and { $allowed } are free
error-downloads-occupied = { $path } exists already, with other contents
error-downloads-in-use = { $path } is being downloaded already
error-downloads-file = { $path } cannot be { $doing }: { $source }
error-downloads-name = the name { $name } is not the name of a file in a folder

error-link-empty = there is no link
error-link-not-a-link = “{ $value }” is neither a link nor the name of a repository
error-link-no-model = “{ $value }” does not lead to a model
error-link-other-file = Sluice does not open { $value }
error-link-no-weights = { $value } has no .safetensors or .gguf files
error-link-several = { $repository } has { $count } files; say which one

error-the-keyring-refuses = The keyring refuses: { $error }.

error-the-engine-for-nvidia-gpus-is = The engine for NVIDIA GPUs is not installed: { $value } is missing.
error-the-readme-explains-how-to-install = The README explains how to install it.

error-presets-no-folder = this user has no folder for data
error-presets-name = { $value } cannot be the name of a preset; use letters, numbers and spaces
error-presets-taken = there is a preset named { $value } already
error-presets-missing = there is no preset named { $name }
error-presets-malformed = { $path } is not a preset: { $message }

error-adapters-not-an-adapter = { $path } is not a LoRA or any other adapter that Sluice supports; its first tensor is { $first }
error-adapters-layer = { $path }: the tensors for layer { $layer } do not fit together: { $reason }
error-adapters-other-family = { $path } is { $family }, but this model is { $model }
error-adapters-unknown = there is no LoRA named { $name }
error-adapters-tag = cannot parse <lora:{ $tag }>

error-checkpoint-not-found = there is no file or folder { $path }
error-checkpoint-not-here = { $name } is not on this machine
error-checkpoint-io = { $path } cannot be read: { $source }
error-checkpoint-write = { $path } cannot be written: { $source }
error-checkpoint-hollow = the weights of { $path } are not on this machine
error-checkpoint-no-model = no model found in { $path }
error-checkpoint-no-asset = { $name } is part of Sluice but was not found in { $path }
error-checkpoint-not-a-model-file = { $path } is not a model file that Sluice can read
error-checkpoint-pickle = { $path } is a pickle file, which can run arbitrary code when it is opened
error-checkpoint-empty-file = { $path } is empty
error-checkpoint-header-past-end = { $path } is damaged or incomplete: its header should have { $header } bytes, but the file has only { $length } bytes
error-checkpoint-header = the header of { $path } is damaged: { $reason }
error-checkpoint-truncated = { $path } is incomplete: it should have { $expected } bytes but has only { $length }
error-checkpoint-json = { $path } cannot be parsed: { $reason }
error-checkpoint-other-task = { $path } is a model { $task }, which Sluice does not support yet
error-checkpoint-missing-shard = { $shard } is missing, but { $index } refers to it
error-checkpoint-missing-part = the { $role } of { $model } is missing: { $expected }
error-checkpoint-unknown-family = { $path } is a model that Sluice does not support{ $kind }
error-checkpoint-refiner = { $path } cannot refine: { $reason }
error-checkpoint-upscaler = { $path } cannot enlarge images: { $reason }
error-checkpoint-interpolator = { $path } cannot interpolate frames: { $reason }
error-checkpoint-redux = { $path } cannot be used as Redux: { $reason }
error-checkpoint-control-net = { $path } cannot be used as a ControlNet: { $reason }
error-checkpoint-ip-adapter = { $path } cannot be used as an IP-Adapter: { $reason }
error-checkpoint-no-image-encoder = the image encoder for { $adapter } was not found: { $wanted }
error-checkpoint-missing-tensor = { $path } has no tensor { $name }
error-checkpoint-shape = tensor { $name } in { $path } has shape { $found } instead of { $expected }
error-checkpoint-dtype = tensor { $name } in { $path } is stored as { $found }, which Sluice does not support here
error-checkpoint-quantization = the weights of { $path } are stored as { $found }, which Sluice does not support
error-checkpoint-config = { $path } has { $field } = { $value }, but { $reason }
error-checkpoint-tokenizer = the tokenizer { $path } cannot be used: { $reason }

error-account = the device ran out of memory: { $needed } needed, { $allowed } allowed

error-plan-device = { $what } needs { $needed } of memory on the { $device } in the { $stage } stage, but only { $allowed } is allowed
error-plan-host = loading the weights needs { $needed } of RAM, but only { $allowed } is allowed

error-output-extension = { $path } does not end in .png, .jpg or .webp
error-output-clip-extension = { $path } does not end in { $endings }
error-output-other-files = the folder { $path } has other files in it
error-output-clip-too-large = frames of { $width }×{ $height } pixels are too large for { $path }
error-output-encoder = { $path } cannot be encoded: { $detail }
error-output-no-ffmpeg = the codec { $name } needs the program ffmpeg, which is not on the PATH
error-output-ffmpeg = ffmpeg could not write { $path }: { $detail }
error-output-is-folder = { $path } is a folder, not a file name
error-output-not-a-folder = { $path } is a file, not a folder
error-output-create-folder = the folder { $folder } cannot be created: { $cause }
error-output-not-writable = the folder { $folder } is not writable: { $cause }
error-output-disk-full = { $path } cannot be written: the disk is full
error-output-write = { $path } cannot be written: { $cause }
error-output-exists = { $path } already exists
error-output-settings-too-long = the settings are too long for a JPEG file: { $path }
error-output-pixels = an image of { $width }×{ $height } pixels with { $bytes } bytes cannot be written
error-output-kept-elsewhere = { $cause }; it was saved as { $path } instead
error-output-read = { $path } cannot be read: { $cause }
error-output-not-media = { $path } is not a PNG, JPEG, WebP, GIF or MP4 file
error-output-truncated = { $path } is incomplete
error-output-damaged = the settings in { $path } are damaged: { $detail }
error-output-too-large = the part { $keyword } of { $path } is too large for settings
error-output-no-settings = { $path } contains no generation settings
error-output-newer-version = { $path } was made by a newer version of Sluice: its settings have version { $found }, and this version reads up to { $known }

error-gif-file-too-large = the frames are too large for GIF

error-h264-too-large = the frames are too large for H.264

error-names-empty = type a name, such as {"{"}name{"}"}
error-names-unknown = there is no field {"{"}{ $value }{"}"}; use {"{"}name{"}"}, {"{"}number{"}"}, {"{"}date{"}"}, {"{"}seed{"}"}, {"{"}model{"}"}, {"{"}prompt{"}"}, {"{"}width{"}"} or {"{"}height{"}"}
error-names-open = a {"{"} is not closed by a {"}"}

error-webp-too-large = the frames are too large for WebP

error-pipeline-card = the GPU cannot be used: { $value }
error-pipeline-no-such-gpu = there is no GPU { $number } here
error-pipeline-unknown-card = there is no simulated GPU named { $id }
error-pipeline-unknown-model = there is no known model named { $id }
error-pipeline-initial-latents = the initial latents in { $path } cannot be used: { $reason }
error-pipeline-dump = the tensor dump cannot be written to { $path }: { $reason }
error-pipeline-not-finite = the image contains invalid values (NaN), computed in { $dtype }

error-clip = write the first frame, two dots and the frame after the last one, such as 0..48 or 12..

error-request-size-not-multiple = { $side } { $pixels } is not a multiple of { $multiple }; use { $below } or { $above }
error-request-side-too-long = { $side } { $pixels } is too large; use { $longest } or less
error-request-scale = the scale { $value } is not between 1 and 4
error-request-only-upscales = this model is an upscaler, which enlarges images and generates none; use `sluice upscale`, or Upscale… in the window
error-request-no-upscaler = this model generates images and is no upscaler
error-request-only-interpolates = this model makes the frames between those of a clip and generates none; use `sluice interpolate`, or Interpolate… in the window
error-request-no-interpolator = this model does not interpolate frames; choose a .safetensors file of RIFE 4
error-request-interpolation-factor = { $value } times as many frames are not possible; use { $least } to { $most }
error-request-interpolates-image = an image has no frames to put others between; choose a clip
error-request-smooths-image = frame interpolation is for clips; use more than 1 frame, or leave it out
error-request-nothing-between = the clip has one frame, so that nothing is between its frames; choose a longer one
error-request-hires-of-clip = hires fix is for images, not for clips; leave it out, and upscale the clip
error-request-hires-of-input = hires fix starts from the prompt; leave the input image out, or leave hires fix out and use a larger size
error-request-no-hires = hires fix needs image to image, which this model cannot do; leave it out, and upscale the image
error-request-no-steps = 0 steps would leave only noise; use 1 or more
error-request-no-frames = 0 frames produce nothing; use 1 or more
error-request-one-frame-only = this model generates images, not clips; use 1 frame instead of { $value }
error-request-frames-not-multiple = this model generates 1 frame and multiples of { $multiple } more, not { $frames }; use { $below } or { $above }
error-request-no-such-mode = this model cannot do { $wanted }; it can do { $modes }
error-request-image-and-clip = an input image and an input clip are given; remove one of them
error-request-variation = variation strength { $value } is invalid; use 0 to 1
error-request-last-image-alone = a last image needs a first image
error-request-clip-input-of-image = a last image, keyframes, an input clip and control are for clips; use more than 1 frame, or remove them
error-request-keyframe-twice = two images are for frame { $value }; remove one of them
error-request-keyframes-and-clip = keyframes cannot be combined with an input clip; remove one of them
error-request-keyframes-in-windows = keyframes and a last image cannot be used in windows of frames with this model; remove the images or the windows
error-request-nothing-controls = nothing controls the clip; give a control clip or reference images
error-request-mask-without-control = the mask belongs to a control clip; give that as well
error-request-control-strength = control strength { $value } is invalid; use a value from 0 to { $strongest-control }
error-request-no-references = this model takes no reference images; remove them, or give one as the input image
error-request-too-many-references = this model takes { $amount }, and { $given } are given
error-request-reference-side = reference side { $value } is invalid; use a value from { $least } to { $most } pixels
error-request-references-in-windows = reference images cannot be used in windows of frames; remove the images or the windows
error-request-nothing-to-fill-in = this model fills in a part of an image; give an image and a mask of that part
error-request-mask-of-clip = a mask is for images; remove it, or use 1 frame
error-request-nothing-added = { $frames } frames add nothing: the first { $overlap } repeat the end of the input clip; use { $least } or more
error-request-frame-rate = { $value } frames per second are invalid; use a value from 1 to 60
error-request-windows = windows of { $frames } frames that share { $overlap } do not move on; a window must be longer than its overlap
error-request-empty-batch = batch size 0 produces nothing; use 1 or more
error-request-batch-too-large = batch size { $value } is too large; use { $largest-batch } or less
error-request-no-tokens = a prompt limit of 0 tokens leaves no prompt; use 1 or more
error-request-guidance = guidance { $value } is invalid; use 0 or more
error-request-adapter-weight = LoRA weight { $value } is not a finite number
error-request-too-many-steps = { $value } steps are too many; use 1000 or fewer
error-request-clip-skip = clip skip { $value } is more layers than CLIP has; use { $largest-clip-skip } or less
error-request-step-cache = step cache threshold { $value } is invalid; use 0 or more
error-request-shift = shift { $value } is invalid; use a value from 0.01 to { $largest-shift }
error-request-no-shift = this model has no shift; leave it out
error-request-prompts-only = this model makes images of prompts alone; leave the input image out
error-request-no-such-levels = the schedule { $name } is not available for this model
error-request-frame-range = the frames { $value } are none; the second number must be larger than the first
error-request-strength = denoising strength { $value } is invalid; use a value above 0, up to 1
error-request-strength-takes-no-step = denoising strength { $strength } leaves none of the { $steps } steps; use { $least } or more, or more steps
error-request-refiner-switch = refiner switch { $value } is invalid; use a value between 0 and 1, such as 0.8
error-request-redux-alone = Redux reads reference images, and none is given; give one, or remove Redux
error-request-redux-strengths = { $given } strengths are given for { $references }
error-request-redux-strength = the strength { $value } of a reference is invalid; use a value from { $least } to { $most }
error-request-control-net-weight = the weight { $value } of a ControlNet is invalid; use a value from 0 to { $most }
error-request-control-net-range = a ControlNet cannot act from { $start } to { $end } of the steps; use values from 0 to 1, the first the smaller
error-request-control-net-without-image = a ControlNet has no image to follow; choose one, or remove the ControlNet
error-request-control-net-without-mask = a ControlNet follows the input image without its masked part, and there is no input image with a mask; add both, or choose another preprocessor
error-request-control-net-reads-mask = a ControlNet is for inpainting and reads a mask; choose the preprocessor inpaint for it
error-request-control-net-without-mode = a ControlNet follows several kinds of images and was not told which; choose one of { $modes }
error-request-no-such-control-mode = a ControlNet follows no images of the kind { $mode }; choose one of { $modes }
error-request-control-net-has-no-modes = a ControlNet follows only one kind of image; do not choose one for it
error-request-too-many-control-nets = { $value } ControlNets are given; use at most { $most }
error-request-image-prompt-without-image = an IP-Adapter has no image to read; choose one, or remove the IP-Adapter
error-request-too-many-prompt-images = { $value } images are given for an IP-Adapter; use at most { $most }
error-request-too-many-image-prompts = { $value } IP-Adapters are given; use at most { $most }
error-request-image-prompt-weight = the weight { $value } of image prompts is invalid; use a value from 0 to { $most }
error-request-image-prompt-range = image prompts cannot be read from { $start } to { $end } of the steps; use values from 0 to 1, the first the smaller
error-request-mask-blur = mask blur { $value } is too large; use { $widest-blur } or less
error-request-mask-padding = a padding of { $value } pixels around the mask is too large; use { $most } or less

error-grid-nothing = nothing varies; choose a setting and its values
error-grid-no-setting = { $value } names no setting; write its name, a colon and its values, such as `steps: 10, 20, 30`
error-grid-unknown = there is no setting named { $name }; use { $all }
error-grid-no-values = { $value } has no values; write some, such as 1, 2, 3
error-grid-value = { $value } is not a value of { $setting }; { $wanted }
error-grid-twice = { $value } varies twice; choose another setting for one of them
error-grid-too-many = { $count } images are too many for a grid; use { $most } or fewer
error-grid-not-in-prompt = neither the prompt nor the negative prompt contains { $value }, the words to replace
error-grid-which-lora = several LoRAs are used; say which one, such as `lora { $value }: 0.5, 1`
error-grid-no-style = there is no style named { $value }; choose one of the list of styles, or save it first
error-grid-no-input = denoising strength varies, but there is no input image and no hires fix; choose one first
error-grid-unused = { $setting } varies, but nothing uses { $what }; add it first

error-guidance = expected two numbers from 0 to 1, such as 0.2..0.8
error-guidance-rescale = guidance rescale { $value } is invalid; use 0 to 1
error-guidance-interval = guidance interval { $value } is invalid; use two increasing numbers from 0 to 1
error-guidance-true-cfg = true CFG { $value } is invalid; use 1 or more

error-keyframe = write the number of the frame, = and the file, such as 40=image.png

error-residency-cancelled = cancelled
error-residency-thread = could not start the threads that load weights: { $value }
error-residency-out-of-order = block { $block } was requested out of order
error-residency-compute = the computation failed: { $value }
error-residency-device-lost = the GPU stopped working: { $value }

error-serve-pipe = the messages from the window cannot be read: { $value }
error-serve-no-hello = the window did not begin with a greeting
error-serve-threads = the engine's threads could not be started: { $value }
error-serve-ended = the engine has ended
error-serve-no-visit = the caller did not name its visit as expected
error-serve-folder = the folder for files that are sent to this engine cannot be used: { $value }
error-serve-occupied = the engine of the broken connection is still running
error-serve-file = the caller did not send a file as expected

error-travel-read = { $path } cannot be sent to the engine: { $cause }
error-travel-folder = { $path } is a folder, and only files can be sent to an engine elsewhere
error-travel-too-large = { $path } is too large to be sent to an engine elsewhere
error-travel-changed = { $path } changed while it was sent to the engine
error-travel-report = { $path } cannot be written by an engine elsewhere
error-travel-not-there = the engine does not have { $name }: { $reason }
error-travel-not-sent = the engine was asked to use { $path }, which was not sent to it
error-command-not-started = the engine's command { $program } cannot be started: { $cause }
error-command-ended = the engine's command ended before the engine answered: { $how }
error-command-other-words = the engine's command wrote something else than an engine does: { $words }
error-command-silent = the engine's command does not answer

error-clip-read = the clip { $path } cannot be read: { $cause }
error-clip-damaged = the clip { $path } is damaged: { $detail }
error-clip-truncated = the clip { $path } is incomplete: it ends after frame { $readable } of { $frames }
error-clip-no-index = the clip { $path } is incomplete: its list of frames is missing
error-clip-no-video = { $path } has no video
error-clip-no-frames = the video in { $path } has no frames
error-clip-beyond-end = the clip { $path } has { $frames } frames, so frame { $start } is not in it
error-clip-too-short = { $frames } frames of { $path } are too few: { $needed } are needed
error-clip-too-long = { $frames } frames of { $path } are too many; { $most } can be read at once
error-clip-too-large = the frames of { $path } are too large: { $width }×{ $height } pixels
error-clip-needs-ffmpeg = { $path } is { $format }, which Sluice reads with the program ffmpeg, and ffmpeg is not on the PATH
error-clip-ffmpeg = ffmpeg cannot read { $path }: { $detail }

error-source-read = the image { $path } cannot be read: { $cause }
error-source-not-apicture = { $path } is not an image that can be read: { $detail }
error-source-nothing-masked = the mask { $path } selects nothing to inpaint: { $reason }

error-telemetry-same-file = { $path } cannot be both the telemetry file and the trace file
error-telemetry-create = the telemetry file { $path } cannot be created: { $cause }
error-telemetry-disk-full = telemetry cannot be written to { $path }: the disk is full
error-telemetry-write = telemetry cannot be written to { $path }: { $cause }
error-telemetry-gone = { $path } was deleted while telemetry was being written to it
error-telemetry-stopped = the thread that samples memory stopped early; the rest of the telemetry is lost
error-telemetry-not-telemetry = { $path } is not a telemetry file from Sluice: its first line is not a header
error-telemetry-version = the telemetry in { $path } has version { $found }, but this version of Sluice reads version { $known }
error-telemetry-damaged = line { $line } of { $path } is damaged: { $detail }

error-styles-read = { $path } cannot be read: { $error }
error-styles-too-large = { $path } is too large for a file of styles
error-styles-csv = { $path } has no styles: { $error }; A1111's styles.csv has the columns name, prompt and negative_prompt
error-styles-json = { $path } has no styles: { $error }; Fooocus' files are lists of name, prompt and negative_prompt

error-wildcards-missing = there is no wildcard file named { $name }.txt{ $similar }
error-wildcards-unreadable = the wildcard file { $path } cannot be read: { $error }
error-wildcards-empty = the wildcard file { $path } has no lines to choose from
error-wildcards-endless = the wildcard file { $name }.txt refers to itself

error-wire-truncated = the connection ended in the middle of a message
error-wire-too-long = a message claims to have { $value } bytes, more than any message has
error-wire-damaged = a message was damaged in transit
error-wire-not-understood = a message cannot be parsed: { $value }
error-request-outpaint = { $value } pixels around the input image are too many; use { $most } or fewer
error-request-control-and-input = control cannot be combined with an input image or an input clip; remove one of them, or give the image as a reference
error-outpaint-no-sides = write one number of pixels for all sides, or four: left,top,right,bottom, such as 0,0,256,0
error-grid-no-lora = no LoRA named { $name } is used; { $hint }
error-source-nothing-added = what is added around { $path } is smaller than one latent
error-checkpoint-map-estimator = { $path } cannot make { $maps }: { $reason }
error-request-only-makes-maps = this model makes maps and generates no images; use `sluice map`, or a ControlNet with such a preprocessor
error-request-no-map-estimator = no model is chosen that makes { $maps }; choose a .safetensors file of { $networks }
error-checkpoint-segmenter = { $path } cannot make masks: { $reason }
error-request-only-makes-masks = this model makes masks and generates no images; use `sluice mask`, or the tools for masks in the window
error-request-no-segmenter = a mask of points needs Segment Anything; choose a .safetensors file of it or of MobileSAM
error-request-nothing-to-mask = nothing shows what the mask is of; give a point in it, or a box around it
error-request-mask-point-outside = the point { $x },{ $y } is not in the image, which has { $width }×{ $height } pixels
error-request-mask-box = the box { $left },{ $top },{ $right },{ $bottom } is no box in the image, which has { $width }×{ $height } pixels; give left, top, right and bottom
error-checkpoint-language-model = { $path } cannot write prompts: { $reason }
error-pipeline-nothing-written = the language model wrote nothing in { $tokens } tokens
error-request-nothing-to-enhance = there is no prompt to enhance; write a few words
error-request-nothing-to-describe = there is no image to describe; give one or more
error-request-sees-no-images = the language model has no vision tower and sees no images; choose Qwen2.5-VL or Qwen3-VL, a GGUF file of one with its mmproj file in the same folder
error-request-seen-pixels = images of { $pixels } pixels cannot be described; use { $least } to { $most }
error-request-too-narrow = an image of { $width }×{ $height } pixels is too narrow to be described; cut it so that one side is at most 200 times the other
error-request-no-instruction = the language model has no instruction; leave it out for the usual one
error-request-temperature = the temperature { $value } is not between 0 and 2
error-request-top-p = top-p { $value } is not above 0 and at most 1
error-request-longest-prompt = a prompt of { $tokens } tokens is not possible; use 1 to { $most }
error-request-keyframe-at-start = frame 0 is the start of the clip; give its image as the first image
error-request-keyframe-outside = frame { $frame } is not in the clip; its last frame is { $last }
error-adapters-for-another = for another model
error-request-one-reference = one reference image
error-request-at-most-references = at most { $most } reference images
error-request-1-reference = 1 reference image
error-request-references = { $count } reference images
error-checkpoint-task-clips = that generates clips from images
error-checkpoint-task-layers = that generates images in layers
error-grid-add-lora = add one first
error-source-mask-small = its white area is smaller than one latent
error-source-mask-none = it has no white area
error-downloads-token-refused = , and the token is not accepted

error-checkpoint-detector = { $path } cannot find faces or other things: { $reason }
error-request-no-detector = a detailer has no detector; choose a .safetensors file of YOLOv8, such as face_yolov8n
error-request-no-detailer = nothing says what to find in the image; give a detailer
error-request-too-many-detailers = { $value } detailers are given; use at most { $most }
error-request-detailer-confidence = confidence { $value } is invalid; use a value between 0 and 1, such as 0.3
error-request-detailer-boxes = { $value } boxes of an image cannot be inpainted; use 1 to { $most }
error-request-detailer-growth = growing what is found by { $value } pixels is too much; use { $most } or less
error-request-detailer-of-clip = detailers are only for images; remove them, or generate an image
error-request-no-detailing = this model does not inpaint, so detailers cannot be used; remove them
error-request-detailer-adapter = the prompt of a detailer names the LoRA { $value }, which the image does not have; name it in the prompt of the image
error-request-only-detects = a detector only finds things; choose it for a detailer of another model

error-request-too-many-regions = { $value } regions are given; use at most { $most }
error-request-region-without-prompt = region { $value } has no prompt; say what is in it, or remove it
error-request-region-area = the area { $value } of a region is not inside of the image; use left, top, width and height between 0 and 1, such as 0,0,0.5,1
error-request-region-weight = the weight { $value } of a region is invalid; use a value above 0 and at most { $most }
error-request-region-base = { $value } is no part that the prompt can have inside of regions; use 0 to 1
error-request-region-fade = regions cannot fade in over { $value } of the image; use 0 to { $most }
error-request-regions-of-part = regions cannot be used where only the masked part is generated; turn off one of the two
error-request-region-adapter = the prompt of a region names the LoRA { $value }, which the image does not have; name it in the prompt of the image
error-source-empty-region = nothing of the image is in the region { $area }
error-request-no-area = expected left, top, width and height between 0 and 1, such as 0,0,0.5,1, or the file of a mask
