### What a window without a model shows.

start-looking = 正在检查本机…
start-finding = 正在查找适合本机的模型…
start-quickest = 在没有 GPU 的情况下，这些模型最快。它们几乎什么都能画，需要下载一次：
start-suited = 这些模型适合本机。它们几乎什么都能画，需要下载一次：
start-get-others = 获取其他模型…
start-get-others-tip = 完整的目录、链接和 Hugging Face。
start-have-models = 我已经有模型
start-have-models-tip = 查找 ComfyUI、A1111 和其他程序的模型，以及你自己文件夹中的模型。
start-models-found = 找到 { $count } 个模型
start-models-found-tip = 打开找到的模型的列表。
start-licence = 许可证请见其页面
