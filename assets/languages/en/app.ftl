### Messages about what was done or has failed.

app-copied = Copied to the clipboard
app-file-copied = Copied { $name } as a file
app-files-copied = Copied { $count } files
app-dialog-failed-advice = Drop the file on the window, or type its path.
app-dialog-failed = The file dialog could not be opened
app-settings-of = Settings of { $name }
app-settings-wait = The settings of { $name } follow once the models are listed
app-reference = Reference: { $name }
app-input-image = Input image: { $name }
app-hires-waits = Hires fix waits until the input image is removed.
app-extending = Extending { $name }
app-input-clip = Input clip: { $name }
app-try-again = Try again in a moment.
app-too-many-files = Too many files at once
app-files-are-read = Other files are still being read.
app-saved = Saved { $name }
app-images-not-used =
    { $count ->
        [one] { $count } image not used: drop one at a time.
       *[other] { $count } images not used: drop one at a time.
    }
app-first-image-used = Only the first image is used
app-clip-unusable = This clip cannot be used
app-no-settings = { $name } contains no settings
app-clip-unusable-advice = Choose a model that changes or extends clips to use it as the input clip.
app-image-cannot-be-shown = This image cannot be shown
app-report-copied = The report was copied to the clipboard
app-already-open = Sluice is already open
app-already-open-details = This window does not save its settings and its unfinished images.
app-gallery-failed = The gallery could not be opened
app-too-much = Too much at once
app-gallery-busy = The gallery is still busy.
app-prompt-copied = Copied the prompt
app-prompt-replaced = Replaced the prompt
app-compare-two = Two images or two clips can be compared
app-settings-unreadable = { $name } has no settings: { $reason }
app-model-kept = It was made with { $model }. The current model is kept.
app-named-not-found = “{ $name }” is not in your model folders and is left out.
app-named-not-for-model = “{ $name }” is not for this model and is left out.
app-named-upscaler = The upscaler “{ $name }” is not in your model folders; the one of Sluice is used instead.
app-no-token = This is not a token.
app-downloaded-details = Open it under Get models… in the menu at the top left.
app-downloaded = Downloaded { $models }
app-no-data-folder = This user has no data folder.
app-presets-not-kept = Presets cannot be kept
app-preset = Preset { $name }
app-model-defaults = The model's defaults
app-styles-unreadable = A file of styles cannot be read
app-model-settings = The model's own settings
app-grid-failed = The grid cannot be generated
app-grid-failed-why = There is no folder to save its images in, or the settings need a change.
app-folder-empty = { $name } contains no images.
app-nothing-to-generate = Nothing to generate
app-cannot-generate = Nothing can be generated now
app-check-settings = Check the settings first.
app-folder-results = The results are saved in { $folder }.
app-folder-batch = One result for each image. The batch size is not used.
app-folder-left-out =
    { $count ->
        [one] { $count } image left out: done before.
       *[other] { $count } images left out: done before.
    }
app-folder-unreadable =
    { $count ->
        [one] { $count } image left out: it cannot be read.
       *[other] { $count } images left out: they cannot be read.
    }
app-folder-queued =
    { $count ->
        [one] { $count } image of { $name } queued
       *[other] { $count } images of { $name } queued
    }
app-folder-ask = Images of { $name }
app-folder-subfolders =
    { $count ->
        [one] Include subfolders: { $count } image
       *[other] Include subfolders: { $count } images
    }
app-folder-subfolders-tip = The results are saved in subfolders of the same names.
app-folder-count =
    { $count ->
        [one] { $count } image to generate from
       *[other] { $count } images to generate from
    }
app-folder-rest =
    { $count ->
        [one] Only the { $count } image that is not done
       *[other] Only the { $count } images that are not done
    }
app-folder-rest-tip = Leaves out images whose results are there.
app-folder-again =
    { $count ->
        [one] { $count } image again, into a new folder
       *[other] All { $count } images again, into a new folder
    }
app-folder-again-tip = The results that are there stay as they are.
app-folder-more-unreadable =
    { $count ->
        [one] { $count } more image cannot be read
       *[other] { $count } more images cannot be read
    }
app-folder-generate = Generate
app-folder-generate-tip = Queue a job for each image.
app-preset-deleted = Preset { $name } deleted
app-queue-done = All jobs are done.
app-update = Sluice { $version } is available
app-update-details = Settings, About leads to its page.
app-style-not-saved = The style was not saved
app-style-taken = There is a style named { $name } already.
app-chips-removed = Removed all that was in force
