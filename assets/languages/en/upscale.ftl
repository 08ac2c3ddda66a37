### The question before images and clips are enlarged.

upscale-title = Upscale { $count } files
upscale-title-one = Upscale { $name }
upscale-model = Upscaler
upscale-model-tip = The network that enlarges.
upscale-open = Choose a file…
upscale-open-tip = Use an upscaler of your own: a .safetensors file of ESRGAN, Real-ESRGAN Compact, SPAN, DAT, HAT, SwinIR or RealPLKSR.
upscale-scale = Scale
upscale-start = Upscale
upscale-start-tip = Queue it like other jobs.
upscale-cancel-tip = Upscale nothing.
upscale-reading = Reading the files…
upscale-asking = Asking what it takes…
upscale-more-refused = { $count } more files cannot be upscaled
upscale-sizes = { $before } becomes { $after }
upscale-takes = Takes about { $time } and up to { $memory } of memory
upscale-takes-there = Takes about { $time } on that GPU, and up to { $memory } of memory
upscale-beside = Results go beside the originals, under new names
upscale-queued =
    { $count ->
        [one] 1 file is being upscaled
       *[other] { $count } files are being upscaled
    }
upscale-built-in = Built-in, for drawings
upscale-chosen = { $name } is an upscaler: Upscale… uses it from now on
upscale-scale-tip = The result is { $scale } as wide and as high.
upscale-folder = Choose a folder…
upscale-folder-tip = Take the files of a folder; their results go into a folder of the same name.
upscale-folder-empty = { $name } contains no images or clips.
upscale-done =
    { $count ->
        [one] { $count } file is done and left out
       *[other] { $count } files are done and left out
    }
upscale-again =
    { $count ->
        [one] Make it again
       *[other] Make them again
    }
upscale-again-tip = The results that are there stay as they are; new ones get other names.
