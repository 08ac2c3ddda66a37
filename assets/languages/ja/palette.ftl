### The command palette, opened with Ctrl+K.

palette-hint = コマンド、モデル、プリセット、スタイル、プロンプトを検索
palette-search = コマンドを検索
palette-nothing-found = このような名前のものはありません。
palette-model = モデル
palette-built-in = 内蔵。
palette-lora = LoRA
palette-preset = プリセット
palette-style = スタイル
palette-style-in-use = 使用中のスタイル
palette-prompt = プロンプト
palette-search-tip = コマンド、モデル、プリセット、スタイル、プロンプトを探します。
