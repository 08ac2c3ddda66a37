### The models on this computer, and well-known ones.

## The bar

library-models = Models
library-models-tip = Models on this computer, and well-known ones.
library-loras = LoRAs
library-loras-tip = LoRAs, those for the opened model first.
library-others = Other files
library-others-tip = Text encoders, autoencoders, and files that Sluice does not use.
library-favourites = Favorites
library-favourites-tip = Shows only what has a star.
library-close = Close models
library-get-models-share = Get models… { $percent }%
library-get-models-ask = Get models…
library-get-models-tip = Downloads models: a catalogue, links, and Hugging Face.
library-reading = Reading { $read } of { $count } files…
library-looking = Looking for models…
library-files =
    { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
library-all-models = All models
library-all-models-tip = Back to the models on this computer.
library-get-models = Get models
library-search = Search models
library-search-tip = Finds words in names, descriptions, trigger words, tags and notes, and in how a model runs.
library-nothing-starred = Nothing has a star yet. The star of a model keeps it here.
library-nothing-loras = No LoRAs here. Add the folder in which they are.
library-nothing-others = No other files.
library-nothing-found = Nothing matches “{ $words }”. Fewer words find more.
library-found-in = In { $name }, { $count }
library-show-everything = Show everything
library-heading-spoken =
    { $count ->
        [one] { $title }, { $count } row
       *[other] { $title }, { $count } rows
    }

## The list

library-built-in = Built in
library-suited = Suits { $device }, to download
library-suited-here = Suits this computer, to download
library-cannot-be-opened = Cannot be opened
library-not-here = Not here
library-loras-fitting = Fit { $family }
library-loras-perhaps-fitting = May fit: made for an unknown model
library-loras-for = For { $family }
library-loras-for-unknown = For an unknown model
library-parts-of-models = Text encoders and autoencoders
library-not-used = Not used by Sluice
library-starter = Starter
library-clip-starter = Clip starter
library-clip-starter-detail = Short clips, for trying things out
library-starter-detail = Small images, for trying things out
library-role-upscaler = Upscaler
library-role-interpolator = Frame interpolator
library-role-preprocessor = Preprocessor
library-role-segmenter = Segmenter
library-role-detector = Detector
library-role-language-model = Language model
library-row-duplicate = duplicate
library-row-checking-spoken = Checking the fit
library-row-opened-spoken = opened
library-row-added = Added
library-row-add = Add
library-row-remove-spoken = Remove { $name }
library-row-remove-tip = Takes the LoRA out of the next image.
library-row-add-spoken = Add { $name }
library-row-add-tip = Uses the LoRA for the next image.
library-row-opened = Opened
library-checking = Checking…
library-favourite-spoken = Favorite { $name }
library-unstar-tip = Removes the star.
library-star-tip = Gives it a star, to list it first.

## The folders that are searched

library-folders = Folders
library-folders-tip = Shows where models are searched for.
library-folders-nothing = No folder of another program was found on this computer.
library-search-folders = Look again
library-search-folders-tip = Searches the folders now. They are also searched when this place opens.
library-folder-add = Add a folder…
library-folder-add-tip = Searches another folder and its subfolders. Nothing in it is moved or changed.
library-folder-named = Named at the start
library-folder-own = Sluice's own folder
library-folder-added = Added
library-folder-remove = Remove { $path }
library-folder-open = Open { $path }
library-model-files =
    { $count ->
        [one] { $count } model file
       *[other] { $count } model files
    }

## What is selected

library-nothing-selected = Select a model to see what is known about it.
library-file-gone = This file is no longer there.
library-control-net-tip = Choose it under ControlNet in the side panel, with a model that it is for.
library-ip-adapter-tip = Choose it under Image prompt in the side panel, with a model that it is for.
library-part-tip = Models that need this part find it here by themselves.
library-not-used-tip = Sluice does not generate with this file.
library-preview = Preview of { $name }
library-preview-ask = Use as preview…
library-preview-ask-tip = Make this the thumbnail of a model or a LoRA.
library-preview-title = Use as preview
library-preview-hint = The image is saved beside the model, where other programs find it, too.
library-preview-replaces = { $name } has a preview already. It is replaced.
library-preview-use = Save preview
library-preview-replace = Replace preview
library-preview-use-tip = Save a small copy of the image beside the model.
library-preview-cancel-tip = Key: Esc
library-preview-saved = { $name } has a new preview
library-preview-failed = The preview cannot be saved
library-preview-no-model = The models of { $name } are not here, and the opened model comes with Sluice.
library-copy-path = Copy the path
library-open-folder = Open its folder
library-keep-defaults = Use current settings as defaults
library-keep-defaults-tip = This model starts with the current settings, LoRAs and negative prompt included. The prompt, the seed and inputs are no part of it.
library-open-model = Open this model
library-open-model-tip = Generates with this model from now on.
library-reset-defaults = Reset defaults
library-reset-defaults-tip = The model starts with its own settings again.
library-fit-on = Fit on { $device }
library-fit = Fit
library-on-engine = On { $name }. How it fits is known once it is open.
library-something-missing = Something is missing
library-parts = Parts
library-part-from = from { $name }
library-part-from-more = from { $name } and { $count } more
library-file = File
library-fact-what = What
library-fact-size = Size
library-fact-weights = Weights
library-fact-stored-as = Stored as
library-fact-format = Format
library-lora-remove = Remove from the next image
library-lora-add = Add to the next image
library-lora-add-tip = Uses the LoRA with weight 1; change that under LoRA.
library-lora-unfit = Made for { $family }, but the opened model is { $model }.
library-trigger-words = Trigger words
library-trigger-add-spoken = Add { $words } to the prompt
library-trigger-add-tip = Adds these words to the end of the prompt.
library-trigger-add = Add
library-copies = Copies
library-comparing = Comparing the contents…
library-files-same = Same content: one of the files can be deleted.
library-files-differ = Same size and header, but different content.
library-based-on = Based on
library-tags = Tags
library-description = Description
library-not-on-computer = Not on this computer.
library-download = Download
library-repository = Repository
library-licence = Licence
library-licence-unknown = See the repository
library-size-in-16-bits = { $size } in 16 bits
library-gated = Accept the conditions on its page first, and give Sluice your token under Get models, Connection.
library-open-page = Open its page
library-open-page-tip = Opens the repository in the browser.
library-copy-link = Copy link
library-copy-link-tip = Copies the address of the repository.
library-download-yourself = Files that you download yourself into one of the folders that are searched appear here, too.
library-starter-tip = Comes with Sluice, so the first results need no download.
library-own-tags = Your tags
library-own-tags-tip = Words to find it by, with the search. Enter adds one.
library-note = Your note
library-note-hint = Only you see it
library-note-tip = Kept on this computer; the search finds its words.
library-menu-star = Add star
library-menu-unstar = Remove star
library-open-folder-tip = Shows the file in the file manager.
library-copy-path-tip = Copies where the file is to the clipboard.
library-row-tip = Select it to see what is known about it; a double click uses it.
