### The memory use of a run: timeline, layers, steps.

monitor-empty = タイムラインには、画像を生成している間のメモリ使用量が表示されます。
monitor-title = メモリ
monitor-title-unit = メモリ（{ $unit }）
monitor-last-run = 前回の実行
monitor-this-run = 今回の実行
monitor-close = タイムラインを閉じる
monitor-resume = 再開
monitor-pause = 一時停止
monitor-pause-tip = タイムラインを止めます。実行は続きます。
monitor-whole = 実行全体
monitor-whole-tip = 実行全体を再び表示します。タイムラインのダブルクリックでも同じです。
monitor-weights = 重み
monitor-activations = アクティベーション
monitor-others = その他
monitor-free = 空き
monitor-predicted = 予測
monitor-allowed = 上限

## Steps

monitor-steps = ステップ
monitor-step-took = 合計 { $time }
monitor-step-computing = 計算 { $time }
monitor-step-waiting = 重みの待機 { $time }
monitor-step-copied = { $memory } をコピー
monitor-step-skipped = ステップキャッシュで省略
monitor-steps-none = ステップ、まだ完了していません
monitor-steps-summary = ステップ、{ $count } 完了、平均 { $time }、待機 { $share }

## The timeline

monitor-vram = VRAM の推移、実測のピーク { $memory }
monitor-ram = RAM の推移、ピーク { $memory }
monitor-run-ram = 実行中の RAM の推移、実測のピーク { $memory }
monitor-process-ram = Sluice の RAM の推移、ピーク { $memory }
monitor-sample-host = RAM 内の重み { $memory }
monitor-sample-host-pinned = RAM 内の重み { $memory }（ピン留め { $pinned }）
monitor-sample-weights = 重み { $memory }
monitor-sample-activations = アクティベーション { $memory }
monitor-sample-others = ほかのプログラム { $memory }
monitor-sample-free = 空き { $memory }
monitor-sample-process = Sluice の RAM { $memory }

## Layers

monitor-layers = レイヤー
monitor-layers-none = レイヤー、まだわかっていません
monitor-layers-summary =
    { $part ->
        [text-encoder] テキストエンコーダーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [denoiser] デノイザーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [upscaler] アップスケーラーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [interpolator] フレーム補間モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [preprocessor] 前処理のレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [segmenter] セグメンテーションモデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [detector] 検出モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
        [language-model] 言語モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
       *[autoencoder] オートエンコーダーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }
    }
monitor-layers-now =
    { $part ->
        [text-encoder] テキストエンコーダーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [denoiser] デノイザーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [upscaler] アップスケーラーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [interpolator] フレーム補間モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [preprocessor] 前処理のレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [segmenter] セグメンテーションモデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [detector] 検出モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
        [language-model] 言語モデルのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
       *[autoencoder] オートエンコーダーのレイヤー、常駐 { $resident }、ストリーミング { $streamed }、現在 { $block }
    }
monitor-block =
    { $part ->
        [text-encoder] テキストエンコーダーのブロック { $number }
        [denoiser] デノイザーのブロック { $number }
        [upscaler] アップスケーラーのブロック { $number }
        [interpolator] フレーム補間モデルのブロック { $number }
        [preprocessor] 前処理のブロック { $number }
        [segmenter] セグメンテーションモデルのブロック { $number }
        [detector] 検出モデルのブロック { $number }
        [language-model] 言語モデルのブロック { $number }
       *[autoencoder] オートエンコーダーのブロック { $number }
    }
monitor-block-resident = { $memory }、ステージの間は常駐
monitor-block-streamed = { $memory }、ストリーミング
monitor-block-leaves = { $memory }、テンソルごとにストリーミング
monitor-now-resident = 現在デバイス上
monitor-now-in-flight = 現在読み込み中またはスロット内
monitor-now-waiting = 現在重みを待機中
monitor-now-computing = 現在計算中
monitor-now-idle = 現在デバイス上になし
monitor-not-used = まだ使われていません
monitor-from-disk = ディスクから
monitor-from-ram = RAM から
monitor-from-device = すでにデバイス上
monitor-last-use = 前回の使用: { $from }
monitor-last-use-slot = 前回の使用: { $from }、スロット { $slot }
monitor-time-waiting = 待機 { $time }、平均 { $mean }
monitor-time-loading = 読み込み { $time }、平均 { $mean }
monitor-time-computing = 計算 { $time }、平均 { $mean }
monitor-time-evict = 退避 { $time }、平均 { $mean }
