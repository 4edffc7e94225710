// The four columns at the left of the source: which number, in which unit, in which color.
import { largest, type Maybe } from "../../base/aggregate.ts";
import { chartScale, inScale, type Scale } from "../../base/format.ts";
import { type CodeKey, c, type Line } from "../../model/code.ts";

export interface CodeColumn {
  id: "cpu" | "gpu" | "idle" | "memory";
  title: string;
  help: string;
  fill: string;
  of: (l: Line) => Maybe;
  scale: Scale;
  most: number; // fills the cell
}

const SMALL = 0.001; // of the largest: less is not worth showing

/** `steps`: times are means over so many; 0: they are sums. A column without any number is left out. */
export function columnsOf(lines: readonly Line[], self: boolean, steps: number): CodeColumn[] {
  const each = (value: Maybe): Maybe => (typeof value === "number" ? value / (steps || 1) : value);
  const make = (id: CodeColumn["id"], help: CodeKey, fill: string, of: (l: Line) => Maybe): CodeColumn => {
    const most = largest(
      lines.filter((l) => l.owner === "own"),
      of,
      largest(lines, of, 0),
    );
    return { id, title: c(id), help: c(help), fill, of, most, scale: chartScale(id === "memory" ? "bytes" : "ns", most) };
  };
  return [
    make("cpu", self ? "cpu_self_help" : "cpu_help", "var(--cpu_exec)", (l) => each(self ? l.cpu_self_ns : l.cpu_ns)),
    make("gpu", self ? "gpu_self_help" : "gpu_help", "var(--kernel)", (l) => each(self ? l.gpu_self_ns : l.gpu_ns)),
    make("idle", "idle_help", "var(--critical)", (l) => each(l.idle_ns)),
    make("memory", "memory_help", "var(--communication)", (l) => l.peak_bytes),
  ].filter((column) => column.most > 0);
}

/** The number of a cell; nothing where it is too small to matter. */
export function cellText(column: CodeColumn, line: Line | undefined): string {
  const value = line && column.of(line);
  return typeof value === "number" && value > column.most * SMALL ? inScale(value, column.scale) : "";
}

/** How much of its cell a number fills, 0…1. */
export const cellShare = (column: CodeColumn, line: Line | undefined): number => {
  const value = line && column.of(line);
  return typeof value === "number" && column.most > 0 ? Math.min(1, value / column.most) : 0;
};
