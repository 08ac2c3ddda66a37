### The bar at the top: the model, the panels and the settings.

## Panels

top-bar-timeline-tip = Show how a run uses memory over time.
top-bar-plan-tip = Show how the model fits into memory, and change that.
top-bar-gallery-tip = Browse everything that was generated. Key: G.

## Models

top-bar-models = Models
top-bar-all-models-detail = On this computer and well-known ones, with how they fit (Ctrl+M)
top-bar-all-models-tip = Opens the place of all models and LoRAs.
top-bar-downloads =
    { $count ->
        [one] { $count } download, { $percent }
       *[other] { $count } downloads, { $percent }
    }
top-bar-get-models-detail = A catalogue, links, and Hugging Face
top-bar-get-models = Get models…
top-bar-get-models-tip = Downloads models.
top-bar-starter-detail = Built in: small images, for trying things out
top-bar-starter-clip-detail = Built in: short clips, for trying things out
top-bar-forget-model = Remove { $name } from the list
top-bar-path = Model path
top-bar-path-example = /path/to/model
top-bar-open = Open
top-bar-loading = loading…
top-bar-failed = could not be opened
top-bar-model = Model
top-bar-choose-model = Choose a model
top-bar-component = { $role }: { $architecture }, { $weights } parameters, { $size }
top-bar-starter = Starter
top-bar-starter-clip = Clip starter
top-bar-choose-model-tip = Generates with this model from now on.
top-bar-upscaler = Built-in upscaler
top-bar-path-tip = Takes the path of a model file or folder.
