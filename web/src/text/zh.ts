// 页面的全部中文文字；键与 en.ts 相同。
import type { en } from "./en.ts";

export const zh: Record<keyof typeof en, string> = {
  overview: "概览",
  timeline: "时间线",
  operators: "算子",
  kernels: "核函数",
  modules: "模块",
  memory: "显存",
  steps: "迭代步",
  pipeline: "数据准备",
  distributed: "分布式",
  runs: "运行",
  group_time: "时间去向",
  group_steps: "逐步分析",
  group_workers: "多进程",
  search_or_run: "搜索或执行命令",
  events_chip: "{n} 个事件",
  all_steps: "所有迭代步",
  window_steps: "{n} 步",
  loading: "加载中",
  connection_lost: "连接已断开，当前数字为 {time} 时的数据",
  try_again: "重试",
  copy_details: "复制详情",
  no_runs: "{path} 中还没有追踪文件。",
};
