### 計画の理由。

## 文

reason-all-streamed = { $why }、{ $role }の全 { $used } ブロックを{ $how }。
reason-one-stays = { $why }、{ $role }の { $used } ブロックのうち { $stay } ブロックを{ $where }に残し、ほかは{ $how }。
reason-some-stay = { $why }、{ $role }の { $used } ブロックのうち { $stay } ブロックを{ $where }に残し、ほかは{ $how }。
reason-everything-stays = モデル全体（{ $size }）が{ $where }に収まり、そのまま残ります。
reason-parts-in-turn = { $why }、モデルの各部分は使う間だけ{ $where }に置かれます。
reason-part-in-use = { $why }、{ $role }は使う間だけ{ $where }に置かれます。
reason-parts-in-use = { $why }、{ $roles }は使う間だけ{ $where }に置かれます。
reason-decoded-in-tiles = 画像は潜在空間で最大 { $width }×{ $height } のタイルに分けてデコードされます。
reason-enlarged-in-tiles = 画像は最大 { $width }×{ $height } ピクセルのタイルに分けて拡大されます。
reason-interpolated-in-tiles = フレームは最大 { $width }×{ $height } ピクセルのタイルに分けて補間されます。
reason-uses-per-step = { $whole } のうち { $part } を使い、1 ステップ { $time } です。
reason-uses = { $whole } のうち { $part } を使い、{ $time } かかります。
reason-weights-in-8-bits = 重みは 8 ビット（{ $format }）で保持され、画像がわずかに変わります。
reason-text-in-8-bits = テキストエンコーダーの重みは 8 ビット（{ $format }）で保持され、画像がわずかに変わります。
reason-offer-with-error = 「{ $name }」なら { $memory } を使い、1 ステップ { $time }、重みの誤差は { $error } です。
reason-offer = 「{ $name }」なら { $memory } を使い、1 ステップ { $time } です。

## 収まらないもの

reason-does-not-fit = この設定は{ $where }に収まりません。{ $what }には、{ $stage }のステージで { $needed } 必要で、使える { $allowed } を { $over } 超えます。
reason-not-enough-ram = RAM が足りません。重みの読み込みに { $needed } 必要ですが、使えるのは { $allowed } です。
reason-allow-or-smaller = { $allow }か、画像またはバッチを小さくしてください。
reason-allow-smaller-or-auto = { $allow }か、画像またはバッチを小さくするか、自動モードを選んでください。
reason-smaller = 画像またはバッチを小さくしてください。
reason-smaller-or-auto = 画像またはバッチを小さくするか、自動モードを選んでください。
reason-allow-ram = RAM の上限をさらに { $memory } 増やす
reason-allow-vram = VRAM の上限を { $memory } 以上にする
reason-allow-memory = メモリの上限を { $memory } 以上にする
reason-what-everything = すべてをデバイスに置くこと
reason-what-all-but-text = テキストエンコーダー以外をすべてデバイスに置くこと
reason-what-autoencoder = 使用中の部分と一緒にオートエンコーダーを置くこと
reason-what-largest = 最大の部分だけを置くこと
reason-what-smallest = 最も小さい配置

## 重みが残らない理由

reason-because-too-large = { $size } すべては一度に収まらないため
reason-because-little-free = { $size } すべてを置くと空きメモリがわずかになるため
reason-because-least-memory = 使うメモリをできるだけ少なくするため
reason-because-mode = モードが「{ $mode }」のため

## 残らない重みの扱い

reason-how-some-by-tensor = ストリーミングします（うち { $blocks } ブロックはテンソルごと）
reason-how-by-tensor = テンソルごとに読み込みます
reason-how-computation = 計算中にストリーミングします
reason-how-link = {" "}GPU への転送速度でストリーミングします
reason-how-disk = ディスクの速度でストリーミングします

## 重みの場所

reason-where-memory = メモリ
reason-where-gpu = {" "}GPU のメモリ
reason-where-into-memory = メモリ

## モデルの部分

reason-role-text-encoder = テキストエンコーダー
reason-role-denoiser = デノイザー
reason-role-autoencoder = オートエンコーダー
reason-role-upscaler = アップスケーラー
reason-role-frame-interpolator = フレーム補間モデル
reason-role-preprocessor = プリプロセッサ
reason-role-segmenter = セグメンテーションモデル
reason-role-detector = 検出モデル
reason-role-language-model = 言語モデル
reason-roles-text-and-denoiser = テキストエンコーダーとデノイザー
reason-roles-text-and-autoencoder = テキストエンコーダーとオートエンコーダー
reason-roles-denoiser-and-autoencoder = デノイザーとオートエンコーダー

## ステージ

reason-stage-encode = エンコード
reason-stage-encode-image = 画像のエンコード
reason-stage-encode-control-image = 制御画像のエンコード
reason-stage-encode-image-prompt = 画像プロンプトのエンコード
reason-stage-encode-enlarged-image = 拡大画像のエンコード
reason-stage-denoise = ノイズ除去
reason-stage-decode = デコード
reason-stage-upscale = 拡大
reason-stage-interpolate = フレーム補間
reason-stage-make-maps = マップの作成
reason-stage-detect = 検出
reason-stage-write = 執筆
reason-stage-high-noise = 高ノイズ
reason-stage-low-noise = 低ノイズ
reason-stage-refine = リファイン
reason-stage-denoise-again = 再ノイズ除去
reason-stage-prior = プライアー
reason-stage-decoder = デコーダー

## マップ

reason-maps-depth = 深度マップ
reason-maps-pose = ポーズ
reason-maps-segments = セグメント
reason-maps-soft-edge = 柔らかい輪郭

## 実行中の計画の変更

reason-ran-out = メモリが足りませんでした（必要 { $needed }、使用可能 { $allowed }）。現在: { $changes }
reason-now-fewer-stay = { $role }のブロックは { $stayed } 個ではなく { $stay } 個がデバイスに残ります
reason-now-fewer-stay-more = { $role }のブロックは { $stayed } 個ではなく { $stay } 個がデバイスに残ります、{ $more }
reason-now-enlarged = 画像は { $width }×{ $height } ピクセルのタイルに分けて拡大されます
reason-now-enlarged-more = 画像は { $width }×{ $height } ピクセルのタイルに分けて拡大されます、{ $more }
reason-now-interpolated = フレームは { $width }×{ $height } ピクセルのタイルに分けて補間されます
reason-now-interpolated-more = フレームは { $width }×{ $height } ピクセルのタイルに分けて補間されます、{ $more }
reason-now-decoded = 画像は潜在空間で { $width }×{ $height } のタイルに分けてデコードされます
reason-now-decoded-more = 画像は潜在空間で { $width }×{ $height } のタイルに分けてデコードされます、{ $more }
reason-now-windows = 動画のウィンドウは 1 つずつ計算されます
reason-now-windows-more = 動画のウィンドウは 1 つずつ計算されます、{ $more }
reason-now-fewer-slots = ブロックは { $before } 個ではなく { $slots } 個のスロットでストリーミングされます
reason-now-fewer-slots-more = ブロックは { $before } 個ではなく { $slots } 個のスロットでストリーミングされます、{ $more }
reason-now-smaller-pieces = 重みはより小さく分けて読み込まれます
reason-timings-one = 最初のステップの所要時間をもとに、1 ブロックの配置を変えました
reason-timings = 最初のステップの所要時間をもとに、{ $blocks } ブロックの配置を変えました
reason-driver-moved = ドライバーが GPU のメモリのうち { $memory } を RAM に移したため、各ステップが遅くなっています。NVIDIA コントロールパネルで「CUDA - Sysmem Fallback Policy」を「Prefer No Sysmem Fallback」に設定するか、VRAM の上限を下げてください
reason-slow-link = このコンピューターの転送速度は { $measured }、模擬する接続は { $simulated } です。転送を待つステップは GPU の場合より長くかかります
