### What a window without a model shows.

start-looking = Looking at this computer…
start-finding = Finding models that suit it…
start-quickest = Without a GPU these are the quickest. They generate nearly any image, and need to be downloaded once:
start-suited = These models suit it. They generate nearly any image, and need to be downloaded once:
start-get-others = Get other models…
start-get-others-tip = The whole catalogue, links, and Hugging Face.
start-have-models = I have models already
start-have-models-tip = Finds those of ComfyUI, A1111 and other programs, and in folders of yours.
start-models-found =
    { $count ->
        [one] { $count } model found
       *[other] { $count } models found
    }
start-models-found-tip = Opens the list of the models that were found.
start-licence = see its page for the licence
