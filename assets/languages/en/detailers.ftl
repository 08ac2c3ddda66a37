### Detailers: what is found in an image and inpainted again.

detailers-title = Detailers
detailers-title-tip = Faces, hands or persons that are inpainted again, each at full resolution.
detailers-title-used = Detailers ({ $count })
detailers-add = Add detector…
detailers-add-tip = A .safetensors file of YOLOv8, such as face_yolov8n.
detailers-library = In the library
detailers-library-tip = Detectors in your folders.
detailers-library-spoken = Detectors in the library
detailers-missing = No detector was found in your model folders. Choose a .safetensors file of YOLOv8, such as face_yolov8n, for example from Hugging Face.
detailers-remove = Remove detailer { $name }
detailers-strength = Strength
detailers-strength-tip = How much a box changes.
detailers-confidence = Confidence
detailers-confidence-tip = How sure the detector must be: lower values find more.
detailers-prompt = Prompt for boxes
detailers-prompt-tip = Describes what is in the boxes. Left empty, it is the prompt of the image.
detailers-prompt-hint = That of the image
detailers-negative = Negative prompt for boxes
detailers-negative-tip = What to avoid in the boxes. Left empty, it is what the image avoids.
detailers-more = More of { $name }
detailers-without = Do not use { $name }
detailers-more-tip = Order, mask and steps.
detailers-most = Most boxes
detailers-most-tip = How many boxes of an image are inpainted at most.
detailers-order = Order
detailers-order-tip = Which boxes come first, and count if there are more.
detailers-order-largest = Largest first
detailers-order-surest = Most confident first
detailers-order-left = Left to right
detailers-order-middle = Middle first
detailers-grow = Grow mask
detailers-grow-tip = Pixels by which what is found grows on each side.
detailers-blur = Mask blur
detailers-blur-tip = Pixels over which a box fades into the rest.
detailers-padding = Padding
detailers-padding-tip = Pixels around a box that the model sees.
detailers-steps = Own steps
detailers-steps-tip = Steps for each box, of which the strength leaves some out. Otherwise as many as those of the image.
detailers-forecast = The forecast counts one box in each image.
detailers-chosen = { $name } is a detector: a detailer uses it from now on
detailers-ask-open = Detail image…
detailers-ask-open-all = Detail images…
detailers-ask-open-tip = Find faces, hands or persons, and inpaint each of them again.
detailers-ask-title = Detail { $count } images
detailers-ask-title-one = Detail { $name }
detailers-ask-own = Uses { $names }, as set under Detailers
detailers-ask-detectors = Detectors
detailers-ask-detector-tip = What it finds is inpainted again.
detailers-ask-choose = Choose a detector first
detailers-ask-model = Open a model for images first
detailers-ask-prompt-own = The prompt is the one in the image
detailers-ask-prompt-panel = The prompt is that of the settings, because the image has none
detailers-folder-empty = { $name } contains no images.
detailers-ask-clip = { $name } is a clip
detailers-ask-start = Detail
detailers-ask-cancel-tip = Leave the images as they are.
detailers-queued =
    { $count ->
        [one] 1 image is being detailed
       *[other] { $count } images are being detailed
    }
detailers-found-nothing = The detector { $name } found nothing
detailers-found-nothing-detail = So there is nothing to redraw. With a lower confidence it finds more.
