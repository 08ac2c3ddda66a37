### The image in the middle, its bars and the list below.

## The middle of the window

viewer-live-preview = Live preview
viewer-next-clip = Your clip is next
viewer-next-image = Your image is next
viewer-next-tip = It appears here as soon as the engine starts.
viewer-describe-image = Describe your image on the left, then press Generate.
viewer-describe-image-or-example = Describe your image on the left, or start with an example.
viewer-describe-clip = Describe your clip on the left, then press Generate.
viewer-describe-clip-or-example = Describe your clip on the left, or start with an example.
viewer-what-to-create = What would you like to create?
viewer-model-loading = Loading the model…
viewer-model-loading-tip = This takes a moment.
viewer-model-missing-tip = Choose one above, or open one from your disk.
viewer-model-missing = No model loaded
viewer-model-open = Open a model file…
viewer-replanned-dismiss = Dismiss the notice of the new plan
viewer-replanned = The run continues with a new plan
viewer-replanned-times =
    { $count ->
        [one] The run continues with a new plan (changed { $count } time)
       *[other] The run continues with a new plan (changed { $count } times)
    }
viewer-dismiss = Dismiss
viewer-dismiss-all = Dismiss all { $count }
viewer-copy-message = Copy message
viewer-more-failures = +{ $count } more
viewer-drop = Drop an image to start from it or to use its settings
viewer-drop-model = or a model or LoRA to load it
viewer-unfinished-question = Sluice was closed while generating. Resume where it stopped?
viewer-unfinished-resume = Resume
viewer-unfinished-discard = Discard
viewer-unfinished =
    { $count ->
        [one] { $count } unfinished image
       *[other] { $count } unfinished images
    }
viewer-live-thumbnail = Live preview, thumbnail

## The bar under the image

viewer-zoom-actual-tip = Show one image pixel per screen pixel. Double-click the image to switch.
viewer-zoom-fit-tip = Show the whole image. Zoom with the wheel, drag to move.
viewer-zoom-fit = Fit
viewer-compare-tip = Compare with another image, which you choose in the list below. Key: C.
viewer-compare = Compare
viewer-compare-lacks-image = There is no other image to compare with.
viewer-compare-lacks-clip = There is no other clip to compare with.
viewer-compare-stop = Stop comparing
viewer-compare-stop-tip = Key: Esc
viewer-compare-swap = Swap A and B
viewer-compare-side-by-side = Side by side
viewer-compare-side-by-side-tip = Show the images next to each other instead of with a divider.
viewer-compare-choose = Click an image below to compare with it
viewer-copy-frame = Copy frame
viewer-save-frame = Save frame as PNG
viewer-use-frame = Use frame as input image
viewer-use-frame-as-end = Use frame as end image
viewer-extend-tip = Continue this clip from the end of the played range.
viewer-extend = Extend
viewer-similar-tip = Four images like this one: the same seed, with a little noise of other seeds.
viewer-variations-tip = Four images with the same settings and other seeds.
viewer-use-settings-tip = Load the prompt, seed and all other settings that made this image.
viewer-actions = Actions
viewer-actions-spoken = Actions for the image
viewer-export-range = Export the played range
viewer-export = Export
viewer-caption-frames =
    { $count ->
        [one] { $count } frame
       *[other] { $count } frames
    }
viewer-caption-rate = { $rate } fps
viewer-caption-upscaled = upscaled × { $scale }
viewer-caption-upscaled-with = upscaled × { $scale } with { $upscaler }
viewer-caption-interpolated-with = × { $factor } frames with { $model }
viewer-caption-seed = seed { $seed }
viewer-caption-variation = variation { $seed }
viewer-caption-steps =
    { $count ->
        [one] { $count } step
       *[other] { $count } steps
    }
viewer-caption-guidance = guidance { $guidance }
viewer-caption-took = took { $time }
viewer-divider = Divider
viewer-divider-tip = Drag to compare, or use the arrow keys.

## Painting a mask

viewer-mask = Mask over the image
viewer-brush = Brush
viewer-brush-tip = Brush size in image pixels.
viewer-mask-rectangle = Rectangle
viewer-mask-lasso = Lasso
viewer-mask-object = Object
viewer-mask-object-tip = Click on it to add it, click with Alt on what does not belong to it, or drag a box around it.
viewer-mask-object-how = Click the object, or drag a box around it. Alt-click leaves something out.
viewer-mask-object-made = The mask is being made
viewer-mask-object-next = Next object
viewer-mask-object-next-tip = Keep what is marked, and click on another thing.
viewer-segmenter = Segmenter
viewer-segmenter-tip = A Segment Anything or MobileSAM file, which finds what belongs together.
viewer-segmenter-chosen = Objects are found by { $name } from now on.
viewer-segmenter-missing = A segmenter finds objects: a .safetensors file of Segment Anything or MobileSAM. Choose one to click on what is to be marked.
viewer-mask-object-none = Nothing was found there. Click on another part of it, or drag a box around it.
viewer-masked = { $name } with its mask
viewer-mask-tool = Tool
viewer-mask-tool-tip = Paint strokes, rectangles or outlines, or click on what is to be marked.
viewer-brush-size = Brush size
viewer-mask-grow =
    { $pixels ->
        [one] Grow by 1 pixel
       *[other] Grow by { $pixels } pixels
    }
viewer-mask-shrink =
    { $pixels ->
        [one] Shrink by 1 pixel
       *[other] Shrink by { $pixels } pixels
    }
viewer-mask-paint = Paint
viewer-mask-paint-tip = Mark the area that should change.
viewer-mask-erase = Erase
viewer-mask-erase-tip = Unmark parts of that area.
viewer-mask-undo-tip = Take back the last stroke. Keys: Ctrl+Z, and Ctrl+Shift+Z or Ctrl+Y to make it again.
viewer-mask-undo = Undo stroke
viewer-mask-invert = Invert
viewer-mask-clear = Clear
viewer-mask-apply = Apply mask
viewer-mask-discard-tip = Stop painting and keep the mask that was there before.
viewer-mask-discard = Discard
viewer-mask-ask = Stop painting?
viewer-mask-ask-hint = The mask is not applied yet.
viewer-mask-go-on = Keep painting
viewer-mask-go-on-tip = Closes this question. Key: Esc.

## Playing a clip

viewer-pause = Pause
viewer-play = Play
viewer-play-tip = Key: Space.
viewer-previous-frame = Previous frame
viewer-previous-frame-tip = Key: ←.
viewer-next-frame = Next frame
viewer-next-frame-tip = Key: →.
viewer-mute = Mute
viewer-mute-tip = Play without sound. Sound is heard at normal speed, forwards. Key: M.
viewer-boomerang = Boomerang
viewer-boomerang-tip = Play forwards and backwards in turn.
viewer-play-whole = Play the whole clip
viewer-play-whole-tip = Remove the start and the end that you set.
viewer-end-here = End here
viewer-end-here-tip = Play only up to this frame. Key: O.
viewer-start-here = Start here
viewer-start-here-tip = Play only from this frame on. Key: I.
viewer-speed = Speed
viewer-speed-tip = Playback speed.
viewer-place-tip = Frame and time.
viewer-range-start = Start of the range
viewer-range-start-tip = Start of the range, frame { $frame }
viewer-range-end = End of the range
viewer-range-end-tip = End of the range, frame { $frame }
viewer-frame = Frame
viewer-frame-at = Frame { $frame } · { $time }
viewer-use-frame-as-end-tip = The next clip ends with this frame.
viewer-use-frame-tip = Saves this frame and starts the next image or clip from it.
viewer-save-frame-tip = Saves this frame in the output folder, with the settings.
viewer-copy-frame-tip = Copies the pixels of this frame to the clipboard.
viewer-actions-tip = What can be done with this image.
viewer-export-range-tip = Writes the played range into a new file.
viewer-upscale = Upscale…
viewer-upscale-tip = Enlarge it with an upscaler.
viewer-interpolate = Interpolate…
viewer-interpolate-tip = Make its motion smoother, with more frames.
viewer-inpaint = Inpaint…
viewer-inpaint-tip = Uses this image as the input image, to paint over what should change.
viewer-save-as = Save as…
viewer-save-as-tip = Saves a copy as PNG, JPEG or WebP, with the settings.
viewer-trash-tip = Deletes the file, with a way back. Key: Del.
viewer-unfinished-resume-tip = Queues them again after their last finished step.
viewer-unfinished-discard-tip = Forgets them and composes grids of what was drawn.
viewer-dismiss-tip = Hides this message.
viewer-dismiss-all-tip = Hides all messages.
viewer-copy-message-tip = Copies the message and what to do to the clipboard.
viewer-live-thumbnail-tip = Shows what is being generated.
viewer-frame-tip = Drag it to a frame, or step with the arrow keys.
viewer-mask-apply-tip = Uses this mask for the input image.
