### Why a plan is what it is, as the engine says it.
### The English texts are those of the source: they find what to translate. $where, $role, $how and $why are other texts of this file.

## Sentences

reason-all-streamed = All { $used } { $role } blocks { $how }, { $why }.
reason-one-stays = { $stay } of { $used } { $role } blocks stays { $where } and the rest { $how }, { $why }.
reason-some-stay = { $stay } of { $used } { $role } blocks stay { $where } and the rest { $how }, { $why }.
reason-everything-stays = The whole model ({ $size }) fits and stays { $where }.
reason-parts-in-turn = Each part of the model is { $where } only while it is used, { $why }.
reason-part-in-use = The { $role } is { $where } only while in use, { $why }.
reason-parts-in-use = The { $roles } are { $where } only while in use, { $why }.
reason-decoded-in-tiles = The image is decoded in tiles of up to { $width }×{ $height } latents.
reason-enlarged-in-tiles = The image is enlarged in tiles of up to { $width }×{ $height } pixels.
reason-interpolated-in-tiles = The image is interpolated in tiles of up to { $width }×{ $height } pixels.
reason-uses-per-step = Uses { $part } of { $whole }, { $time } per step.
reason-uses = Uses { $part } of { $whole }, { $time }.
reason-weights-in-8-bits = Weights are held in 8 bits ({ $format }), which changes the image slightly.
reason-text-in-8-bits = The text encoders' weights are held in 8 bits ({ $format }), which changes the image slightly.
reason-offer-with-error = { $name } would use { $memory } and take { $time } per step, with a weight error of { $error }.
reason-offer = { $name } would use { $memory } and take { $time } per step.

## What does not fit

reason-does-not-fit = Does not fit { $where }: { $what } needs { $needed } in the { $stage } stage, { $over } more than the { $allowed } allowed.
reason-not-enough-ram = Not enough RAM: loading the weights needs { $needed }, and { $allowed } is allowed.
reason-allow-or-smaller = { $allow }, or use a smaller image or batch.
reason-allow-smaller-or-auto = { $allow }, use a smaller image or batch, or choose the automatic offload mode.
reason-smaller = Use a smaller image or batch.
reason-smaller-or-auto = Use a smaller image or batch, or choose the automatic offload mode.
reason-allow-ram = Allow { $memory } more RAM
reason-allow-vram = Allow at least { $memory } of VRAM
reason-allow-memory = Allow at least { $memory } of memory
reason-what-everything = keeping everything on the device
reason-what-all-but-text = keeping everything but the text encoder on the device
reason-what-autoencoder = keeping the autoencoder next to the part in use
reason-what-largest = the largest part alone
reason-what-smallest = even the smallest placement

## Why weights do not stay

reason-because-too-large = because all { $size } do not fit at once
reason-because-little-free = because keeping all { $size } would leave little memory free
reason-because-least-memory = because as little memory as possible is to be used
reason-because-mode = because the offload mode is "{ $mode }"

## What weights do that do not stay

reason-how-some-by-tensor = are streamed ({ $blocks } of them tensor by tensor)
reason-how-by-tensor = are loaded tensor by tensor
reason-how-computation = are streamed during computation
reason-how-link = are streamed as fast as the link to the GPU allows
reason-how-disk = are streamed as fast as the disk allows

## Where weights are

reason-where-memory = in memory
reason-where-gpu = on the GPU
reason-where-into-memory = into memory

## Parts of a model

reason-role-text-encoder = text encoder
reason-role-denoiser = denoiser
reason-role-autoencoder = autoencoder
reason-role-upscaler = upscaler
reason-role-frame-interpolator = frame interpolator
reason-role-preprocessor = preprocessor
reason-role-segmenter = segmenter
reason-role-detector = detector
reason-role-language-model = language model
reason-roles-text-and-denoiser = text encoder and the denoiser
reason-roles-text-and-autoencoder = text encoder and the autoencoder
reason-roles-denoiser-and-autoencoder = denoiser and the autoencoder

## Stages

reason-stage-encode = encode
reason-stage-encode-image = encode image
reason-stage-encode-control-image = encode control image
reason-stage-encode-image-prompt = encode image prompt
reason-stage-encode-enlarged-image = encode enlarged image
reason-stage-denoise = denoise
reason-stage-decode = decode
reason-stage-upscale = upscale
reason-stage-interpolate = interpolate
reason-stage-make-maps = make maps
reason-stage-detect = detect
reason-stage-write = write
reason-stage-high-noise = high noise
reason-stage-low-noise = low noise
reason-stage-refine = refine
reason-stage-denoise-again = denoise again
reason-stage-prior = prior
reason-stage-decoder = decoder

## Maps

reason-maps-depth = depth maps
reason-maps-pose = poses
reason-maps-segments = segments
reason-maps-soft-edge = soft edges

## Changes of the plan during a run

reason-ran-out = Ran out of memory ({ $needed } needed, { $allowed } allowed). Now { $changes }
reason-now-fewer-stay = { $stay } instead of { $stayed } { $role } blocks stay on the device
reason-now-fewer-stay-more = { $stay } instead of { $stayed } { $role } blocks stay on the device, { $more }
reason-now-enlarged = the image is enlarged in tiles of { $width }×{ $height } pixels
reason-now-enlarged-more = the image is enlarged in tiles of { $width }×{ $height } pixels, { $more }
reason-now-interpolated = frames are interpolated in tiles of { $width }×{ $height } pixels
reason-now-interpolated-more = frames are interpolated in tiles of { $width }×{ $height } pixels, { $more }
reason-now-decoded = the image is decoded in tiles of { $width }×{ $height } latents
reason-now-decoded-more = the image is decoded in tiles of { $width }×{ $height } latents, { $more }
reason-now-windows = the windows of the clip are computed one after the other
reason-now-windows-more = the windows of the clip are computed one after the other, { $more }
reason-now-fewer-slots = blocks are streamed through { $slots } instead of { $before } slots
reason-now-fewer-slots-more = blocks are streamed through { $slots } instead of { $before } slots, { $more }
reason-now-smaller-pieces = weights are loaded in smaller pieces
reason-timings-one = The timings of the first step changed the placement of 1 block
reason-timings = The timings of the first step changed the placement of { $blocks } blocks
reason-driver-moved = The driver moved { $memory } of the GPU's memory to RAM, which slows down every step. Set “CUDA - Sysmem Fallback Policy” to “Prefer No Sysmem Fallback” in the NVIDIA Control Panel, or allow less VRAM
reason-slow-link = This computer copies { $measured }, the simulated link { $simulated }: steps that wait for it take longer than on the GPU
