### 言語モデルによるよりよいプロンプト。

enhance-open = プロンプトを詳しくする…
enhance-open-tip = このコンピューター上の言語モデルに、より長いプロンプトを書かせます
enhance-close = 閉じる
enhance-model = 言語モデル
enhance-model-tip = プロンプトを書くQwen3のGGUFまたはsafetensorsのファイルです
enhance-no-model = 言語モデルが見つかりません。Qwen3の.ggufまたは.safetensorsファイル(Qwen3-4B-Instruct-2507-Q4_K_M.ggufなど)を選んでください。
enhance-no-prompt = まずプロンプトとして数語を書いてください
enhance-takes = メモリは最大{ $memory }、時間は長くて約{ $time }かかります
enhance-writing = 言語モデルが書いています
enhance-stop = 停止
enhance-stop-tip = 書くのをやめます
enhance-keep = 使う
enhance-keep-tip = プロンプトをこれに置き換えます
enhance-write = 書く
enhance-write-tip = より長いプロンプトを書きます
enhance-again = もう一度
enhance-again-tip = 別のシードで別のものを書きます
enhance-instruction = 指示
enhance-instruction-tip = 言語モデルに伝える内容です
enhance-instruction-for = { $kind }向け
enhance-instruction-usual = 標準の指示
enhance-instruction-usual-tip = Sluiceに付属する指示に戻します
enhance-kind-tags = タグを読むモデル
enhance-kind-sentences = 文を読むモデル
enhance-kind-motion = クリップ用のモデル
enhance-kept = プロンプトを詳しくしました
