### The command palette, opened with Ctrl+K.

palette-hint = コマンド、設定、モデル、プリセット、スタイル、プロンプトを検索
palette-search = コマンドを検索
palette-nothing-found = このような名前のものはありません。
palette-model = モデル
palette-built-in = 内蔵。
palette-lora = LoRA
palette-preset = プリセット
palette-style = スタイル
palette-style-in-use = 使用中のスタイル
palette-prompt = プロンプト
palette-section = 設定
palette-section-tip = 設定パネルで { $name } を表示します。
palette-clip-inputs = 開始画像、終了画像、入力動画、コントロール動画、参照画像
palette-refiner = リファイナー
palette-search-tip = コマンド、設定、モデル、プリセット、スタイル、プロンプトを探します。
