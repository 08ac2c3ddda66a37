### エンジン：設定の一覧と、複数のエンジンの動作。

## 一覧

engines-here = このコンピューター
engines-here-tip = このコンピューターで生成します。NVIDIA のカードがあればそれを使います。
engines-here-alone-tip = ほかに有効なエンジンがありません。
engines-card = { $name }（GPU { $number }）
engines-card-tip = このコンピューターのこのカードが、自分のジョブを受け取ります。
engines-use = エンジン { $number } を使う
engines-use-tip = このエンジンにジョブを渡します。
engines-name = エンジン { $number } の名前
engines-name-tip = ウィンドウでのこのエンジンの呼び名です。
engines-name-hint = 名前
engines-command = エンジン { $number } のコマンド
engines-command-tip = 計算を行うコンピューターにつながるコマンドです。シェルは使いません。パスワードや鍵は書かないでください。
engines-empty = エンジンにつながるコマンドを書いてください。
engines-quotes = 引用符が足りません。
engines-remove = エンジン { $number } を取り除く
engines-add = エンジンを追加…
engines-add-tip = 出発点となるコマンドを追加します。大文字の部分は自分の名前に置き換えてください。
engines-container = コンテナ
engines-other-command = ほかのコマンド
engines-hint = 各ジョブは、空いていてそのモデルを持つエンジンに渡されます。画像はこのコンピューターに保存されます。パスワードや鍵は保存されません。
engines-change-waits = キューが終わると有効になります。

## 試す

engines-try = 試す
engines-try-tip = { $name } を起動し、バージョン、デバイス、メモリを尋ねます。
engines-stop-trying = やめる
engines-stop-trying-tip = { $name } を待つのをやめます。
engines-trying = 応答を待っています（{ $seconds } 秒）…
engines-answers = 応答：{ $words }

## 動作

engines-title = エンジン
engines-shown = エンジン
engines-shown-tip = 予測、ハードウェア、タイムラインを表示するエンジンです。
engines-show-tip = このエンジンの予測、ハードウェア、タイムラインを表示します。
engines-begins = 開始しています
engines-starts = 起動中…
engines-restarts = 再起動中…
engines-gone = 応答しません
engines-lacks-model = このモデルがありません
engines-idle = 空き · { $engine }
engines-given-up = 使われなくなったエンジン：{ $name }
engines-restarted = エンジンを再起動し、再開しました：{ $name }
engines-not-started = エンジンを起動できませんでした
