### The settings of the next image, on the left.

## Numbers and more settings

side-panel-steps = Steps
side-panel-steps-tip = Denoising steps: more take longer and refine the image, up to a point.
side-panel-guidance = Guidance
side-panel-guidance-tip = How closely the image follows the prompt (CFG scale).
side-panel-batch-size = Batch size
side-panel-batch-size-tip = Images generated together. More need more memory.
side-panel-batch-as-grid = Batch as grid
side-panel-batch-as-grid-tip = Compose the images of a batch into one, too.
side-panel-more = More settings
side-panel-sampler = Sampler
side-panel-sampler-tip = The method that turns noise into an image.
side-panel-schedule = Schedule
side-panel-schedule-tip = How the noise levels of the steps are spaced.
side-panel-schedule-model = Model default
side-panel-precision = Precision
side-panel-precision-tip = Number format of the computation. 16-bit needs less memory.
side-panel-precision-32-bit = 32-bit
side-panel-precision-16-bit = 16-bit ({ $format })
side-panel-precision-automatic-planned = Automatic ({ $format })
side-panel-precision-automatic = Automatic

## Prompts

side-panel-prompt = Prompt
side-panel-negative-prompt = Negative prompt
side-panel-describe-clip = Describe your clip
side-panel-describe-image = Describe your image
side-panel-what-to-avoid = What to avoid
side-panel-negative-unused = Not used while guidance is 0.
side-panel-examples = Examples
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }, { $chunks } chunks
side-panel-tokens-spoken = { $prompt }, { $tokens } of { $room } tokens
side-panel-history = History
side-panel-history-tip = Prompts that you used before. ↑ in an empty field brings the last one back.
side-panel-history-search = Search prompts
side-panel-history-nothing = No prompt contains this.
side-panel-tag-images = { $count } images

## Styles

side-panel-styles = Styles
side-panel-styles-tip = Named parts that are added to the prompts, from files of A1111 and Fooocus.
side-panel-styles-search = Search styles
side-panel-styles-nothing = No styles yet. A1111's styles.csv and Fooocus' sdxl_styles are found above the model's folder; or open a file.
side-panel-style-negative = Negative prompt: { $prompt }
side-panel-styles-open = Open a file of styles…
side-panel-styles-open-tip = A1111's CSV, or JSON of Fooocus.

## Snippets

side-panel-snippets = Snippets
side-panel-snippets-tip = Words that you keep to put them into prompts.
side-panel-snippets-nothing = No snippets yet. Select words in the prompt and keep them.
side-panel-snippet-delete = Delete the snippet { $words }
side-panel-snippet-use = Inserts { $words } at the cursor.
side-panel-snippet-keep-selected = Keep the selected words
side-panel-snippet-keep-prompt = Keep the prompt
side-panel-snippet-keep-tip = Adds the words to the snippets.
side-panel-snippet-undo-tip = Keeps the snippet again.
side-panel-negative-snippets = Negative presets
side-panel-negative-snippets-tip = Words that you keep to avoid the same things again.
side-panel-negative-snippets-nothing = No negative presets yet. Write what to avoid and keep it.
side-panel-negative-snippet-delete = Delete the negative preset { $words }
side-panel-negative-snippet-keep-prompt = Keep the negative prompt
side-panel-negative-snippet-keep-tip = Adds the words to the negative presets.
side-panel-negative-snippet-undo-tip = Keeps the negative preset again.

## Presets

side-panel-saved-settings = Saved settings
side-panel-presets = Presets
side-panel-presets-tip = Keep the settings under a name, and use them again.
side-panel-presets-nothing = Nothing is kept yet. Presets hold everything but prompt, seed and input images.
side-panel-reset = Reset to the model's defaults
side-panel-reset-tip = Everything but prompts, seed and input images.
side-panel-preset-new-name = New name of { $name }
side-panel-rename = Rename
side-panel-preset-delete = Delete { $name }
side-panel-preset-rename = Rename { $name }
side-panel-preset-use = Use these settings: { $settings }
side-panel-preset-name = Name of a preset
side-panel-save = Save
side-panel-preset-with-model = With the model
side-panel-preset-with-model-tip = The preset also opens this model.
side-panel-preset-name-tip = The name of its file in the data folder. A preset of the same name is replaced.
side-panel-preset-save-tip = Keep it under this name.

## Size

side-panel-size = Size
side-panel-width = Width
side-panel-height = Height
side-panel-swap-sides = Swap width and height
side-panel-round-size = Round the size
side-panel-round-size-tip = Use the nearest size that the model can generate.
side-panel-size-larger = The model was trained for about { $width } × { $height }. Larger images repeat themselves.
side-panel-size-smaller = The model was trained for about { $width } × { $height }. Smaller images lack detail.
side-panel-use-size = Use { $width } × { $height }
side-panel-use-size-trained-tip = The nearest size that the model was trained for.
side-panel-aspect-far = Models are made for clips between { $tallest } and { $widest }. Others are often distorted.
side-panel-aspect-far-image = The model was made for images between { $tallest } and { $widest }. Wider and taller ones repeat things.
side-panel-clip-longer = The model was made for about { $length }. Longer clips repeat themselves or fall apart.
side-panel-use-length = Use { $length }
side-panel-use-length-tip = The length that the model was made for.
side-panel-side-tip = In pixels, a multiple of { $multiple }.

## Clips

side-panel-kind-image = Image
side-panel-kind-video = Video
side-panel-duration = Duration
side-panel-duration-tip = Length of the clip. Type seconds, or a number of frames such as 33 frames.
side-panel-duration-multiple-tip = Length of the clip: 1 frame and a multiple of { $multiple } more. Type seconds or frames.
side-panel-frame-rate = Frame rate
side-panel-frame-rate-tip = Frames per second. The same frames play faster or slower; models follow the rate they were trained for.
side-panel-windows = Generate in windows
side-panel-windows-tip = Generates a long clip in windows of frames that overlap. It takes the memory of one window, and the model sees no more frames at once than it was trained for.
side-panel-window = Window
side-panel-window-tip = Frames that are generated together.
side-panel-overlap = Overlap
side-panel-overlap-tip = Frames that a window shares with the one before it. More blend better and take longer.

## Inputs of clips

side-panel-choose = Choose…
side-panel-replace = Replace…
side-panel-replace-tip = Choose another file for this place.
side-panel-file-remove-tip = The file itself stays where it is.
side-panel-start-image-tip = The clip begins with this image. You can also drop one on the window, or paste it.
side-panel-start-image = Start image
side-panel-start-image-remove = Remove start image
side-panel-end-image-tip = The clip ends with this image.
side-panel-end-image = End image
side-panel-end-image-remove = Remove end image
side-panel-input-clip-tip = Change a clip, or continue it. You can also drop one on the window.
side-panel-input-clip = Input clip
side-panel-input-clip-remove = Remove input clip
side-panel-clip-change = Change
side-panel-clip-extend = Extend
side-panel-clip-continues = Continues from its last { $frames } frames.
side-panel-denoising-strength = Denoising strength
side-panel-denoising-strength-clip-tip = How much the clip changes. 1 keeps nothing of it.
side-panel-range-tip = Counted at the frame rate of the result.
side-panel-first-frame = First frame
side-panel-last-frame = Last frame
side-panel-fit = Fit
side-panel-fit-clip-tip = How the input is brought to the size of the clip.
side-panel-keyframes-tip = The clip shows this image at a frame that you choose.
side-panel-keyframes = Keyframes
side-panel-keyframe-remove = Remove keyframe { $name }
side-panel-frame = Frame
side-panel-frame-tip = The frame at which the image is shown.
side-panel-control-clip-tip = A clip of depths, poses or lines that the result follows, or one of which a mask shows what changes.
side-panel-control-clip = Control clip
side-panel-control-clip-remove = Remove control clip
side-panel-control = Control
side-panel-control-remove = Remove control
side-panel-control-strength = Control strength
side-panel-control-strength-tip = How closely the result follows the control clip and the references. 1 is as trained.
side-panel-control-preprocessor-tip = What is made of each frame first. Choose none if they are maps already.
side-panel-control-start-tip = The fraction of the steps before which the clip has no effect.
side-panel-control-end-tip = The fraction of the steps after which the clip has no effect.
side-panel-control-mask-tip = White is generated, black stays as in the control clip. A clip, or an image for all frames.
side-panel-control-mask = Control mask
side-panel-control-mask-remove = Remove control mask

## Image to image

side-panel-dropped-dismiss = Dismiss the dropped image
side-panel-dropped = { $name } contains settings
side-panel-dropped-use-settings = Use settings
side-panel-dropped-use-clip = Use as input clip
side-panel-dropped-use-image = Use as input image
side-panel-image-to-image = Image to image
side-panel-input-image-tip = Start from an image. You can also drop one on the window, or paste it.
side-panel-input-folder = Folder…
side-panel-input-folder-tip = Generate from each image of a folder, with these settings. Results have the names of the images, and what is done is left out.
side-panel-reference-folder = Folder of reference images…
side-panel-input-image-remove = Remove input image
side-panel-denoising-strength-tip = How much the input image changes. 1 keeps nothing of it.
side-panel-fit-tip = How the input image is brought to the size of the new image.
side-panel-mask = Inpaint mask
side-panel-mask-open = Open…
side-panel-mask-open-tip = Open an image that is white where the input image should change.
side-panel-mask-paint = Paint…
side-panel-mask-paint-tip = Paint over the area that should change.
side-panel-mask-remove = Remove mask
side-panel-mask-keep = Keep unmasked area unchanged
side-panel-mask-keep-tip = Copies the pixels outside the mask from the input image.
side-panel-mask-feather = Mask feather (px)
side-panel-mask-feather-tip = How wide the edge of the mask blends into the input image.
side-panel-reading = Reading…
side-panel-fit-crop = Crop
side-panel-fit-stretch = Stretch
side-panel-fit-pad = Pad

## Reference images

side-panel-references =
    { $most ->
        [one] Reference image
       *[other] Reference images
    }
side-panel-reference-edits-tip = The prompt says how this image changes. You can also drop one on the window, or paste it.
side-panel-reference-seen-tip = The result looks like it; how strongly, is set below.
side-panel-reference-clip-tip = Something that appears in the clip.
side-panel-reference-add = Add…
side-panel-reference-remove = Remove reference { $number }
side-panel-references-swap = Swap references { $first } and { $second }
side-panel-redux = Read through { $name }
side-panel-redux-remove = Remove Redux
side-panel-redux-add = Add Redux…
side-panel-redux-add-tip = Choose a model through which reference images say what the result looks like.
side-panel-redux-strength = Strength of reference { $number }
side-panel-redux-strength-tip = How strongly { $name } counts beside the prompt.

## Seed

side-panel-seed = Seed
side-panel-seed-tip = The same seed and settings give the same image again.
side-panel-seed-lock = Lock seed
side-panel-seed-randomize = Randomize seed
side-panel-seed-locked = Seed locked
side-panel-seed-random = Random seed each time
side-panel-variation-strength = Variation strength
side-panel-variation-strength-tip = Images like that of the seed: turns its noise towards that of a second seed.
side-panel-variation-seed = Variation seed
side-panel-variation-seed-tip = The second seed. Images of a batch have this one and the next ones.

## LoRAs

side-panel-loras = LoRA
side-panel-loras-used = LoRA ({ $count })
side-panel-lora-add = Add LoRA…
side-panel-lora-add-tip = Choose a LoRA file, or drop one on the window.
side-panel-lora-remove = Remove { $name }
side-panel-lora-weight = Weight of { $name }
side-panel-lora-weight-tip = How strongly the LoRA is applied. 1 is as trained, below 0 is the opposite.
side-panel-lora-half = { $name } is used with it.
side-panel-loras-near = Found near model
side-panel-loras-near-spoken = LoRAs found near the model

## Under More settings

side-panel-shift = Shift
side-panel-shift-tip = Spends more steps at high noise, where composition and motion are decided. The model's own shift is { $own }.
side-panel-clip-skip = Clip skip
side-panel-clip-skip-tip = Takes the prompt from an earlier layer of CLIP. 1 is the last layer.
side-panel-clip-skip-without-effect = Clip skip has no effect on { $family }.
side-panel-refiner = Refiner { $name }
side-panel-refiner-remove = Remove the refiner
side-panel-refiner-switch = Refiner switch
side-panel-refiner-switch-tip = The refiner takes over after this fraction of the noise schedule.
side-panel-refiner-add = Add refiner…
side-panel-refiner-add-tip = Choose a second model that does the last steps and adds detail.
side-panel-guidance-and-speed = Guidance and speed
side-panel-guidance-rescale = Guidance rescale
side-panel-guidance-rescale-tip = Counteracts colors that high guidance makes too strong.
side-panel-guidance-start = Guidance start
side-panel-guidance-start-tip = Guidance starts after this fraction of the steps.
side-panel-guidance-end = Guidance end
side-panel-guidance-end-tip = Guidance ends after this fraction of the steps.
side-panel-guidance-interval-hint = Fraction of steps. Steps without guidance cost half.
side-panel-true-cfg = True CFG
side-panel-true-cfg-tip = Above 1, models like FLUX.1 use the negative prompt. Each step takes twice as long.
side-panel-true-cfg-hint = For the negative prompt in models like FLUX.1. Doubles the time.
side-panel-step-cache = Step cache
side-panel-step-cache-tip = How much a step may change and still be skipped. 0 skips none.
side-panel-step-cache-hint = Skips similar steps: faster, but the image changes slightly.

## What changes the next image, above Generate

side-panel-without-input-image = Do not use the input image
side-panel-in-force-mask = Mask
side-panel-without-mask = Do not use the mask
side-panel-in-force-end-image = End: { $name }
side-panel-without-end-image = Do not use the end image
side-panel-in-force-keyframe = Frame { $frame }: { $name }
side-panel-without-keyframe = Do not use the keyframe { $name }
side-panel-without-input-clip = Do not use the input clip
side-panel-in-force-reference = Reference: { $name }
side-panel-without-reference = Do not use the reference { $name }
side-panel-in-force-control = Control: { $name }
side-panel-in-force-control-strength = Control strength { $strength }
side-panel-without-control = Do not use what controls the clip
side-panel-in-force-redux = Redux: { $name }
side-panel-without-redux = Do not use Redux
side-panel-in-force-refiner = Refiner: { $name }
side-panel-without-refiner = Do not use the refiner
side-panel-in-force-seed = Seed { $seed }
side-panel-without-seed = Do not use the same seed again
side-panel-in-force-style = Style: { $name }
side-panel-chip-show = Show in the settings
side-panel-chip-show-tip = Open the section where this is set.
side-panel-chip-copy-tip = Copy it as text.
side-panel-chip-copy-seed = Copy seed
side-panel-chip-copy-style = Copy its prompt
side-panel-chip-copy-name = Copy for prompts
side-panel-chip-off = Switch off
side-panel-chip-off-tip = Keep it in the list without using it.
side-panel-chip-remove-tip = Go on without it.
side-panel-chip-remove-all = Remove all of these
side-panel-chip-remove-all-tip = Go on without anything that is listed here; Undo brings it back.
side-panel-kept-use = Use
side-panel-kept-rename = Rename…
side-panel-kept-duplicate = Duplicate
side-panel-kept-delete = Delete
side-panel-kept-use-tip = Use it, or no longer.
side-panel-kept-rename-tip = Give it another name.
side-panel-kept-duplicate-tip = Save a copy under another name.
side-panel-kept-delete-tip = Delete it; Undo brings it back.
side-panel-style-new-name = New name of { $name }
side-panel-style-new-name-tip = Enter renames the style.
side-panel-without-style = Do not use the style { $name }
side-panel-in-force-variation = Variation { $strength }
side-panel-without-variation = Do not use the variation
side-panel-without-lora = Do not use the LoRA { $name }

## Generate and what it takes

side-panel-notice-dismiss = Dismiss the notice
side-panel-undo = Undo
side-panel-undo-tip = Go back to the settings you had before.
side-panel-prompt-undo-tip = Brings back the prompt you had before.
side-panel-edit-undo-tip = Puts the job back into the queue, and restores the settings from before.
side-panel-resume = Resume
side-panel-resume-tip = Continue where it was cancelled.
side-panel-generate = Generate
side-panel-grid = Grid…
side-panel-grid-tip = Grid: vary up to three settings, and compose the images into one.
side-panel-engine-stopped = The engine has stopped. Restart Sluice.
side-panel-model-loading = Loading the model…
side-panel-model-missing = Choose a model first.
side-panel-cancelling = Cancelling…
side-panel-planning = Planning…
side-panel-fits = Fits · { $memory } · { $time }
side-panel-fits-about = Fits · { $memory } · about { $time }
side-panel-fits-up-to = Fits · { $memory } · up to { $time }
side-panel-fits-about-there = Fits · { $memory } · about { $time } on that GPU
side-panel-fits-up-to-there = Fits · { $memory } · up to { $time } on that GPU
side-panel-fits-spoken = Forecast, fits, { $memory }, { $time }
side-panel-fits-about-spoken = Forecast, fits, { $memory }, about { $time }
side-panel-fits-up-to-spoken = Forecast, fits, { $memory }, up to { $time }
side-panel-fits-simulated = Simulated: takes longer here, on the CPU.
side-panel-fits-simulated-about = Simulated: about { $time } here, on the CPU.
side-panel-accuracy-tip = How far earlier predictions for this model, in this precision and on this device, were off: the peak of memory and the seconds of a step. Each run improves the next prediction.
side-panel-needs-limit = Needs { $needed }, your limit is { $allowed }
side-panel-needs = Needs { $needed }, { $allowed } allowed
side-panel-needs-ram-limit = Needs { $needed } of RAM, your limit is { $allowed }
side-panel-needs-ram = Needs { $needed } of RAM, { $allowed } allowed
side-panel-needs-spoken = Forecast, does not fit, { $reason }
side-panel-remove-limit = Remove my limit
side-panel-use-recommended = Use recommended settings
side-panel-use-way = Use { $way }
side-panel-use-tiles = Tile the decode
side-panel-use-8-bit = 8-bit weights
side-panel-use-4-bit = 4-bit weights
side-panel-use-size-smaller-tip = Generate a smaller image.
side-panel-use-fewer-frames-tip = Generate a shorter clip.
side-panel-accuracy =
    { $count ->
        [one] Off by at most { $memory } memory, { $time } time in { $count } run
       *[other] Off by at most { $memory } memory, { $time } time in { $count } runs
    }
side-panel-accuracy-of-memory =
    { $count ->
        [one] Off by at most { $memory } memory in { $count } run
       *[other] Off by at most { $memory } memory in { $count } runs
    }
side-panel-preset-undo-tip = Puts the preset back into the list.
side-panel-prompt-tip = Describe what to generate; Ctrl+↑ and Ctrl+↓ weigh words.
side-panel-negative-prompt-tip = Says what to avoid.
side-panel-examples-tip = Shows prompts that suit this model.
side-panel-example-tip = Writes this into the prompt.
side-panel-generate-tip = Queues an image or a clip with these settings.
side-panel-cancel-tip = Cancels what runs; it can be resumed. Key: Esc.
side-panel-cancel-idle-tip = Nothing is running.
side-panel-kind-image-tip = Uses the last model for images.
side-panel-kind-video-tip = Uses the last model for clips.
side-panel-more-tip = Shows sampler, schedule, precision and more.
side-panel-guidance-and-speed-tip = Shows what refines guidance or saves steps.
side-panel-loras-tip = Shows the LoRAs that change what the model draws.
side-panel-loras-near-tip = Shows LoRAs in the folders next to the model.
side-panel-history-search-tip = Finds prompts that contain these words.
side-panel-styles-search-tip = Finds styles by their names.
side-panel-remove-limit-tip = Lets Sluice use all memory that is free.
side-panel-clip-change-tip = Generates the clip anew along its frames.
side-panel-clip-extend-tip = Goes on after the last frame of the clip.
side-panel-mask-only = Only masked
side-panel-mask-only-tip = Generates the masked area alone in the full size and puts it back into the input image, whose size stays.
side-panel-mask-padding = Padding around the mask (px)
side-panel-mask-padding-tip = How many pixels around the masked area the model sees.
side-panel-accuracy-time-varies =
    { $count ->
        [one] Off by at most { $memory } memory in { $count } run; its time varied widely
       *[other] Off by at most { $memory } memory in { $count } runs; their times varied widely
    }
side-panel-negative-unread = The model does not read it with these settings.

## Outpaint

side-panel-outpaint = Outpaint
side-panel-outpaint-tip = Adds pixels around the image and generates them. Drag the edges of the frame.
side-panel-outpaint-left = Left
side-panel-outpaint-top = Top
side-panel-outpaint-right = Right
side-panel-outpaint-bottom = Bottom
side-panel-outpaint-feather = Outpaint feather (px)
side-panel-outpaint-feather-tip = How far the image fades into what is added.
side-panel-outpaint-frame = Frame around the input image
side-panel-outpaint-edge = { $edge } edge of the frame
side-panel-outpaint-edge-tip = Drag it outwards to add pixels.
side-panel-outpaint-side-tip = How many pixels of the input image are added on this side.
side-panel-without-outpaint = Do not outpaint
side-panel-style-name = Name of a new style
side-panel-style-name-tip = The prompts are saved under this name. Where they have {"{prompt}"}, a style encloses the prompt that it is applied to.
side-panel-style-save = Save style
side-panel-style-save-tip = Saves the prompt and the negative prompt as a style, in place of one of this name.
side-panel-style-delete = Delete the style { $name }
side-panel-style-undo-tip = Saves the style again.
side-panel-trash-undo-tip = Takes the file back from the trash.
