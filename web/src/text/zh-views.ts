export const zhViews = {
  bars: "条形",
  self: "自身",
  total_time: "总计",
  python_frames: "Python 帧",
  flame_hint: "点击方块放大，双击显示全部",
  editor: "打开方式",
  editor_own: "自定义链接",
  editor_other: "其他编辑器…",
  editor_link: "含 {file} 和 {line} 的链接",
};
