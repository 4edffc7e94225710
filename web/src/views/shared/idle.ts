// Why the device is idle: the causes of its idle time, their colors, and the way to where one costs most.
import { isKnown, largestFirst, sum } from "../../base/aggregate.ts";
import { nth } from "../../draw/patterns.tsx";
import { showSlice } from "../../model/evidence.ts";
import { idleWord } from "../../model/language.ts";
import type { Row } from "../../model/trace.ts";

export type IdleRow = Row<"overview", "idle">;

// Where a cause has a category of the page, it has its color.
const FILLS: Record<string, string> = {
  host_late: "var(--cpu_exec)",
  blocked: "var(--c7)",
  dependency: "var(--c9)",
  data: "var(--data_loader)",
  communication: "var(--communication)",
  unknown: "url(#hatch)",
};

export const causeFill = (cause: string, i: number): string => FILLS[cause] ?? nth(i);

/** Causes of one device with their sums: an answer may have several rows of a cause. */
export function causesOf(rows: readonly IdleRow[]): { cause: string; ns: number }[] {
  const names = [...new Set(rows.map((r) => r.cause ?? "unknown"))];
  const all = names.map((cause) => ({ cause, ns: sum(rows, (r) => ((r.cause ?? "unknown") === cause ? r.time : 0)) }));
  return all.sort(largestFirst((c) => c.ns));
}

/** What the device waited for longest, of one cause. */
export function showCause(rows: readonly IdleRow[], cause: string): void {
  const row = rows.filter((r) => isKnown(r.slice)).sort(largestFirst((r) => r.total ?? r.time))[0];
  if (row && isKnown(row.slice)) showSlice(row.slice, idleWord(cause));
}
