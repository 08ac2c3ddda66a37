### Image prompts: IP-Adapters, and the images that are read through them.

image-prompts-title = Prompt en image
image-prompts-title-used = Prompt en image ({ $count })
image-prompts-tip = Faire lire des images au modèle à côté du prompt, avec un IP-Adapter.
image-prompts-add = Ajouter un IP-Adapter…
image-prompts-add-tip = Choisir un IP-Adapter pour ce modèle.
image-prompts-library = Dans la bibliothèque
image-prompts-library-tip = Les IP-Adapters trouvés dans vos dossiers de modèles.
image-prompts-library-spoken = IP-Adapters dans la bibliothèque
image-prompts-remove = Retirer { $name }
image-prompts-image = Ajouter une image…
image-prompts-image-tip = Choisir une image à lire. Son milieu est lu, en carré.
image-prompts-image-remove = Ne pas lire { $name }
image-prompts-weight = Poids
image-prompts-weight-tip = L’importance des images. 1 correspond à l’entraînement ; moins laisse davantage au prompt.
image-prompts-start = Début
image-prompts-start-tip = La fraction des étapes avant laquelle les images ne sont pas lues.
image-prompts-end = Fin
image-prompts-end-tip = La fraction des étapes après laquelle les images ne sont plus lues.
image-prompts-without = Ne pas utiliser l’IP-Adapter { $name }
