### The sheet of keys, opened with F1.

## Keys, and what they do

help-escape = 离开输入框，关闭已打开的内容，或取消正在生成的图像
help-left-right = 上一张或下一张图像；视频则为上一帧或下一帧
help-up-down = 列表中的上一个或下一个图像或视频
help-space = 播放或暂停视频
help-home-end = 播放范围的第一帧或最后一帧
help-range = 从这一帧开始播放，或播放到这一帧
help-gallery = 在图库中：加星标、移到回收站、导出
help-delete = 将图像或视频移到回收站，可以恢复
help-weights = 在提示词中：增加或降低光标处词语的权重
help-undo = 撤销文字编辑或蒙版笔画
help-paste = 使用剪贴板中的图像
help-brush = 缩小或放大画笔
help-zoom = 放大或缩小窗口内容
help-tab = 下一个或上一个控件
help-canvas = 在图像上：缩放、平移、在适合窗口与 100% 之间切换
help-canvas-keys = 滚轮、拖动、双击
help-menu = 在图像或等待中的任务上：可用的操作
help-menu-keys = 右键单击
