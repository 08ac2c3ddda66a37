### The settings, opened with Ctrl+Comma.

settings-title = Settings
settings-search = Search settings
settings-nothing-found = No results for “{ $search }”. Fewer words find more.

## Sections

settings-section-look = Appearance
settings-section-saving = Saving
settings-section-folders = Folders
settings-section-prompts = Prompts
settings-section-engine = Engine
settings-section-about = About

## Words by which a setting is found, beside those that it shows

settings-words-theme = theme dark light system colors colours
settings-words-scale = size of the contents scale zoom font ui
settings-words-notifications = notification desktop message sound
settings-words-motion = reduced motion animation accessibility
settings-words-previews = live preview while generating
settings-words-sound = sound mute clips
settings-words-rendering = app rendering gpu adapter integrated dedicated vram
settings-words-output = output folder images clips where
settings-words-format = image format png jpeg webp quality
settings-words-codec = video codec clips h264 h265 av1 prores ffmpeg mp4 mov
settings-words-names = file names template date seed prompt
settings-words-folders = models loras checkpoints gallery
settings-words-connection = mirror proxy token hugging face downloads connection
settings-words-styles = styles csv json prompts
settings-words-tags = tags tag file csv danbooru autocomplete completion
settings-words-engine = computer ssh command remote cluster slurm docker
settings-words-about = version licence license engine data logs report problem support privacy update
settings-words-language = language translation locale

## The window

settings-language = Language
settings-language-of-system = System language
settings-language-without-font = No font on this computer has the characters of: { $languages }. Noto Sans CJK has them.
settings-theme = Theme
settings-theme-system = System
settings-theme-dark = Dark
settings-theme-light = Light
settings-scale = UI scale
settings-scale-tip = Scales text and controls. Keys: Ctrl+Plus and Ctrl+Minus
settings-motion = Reduced motion
settings-motion-system = System ({ $now })
settings-motion-on = On
settings-motion-off = Off
settings-motion-tip = Panels and popups appear at once instead of fading, and clips play only when you start them.
settings-notifications = Notify when the queue is done
settings-notifications-tip = The desktop says so while another window is in front.
settings-previews = Live preview
settings-previews-tip = Shows the image while it is generated.
settings-mute = Mute clips
settings-mute-tip = Plays clips without their sound. Key: M.
settings-rendering = App rendering GPU
settings-rendering-integrated = Integrated
settings-rendering-dedicated = Dedicated
settings-rendering-hint = The integrated GPU leaves all VRAM of the dedicated one to models. Takes effect after restart.
settings-rendering-hint-now = The integrated GPU leaves all VRAM of the dedicated one to models. Takes effect after restart. Current: { $gpu }.

## Where images and clips are saved

settings-output = Output folder
settings-output-none = Nothing is saved: this user has no folder for images.
settings-output-choose = Choose…
settings-format = Image format
settings-format-hint = PNG keeps every pixel. JPEG and WebP are smaller and lose a little. All keep the settings.
settings-codec = Video codec
settings-codec-tip = How new clips are compressed.
settings-codec-hint = H.264 plays everywhere and keeps sound. The others need the program ffmpeg and leave sound out.
settings-names = File names
settings-names-example = For example { $name }
settings-folders-models = Folders of models…
settings-folders-gallery = Folders of the gallery…

## About Sluice

settings-licence = Licence: { $licence }. Other computers cannot connect to it.
settings-licences = Licences of what comes with it
settings-licences-tip = Fonts, icons, the upscaler and tokenizers that come with Sluice.
settings-licences-of = The licence of { $name }.
settings-data = Past runs, stars and tags
settings-data-open = Open the folder of past runs, stars and tags
settings-cache = Thumbnails and what else can be made again
settings-cache-open = Open the folder of thumbnails and what else can be made again
settings-logs = Logs of the last days
settings-logs-open = Open the folder of logs of the last days
settings-report = Report a problem
settings-report-hint = Copies the machine, the model, the settings, the last messages and the end of the log.
settings-report-all = With paths and prompts
settings-report-all-tip = Otherwise the report has neither prompts nor names of your files and folders.
settings-report-copy = Copy report
settings-engine = Engine: { $engine }
settings-engine-within = Engine: not running in a process of its own

## What a field of a template of names becomes

settings-field-name = the name of the file
settings-field-number = the place in the export, from 1
settings-field-date = the day it was made
settings-field-seed = the seed
settings-field-model = the model
settings-field-prompt = the beginning of the prompt
settings-field-width = pixels in a row
settings-field-height = rows
settings-field = { $field } is { $meaning }
settings-language-tip = The language of the window, which changes at once.
settings-rendering-integrated-tip = Leaves the memory of the fast GPU to models.
settings-rendering-dedicated-tip = Draws the window faster and takes memory from models.
settings-format-png-tip = Keeps every pixel, in larger files.
settings-format-jpeg-tip = Makes small files that open everywhere, with slight losses.
settings-format-webp-tip = Makes the smallest files, with slight losses.
settings-output-choose-tip = Saves new images and clips in another folder.
settings-open-folder-tip = Shows the folder in the file manager.
settings-names-tip = Names new files; what stands in braces is filled in.
settings-folders-models-tip = Opens the models, where folders are added.
settings-folders-gallery-tip = Opens the gallery, where folders are added.
settings-report-copy-tip = Copies what helps to find a fault to the clipboard.
settings-search-tip = Finds settings by their words.

settings-words-updates = update release version new
settings-updates = Look for a new version when Sluice starts
settings-updates-tip = Asks the page where releases are announced, and sends nothing but the program's name and version.
settings-updates-now = Look now
settings-updates-now-tip = Ask once for the latest version.
settings-updates-page = Open its page
settings-updates-asking = Looking…
settings-updates-newest = This is the latest version.
settings-updates-newer = Sluice { $version } is available.
settings-updates-nowhere = This build does not know where new versions are announced.
settings-libraries = Libraries
settings-libraries-tip = The libraries inside this program, and their licences.
settings-tags = Tags
settings-tags-open = Add a file of tags…
settings-tags-open-tip = A CSV file of a1111-tagcomplete, with which prompts are completed as you type.
settings-tags-count = { $count ->
    [one] { $count } tag is offered while you type.
   *[other] { $count } tags are offered while you type.
}
settings-file-remove = Remove { $name }
