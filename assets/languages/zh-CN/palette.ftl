### The command palette, opened with Ctrl+K.

palette-hint = 搜索命令、设置、模型、预设、风格和提示词
palette-search = 搜索命令
palette-nothing-found = 没有名称与此匹配的内容。
palette-model = 模型
palette-built-in = 内置。
palette-lora = LoRA
palette-preset = 预设
palette-style = 风格
palette-style-in-use = 正在使用的风格
palette-prompt = 提示词
palette-section = 设置
palette-section-tip = 在设置面板中显示 { $name }。
palette-clip-inputs = 起始图像、结束图像、输入视频、控制视频和参考图像
palette-refiner = 精修模型
palette-search-tip = 查找命令、设置、模型、预设、风格和提示词。
