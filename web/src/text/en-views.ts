// Words of the views beside the timeline: charts, their switches, and what a view says without data.
export const enViews = {
  bars: "Bars",
  self: "Self",
  total_time: "Total",
  python_frames: "Python frames",
  flame_hint: "click a box to widen it, double click for all",
  editor: "Opens in",
  editor_own: "own link",
  editor_other: "Another editor…",
  editor_link: "Link with {file} and {line}",
};
