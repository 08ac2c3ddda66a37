### The place where models are found and downloaded.

get-search = 搜索 Hugging Face，或粘贴链接
get-search-tip = Hugging Face 上的文件或仓库链接、Civitai 上的模型链接，或 所有者/名称。其他文字会用来搜索。
get-find = 查找
get-find-tip = 查询链接，或进行搜索。
get-links-hint = Civitai、其他镜像和别处的文件可通过链接使用。
get-back = 返回目录
get-back-tip = 重新显示目录中的模型。

## The catalogue

get-catalogue = 目录
get-kind-all = 全部
get-kind-images = 图像
get-kind-clips = 视频
get-suits-device = 适合 { $device }
get-suits-computer = 适合本机
get-all-models = 所有模型
get-free = 可用 { $memory }
get-free-tip = 模型文件夹所在的磁盘。
get-checking-fit = 正在检查是否适合
get-licence-on-page = 许可证：见其页面
get-needs-token = 需要令牌
get-lacks-space = 可用空间不足
get-lacks-space-tip = 所需空间超过模型文件夹所在磁盘的可用 { $memory }。
get-version-of = { $name } 的版本
get-version-tip = 位数越少，体积越小、加载越快，质量略有下降。

## Buttons of a model, and what they are called for a screen reader

get-open = 打开
get-open-named = 打开 { $name }
get-try-again = 重试
get-try-again-named = 重试 { $name }
get-go-on = 继续
get-go-on-named = 继续 { $name }
get-again = 再次下载
get-again-named = 再次下载 { $name }
get-download = 下载
get-download-named = 下载 { $name }
get-open-tip = 从现在起使用这个模型生成。
get-again-tip = 此版本的文件已在本机上。
get-download-tip = 下载到模型文件夹中。
get-fit-unknown = 暂无预测
get-checking = 正在检查…

## How servers are reached

get-connection = 连接
get-mirror = 镜像
get-mirror-tip = Hugging Face 的镜像。留空：使用 HF_ENDPOINT，或 Hugging Face 本身。
get-proxy = 代理
get-proxy-tip = 留空：使用环境中的代理，例如 HTTPS_PROXY。
get-use = 使用
get-use-tip = 用于此后开始的下载。
get-token = Hugging Face 令牌
get-token-tip = 用于需要接受条款的模型。
get-token-keep = 保存到密钥环
get-token-keep-tip = 只保存在系统的密钥环中。
get-token-remove = 移除
get-token-remove-tip = 从密钥环中移除。
get-hugging-face-token-keep = 将 Hugging Face 令牌保存到密钥环
get-hugging-face-token-remove = 移除 Hugging Face 令牌
get-token-kept = 密钥环中有一个令牌。
get-token-hint = 如果这里没有，则使用 HF_TOKEN 和 `hf auth login` 的令牌。它只会提供给上面的服务器，而且仅在服务器要求时提供。
get-civitai-token = Civitai 令牌
get-civitai-token-tip = 用于只有登录用户才能下载的模型。
get-civitai-token-keep = 将 Civitai 令牌保存到密钥环
get-civitai-token-remove = 移除 Civitai 令牌
get-civitai-token-hint = 如果这里没有，则使用 CIVITAI_API_TOKEN。它只会提供给 Civitai，而且仅在 Civitai 要求时提供。

## What a link leads to, and what a search has found

get-looking = 正在查找“{ $what }”…
get-offline = 没有连接
get-offline-advice = 请检查网络连接、代理和镜像，然后重试。
get-not-found = 没有找到
get-licence = 许可证：{ $licence }
get-gated = 必须先用令牌所属的账户在其页面上接受条款（见右侧的“连接”）。
get-open-page = 打开页面
get-open-page-tip = 在浏览器中打开该页面。
get-unknown-size = 大小未知
get-files = { $name } · { $count } 个文件
get-results = Hugging Face 上的“{ $words }”
get-no-results = 没有找到任何内容。用更少的词可以找到更多。
get-show-files = 显示文件
get-show-files-of = 显示 { $name } 的文件
get-families = Sluice 只支持部分模型系列；其他系列的文件会在下载后标明。
get-downloads-a-month = 每月 { $count } 次下载
get-likes = { $count } 个赞

## Running, finished and failed downloads

get-downloads = 下载
get-downloads-none = 目前没有下载。已暂停或中断的下载之后会从原处继续。
get-verified = { $size }，已验证
get-size-checked = { $size }，已检查大小；没有提供它的 SHA-256
get-open-this = 打开这个模型
get-show-in-folder = 在文件夹中显示
get-phase-waiting = 等待其他下载
get-phase-connecting = 正在连接
get-phase-checking = 正在读取已有的部分
get-phase-paused = 已暂停
get-phase-retrying = { $why }；将会重试
get-phase-offline = { $why }；恢复连接后继续
get-take-off = 从列表中移除 { $title }
get-cancel = 取消 { $title } 并删除已下载的部分
get-resume = 继续 { $title }
get-retry = 重试 { $title }
get-pause = 暂停 { $title }
get-folder = 模型文件夹
get-free-on-disk = 该磁盘可用 { $memory }
get-another-folder = 其他文件夹…
get-another-folder-tip = 例如 ComfyUI 的 models 文件夹：文件会放入其中各自的子文件夹。
get-reset = 重置
get-reset-tip = 重新使用 Sluice 自己的文件夹。
get-catalogue-as-of = 名称和大小截至 { $date }。每个版本按其文件的位数分别判断适合程度。
get-kind-all-tip = 列出图像和片段模型。
get-kind-images-tip = 列出图像模型。
get-kind-clips-tip = 列出片段模型。
get-go-on-tip = 从中断处继续下载。
get-connection-tip = 显示镜像、代理和令牌。
get-try-again-tip = 再次询问服务器。
get-show-files-tip = 列出可从此仓库下载的内容。
