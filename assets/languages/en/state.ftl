### Notices, failures and names of what was generated.

## Lengths and names

state-still-image = Still image
state-clip-length =
    { $duration }, { $count ->
        [one] { $count } frame
       *[other] { $count } frames
    }
state-clip-of-seed = Clip with seed { $seed }
state-image-of-seed = Image with seed { $seed }
state-clip-of-number = Clip { $number }
state-image-of-number = Image { $number }

## The machine

state-device = { $cpu }, { $ram } of RAM, no NVIDIA GPU
state-device-without-name = This computer, { $ram } of RAM, no NVIDIA GPU

## How well a model runs

state-fit-well = Runs well · { $time }
state-fit-well-about = Runs well · about { $time }
state-fit-streamed = Runs, streamed · { $time }
state-fit-streamed-about = Runs, streamed · about { $time }
state-fit-slowly = Runs slowly · { $time }
state-fit-slowly-about = Runs slowly · about { $time }
state-fit-very-slowly = Runs very slowly · { $time }
state-fit-very-slowly-about = Runs very slowly · about { $time }
state-fit-too-big-ram = Too big, needs { $needed } of RAM
state-fit-too-big = Too big, needs { $needed }
state-fit-cannot = Cannot run

## Notices

state-lora-added = Added the LoRA { $name }
state-lora-made-for = { $name } is made for these settings.
state-model-own-steps = The model's own steps and guidance
state-queue-paused = The queue is paused
state-queue-paused-detail = What was resumed waits until the queue goes on.
state-cancelled-at = Step { $step } of { $steps } was done.
state-cancelled = Cancelled
state-jobs-cancelled =
    { $count ->
        [one] { $count } job cancelled
       *[other] { $count } jobs cancelled
    }

## Failures

state-engine-stopped-message = Nothing can be generated until Sluice is restarted.
state-engine-stopped-advice = Your settings are kept.
state-engine-stopped = The engine has stopped
state-not-saved = The image was not saved to the output folder
state-engine-restarted = Engine restarted, resuming
state-image-goes-on = The image goes on after step { $step }.
state-clip-goes-on = The clip goes on after step { $step }.
state-generation-failed = Generation failed
state-upscale-failed = Upscaling { $name } failed
state-interpolation-failed = Interpolating { $name } failed
state-detail-failed = Detailing { $name } failed
state-description-failed = Describing { $names } failed
state-map-failed = The map of { $name } could not be made
state-mask-failed = The mask of { $name } could not be made
state-enhance-failed = Enhancing the prompt failed
state-model-not-opened = This model could not be opened
state-other-model-not-opened = { $name } could not be opened
state-went-wrong = Something went wrong
state-snippet-deleted = Snippet deleted: { $words }
state-negative-snippet-deleted = Negative preset deleted: { $words }
state-job-edited = Editing a job
state-job-goes-back = Generate puts it back in its place, with these settings.
state-style-deleted = Deleted the style { $name }
