### Hires fix: an image is enlarged and denoised again.

hires-title = Hires fix
hires-title-tip = For images larger than the model was trained for.
hires-on = Enlarge and denoise again
hires-on-tip = Generates in the size above, enlarges the image and denoises it again.
hires-scale = Scale
hires-scale-tip = How many times as wide and as high the image becomes.
hires-strength = Strength
hires-strength-tip = How much the second pass changes. Latents need about 0.5 or more, images that an upscaler enlarged often 0.2 to 0.4.
hires-steps = Own steps
hires-steps-tip = Steps of the second pass, of which the strength leaves some out. Otherwise as many as in the first pass.
hires-upscaler = Upscaler
hires-upscaler-tip = What enlarges the image between the passes.
hires-latent = Latent
hires-result = { $before } becomes { $after }
hires-in-force = Hires fix × { $scale } · { $strength }
hires-without = Do not use hires fix
hires-not-with-input = Hires fix starts from the prompt alone, and not from an input image.
hires-in-force-waits = Hires fix waits
hires-offer = Hires fix from { $width } × { $height }
hires-offer-tip = Generates this size, enlarges it to the one you want and denoises it again.
hires-not-starter = The starter cannot improve images that are larger than { $width } × { $height }. Use Upscale on the result.
