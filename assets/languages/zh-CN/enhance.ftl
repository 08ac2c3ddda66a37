### 由语言模型改写的提示词。

enhance-open = 扩写提示词…
enhance-open-tip = 让本机上的语言模型写出更长的提示词
enhance-close = 关闭
enhance-model = 语言模型
enhance-model-tip = 用来写提示词的 Qwen3 文件，GGUF 或 safetensors 格式
enhance-no-model = 没有找到语言模型。请选择 Qwen3 的 .gguf 或 .safetensors 文件，例如 Qwen3-4B-Instruct-2507-Q4_K_M.gguf。
enhance-no-prompt = 请先写几个词作为提示词
enhance-takes = 最多需要 { $memory } 内存，最长约 { $time }
enhance-writing = 语言模型正在写
enhance-stop = 停止
enhance-stop-tip = 不再继续写
enhance-keep = 使用
enhance-keep-tip = 用它替换提示词
enhance-write = 写
enhance-write-tip = 写一条更长的提示词
enhance-again = 再试一次
enhance-again-tip = 用另一个种子再写一条
enhance-instruction = 指令
enhance-instruction-tip = 告诉语言模型的话
enhance-instruction-for = 用于{ $kind }
enhance-instruction-usual = 默认指令
enhance-instruction-usual-tip = 恢复使用 Sluice 自带的指令
enhance-kind-tags = 读取标签的模型
enhance-kind-sentences = 读取句子的模型
enhance-kind-motion = 视频片段模型
enhance-kept = 提示词已扩写
