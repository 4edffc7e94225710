// The History view in Chinese.
import type { enHistory } from "./en-history.ts";

export const zhHistory: Record<keyof typeof enHistory, string> = {
  none: "该运行没有历史",
  none_words:
    "历史是一个由 baseline 文件组成的文件夹，每个提交一个：*tacho baseline RUN -o FOLDER/COMMIT.tacho*。请把该文件夹放入日志文件夹。",
  facts: "*{n}* 次运行，{first} … {last}",
  facts_changes: "*{n}* 处水平变化",
  metric_step: "步",
  metric_device: "设备",
  metric_host: "主机",
  metric_memory: "显存",
  metric_kernels: "每步核函数",
  metric_mfu: "MFU",
  metric_words: "每次运行的平均值{unit}；红色标记处水平发生变化",
  label: "{metric}：首次运行 {first}，最近一次 {last}",
  changes: "水平的变化",
  changes_words: "度量超出其波动的位置；前后各有三次运行时才算确定",
  changes_none: "各度量都在波动范围之内",
  points: "各次运行",
  points_words: "所有 baseline 文件，从旧到新",
  metric: "度量",
  commit: "提交",
  commit_before: "前一提交",
  before: "之前",
  after: "之后",
  change: "变化",
  range: "95 % 区间",
  certain: "确定",
  recorded: "记录时间",
  name: "文件",
};
