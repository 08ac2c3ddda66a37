### A better prompt from a language model.

enhance-open = Enhance prompt…
enhance-open-tip = Let a language model on this computer write a longer prompt
enhance-close = Close
enhance-model = Language model
enhance-model-tip = A file of Qwen3, as GGUF or safetensors, which writes the prompt
enhance-no-model = No language model was found. Choose a .gguf or .safetensors file of Qwen3, such as Qwen3-4B-Instruct-2507-Q4_K_M.gguf.
enhance-no-prompt = Write a few words as the prompt first
enhance-takes = Takes up to { $memory } of memory and at most about { $time }
enhance-writing = The language model is writing
enhance-stop = Stop
enhance-stop-tip = Write no more
enhance-keep = Use it
enhance-keep-tip = Put this in place of the prompt
enhance-write = Write
enhance-write-tip = Write a longer prompt
enhance-again = Try again
enhance-again-tip = Write another one, with another seed
enhance-instruction = Instruction
enhance-instruction-tip = What the language model is told
enhance-instruction-for = For { $kind }
enhance-instruction-usual = Usual instruction
enhance-instruction-usual-tip = Use the instruction that comes with Sluice again
enhance-kind-tags = models that read tags
enhance-kind-sentences = models that read sentences
enhance-kind-motion = models for clips
enhance-kept = The prompt was enhanced
