### Notices, failures and names of what was generated.

## Lengths and names

state-still-image = 静止画
state-clip-length = { $duration }、{ $count } フレーム
state-clip-of-seed = シード { $seed } の動画
state-image-of-seed = シード { $seed } の画像
state-clip-of-number = 動画 { $number }
state-image-of-number = 画像 { $number }

## The machine

state-device = { $cpu }、RAM { $ram }、NVIDIA GPU なし
state-device-without-name = このコンピューター、RAM { $ram }、NVIDIA GPU なし

## How well a model runs

state-fit-well = 快適に動作 · { $time }
state-fit-well-about = 快適に動作 · 約 { $time }
state-fit-streamed = ストリーミングで動作 · { $time }
state-fit-streamed-about = ストリーミングで動作 · 約 { $time }
state-fit-slowly = 低速で動作 · { $time }
state-fit-slowly-about = 低速で動作 · 約 { $time }
state-fit-very-slowly = 非常に低速で動作 · { $time }
state-fit-very-slowly-about = 非常に低速で動作 · 約 { $time }
state-fit-too-big-ram = 大きすぎます、RAM が { $needed } 必要
state-fit-too-big = 大きすぎます、{ $needed } 必要
state-fit-cannot = 実行できません

## Notices

state-lora-added = LoRA { $name } を追加しました
state-lora-made-for = { $name } はこの設定用に作られています。
state-model-own-steps = モデル本来のステップ数とガイダンス
state-queue-paused = キューは一時停止中です
state-queue-paused-detail = 再開したジョブは、キューが再開されるまで待機します。
state-cancelled-at = { $steps } ステップ中 { $step } ステップまで完了していました。
state-cancelled = キャンセルしました
state-jobs-cancelled = { $count } 件のジョブをキャンセルしました

## Failures

state-engine-stopped-message = Sluice を再起動するまで生成できません。
state-engine-stopped-advice = 設定は保存されています。
state-engine-stopped = エンジンが停止しました
state-not-saved = 画像を出力フォルダーに保存できませんでした
state-engine-restarted = エンジンを再起動し、再開しています
state-image-goes-on = 画像はステップ { $step } の続きから再開します。
state-clip-goes-on = 動画はステップ { $step } の続きから再開します。
state-generation-failed = 生成に失敗しました
state-upscale-failed = { $name } を拡大できませんでした
state-interpolation-failed = { $name } をフレーム補間できませんでした
state-detail-failed = { $name } の細部を描き直せませんでした
state-description-failed = { $names } を説明できませんでした
state-map-failed = { $name } のマップを作れませんでした
state-mask-failed = { $name } のマスクを作れませんでした
state-enhance-failed = プロンプトを詳しくできませんでした
state-model-not-opened = このモデルを開けませんでした
state-other-model-not-opened = { $name } を開けませんでした
state-went-wrong = 問題が発生しました
state-snippet-deleted = スニペットを削除しました: { $words }
state-negative-snippet-deleted = ネガティブプリセットを削除しました: { $words }
state-job-edited = ジョブを編集中
state-job-goes-back = 「生成」を押すと、この設定で元の順番に戻ります。
state-style-deleted = スタイル { $name } を削除しました
