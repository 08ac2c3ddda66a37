### The settings of the next image, on the left.

## Numbers and more settings

side-panel-steps = ステップ数
side-panel-steps-tip = ノイズ除去のステップ数です。増やすほど時間がかかり、ある程度までは画像が緻密になります。
side-panel-guidance = ガイダンス
side-panel-guidance-tip = 画像がプロンプトにどれだけ忠実に従うか（CFG スケール）。
side-panel-batch-size = バッチサイズ
side-panel-batch-size-tip = まとめて生成する画像の枚数です。増やすほど多くのメモリが必要です。
side-panel-batch-as-grid = バッチをグリッドにする
side-panel-batch-as-grid-tip = バッチの画像を 1 枚にまとめた画像も作ります。
side-panel-more = その他の設定
side-panel-sampler = サンプラー
side-panel-sampler-tip = ノイズを画像に変える方法です。
side-panel-schedule = スケジューラー
side-panel-schedule-tip = 各ステップのノイズ量の配分です。
side-panel-schedule-model = モデルの既定
side-panel-precision = 精度
side-panel-precision-tip = 計算に使う数値形式です。16 ビットの方がメモリが少なくて済みます。
side-panel-precision-32-bit = 32 ビット
side-panel-precision-16-bit = 16 ビット（{ $format }）
side-panel-precision-automatic-planned = 自動（{ $format }）
side-panel-precision-automatic = 自動

## Prompts

side-panel-prompt = プロンプト
side-panel-negative-prompt = ネガティブプロンプト
side-panel-describe-clip = 作りたい動画を説明してください
side-panel-describe-image = 作りたい画像を説明してください
side-panel-what-to-avoid = 避けたいもの
side-panel-negative-unused = ガイダンスが 0 の間は使われません。
side-panel-examples = 例
side-panel-tokens = { $tokens } / { $room }
side-panel-tokens-in-chunks = { $tokens } / { $room }、{ $chunks } チャンク
side-panel-tokens-spoken = { $prompt }、{ $room } トークン中 { $tokens }
side-panel-history = 履歴
side-panel-history-tip = 以前に使ったプロンプトです。空の入力欄で ↑ を押すと直前のものを呼び出します。
side-panel-history-search = プロンプトを検索
side-panel-history-nothing = 該当するプロンプトはありません。
side-panel-tag-images = 画像 { $count } 枚

## Styles

side-panel-styles = スタイル
side-panel-styles-tip = プロンプトに追加する名前付きの語句です。A1111 や Fooocus のファイルから読み込みます。
side-panel-styles-search = スタイルを検索
side-panel-styles-nothing = スタイルはまだありません。A1111 の styles.csv と Fooocus の sdxl_styles はモデルのフォルダーの上の階層で見つけます。ファイルを開くこともできます。
side-panel-style-negative = ネガティブプロンプト: { $prompt }
side-panel-styles-open = スタイルのファイルを開く…
side-panel-styles-open-tip = A1111 の CSV、または Fooocus の JSON。

## スニペット

side-panel-snippets = スニペット
side-panel-snippets-tip = プロンプトに入れるために保存した語句です。
side-panel-snippets-nothing = スニペットはまだありません。プロンプトの語句を選択して保存してください。
side-panel-snippet-delete = スニペット「{ $words }」を削除
side-panel-snippet-use = カーソルの位置に「{ $words }」を入れます。
side-panel-snippet-keep-selected = 選択した語句を保存
side-panel-snippet-keep-prompt = プロンプトを保存
side-panel-snippet-keep-tip = 語句をスニペットに追加します。
side-panel-snippet-undo-tip = スニペットを元に戻します。
side-panel-negative-snippets = ネガティブプリセット
side-panel-negative-snippets-tip = 同じものを再び避けるために保存した語句です。
side-panel-negative-snippets-nothing = ネガティブプリセットはまだありません。避けたい内容を書いて保存してください。
side-panel-negative-snippet-delete = ネガティブプリセット「{ $words }」を削除
side-panel-negative-snippet-keep-prompt = ネガティブプロンプトを保存
side-panel-negative-snippet-keep-tip = 語句をネガティブプリセットに追加します。
side-panel-negative-snippet-undo-tip = ネガティブプリセットを元に戻します。

## Presets

side-panel-saved-settings = 保存した設定
side-panel-presets = プリセット
side-panel-presets-tip = 設定に名前を付けて保存し、再び使えるようにします。
side-panel-presets-nothing = まだ何も保存されていません。プリセットにはプロンプト、シード、入力画像以外のすべてが含まれます。
side-panel-reset = モデルの既定値に戻す
side-panel-reset-tip = プロンプト、シード、入力画像以外のすべて。
side-panel-preset-new-name = { $name } の新しい名前
side-panel-rename = 名前を変更
side-panel-preset-delete = { $name } を削除
side-panel-preset-rename = { $name } の名前を変更
side-panel-preset-use = この設定を使う: { $settings }
side-panel-preset-name = プリセットの名前
side-panel-save = 保存
side-panel-preset-with-model = モデルも含める
side-panel-preset-with-model-tip = プリセットを使うとこのモデルも開きます。
side-panel-preset-name-tip = データフォルダー内のファイル名です。同じ名前のプリセットは置き換えられます。
side-panel-preset-save-tip = この名前で保存します。

## Size

side-panel-size = サイズ
side-panel-width = 幅
side-panel-height = 高さ
side-panel-swap-sides = 幅と高さを入れ替える
side-panel-round-size = サイズを合わせる
side-panel-round-size-tip = モデルが生成できる最も近いサイズにします。
side-panel-size-larger = このモデルは約 { $width } × { $height } で学習されています。それより大きい画像では内容が繰り返されます。
side-panel-size-smaller = このモデルは約 { $width } × { $height } で学習されています。それより小さい画像では細部が不足します。
side-panel-use-size = { $width } × { $height } を使う
side-panel-use-size-trained-tip = モデルが学習されたサイズに最も近いサイズです。
side-panel-aspect-far = モデルは { $tallest } から { $widest } までの動画向けに作られています。それ以外はゆがむことがよくあります。
side-panel-aspect-far-image = このモデルは { $tallest } から { $widest } までの画像向けです。それより横長や縦長の画像では同じものが繰り返されます。
side-panel-clip-longer = このモデルは約 { $length } 向けに作られています。それより長い動画は内容が繰り返されたり崩れたりします。
side-panel-use-length = { $length } を使う
side-panel-use-length-tip = モデルが想定している長さです。
side-panel-side-tip = ピクセル単位、{ $multiple } の倍数。

## Clips

side-panel-kind-image = 画像
side-panel-kind-video = 動画
side-panel-duration = 長さ
side-panel-duration-tip = 動画の長さです。秒数か、「33 フレーム」のようにフレーム数を入力します。
side-panel-duration-multiple-tip = 動画の長さです。1 フレームに { $multiple } の倍数を加えた数になります。秒数かフレーム数を入力します。
side-panel-frame-rate = フレームレート
side-panel-frame-rate-tip = 1 秒あたりのフレーム数です。同じフレームの再生が速くなったり遅くなったりします。モデルは学習時のフレームレートに従います。
side-panel-windows = ウィンドウに分けて生成
side-panel-windows-tip = 長い動画を、重なり合うフレームのウィンドウに分けて生成します。必要なメモリは 1 ウィンドウ分で、モデルが一度に見るフレーム数も学習時を超えません。
side-panel-window = ウィンドウ
side-panel-window-tip = まとめて生成するフレーム数です。
side-panel-overlap = 重なり
side-panel-overlap-tip = 前のウィンドウと共有するフレーム数です。多いほど自然につながり、時間がかかります。

## Inputs of clips

side-panel-choose = 選択…
side-panel-replace = 置き換え…
side-panel-replace-tip = ここで使う別のファイルを選びます。
side-panel-file-remove-tip = ファイル自体は元の場所に残ります。
side-panel-start-image-tip = 動画はこの画像から始まります。ウィンドウへのドロップや貼り付けもできます。
side-panel-start-image = 開始画像
side-panel-start-image-remove = 開始画像を外す
side-panel-end-image-tip = 動画はこの画像で終わります。
side-panel-end-image = 終了画像
side-panel-end-image-remove = 終了画像を外す
side-panel-input-clip-tip = 動画を変更するか、続きを作ります。ウィンドウへのドロップもできます。
side-panel-input-clip = 入力動画
side-panel-input-clip-remove = 入力動画を外す
side-panel-clip-change = 変更
side-panel-clip-extend = 延長
side-panel-clip-continues = 最後の { $frames } フレームから続けます。
side-panel-denoising-strength = ノイズ除去強度
side-panel-denoising-strength-clip-tip = 動画がどれだけ変わるか。1 では元の内容は残りません。
side-panel-range-tip = 結果のフレームレートで数えます。
side-panel-first-frame = 最初のフレーム
side-panel-last-frame = 最後のフレーム
side-panel-fit = 合わせ方
side-panel-fit-clip-tip = 入力を動画のサイズに合わせる方法です。
side-panel-keyframes-tip = 動画は、指定したフレームでこの画像を表示します。
side-panel-keyframes = キーフレーム
side-panel-keyframe-remove = キーフレーム { $name } を外す
side-panel-frame = フレーム
side-panel-frame-tip = 画像を表示するフレームです。
side-panel-control-clip-tip = 結果が従う深度、ポーズ、線画の動画、またはマスクで変更部分を示す動画です。
side-panel-control-clip = コントロール動画
side-panel-control-clip-remove = コントロール動画を外す
side-panel-control = コントロール
side-panel-control-remove = コントロールを外す
side-panel-control-strength = コントロール強度
side-panel-control-strength-tip = 結果がコントロール動画と参照画像にどれだけ従うか。1 は学習時の強さです。
side-panel-control-preprocessor-tip = 各フレームから最初に何を作るか。すでにマップなら「なし」を選びます。
side-panel-control-start-tip = ステップ全体のうち、この割合より前では動画は効きません。
side-panel-control-end-tip = ステップ全体のうち、この割合より後では動画は効きません。
side-panel-control-mask-tip = 白い部分を生成し、黒い部分はコントロール動画のまま残します。動画か、全フレーム共通の画像です。
side-panel-control-mask = コントロールマスク
side-panel-control-mask-remove = コントロールマスクを外す

## Image to image

side-panel-dropped-dismiss = ドロップした画像を閉じる
side-panel-dropped = { $name } には設定が含まれています
side-panel-dropped-use-settings = 設定を使う
side-panel-dropped-use-clip = 入力動画に使う
side-panel-dropped-use-image = 入力画像に使う
side-panel-image-to-image = 画像から画像
side-panel-input-image-tip = 画像から始めます。ウィンドウへのドロップや貼り付けもできます。
side-panel-input-folder = フォルダー…
side-panel-input-folder-tip = フォルダー内の各画像から、この設定で生成します。結果には元の画像の名前が付き、済んだものは省かれます。
side-panel-reference-folder = 参照画像のフォルダー…
side-panel-input-image-remove = 入力画像を外す
side-panel-denoising-strength-tip = 入力画像がどれだけ変わるか。1 では元の内容は残りません。
side-panel-fit-tip = 入力画像を新しい画像のサイズに合わせる方法です。
side-panel-mask = インペイントマスク
side-panel-mask-open = 開く…
side-panel-mask-open-tip = 入力画像の変更したい部分が白い画像を開きます。
side-panel-mask-paint = 塗る…
side-panel-mask-paint-tip = 変更したい部分を塗ります。
side-panel-mask-remove = マスクを外す
side-panel-mask-keep = マスク外をそのまま残す
side-panel-mask-keep-tip = マスクの外側のピクセルを入力画像からコピーします。
side-panel-mask-feather = マスクのぼかし（px）
side-panel-mask-feather-tip = マスクの縁を入力画像になじませる幅です。
side-panel-reading = 読み込み中…
side-panel-fit-crop = 切り抜き
side-panel-fit-stretch = 引き伸ばし
side-panel-fit-pad = 余白を追加

## Reference images

side-panel-references =
    { $most ->
       *[other] 参照画像
    }
side-panel-reference-edits-tip = この画像をどう変えるかはプロンプトで指示します。ウィンドウへのドロップや貼り付けもできます。
side-panel-reference-seen-tip = 結果がこれに似ます。どれだけ似せるかは下で設定します。
side-panel-reference-clip-tip = 動画に登場するものです。
side-panel-reference-add = 追加…
side-panel-reference-remove = 参照画像 { $number } を外す
side-panel-references-swap = 参照画像 { $first } と { $second } を入れ替える
side-panel-redux = { $name } で読み取る
side-panel-redux-remove = Redux を外す
side-panel-redux-add = Redux を追加…
side-panel-redux-add-tip = 参照画像から結果の見た目を決めるモデルを選びます。
side-panel-redux-strength = 参照画像 { $number } の強さ
side-panel-redux-strength-tip = プロンプトと比べて { $name } をどれだけ重視するか。

## Seed

side-panel-seed = シード
side-panel-seed-tip = 同じシードと設定なら同じ画像になります。
side-panel-seed-lock = シードを固定
side-panel-seed-randomize = シードをランダムにする
side-panel-seed-locked = シードを固定中
side-panel-seed-random = 毎回ランダムなシード
side-panel-variation-strength = バリエーション強度
side-panel-variation-strength-tip = このシードに似た画像を作ります。ノイズを 2 つ目のシードのノイズに近づけます。
side-panel-variation-seed = バリエーションシード
side-panel-variation-seed-tip = 2 つ目のシードです。バッチの画像はこのシードから順に使います。

## LoRAs

side-panel-loras = LoRA
side-panel-loras-used = LoRA（{ $count }）
side-panel-lora-add = LoRA を追加…
side-panel-lora-add-tip = LoRA ファイルを選ぶか、ウィンドウにドロップします。
side-panel-lora-remove = { $name } を外す
side-panel-lora-weight = { $name } の重み
side-panel-lora-weight-tip = LoRA を効かせる強さです。1 は学習時の強さ、0 未満は逆の効果になります。
side-panel-lora-half = { $name } も一緒に使われます。
side-panel-loras-near = モデルの近くで検出
side-panel-loras-near-spoken = モデルの近くで見つかった LoRA

## Under More settings

side-panel-shift = シフト
side-panel-shift-tip = 構図や動きが決まる高ノイズの段階に多くのステップを使います。モデル自身のシフトは { $own } です。
side-panel-clip-skip = CLIP スキップ
side-panel-clip-skip-tip = CLIP のより手前の層からプロンプトを取り出します。1 は最後の層です。
side-panel-clip-skip-without-effect = { $family } では CLIP スキップは効きません。
side-panel-refiner = リファイナー { $name }
side-panel-refiner-remove = リファイナーを外す
side-panel-refiner-switch = リファイナーの切り替え
side-panel-refiner-switch-tip = ノイズスケジュールがこの割合まで進むとリファイナーに交代します。
side-panel-refiner-add = リファイナーを追加…
side-panel-refiner-add-tip = 最後のステップを担当して細部を加える 2 つ目のモデルを選びます。
side-panel-guidance-and-speed = ガイダンスと速度
side-panel-guidance-rescale = ガイダンスの再スケール
side-panel-guidance-rescale-tip = 高いガイダンスで強くなりすぎる色を抑えます。
side-panel-guidance-start = ガイダンスの開始
side-panel-guidance-start-tip = ステップがこの割合まで進むとガイダンスを始めます。
side-panel-guidance-end = ガイダンスの終了
side-panel-guidance-end-tip = ステップがこの割合まで進むとガイダンスを終えます。
side-panel-guidance-interval-hint = ステップの割合です。ガイダンスのないステップは半分の時間で済みます。
side-panel-true-cfg = True CFG
side-panel-true-cfg-tip = 1 より大きいと、FLUX.1 のようなモデルがネガティブプロンプトを使います。各ステップの時間は 2 倍になります。
side-panel-true-cfg-hint = FLUX.1 のようなモデルのネガティブプロンプト用です。時間は 2 倍になります。
side-panel-step-cache = ステップキャッシュ
side-panel-step-cache-tip = 変化がこの量以下のステップを省きます。0 では省きません。
side-panel-step-cache-hint = 似たステップを省きます。速くなりますが、画像がわずかに変わります。

## What changes the next image, above Generate

side-panel-without-input-image = 入力画像を使わない
side-panel-in-force-mask = マスク
side-panel-without-mask = マスクを使わない
side-panel-in-force-end-image = 終了: { $name }
side-panel-without-end-image = 終了画像を使わない
side-panel-in-force-keyframe = フレーム { $frame }: { $name }
side-panel-without-keyframe = キーフレーム { $name } を使わない
side-panel-without-input-clip = 入力動画を使わない
side-panel-in-force-reference = 参照: { $name }
side-panel-without-reference = 参照画像 { $name } を使わない
side-panel-in-force-control = コントロール: { $name }
side-panel-in-force-control-strength = コントロール強度 { $strength }
side-panel-without-control = 動画のコントロールを使わない
side-panel-in-force-redux = Redux: { $name }
side-panel-without-redux = Redux を使わない
side-panel-in-force-refiner = リファイナー: { $name }
side-panel-without-refiner = リファイナーを使わない
side-panel-in-force-seed = シード { $seed }
side-panel-without-seed = 同じシードを使わない
side-panel-in-force-style = スタイル: { $name }
side-panel-chip-show = 設定で表示
side-panel-chip-show-tip = これを設定する場所を開きます。
side-panel-chip-copy-tip = テキストとしてコピーします。
side-panel-chip-copy-seed = シードをコピー
side-panel-chip-copy-style = プロンプトをコピー
side-panel-chip-copy-name = プロンプト用にコピー
side-panel-chip-off = オフにする
side-panel-chip-off-tip = 使わずにリストに残します。
side-panel-chip-remove-tip = これなしで続けます。
side-panel-chip-remove-all = すべて外す
side-panel-chip-remove-all-tip = ここにあるものをすべて外します。「元に戻す」で戻せます。
side-panel-kept-use = 使う
side-panel-kept-rename = 名前を変更…
side-panel-kept-duplicate = 複製
side-panel-kept-delete = 削除
side-panel-kept-use-tip = 使う、または使うのをやめます。
side-panel-kept-rename-tip = 別の名前を付けます。
side-panel-kept-duplicate-tip = 別の名前でコピーを保存します。
side-panel-kept-delete-tip = 削除します。「元に戻す」で戻せます。
side-panel-style-new-name = { $name } の新しい名前
side-panel-style-new-name-tip = Enter でスタイルの名前を変更します。
side-panel-without-style = スタイル { $name } を使わない
side-panel-in-force-variation = バリエーション { $strength }
side-panel-without-variation = バリエーションを使わない
side-panel-without-lora = LoRA { $name } を使わない

## Generate and what it takes

side-panel-notice-dismiss = 通知を閉じる
side-panel-undo = 元に戻す
side-panel-undo-tip = 変更前の設定に戻します。
side-panel-prompt-undo-tip = 変更前のプロンプトに戻します。
side-panel-edit-undo-tip = ジョブをキューに戻し、前の設定に戻します。
side-panel-resume = 再開
side-panel-resume-tip = キャンセルしたところから続けます。
side-panel-generate = 生成
side-panel-grid = グリッド…
side-panel-grid-tip = グリッド: 最大 3 つの設定を変えて、画像を 1 枚にまとめます。
side-panel-engine-stopped = エンジンが停止しました。Sluice を再起動してください。
side-panel-model-loading = モデルを読み込み中…
side-panel-model-missing = まずモデルを選んでください。
side-panel-cancelling = キャンセル中…
side-panel-planning = 計画中…
side-panel-fits = 実行可能 · { $memory } · { $time }
side-panel-fits-about = 実行可能 · { $memory } · 約 { $time }
side-panel-fits-up-to = 実行可能 · { $memory } · 最大 { $time }
side-panel-fits-about-there = 実行可能 · { $memory } · その GPU で約 { $time }
side-panel-fits-up-to-there = 実行可能 · { $memory } · その GPU で最大 { $time }
side-panel-fits-spoken = 予測: 実行可能、{ $memory }、{ $time }
side-panel-fits-about-spoken = 予測: 実行可能、{ $memory }、約 { $time }
side-panel-fits-up-to-spoken = 予測: 実行可能、{ $memory }、最大 { $time }
side-panel-fits-simulated = シミュレーション: ここでは CPU を使うため、もっと時間がかかります。
side-panel-fits-simulated-about = シミュレーション: ここでは CPU を使い、約 { $time } です。
side-panel-accuracy-tip = このモデル、この精度、このデバイスでの過去の予測がどれだけ外れたか。メモリのピークと 1 ステップの秒数についてです。実行するたびに次の予測が改善されます。
side-panel-needs-limit = { $needed } 必要ですが、設定した上限は { $allowed } です
side-panel-needs = { $needed } 必要ですが、使えるのは { $allowed } です
side-panel-needs-ram-limit = RAM が { $needed } 必要ですが、設定した上限は { $allowed } です
side-panel-needs-ram = RAM が { $needed } 必要ですが、使えるのは { $allowed } です
side-panel-needs-spoken = 予測: 収まりません、{ $reason }
side-panel-remove-limit = 上限を解除
side-panel-use-recommended = 推奨設定を使う
side-panel-use-way = { $way } を使う
side-panel-use-tiles = タイルでデコード
side-panel-use-8-bit = 8 ビットの重み
side-panel-use-4-bit = 4 ビットの重み
side-panel-use-size-smaller-tip = 小さい画像を生成します。
side-panel-use-fewer-frames-tip = 短いクリップを生成します。
side-panel-accuracy = { $count } 回の実行での誤差は最大でメモリ { $memory }、時間 { $time }
side-panel-accuracy-of-memory = { $count } 回の実行での誤差は最大でメモリ { $memory }
side-panel-preset-undo-tip = プリセットを一覧に戻します。
side-panel-prompt-tip = 生成する内容を書きます。Ctrl+↑ と Ctrl+↓ で語の重みを変えます。
side-panel-negative-prompt-tip = 避けたい内容を書きます。
side-panel-examples-tip = このモデルに合うプロンプトを表示します。
side-panel-example-tip = これをプロンプトに入力します。
side-panel-generate-tip = この設定で画像またはクリップをキューに追加します。
side-panel-cancel-tip = 実行中のものをキャンセルします。後で再開できます。キー: Esc。
side-panel-cancel-idle-tip = 実行中のものはありません。
side-panel-kind-image-tip = 最後に使った画像モデルを使います。
side-panel-kind-video-tip = 最後に使ったクリップモデルを使います。
side-panel-more-tip = サンプラー、スケジュール、精度などを表示します。
side-panel-guidance-and-speed-tip = ガイダンスの調整やステップの節約の設定を表示します。
side-panel-loras-tip = モデルの描き方を変える LoRA を表示します。
side-panel-loras-near-tip = モデルの近くのフォルダーにある LoRA を表示します。
side-panel-history-search-tip = これらの語を含むプロンプトを探します。
side-panel-styles-search-tip = 名前でスタイルを探します。
side-panel-remove-limit-tip = 空いているメモリをすべて使えるようにします。
side-panel-clip-change-tip = フレームに沿ってクリップを生成し直します。
side-panel-clip-extend-tip = クリップの最後のフレームから続けます。
side-panel-mask-only = マスク部分のみ
side-panel-mask-only-tip = マスクした部分だけを指定のサイズで生成し、元のサイズの入力画像に戻します。
side-panel-mask-padding = マスク周囲の余白（px）
side-panel-mask-padding-tip = マスクした部分の周囲でモデルに見える幅です。
side-panel-accuracy-time-varies = { $count } 回の実行での誤差は最大でメモリ { $memory }。時間は大きく変動
side-panel-negative-unread = この設定では、モデルはこれを読みません。

## アウトペイント

side-panel-outpaint = アウトペイント
side-panel-outpaint-tip = 画像の周囲にピクセルを追加して生成します。枠の端をドラッグしてください。
side-panel-outpaint-left = 左
side-panel-outpaint-top = 上
side-panel-outpaint-right = 右
side-panel-outpaint-bottom = 下
side-panel-outpaint-feather = アウトペイントのぼかし (px)
side-panel-outpaint-feather-tip = 追加部分へ画像がどこまで溶け込むか。
side-panel-outpaint-frame = 入力画像の枠
side-panel-outpaint-edge = 枠の端: { $edge }
side-panel-outpaint-edge-tip = 外側へドラッグしてピクセルを追加します。
side-panel-outpaint-side-tip = この側に追加する入力画像のピクセル数です。
side-panel-without-outpaint = アウトペイントしない
side-panel-style-name = 新しいスタイルの名前
side-panel-style-name-tip = プロンプトがこの名前で保存されます。{"{prompt}"} がある位置に、適用先のプロンプトが入ります。
side-panel-style-save = スタイルを保存
side-panel-style-save-tip = プロンプトとネガティブプロンプトをスタイルとして保存します。同名のものは置き換えます。
side-panel-style-delete = スタイル { $name } を削除
side-panel-style-undo-tip = スタイルを再び保存します。
side-panel-trash-undo-tip = ファイルをゴミ箱から戻します。
