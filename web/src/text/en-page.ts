// What the page says about itself: the controls of its tables, dropped files, the start page.
export const enPage = {
  n_more: "{n} more",
  table_menu: "Actions",
  copy_cell: "Copy cell",
  copy_row: "Copy row",
  filter_this: "Filter by this",
  sort_descending: "Sort descending",
  sort_ascending: "Sort ascending",
  column_fit: "Fit to its text",
  column_left: "Move left",
  column_right: "Move right",
  columns_reset: "Reset columns",
  columns_more: "Show the columns that do not fit",
  key_menu: "menu of a row or column",
  key_widen: "on a column head, narrower or wider",
  key_move: "on a column head, move the column",
  key_fit_column: "on a column head, fit to its text",
};
