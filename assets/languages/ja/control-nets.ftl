### ControlNets, and the images that they follow.

control-nets-title = ControlNet
control-nets-title-used = ControlNet（{ $count }）
control-nets-tip = 別の画像の輪郭、深度、ポーズに沿って画像を導きます。
control-nets-add = ControlNetを追加…
control-nets-add-tip = このモデル用のControlNetを選びます。
control-nets-library = ライブラリから
control-nets-library-tip = モデルフォルダーで見つかったControlNetです。
control-nets-library-spoken = ライブラリのControlNet
control-nets-remove = { $name }を外す
control-nets-image = 画像…
control-nets-image-tip = ControlNetが従う画像を選びます。
control-nets-image-remove = ControlNetの画像を外す
control-nets-map = ControlNetが見る画像
control-nets-preprocessor = プリプロセッサ
control-nets-preprocessor-tip = 画像から最初に何を作るか。すでにマップなら「なし」を選びます。
control-nets-preprocessor-none = なし
control-nets-preprocessor-canny = Canny輪郭
control-nets-preprocessor-invert = 反転
control-nets-weight = 重み
control-nets-weight-tip = ControlNetの効く強さ。1が学習時の強さです。
control-nets-start = 開始
control-nets-start-tip = ステップ全体のうち、この割合より前ではControlNetは効きません。
control-nets-end = 終了
control-nets-end-tip = ステップ全体のうち、この割合より後ではControlNetは効きません。
control-nets-without = ControlNet { $name } を使わない
