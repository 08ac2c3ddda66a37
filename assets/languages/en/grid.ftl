### The dialog for grids: what varies, and how many images that makes.

grid-title = Grid
grid-hint = One image for each combination of values, and one image of all with labels.
grid-columns = Columns
grid-columns-values = Values of columns
grid-columns-all = All values for columns
grid-rows = Rows
grid-rows-values = Values of rows
grid-rows-all = All values for rows
grid-tables = Tables
grid-tables-values = Values of tables
grid-tables-all = All values for tables
grid-nothing = Nothing
grid-setting-tip = What changes along these.
grid-advice-prompt = Separated by commas. The first words are replaced by each of the others, in both prompts. Put words with commas in quotes.
grid-advice-lora = Separated by commas. Of several LoRAs, name one first: ink: 0.5, 1
grid-advice-added = Names separated by commas, one for each image. None adds nothing.
grid-advice-names = Separated by commas. For example { $example }.
grid-advice-models = Paths of models, separated by commas. The button beside them takes those of your library that make images.
grid-advice-one = Values separated by commas, used for all of them. To vary one, write its name or number first: 2: 0.5, 1 varies the second.
grid-advice-upscalers = Paths of upscalers, separated by commas. The button beside them takes those of your library.
grid-example-models = paths of models, separated by commas
grid-example-images = paths of images, separated by commas
grid-example-words = fox, wolf, bear: the first is replaced by the others
grid-advice-numbers = Separated by commas. 1-5 counts up, 1-10 (+2) in steps of 2, and 1-10 [4] has 4 values.
grid-choose = Choose what varies.
grid-type-values = Type its values.
grid-generate = Generate grid
grid-generate-tip = Queue all its images. Key: Ctrl+Enter
grid-cancel-tip = Key: Esc
grid-summary =
    { $count ->
        [one] { $count } image · { $sides }
       *[other] { $count } images · { $sides }
    }
grid-summary-time =
    { $count ->
        [one] { $count } image · { $sides } · about { $time }
       *[other] { $count } images · { $sides } · about { $time }
    }
grid-lora-weight = LoRA weight
grid-lora = LoRA
grid-style = Style
grid-words = Words in the prompt
grid-model = Model
grid-frames = Frames
grid-hires-scale = Scale of hires fix
grid-control-weight = ControlNet weight
grid-image-prompt-weight = Image prompt weight
grid-hires-strength = Strength of hires fix
grid-hires-steps = Steps of hires fix
grid-hires-upscaler = Upscaler of hires fix
grid-control-start = ControlNet start
grid-control-end = ControlNet end
grid-image-prompt-start = Image prompt start
grid-image-prompt-end = Image prompt end
grid-reference-strength = Reference strength
grid-reference-side = Reference size
grid-detailer-strength = Detailer strength
grid-detailer-confidence = Detailer confidence
grid-detailer-steps = Detailer steps
grid-detailer-padding = Detailer padding
grid-region-weight = Region weight
grid-region-base = Whole image in regions
grid-region-fade = Soft edges of regions
grid-window-frames = Frames of a window
grid-window-overlap = Overlap of windows
