### The question before clips get more frames.

interpolate-title = { $count } 個のクリップをフレーム補間
interpolate-title-one = { $name } をフレーム補間
interpolate-model = フレーム補間モデル
interpolate-model-tip = 間のフレームを作るネットワーク。
interpolate-open-tip = rife_v4.26 など、RIFE 4 の .safetensors ファイルを使う。
interpolate-factor = フレーム数
interpolate-factor-tip = 同じ時間で { $factor } のフレーム。
interpolate-across-cuts = カットもまたぐ
interpolate-across-cuts-tip = シーンの切り替わりにもフレームを作ります。オフでは、シーンの最後のフレームを繰り返します。
interpolate-start = 補間
interpolate-cancel-tip = 何も補間しない。
interpolate-choose = まず RIFE 4 のファイルを選んでください
interpolate-folder-empty = { $name } にクリップはありません。
interpolate-no-clip = { $name } はクリップではありません
interpolate-rates = 毎秒 { $before } フレームが { $after } フレームになります
interpolate-chosen = { $name } はフレーム補間モデルです。今後は「フレーム補間…」で使われます
interpolate-section = フレーム補間
interpolate-section-tip = 同じ時間により多くのフレームを入れ、動きを滑らかにします。
interpolate-off = オフ
interpolate-without = フレームを補間しない
interpolate-in-force = フレーム × { $factor }
