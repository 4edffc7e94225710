// 页面自身的文字：表格的操作、拖入的文件、起始页。
export const zhPage = {
  n_more: "还有 {n} 项",
  table_menu: "操作",
  copy_cell: "复制单元格",
  copy_row: "复制此行",
  filter_this: "按此筛选",
  sort_descending: "降序排列",
  sort_ascending: "升序排列",
  column_fit: "适应内容宽度",
  column_left: "左移",
  column_right: "右移",
  columns_reset: "恢复默认列",
  columns_more: "显示放不下的列",
  key_menu: "行或列的菜单",
  key_widen: "在列标题上：变窄或变宽",
  key_move: "在列标题上：移动该列",
  key_fit_column: "在列标题上：适应内容宽度",
};
