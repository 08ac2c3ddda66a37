### The gallery.

## Search and filters

gallery-title = Gallery
gallery-close = Close the gallery
gallery-close-tip = Back to the image. Key: Esc
gallery-thumbnail-size = Thumbnail size
gallery-thumbnail-size-tip = How large the thumbnails are.
gallery-search-hint = Search prompts, models, LoRAs, seeds, tags, collections
gallery-search = Search
gallery-search-tip = All words must be there. -word leaves out, "two words" stay together, and model: prompt: negative: lora: seed: tag: collection: name: date: from: to: say where to look. Key: Ctrl+F
gallery-files =
    { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
gallery-files-shown =
    { $count ->
        [one] { $shown } of { $count } file
       *[other] { $shown } of { $count } files
    }
gallery-files-reading =
    { $count ->
        [one] { $count } file, reading { $unread } more…
       *[other] { $count } files, reading { $unread } more…
    }
gallery-files-shown-reading =
    { $count ->
        [one] { $shown } of { $count } file, reading { $unread } more…
       *[other] { $shown } of { $count } files, reading { $unread } more…
    }
gallery-kind-all = All
gallery-kind-all-tip = Show images and clips.
gallery-kind-images = Images
gallery-kind-images-tip = Show images only.
gallery-kind-clips = Clips
gallery-kind-clips-tip = Show clips only.
gallery-starred-only = Starred only
gallery-starred-only-tip = Show only what has a star.
gallery-model = Model
gallery-model-all = All models
gallery-model-tip = Show only what this model made.
gallery-tag = Tag
gallery-tag-all = All tags
gallery-tag-tip = Show only what has this tag.
gallery-date = Date
gallery-date-tip = Show only what was made in this time.
gallery-order = Order
gallery-order-tip = In which order the images are shown.
gallery-folders = Folders
gallery-folders-spoken = Folders of the gallery
gallery-output-folder = Output folder
gallery-output-folder-tip = Open this folder.
gallery-folder-remove = Remove { $path } from the gallery
gallery-folder-open = Open { $path }
gallery-folder-add = Add a folder…
gallery-folder-add-tip = Show the images of another folder too, such as that of another program.
gallery-folders-read = Read the folders again
gallery-folders-read-tip = Find what other programs have changed. Key: F5.
gallery-when-always = Any time
gallery-when-today = Today
gallery-when-week = Last 7 days
gallery-when-month = Last 30 days
gallery-when-year = Last year
gallery-sort-newest = Newest first
gallery-sort-oldest = Oldest first
gallery-sort-name = By name
gallery-sort-model = By model
gallery-sort-size = Largest file first

## The grid

gallery-thumbnails = Thumbnails
gallery-broken = This file cannot be shown: { $reason }
gallery-unstar-spoken = Remove the star of { $name }
gallery-star-spoken = Star { $name }
gallery-unstar-tip = Remove the star.
gallery-star-here-tip = Mark with a star. Key: S.
gallery-reading = Reading your images…
gallery-reading-tip = They appear as soon as they are read.
gallery-nothing-found = Nothing found
gallery-nothing-found-tip =
    { $count ->
        [one] The search and the filters leave out { $count } file.
       *[other] The search and the filters leave out { $count } files.
    }
gallery-empty-tip = What you generate is saved in { $folder } and appears here.
gallery-empty-without-folder = Images are not saved, because there is no output folder. Choose one in the settings.
gallery-empty = No images yet
gallery-clear-search = Clear the search and filters
gallery-clear-search-tip = Show everything again.
gallery-search-clear = Clear the search
gallery-search-clear-tip = Empty the search field; the filters stay.

## What can be done with images

gallery-open = Open
gallery-open-tip = Show it in the viewer. Key: Enter.
gallery-copy-prompt-tip = Copy the prompt to the clipboard.
gallery-copy-files = Copy files
gallery-copy-files-tip = Copy the files themselves, to paste them into a folder, a chat or a browser. Key: Ctrl+Shift+C
gallery-show-in-folder = Show in folder
gallery-show-in-folder-tip = Open the folder of this file.
gallery-use-as-image-tip = Start the next image from this one.
gallery-use-as-clip = Use as input clip
gallery-use-as-clip-tip = Start the next clip from this one.
gallery-export-ask-tip = Write copies as PNG, JPEG or WebP, with or without settings. Key: Ctrl+E
gallery-export-ask = Export…
gallery-trash-tip = Delete it, with a way back. Key: Del.
gallery-trash = Move to trash
gallery-star = Star
gallery-star-tip = Mark it, to find it again.

## What is selected

gallery-nothing-selected = Nothing selected
gallery-nothing-selected-click = Click an image to see its settings, and double-click to open it.
gallery-nothing-selected-several = Ctrl or Shift with a click selects several. A right click shows what can be done.
gallery-prompt = Prompt
gallery-starred = Starred
gallery-starred-key-tip = Remove the star. Key: S.
gallery-star-key-tip = Mark it, to find it again. Key: S.
gallery-selected = { $count } selected
gallery-compare-tip = Compare both in the viewer, with a divider or side by side. Key: C.
gallery-compare = Compare
gallery-deselect-tip = Keep all of them, and select none.
gallery-deselect = Deselect
gallery-tags = Tags
gallery-tag-remove = Remove the tag { $tag }
gallery-tag-add = Add a tag
gallery-tag-add-tip = A word to find these images by. Enter adds it.
gallery-collections = Collections
gallery-collections-tip = Show or hide the list of collections.
gallery-within-all = Everything
gallery-within-all-tip = Show everything, whether it is in a collection or not.
gallery-within-none = In no collection
gallery-within-none-tip = Show only what is in no collection.
gallery-collections-none = None yet. An image may be in several. Its file stays where it is.
gallery-collection-tip = Show { $name }, or everything again. Images are dragged onto it to add them.
gallery-collection-new = New collection…
gallery-collection-new-tip = Name a new collection. It begins with the images that are dragged here.
gallery-collection-new-selected-tip = Name a new collection for them.
gallery-collection-name = Name of the collection
gallery-collection-name-tip = Enter takes the name, Esc forgets it.
gallery-collection-taken = There is a collection with this name.
gallery-collection-rename = Rename…
gallery-collection-rename-tip = Give the collection another name.
gallery-collection-delete = Delete collection
gallery-collection-delete-tip = Delete the collection. Its images stay.
gallery-collection-deleted = Deleted the collection { $name }
gallery-collection-deleted-detail =
    { $count ->
        [one] { $count } file is where it was.
       *[other] { $count } files are where they were.
    }
gallery-collection-empty = { $name } is empty
gallery-collection-empty-tip = Show everything and drag images onto the name of the collection.
gallery-collect = Add to collection
gallery-collect-tip = Add what is selected to a collection. It may be in several.
gallery-collect-in = Add to { $name }.
gallery-collected =
    { $count ->
        [one] Added { $count } file to { $name }
       *[other] Added { $count } files to { $name }
    }
gallery-collection-made = Made the collection { $name }
gallery-collection-leave = Remove from this collection
gallery-collection-leave-named = Remove from the collection { $name }
gallery-negative-prompt = Negative prompt
gallery-made-with = Made with
gallery-not-taken-over = Cannot be taken over exactly
gallery-none = None

## What was just done

gallery-dismiss = Dismiss the message
gallery-undo = Undo
gallery-undo-tip = Take back what was just done. Key: Ctrl+Z
gallery-exported-folder-tip = Show the exported files.
gallery-not-restored = Not everything could be restored
gallery-restored-one = Restored { $name }
gallery-restored =
    { $count ->
        [one] Restored { $count } file
       *[other] Restored { $count } files
    }
gallery-not-trashed = Not everything could be moved to the trash
gallery-trashed-one = { $name } moved to the trash
gallery-trashed =
    { $count ->
        [one] { $count } file moved to the trash
       *[other] { $count } files moved to the trash
    }
gallery-trashed-tip = Put Back in the Trash restores it.
gallery-exporting = Exporting { $number } of { $count }…
gallery-not-exported =
    { $count ->
        [one] { $count } file could not be exported
       *[other] { $count } files could not be exported
    }
gallery-exported =
    { $count ->
        [one] Exported { $count } file
       *[other] Exported { $count } files
    }
gallery-export-clips =
    { $count ->
        [one] { $count } clip is copied as it is, with the settings in it.
       *[other] { $count } clips are copied as they are, with the settings in them.
    }
gallery-trash-gone = it is no longer in the trash
gallery-trash-put-back = choose Put Back in the Trash
gallery-trash-advice = Use your file manager for this file.
gallery-marks-unreadable-advice = Repair or delete this file. Until then, stars, tags and collections cannot be changed.
gallery-marks-unreadable = Stars, tags and collections cannot be read
gallery-marks-unsaved = Stars, tags and collections could not be saved
gallery-marks-unsaved-advice = Free some disk space, then try again.
gallery-marks-newer = a newer version of Sluice wrote it

## Export

gallery-export-files =
    { $count ->
        [one] Export { $count } file
       *[other] Export { $count } files
    }
gallery-export-format = Format
gallery-export-quality = Quality
gallery-export-quality-tip = Higher is closer to the image, and larger.
gallery-export-settings = Include settings
gallery-export-settings-tip = Whether the files say how they were made. Without settings, nobody can read the prompt from them.
gallery-export-name = File name
gallery-export-field = { $field } is { $meaning }.
gallery-export-example = For example { $path }
gallery-export = Export
gallery-export-tip = Write the files; those that exist stay.
gallery-export-folder = Choose a folder…
gallery-export-folder-tip = Where the files are written.
gallery-export-cancel-tip = Key: Esc
gallery-export-advice = Choose another folder, or free some disk space.
gallery-export-name-advice = Change the file name.
gallery-upscale-tip = Enlarge everything that is selected.
gallery-interpolate-tip = Make the motion of all selected clips smoother.

## Names of settings, as they are found in images

gallery-setting-keyframe = Keyframe
gallery-setting-extended-clip = Extended clip
gallery-setting-clip-frames = Frames of the clip
gallery-setting-reference-image = Reference image
gallery-setting-reference-strengths = Reference strengths
gallery-setting-input-image = Input image
gallery-setting-inpaint-area = Inpaint area
gallery-setting-refiner = Refiner
gallery-setting-template = Template
gallery-setting-negative-template = Negative template
gallery-setting-upscaled-by = Upscaled by
gallery-setting-interpolated-by = Interpolated by
gallery-setting-version = Version
gallery-setting-guidance-interval = Guidance interval
gallery-setting-frames = Frames
gallery-setting-axis-x = X axis
gallery-setting-axis-y = Y axis
gallery-setting-axis-z = Z axis
