### Files and dialogs.

files-use-folder = Use this folder
files-up = Up
files-up-tip = The folder above.
files-path = Folder path
files-path-tip = Press Enter to go to this folder.
files-folder-unreadable = This folder cannot be listed: { $reason }
files-folder-gone = it does not exist
files-folder-forbidden = you do not have permission
files-reading = Reading…
files-nothing-here = Nothing to choose here.
files-no-folders = No folders in here.
files-pickle = Convert it to .safetensors first
files-pickle-tip = Files of this kind can run any program when they are opened, so they are not read.
files-save = Save
files-save-tip = Saves the image under this name.
files-save-name-tip = The ending .png, .jpg or .webp says the format.
files-name-taken = There is a file with this name.
files-take-name-tip = Takes over the name of this file.
files-carried = { $count } files
files-not-copied = The file cannot be copied to the clipboard
files-not-copied-advice = Open its folder and copy it there.
files-not-copied-gone = It was moved or deleted. Read the folders of the gallery again.

## Titles of file dialogs

files-model-file = Open a model file
files-model-folder = Open a model folder
files-library-folder = Add a folder of models
files-input-image = Choose an input image
files-styles = Open a file of styles
files-tags = Open a file of tags
files-cuda-engine = Open an engine for NVIDIA GPUs
files-input-folder = Choose a folder of input images
files-changed-folder = Choose a folder of images and clips
files-changed-folder-clips = Choose a folder of clips
files-changed-folder-images = Choose a folder of images
files-last-image = Choose an end image
files-keyframe = Add a keyframe
files-reference = Add a reference image
files-control-clip = Choose a control clip
files-control-mask = Choose a mask for the control clip
files-input-clip = Choose an input clip
files-mask = Open a mask
files-adapter = Add a LoRA
files-refiner = Open a refiner
files-redux = Open a Redux model
files-gallery-folder = Add a folder to the gallery
files-export-folder = Choose a folder
files-save-image = Save the image
files-download-folder = Choose a folder for models

## Kinds of files in file dialogs

files-kind-models = Models
files-kind-images = Images
files-kind-videos = Videos
files-kind-videos-and-images = Videos and images
files-kind-loras = LoRAs
files-kind-styles = Styles
files-kind-tags = Tags
files-kind-archives = Archives
files-kind-all = All files

## What fails

files-file-unusable = This file cannot be used
files-mask-not-saved = The mask could not be saved
files-pasted-not-saved = The pasted image could not be saved
files-frame-not-saved = The frame could not be saved
files-image-not-saved = The image could not be saved
files-text-not-saved = The text about an image could not be saved
files-clip-not-exported = The clip could not be exported
files-folder-unusable = The folder cannot be used
files-folder-unusable-advice = Choose another folder of images.
files-folder-unusable-any-advice = Choose another folder of images and clips.
files-folder-unusable-clips-advice = Choose another folder of clips.
files-folder-not-opened = The folder could not be opened
files-folder-no-program = No program opened { $path }.
files-folder-not-opened-advice = Open it in your file manager.
files-setting-not-saved = The setting could not be saved
files-setting-not-saved-advice = It applies until the window is closed.
files-preset-not-changed = The preset could not be changed
files-grid-not-saved = The grid could not be saved
files-not-saved-advice = Free some disk space, or choose another output folder in the settings.
files-no-frames = { $path } has no frames
files-no-frames-advice = Choose another file.
files-no-mp4 = { $path } is not an MP4 file
files-no-mp4-advice = Choose an MP4 file.
files-unreadable = { $path } cannot be read: { $error }
files-unreadable-advice = Check that the file still exists and is a complete PNG image.

## Formats of clips

files-format-mp4 = MP4 video
files-format-webp = Animated WebP
files-format-gif = Animated GIF
files-format-frames = Folder of PNG images
files-control-net = Choose a ControlNet
files-control-image = Choose an image for the ControlNet
files-ip-adapter = Choose an IP-Adapter
files-prompt-image = Choose an image to read
files-map-estimator = Choose a map estimator
files-segmenter = Choose a segmenter
files-detector = Choose a detector
files-region-mask = Choose the mask of the region
files-language-model = Choose a language model
files-upscaler = Choose an upscaler
files-interpolator = Choose a frame interpolator
files-folder-tip = Opens this folder.
files-in-folder-tip = This image is in the folder. You choose the folder itself.
files-file-tip = Chooses this file.
