// The Query view in Chinese; the same keys as en-query.ts.
import type { enQuery } from "./en-query.ts";

export const zhQuery: Record<keyof typeof enQuery, string> = {
  title: "用 SQL 查询",
  facts_rows: "*{n}* 行",
  facts_start: "追踪和各分析的所有表",
  sql: "SQL",
  sql_words: "Ctrl+Enter 运行",
  run: "运行",
  tables: "表",
  examples: "示例",
  examples_words: "[[点击即可运行]]",
  result: "结果",
  result_words: "[[点击列标题排序]]",
  as_table: "表格",
  as_bars: "条形图",
  as_line: "折线图",
  form: "显示方式",
  value: "数值",
  no_rows: "没有符合的行",
  no_chart: "图表需要一个数值列",
  first_bars: "前 {n} 行",
  chart: "{y}（按 {x}）",
  shows: "在时间线中查看该事件",
  row: "行",
};
