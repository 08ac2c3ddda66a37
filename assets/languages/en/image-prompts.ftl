### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = Image prompt
image-prompts-title-used = Image prompt ({ $count })
image-prompts-tip = Let the model read images beside the prompt, through an IP-Adapter.
image-prompts-add = Add IP-Adapter…
image-prompts-add-tip = Choose an IP-Adapter for this model.
image-prompts-library = In the library
image-prompts-library-tip = IP-Adapters that were found in your model folders.
image-prompts-library-spoken = IP-Adapters in the library
image-prompts-remove = Remove { $name }
image-prompts-image = Add image…
image-prompts-image-tip = Choose an image to read. Its middle is read, in a square.
image-prompts-image-remove = Do not read { $name }
image-prompts-weight = Weight
image-prompts-weight-tip = How strongly the images count. 1 is as trained; less leaves more to the prompt.
image-prompts-start = Start
image-prompts-start-tip = The fraction of the steps before which the images are not read.
image-prompts-end = End
image-prompts-end-tip = The fraction of the steps after which the images are not read.
image-prompts-without = Do not use the IP-Adapter { $name }
