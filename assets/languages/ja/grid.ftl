### The dialog for grids: what varies, and how many images that makes.

grid-title = グリッド
grid-hint = 値の組み合わせごとに 1 枚ずつ画像を作り、すべてをラベル付きで 1 枚にまとめます。
grid-columns = 列
grid-columns-values = 列の値
grid-columns-all = 列のすべての値
grid-rows = 行
grid-rows-values = 行の値
grid-rows-all = 行のすべての値
grid-tables = 表
grid-tables-values = 表の値
grid-tables-all = 表のすべての値
grid-nothing = なし
grid-setting-tip = この方向に変えるものです。
grid-advice-prompt = カンマで区切ります。両方のプロンプトで、最初の語がほかの各語に置き換えられます。カンマを含む語は引用符で囲みます。
grid-advice-lora = カンマで区切ります。LoRA が複数あるときは、先に 1 つの名前を書きます: ink: 0.5, 1
grid-advice-names = カンマで区切ります。例: { $example }。
grid-advice-numbers = カンマで区切ります。1-5 は 1 ずつ、1-10 (+2) は 2 ずつ増え、1-10 [4] は 4 つの値になります。
grid-choose = 変えるものを選んでください。
grid-generate = グリッドを生成
grid-generate-tip = すべての画像をキューに追加します。キー: Ctrl+Enter
grid-cancel-tip = キー: Esc
grid-summary = { $count } 枚の画像 · { $sides }
grid-summary-time = { $count } 枚の画像 · { $sides } · 約 { $time }
