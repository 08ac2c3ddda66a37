### The place where models are found and downloaded.

get-search = Search Hugging Face, or paste a link
get-search-tip = A link of a file or repository on Hugging Face or a model on Civitai, or owner/name. Other words are searched.
get-find = Search
get-find-tip = Looks up the link, or searches.
get-links-hint = Civitai, other mirrors and files elsewhere work by their links.
get-back = Back to the catalogue
get-back-tip = Shows the models of the catalogue again.

## The catalogue

get-catalogue = Catalogue
get-kind-all = All
get-kind-images = Images
get-kind-clips = Clips
get-suits-device = Suits { $device }
get-suits-computer = Suits this computer
get-all-models = All models
get-free = { $memory } free
get-free-tip = On the disk with the folder for models.
get-checking-fit = checking the fit
get-licence-on-page = Licence: see its page
get-needs-token = needs a token
get-lacks-space = not enough free space
get-lacks-space-tip = It needs more than the { $memory } that are free on the disk with the folder for models.
get-version-of = Version of { $name }
get-version-tip = Fewer bits are smaller and faster to load, with a little less quality.

## Buttons of a model, and what they are called for a screen reader

get-open = Open
get-open-named = Open { $name }
get-try-again = Try again
get-try-again-named = Try again { $name }
get-go-on = Resume
get-go-on-named = Resume { $name }
get-again = Download again
get-again-named = Download { $name } again
get-download = Download
get-download-named = Download { $name }
get-open-tip = Generates with this model from now on.
get-again-tip = The files of this version are on this computer already.
get-download-tip = Downloads it into the folder for models.
get-fit-unknown = Fit not predicted
get-checking = Checking…

## How servers are reached

get-connection = Connection
get-mirror = Mirror
get-mirror-tip = A mirror of Hugging Face. Empty: HF_ENDPOINT, or Hugging Face itself.
get-proxy = Proxy
get-proxy-tip = Empty: that of the environment, such as HTTPS_PROXY.
get-use = Use
get-use-tip = For what starts from now on.
get-token = Hugging Face token
get-token-tip = For models whose conditions have to be accepted.
get-token-keep = Keep in keyring
get-token-keep-tip = Keeps it in the system's keyring, and nowhere else.
get-token-remove = Remove
get-token-remove-tip = Removes it from the keyring.
get-hugging-face-token-keep = Keep the Hugging Face token in the keyring
get-hugging-face-token-remove = Remove the Hugging Face token
get-token-kept = A token is in the keyring.
get-token-hint = Without one here, HF_TOKEN and the one of `hf auth login` are used. It is shown only to the server above, and only if that asks.
get-civitai-token = Civitai token
get-civitai-token-tip = For models that only people who are signed in may download.
get-civitai-token-keep = Keep the Civitai token in the keyring
get-civitai-token-remove = Remove the Civitai token
get-civitai-token-hint = Without one here, CIVITAI_API_TOKEN is used. It is shown only to Civitai, and only if that asks.

## What a link leads to, and what a search has found

get-looking = Looking for “{ $what }”…
get-offline = No connection
get-offline-advice = Check the connection, the proxy and the mirror, then try again.
get-not-found = Not found
get-licence = Licence: { $licence }
get-gated = Its conditions have to be accepted on its page first, with the account of your token (see Connection on the right).
get-open-page = Open its page
get-open-page-tip = Opens the page in the browser.
get-unknown-size = unknown size
get-files =
    { $count ->
        [one] { $name } · { $count } file
       *[other] { $name } · { $count } files
    }
get-results = “{ $words }” on Hugging Face
get-no-results = Nothing was found. Fewer words find more.
get-show-files = Show files
get-show-files-of = Show files of { $name }
get-families = Sluice generates with some families only; a file of another one is named as such after its download.
get-downloads-a-month = { $count } downloads a month
get-likes =
    { $count ->
        [one] { $count } like
       *[other] { $count } likes
    }

## Running, finished and failed downloads

get-downloads = Downloads
get-downloads-none = Nothing is being downloaded. What is paused or interrupted goes on later from where it was.
get-verified = { $size }, verified
get-size-checked = { $size }, size checked; nobody says what its SHA-256 should be
get-open-this = Open this model
get-show-in-folder = Show in folder
get-phase-waiting = waiting for others
get-phase-connecting = connecting
get-phase-checking = reading what is here
get-phase-paused = paused
get-phase-retrying = { $why }; it is tried again
get-phase-offline = { $why }; it goes on when there is one
get-take-off = Take { $title } off the list
get-cancel = Cancel { $title } and remove what is here of it
get-resume = Resume { $title }
get-retry = Try { $title } again
get-pause = Pause { $title }
get-folder = Folder for models
get-free-on-disk = { $memory } free on this disk
get-another-folder = Another folder…
get-another-folder-tip = For example the models folder of ComfyUI: files go into its own folders inside.
get-reset = Reset
get-reset-tip = Uses Sluice's own folder again.
get-catalogue-as-of = Names and sizes as of { $date }. Each version has its own fit, with as many bits as its files.
get-kind-all-tip = Lists models for images and for clips.
get-kind-images-tip = Lists models for images.
get-kind-clips-tip = Lists models for clips.
get-go-on-tip = Goes on where the download stopped.
get-connection-tip = Shows mirror, proxy and token.
get-try-again-tip = Asks the server once more.
get-show-files-tip = Lists what can be downloaded from this repository.
