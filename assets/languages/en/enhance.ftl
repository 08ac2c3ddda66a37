### A better prompt from a language model.

enhance-open = Enhance prompt…
enhance-open-tip = Let a language model on this computer write a longer prompt.
enhance-close = Close
enhance-model = Language model
enhance-model-tip = A file of Qwen3, as GGUF or safetensors, which writes the prompt.
enhance-no-model = No language model was found. Choose a .gguf or .safetensors file of Qwen3, such as Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Write a few words as the prompt first
enhance-takes = Takes up to { $memory } of memory and at most about { $time }
enhance-writing = The language model is writing
enhance-stop = Stop
enhance-stop-tip = Write no more.
enhance-keep = Use this prompt
enhance-keep-tip = Put this in place of the prompt.
enhance-write = Write
enhance-write-tip = Write a longer prompt.
enhance-again = Try again
enhance-again-tip = Write another one, with another seed.
enhance-instruction = Instruction
enhance-instruction-tip = What the language model is told.
enhance-instruction-for = For { $kind }
enhance-instruction-usual = Usual instruction
enhance-instruction-usual-tip = Use the instruction that comes with Sluice again.
enhance-kind-tags = models that read tags
enhance-kind-sentences = models that read sentences
enhance-kind-motion = models for clips
enhance-kept = The prompt was enhanced
enhance-describe-open = Describe image…
enhance-describe-open-all = Describe images…
enhance-describe-open-tip = Let a language model on this computer say what is to be seen.
enhance-each-open = Describe each…
enhance-each-open-tip = Save a text beside each image, as trainers of LoRAs read them.
enhance-each =
    { $count ->
        [one] 1 image is described, and its text is saved beside it
       *[other] { $count } images are described one by one, each in a text beside it
    }
enhance-each-done =
    { $count ->
        [one] 1 image is left out because its text is there
       *[other] { $count } images are left out because their texts are there
    }
enhance-each-takes = Each takes up to { $memory } of memory and at most about { $time }
enhance-each-start = Describe each
enhance-each-start-tip = Queue a job for each image, and save its text beside it.
enhance-each-queued =
    { $count ->
        [one] 1 image is being described
       *[other] { $count } images are being described
    }
enhance-each-described =
    { $count ->
        [one] 1 image is described. The text is beside it.
       *[other] { $count } images are described. The texts are beside them.
    }
enhance-describer-tip = Qwen2.5-VL or Qwen3-VL, which sees the image and says what it shows.
enhance-no-describer = No language model that sees images was found. Choose Qwen2.5-VL Instruct or Qwen3-VL Instruct as safetensors, or as GGUF with its mmproj file beside it.
enhance-describes = Description of { $names }
enhance-as = Describe as
enhance-as-tip = Which kind of words the language model writes.
enhance-as-prompt = Prompt
enhance-as-tags = Tags
enhance-as-short = Short caption
enhance-as-motion = Prompt for a clip
enhance-describe = Describe
enhance-describe-tip = Write what is to be seen.
enhance-use = Use as prompt
enhance-append = Append
enhance-append-tip = Add this to the end of the prompt.
enhance-copy = Copy
enhance-copy-tip = Copy these words.
enhance-described = The prompt describes what is to be seen
