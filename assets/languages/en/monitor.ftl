### The memory use of a run: timeline, layers, steps.

monitor-empty = The timeline shows memory use while an image is generated.
monitor-title = Memory
monitor-title-unit = Memory ({ $unit })
monitor-last-run = in the last run
monitor-this-run = in this run
monitor-close = Close the timeline
monitor-resume = Resume
monitor-pause = Pause
monitor-pause-tip = Freezes the timeline; the run continues.
monitor-whole = Whole run
monitor-whole-tip = Shows the whole run again. Or double-click the timeline.
monitor-weights = weights
monitor-activations = activations
monitor-others = others
monitor-free = free
monitor-predicted = predicted
monitor-allowed = allowed

## Steps

monitor-steps = Steps
monitor-step-took = { $time } in all
monitor-step-computing = { $time } computing
monitor-step-waiting = { $time } waiting for weights
monitor-step-copied = { $memory } copied
monitor-step-skipped = Skipped by the step cache
monitor-steps-none = Steps, none done yet
monitor-steps-summary = Steps, { $count } done, { $time } on average, { $share } waiting

## The timeline

monitor-vram = VRAM over time, { $memory } measured at its peak
monitor-ram = RAM over time, { $memory } at its peak
monitor-run-ram = RAM of the run over time, { $memory } measured at its peak
monitor-process-ram = RAM of Sluice over time, { $memory } at its peak
monitor-sample-host = Weights in RAM { $memory }
monitor-sample-host-pinned = Weights in RAM { $memory } ({ $pinned } pinned)
monitor-sample-weights = Weights { $memory }
monitor-sample-activations = Activations { $memory }
monitor-sample-others = Other programs { $memory }
monitor-sample-free = Free { $memory }
monitor-sample-process = Sluice in RAM { $memory }

## Layers

monitor-layers = Layers
monitor-layers-none = Layers, none known yet
monitor-layers-summary =
    { $part ->
        [text-encoder] Layers of the text encoder, { $resident } resident, { $streamed } streamed
        [denoiser] Layers of the denoiser, { $resident } resident, { $streamed } streamed
        [upscaler] Layers of the upscaler, { $resident } resident, { $streamed } streamed
        [interpolator] Layers of the frame interpolator, { $resident } resident, { $streamed } streamed
        [preprocessor] Layers of the preprocessor, { $resident } resident, { $streamed } streamed
        [segmenter] Layers of the segmenter, { $resident } resident, { $streamed } streamed
        [detector] Layers of the detector, { $resident } resident, { $streamed } streamed
        [language-model] Layers of the language model, { $resident } resident, { $streamed } streamed
       *[autoencoder] Layers of the autoencoder, { $resident } resident, { $streamed } streamed
    }
monitor-layers-now =
    { $part ->
        [text-encoder] Layers of the text encoder, { $resident } resident, { $streamed } streamed, now { $block }
        [denoiser] Layers of the denoiser, { $resident } resident, { $streamed } streamed, now { $block }
        [upscaler] Layers of the upscaler, { $resident } resident, { $streamed } streamed, now { $block }
        [interpolator] Layers of the frame interpolator, { $resident } resident, { $streamed } streamed, now { $block }
        [preprocessor] Layers of the preprocessor, { $resident } resident, { $streamed } streamed, now { $block }
        [segmenter] Layers of the segmenter, { $resident } resident, { $streamed } streamed, now { $block }
        [detector] Layers of the detector, { $resident } resident, { $streamed } streamed, now { $block }
        [language-model] Layers of the language model, { $resident } resident, { $streamed } streamed, now { $block }
       *[autoencoder] Layers of the autoencoder, { $resident } resident, { $streamed } streamed, now { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] Block { $number } of the text encoder
        [denoiser] Block { $number } of the denoiser
        [upscaler] Block { $number } of the upscaler
        [interpolator] Block { $number } of the frame interpolator
        [preprocessor] Block { $number } of the preprocessor
        [segmenter] Block { $number } of the segmenter
        [detector] Block { $number } of the detector
        [language-model] Block { $number } of the language model
       *[autoencoder] Block { $number } of the autoencoder
    }
monitor-block-resident = { $memory }, resident during its stage
monitor-block-streamed = { $memory }, streamed
monitor-block-leaves = { $memory }, streamed tensor by tensor
monitor-now-resident = Now on the device
monitor-now-in-flight = Now loading or in a slot
monitor-now-waiting = Now waiting for weights
monitor-now-computing = Now computing
monitor-now-idle = Now not on the device
monitor-not-used = Not used yet
monitor-from-disk = from disk
monitor-from-ram = from RAM
monitor-from-device = already there
monitor-last-use = Last use: { $from }
monitor-last-use-slot = Last use: { $from }, slot { $slot }
monitor-time-waiting = waiting { $time }, on average { $mean }
monitor-time-loading = loading { $time }, on average { $mean }
monitor-time-computing = computing { $time }, on average { $mean }
monitor-time-evict = evict { $time }, on average { $mean }
