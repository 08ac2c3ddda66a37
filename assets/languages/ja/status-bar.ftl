### The bar at the bottom: current activity and hardware.

## What is going on

status-bar-cancelling = キャンセル中…
status-bar-per-step = 1 ステップ { $time }
status-bar-engine-stopped = エンジンが停止しました
status-bar-paused = 一時停止中
status-bar-waiting = エンジンを待っています…
status-bar-loading = モデルを読み込み中…
status-bar-no-model = モデルが読み込まれていません
status-bar-ready = 準備完了
status-bar-preparing = 準備中
status-bar-encoding-image = 画像をエンコード中
status-bar-encoding-prompt = プロンプトをエンコード中
status-bar-denoising = ノイズ除去中
status-bar-step = ステップ { $step } / { $steps }
status-bar-decoding = デコード中

## Weights, while an image is generated

status-bar-link = 転送 { $speed }
status-bar-stall = 待機 { $share }
status-bar-peak = ピーク { $memory }
status-bar-traffic-tip = 重みがデバイスに届く速さ、デバイスが重みを待つ時間の割合、今回の実行で使ったデバイスメモリの最大量です。

## Hardware

status-bar-cpu-tip = { $name }、{ $threads } スレッド。
status-bar-ram-tip = Sluice の使用量 { $memory }
status-bar-ram-tip-limited = Sluice の使用量 { $memory }。{ $cause } により { $limit } に制限されています
status-bar-gpu-tip = { $name }、使用率 { $load }
status-bar-gpu-tip-degrees = { $name }、使用率 { $load }、{ $degrees } °C
status-bar-no-gpu = NVIDIA GPU なし
status-bar-no-gpu-tip = 画像は CPU が計算します。AMD、Intel、Apple の GPU での計算にはまだ対応していません。NVIDIA GPU のある別のコンピューターのエンジンなら、今すぐ使えます（設定のエンジン）。
status-bar-no-gpu-elsewhere-tip = 画像は別のコンピューターの CPU が計算します。
status-bar-upscaling = 拡大中
status-bar-interpolating = フレームを補間中
status-bar-preprocessing = マップを作成中
status-bar-detecting = ディテールを検出中
status-bar-writing = 執筆中
status-bar-tile = タイル { $tile } / { $tiles }
status-bar-frame = フレーム { $frame } / { $frames }
