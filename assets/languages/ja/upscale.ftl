### The question before images and clips are enlarged.

upscale-title = { $count } 個のファイルを拡大
upscale-title-one = { $name } を拡大
upscale-model = アップスケーラー
upscale-model-tip = 拡大に使うネットワーク。
upscale-open = ファイルを選択…
upscale-open-tip = 手持ちのアップスケーラーを使う：ESRGAN、Real-ESRGAN Compact、SPAN、DAT、HAT、SwinIR、RealPLKSR の .safetensors ファイル。
upscale-scale = 倍率
upscale-start = 拡大
upscale-start-tip = ほかのジョブと同じキューに入れる。
upscale-cancel-tip = 何も拡大しない。
upscale-reading = ファイルを読み込み中…
upscale-asking = 必要な時間とメモリを計算中…
upscale-more-refused = ほかに { $count } 個のファイルは拡大できません
upscale-sizes = { $before } が { $after } になります
upscale-takes = 約 { $time }、最大 { $memory } のメモリを使います
upscale-takes-there = その GPU で約 { $time }、最大 { $memory } のメモリを使います
upscale-beside = 結果は元のファイルの隣に新しい名前で保存されます
upscale-queued = { $count } 個のファイルを拡大しています
upscale-built-in = 内蔵（イラスト向け）
upscale-chosen = { $name } はアップスケーラーです。今後は「拡大…」で使われます
upscale-scale-tip = 幅と高さが { $scale } になります。
