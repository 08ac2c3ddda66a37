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
engines-there = エンジンのコンピューター：{ $words }

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

## NVIDIA GPU 用エンジンのインストール

engines-cuda = NVIDIA GPU 用エンジン
engines-cuda-install = NVIDIA GPU 用エンジンをインストール…
engines-cuda-install-tip = リリースのページにサイズを問い合わせます。何をどこから取得するかは、その前に表示されます。
engines-cuda-file = ファイルを選択…
engines-cuda-install-file = NVIDIA GPU 用エンジンをファイルからインストール…
engines-cuda-file-tip = このコンピューターのアーカイブからインストールします。一覧のファイルが隣に必要です。
engines-cuda-asking = サイズを問い合わせています…
engines-cuda-program = プログラム { $size }（{ $host }）
engines-cuda-offer = { $program }。NVIDIA のライブラリ { $libraries }（{ $host }）。ディスク上では { $disk } を使います。
engines-cuda-offer-alone = { $program }。ディスク上では { $disk } を使います。
engines-cuda-begin = インストール
engines-cuda-begin-tip = 取得して SHA-256 を照合し、一度起動します。使われるのはその後です。
engines-cuda-cancel-tip = 中止し、取得済みのものを削除します。
engines-cuda-fetching = 取得中 { $amount }
engines-cuda-retrying = 再試行中: { $why }
engines-cuda-unpacking = 確認して展開しています…
engines-cuda-starting = 一度起動しています…
engines-cuda-installed = NVIDIA GPU 用エンジンをインストールしました
engines-cuda-remove = NVIDIA GPU 用エンジンを削除
engines-cuda-remove-tip = プログラムと NVIDIA のライブラリをデータフォルダーから削除します。その後 Sluice は CPU で計算します。
engines-cuda-remove-later = 生成が終わってから削除できます。
engines-cuda-removing = 削除しています…
