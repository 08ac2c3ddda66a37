### 引擎：设置中的列表，以及多个引擎的工作。

## 列表

engines-here = 本机
engines-here-tip = 在本机上生成，如有 NVIDIA 显卡则使用它。
engines-here-alone-tip = 没有启用其他引擎。
engines-card = { $name }（GPU { $number }）
engines-card-tip = 本机的这块显卡会得到自己的任务。
engines-use = 使用引擎 { $number }
engines-use-tip = 把任务交给它。
engines-name = 引擎 { $number } 的名称
engines-name-tip = 这个引擎在窗口中的名称。
engines-name-hint = 名称
engines-command = 引擎 { $number } 的命令
engines-command-tip = 通向进行计算的计算机。不经过 shell 运行。请勿在此填写密码和密钥。
engines-empty = 请写出通向引擎的命令。
engines-quotes = 缺少引号。
engines-remove = 移除引擎 { $number }
engines-add = 添加引擎…
engines-add-tip = 添加一条起始命令，其中的大写字母请换成您的名称。
engines-container = 容器
engines-other-command = 其他命令
engines-hint = 每个任务都交给空闲且有其模型的引擎。图像保存在本机。这里不保存密码和密钥。
engines-change-waits = 队列完成后生效。

## 试用

engines-try = 试一试
engines-try-tip = 启动 { $name }，询问其版本、设备和内存。
engines-stop-trying = 停止
engines-stop-trying-tip = 不再等待 { $name }。
engines-trying = 正在等待回答，已 { $seconds } 秒…
engines-answers = 回答：{ $words }
engines-there = 在引擎所在的计算机上：{ $words }

## 工作状态

engines-title = 引擎
engines-shown = 引擎
engines-shown-tip = 显示其预测、硬件和时间线的引擎。
engines-show-tip = 显示这个引擎的预测、硬件和时间线。
engines-begins = 开始
engines-starts = 正在启动…
engines-restarts = 正在重新启动…
engines-gone = 没有回答
engines-lacks-model = 没有这个模型
engines-idle = 空闲 · { $engine }
engines-given-up = 不再使用的引擎：{ $name }
engines-restarted = 引擎已重新启动并继续：{ $name }
engines-not-started = 无法启动引擎

## 安装用于 NVIDIA GPU 的引擎

engines-cuda = 用于 NVIDIA GPU 的引擎
engines-cuda-install = 安装用于 NVIDIA GPU 的引擎…
engines-cuda-install-tip = 向发布页面询问大小。下载之前会显示下载什么、从哪里下载。
engines-cuda-file = 选择文件…
engines-cuda-install-file = 从文件安装用于 NVIDIA GPU 的引擎…
engines-cuda-file-tip = 从本机上的压缩包安装。它的列表文件必须在旁边。
engines-cuda-asking = 正在询问大小…
engines-cuda-program = 程序 { $size }，来自 { $host }
engines-cuda-offer = { $program }。NVIDIA 的库 { $libraries }，来自 { $host }。在磁盘上占用 { $disk }。
engines-cuda-offer-alone = { $program }。在磁盘上占用 { $disk }。
engines-cuda-begin = 安装
engines-cuda-begin-tip = 下载、核对 SHA-256 并启动一次，之后才会使用。
engines-cuda-cancel-tip = 结束安装并删除已下载的内容。
engines-cuda-fetching = 正在下载，{ $amount }
engines-cuda-retrying = 正在重试：{ $why }
engines-cuda-unpacking = 正在核对并解压…
engines-cuda-starting = 正在启动一次…
engines-cuda-installed = 用于 NVIDIA GPU 的引擎已安装
engines-cuda-remove = 移除用于 NVIDIA GPU 的引擎
engines-cuda-remove-tip = 从您的数据文件夹中删除其程序和 NVIDIA 的库。之后 Sluice 在 CPU 上计算。
engines-cuda-remove-later = 等没有正在生成的内容时才能删除。
engines-cuda-removing = 正在移除…
