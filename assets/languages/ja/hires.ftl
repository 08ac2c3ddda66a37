### Hires fix：画像を拡大して、もう一度ノイズ除去します。

hires-title = Hires fix
hires-title-tip = モデルの学習サイズより大きい画像のために。
hires-on = 拡大してもう一度ノイズ除去
hires-on-tip = 上のサイズで生成し、拡大して、もう一度ノイズ除去します。
hires-scale = 倍率
hires-scale-tip = 幅と高さを何倍にするか。
hires-strength = 強度
hires-strength-tip = 2 回目でどれだけ変えるか。Latent では約 0.5 以上が必要です。アップスケーラーで拡大した画像では 0.2～0.4 で足りることが多いです。
hires-steps = 独自のステップ数
hires-steps-tip = 2 回目のステップ数。強度に応じて一部を省きます。指定しなければ 1 回目と同じです。
hires-upscaler = アップスケーラー
hires-upscaler-tip = 2 回の間に画像を拡大するもの。
hires-latent = Latent
hires-result = { $before } から { $after } へ
hires-in-force = Hires fix × { $scale } · { $strength }
hires-without = Hires fix を使わない
hires-not-with-input = Hires fixはプロンプトだけから始まり、入力画像は使いません。
hires-in-force-waits = Hires fixは待機中
hires-offer = { $width } × { $height } から Hires fix
hires-offer-tip = このサイズで生成し、目的のサイズに拡大して、もう一度ノイズ除去します。
hires-not-starter = スターターは { $width } × { $height } を超える画像を改善できません。結果をアップスケールしてください。
