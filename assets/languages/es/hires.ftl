### Hires fix: una imagen se amplía y se vuelve a procesar.

hires-title = Hires fix
hires-title-tip = Para imágenes más grandes que las del entrenamiento del modelo.
hires-on = Ampliar y hacer otro denoising
hires-on-tip = Genera la imagen en el tamaño de arriba, la amplía y le hace otro denoising.
hires-scale = Escala
hires-scale-tip = Cuántas veces más ancha y más alta queda la imagen.
hires-strength = Fuerza
hires-strength-tip = Cuánto cambia la segunda pasada. Los latents necesitan 0,5 o más; a una imagen ampliada por un escalador le suelen bastar de 0,2 a 0,4.
hires-steps = Pasos propios
hires-steps-tip = Pasos de la segunda pasada, de los que la fuerza omite algunos. Si no, tantos como en la primera.
hires-upscaler = Upscaler
hires-upscaler-tip = Lo que amplía la imagen entre las dos pasadas.
hires-latent = Latent
hires-result = { $before } pasa a { $after }
hires-in-force = Hires fix × { $scale } · { $strength }
hires-without = No usar hires fix
hires-not-with-input = Hires fix parte solo del prompt, no de una imagen de entrada.
hires-in-force-waits = Hires fix en espera
hires-offer = Hires fix desde { $width } × { $height }
hires-offer-tip = Genera este tamaño, lo amplía al que quiere y hace otro denoising.
hires-not-starter = El Starter no puede mejorar imágenes de más de { $width } × { $height }. Amplíe el resultado.
