### The gallery.

## Search and filters

gallery-title = 图库
gallery-close = 关闭图库
gallery-close-tip = 返回图像。快捷键：Esc
gallery-thumbnail-size = 缩略图大小
gallery-thumbnail-size-tip = 缩略图的显示大小。
gallery-search-hint = 搜索提示词、模型、LoRA、种子、标签、合集
gallery-search = 搜索
gallery-search-tip = 所有词都必须出现。-词 表示排除，"两个词" 表示保持连在一起，model: prompt: negative: lora: seed: tag: collection: name: date: from: to: 指定搜索范围。快捷键：Ctrl+F
gallery-files = { $count } 个文件
gallery-files-shown = { $shown } / { $count } 个文件
gallery-files-reading = { $count } 个文件，还在读取 { $unread } 个…
gallery-files-shown-reading = { $shown } / { $count } 个文件，还在读取 { $unread } 个…
gallery-kind-all = 全部
gallery-kind-all-tip = 显示图像和视频。
gallery-kind-images = 图像
gallery-kind-images-tip = 只显示图像。
gallery-kind-clips = 视频
gallery-kind-clips-tip = 只显示视频。
gallery-starred-only = 仅星标
gallery-starred-only-tip = 只显示加了星标的项目。
gallery-model = 模型
gallery-model-all = 所有模型
gallery-model-tip = 只显示由该模型生成的项目。
gallery-tag = 标签
gallery-tag-all = 所有标签
gallery-tag-tip = 只显示带有该标签的项目。
gallery-date = 日期
gallery-date-tip = 只显示在这段时间内生成的项目。
gallery-order = 排序
gallery-order-tip = 图像的显示顺序。
gallery-folders = 文件夹
gallery-folders-spoken = 图库的文件夹
gallery-output-folder = 输出文件夹
gallery-output-folder-tip = 打开这个文件夹。
gallery-folder-remove = 从图库移除 { $path }
gallery-folder-open = 打开 { $path }
gallery-folder-add = 添加文件夹…
gallery-folder-add-tip = 同时显示另一个文件夹中的图像，例如其他程序的文件夹。
gallery-folders-read = 重新读取文件夹
gallery-folders-read-tip = 查找其他程序所做的更改。快捷键：F5。
gallery-when-always = 任何时间
gallery-when-today = 今天
gallery-when-week = 最近 7 天
gallery-when-month = 最近 30 天
gallery-when-year = 最近一年
gallery-sort-newest = 最新优先
gallery-sort-oldest = 最早优先
gallery-sort-name = 按名称
gallery-sort-model = 按模型
gallery-sort-size = 最大文件优先

## The grid

gallery-thumbnails = 缩略图
gallery-broken = 无法显示这个文件：{ $reason }
gallery-unstar-spoken = 移除 { $name } 的星标
gallery-star-spoken = 为 { $name } 加星标
gallery-unstar-tip = 移除星标。
gallery-star-here-tip = 加上星标。快捷键：S。
gallery-reading = 正在读取你的图像…
gallery-reading-tip = 读取后会立即显示。
gallery-nothing-found = 未找到任何内容
gallery-nothing-found-tip = 搜索和筛选排除了 { $count } 个文件。
gallery-empty-tip = 你生成的内容保存在 { $folder } 中，并显示在这里。
gallery-empty-without-folder = 没有输出文件夹，因此不会保存图像。请在设置中选择一个。
gallery-empty = 还没有图像
gallery-clear-search = 清除搜索和筛选
gallery-clear-search-tip = 重新显示全部内容。
gallery-search-clear = 清除搜索
gallery-search-clear-tip = 清空搜索框；筛选保持不变。

## What can be done with images

gallery-open = 打开
gallery-open-tip = 在查看器中显示。快捷键：Enter。
gallery-copy-prompt-tip = 将提示词复制到剪贴板。
gallery-copy-files = 复制文件
gallery-copy-files-tip = 复制文件本身，以便粘贴到文件夹、聊天或浏览器中。快捷键：Ctrl+Shift+C
gallery-show-in-folder = 在文件夹中显示
gallery-show-in-folder-tip = 打开这个文件所在的文件夹。
gallery-use-as-image-tip = 以这张图像为起点生成下一张图像。
gallery-use-as-clip = 用作输入视频
gallery-use-as-clip-tip = 以这段视频为起点生成下一段视频。
gallery-export-ask-tip = 另存为 PNG、JPEG 或 WebP 副本，可包含或不包含设置。快捷键：Ctrl+E
gallery-export-ask = 导出…
gallery-trash-tip = 删除，但可以恢复。快捷键：Del。
gallery-trash = 移到回收站
gallery-star = 加星标
gallery-star-tip = 做个标记，方便以后查找。

## What is selected

gallery-nothing-selected = 未选择任何内容
gallery-nothing-selected-click = 单击图像可查看其设置，双击可打开。
gallery-nothing-selected-several = 按住 Ctrl 或 Shift 单击可选择多张。右键单击可查看可用的操作。
gallery-prompt = 提示词
gallery-starred = 已加星标
gallery-starred-key-tip = 移除星标。快捷键：S。
gallery-star-key-tip = 做个标记，方便以后查找。快捷键：S。
gallery-selected = 已选择 { $count } 项
gallery-compare-tip = 在查看器中比较两者，使用分隔线或并排显示。快捷键：C。
gallery-compare = 比较
gallery-deselect-tip = 全部保留，并取消选择。
gallery-deselect = 取消选择
gallery-tags = 标签
gallery-tag-remove = 移除标签 { $tag }
gallery-tag-add = 添加标签
gallery-tag-add-tip = 用于查找这些图像的词。按 Enter 添加。
gallery-collections = 合集
gallery-collections-tip = 显示或隐藏合集列表。
gallery-within-all = 所有文件
gallery-within-all-tip = 显示所有内容，无论是否在合集中。
gallery-within-none = 不在任何合集中
gallery-within-none-tip = 只显示不在任何合集中的内容。
gallery-collections-none = 还没有合集。一张图像可以在多个合集中，文件位置不变。
gallery-collection-tip = 显示 { $name }，或重新显示所有内容。将图像拖到此处即可添加。
gallery-collection-new = 新建合集…
gallery-collection-new-tip = 为新合集命名。拖到此处的图像会放入其中。
gallery-collection-new-selected-tip = 为它们新建一个合集。
gallery-collection-name = 合集名称
gallery-collection-name-tip = 按 Enter 确定名称，按 Esc 放弃。
gallery-collection-taken = 已有同名合集。
gallery-collection-rename = 重命名…
gallery-collection-rename-tip = 给合集另起一个名称。
gallery-collection-delete = 删除合集
gallery-collection-delete-tip = 删除合集，其中的图像会保留。
gallery-collection-deleted = 已删除合集 { $name }
gallery-collection-deleted-detail = { $count } 个文件仍在原处。
gallery-collection-empty = { $name } 是空的
gallery-collection-empty-tip = 显示所有文件，然后将图像拖到合集名称上。
gallery-collect = 添加到合集
gallery-collect-tip = 将所选内容添加到合集，可以同时在多个合集中。
gallery-collect-in = 添加到 { $name }。
gallery-collected = 已将 { $count } 个文件添加到 { $name }
gallery-collection-made = 已新建合集 { $name }
gallery-collection-leave = 从此合集中移除
gallery-collection-leave-named = 从合集 { $name } 中移除
gallery-negative-prompt = 反向提示词
gallery-made-with = 生成程序
gallery-not-taken-over = 无法完全沿用
gallery-none = 无

## What was just done

gallery-dismiss = 关闭消息
gallery-undo = 撤销
gallery-undo-tip = 撤销刚才的操作。快捷键：Ctrl+Z
gallery-exported-folder-tip = 显示导出的文件。
gallery-not-restored = 部分内容无法恢复
gallery-restored-one = 已恢复 { $name }
gallery-restored = 已恢复 { $count } 个文件
gallery-not-trashed = 部分内容无法移到回收站
gallery-trashed-one = 已将 { $name } 移到回收站
gallery-trashed = 已将 { $count } 个文件移到回收站
gallery-trashed-tip = 使用废纸篓中的“放回原处”可恢复。
gallery-exporting = 正在导出第 { $number } 张，共 { $count } 张…
gallery-not-exported = { $count } 个文件无法导出
gallery-exported = 已导出 { $count } 个文件
gallery-export-clips = { $count } 段视频将原样复制，其中的设置也会保留。
gallery-trash-gone = 它已不在回收站中
gallery-trash-put-back = 请使用废纸篓中的“放回原处”
gallery-trash-advice = 请用文件管理器处理这个文件。
gallery-marks-unreadable-advice = 请修复或删除这个文件。在此之前无法更改星标、标签和合集。
gallery-marks-unreadable = 无法读取星标、标签和合集
gallery-marks-unsaved = 无法保存星标、标签和合集
gallery-marks-unsaved-advice = 请释放一些磁盘空间，然后重试。
gallery-marks-newer = 它由更新版本的 Sluice 写入

## Export

gallery-export-files = 导出 { $count } 个文件
gallery-export-format = 格式
gallery-export-quality = 质量
gallery-export-quality-tip = 越高越接近原图，文件也越大。
gallery-export-settings = 包含设置
gallery-export-settings-tip = 文件中是否记录生成方式。不包含设置时，任何人都无法从中读出提示词。
gallery-export-name = 文件名
gallery-export-field = { $field }：{ $meaning }。
gallery-export-example = 例如 { $path }
gallery-export = 导出
gallery-export-tip = 写入文件；已存在的文件会保留。
gallery-export-folder = 选择文件夹…
gallery-export-folder-tip = 文件的写入位置。
gallery-export-cancel-tip = 快捷键：Esc
gallery-export-advice = 请选择其他文件夹，或释放一些磁盘空间。
gallery-export-name-advice = 请更改文件名。
gallery-upscale-tip = 放大所有选中的文件。
gallery-interpolate-tip = 让所有选中片段的运动更流畅。

## 图像中的设置名称

gallery-setting-keyframe = 关键帧
gallery-setting-extended-clip = 延长的视频
gallery-setting-clip-frames = 视频的帧
gallery-setting-reference-image = 参考图像
gallery-setting-reference-strengths = 参考强度
gallery-setting-input-image = 输入图像
gallery-setting-inpaint-area = 重绘区域
gallery-setting-refiner = Refiner
gallery-setting-template = 模板
gallery-setting-negative-template = 反向模板
gallery-setting-upscaled-by = 放大倍数
gallery-setting-interpolated-by = 插帧倍数
gallery-setting-version = 版本
gallery-setting-guidance-interval = 引导区间
gallery-setting-frames = 帧数
gallery-setting-axis-x = X 轴
gallery-setting-axis-y = Y 轴
gallery-setting-axis-z = Z 轴
