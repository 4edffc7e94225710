// Collectives over ranks: which arrivals belong together, what each rank did there, who is worst.
import type { Table } from "../api/types.ts";
import { isKnown, largest, largestFirst, type Maybe } from "../base/aggregate.ts";
import { type Row, rowsOf } from "./trace.ts";

type Arrival = Row<"distributed", "arrivals">;

export interface Call {
  id: string;
  step: number;
  place: number; // in its step, from 1
  name: string;
  members: Map<number, Arrival>; // by rank
  last: number; // rank that arrived last
  span: number; // from the first to the last arrival, ns
}

/** The calls in order of time. All members of a call agree on when the first of them arrived. */
export function callsOf(arrivals: readonly Arrival[]): Call[] {
  const calls = new Map<string, Call & { first: number }>();
  for (const r of arrivals) {
    if (!isKnown(r.start) || !isKnown(r.late_by)) continue; // when it came is not known
    const rank = r.rank ?? 0; // a trace alone has none
    const first = r.start - r.late_by;
    const id = `${r.group ?? ""} ${r.name} ${first}`;
    let call = calls.get(id);
    if (!call) {
      call = { id, step: r.step ?? 0, place: 0, name: String(r.name), members: new Map(), last: -1, span: -1, first };
      calls.set(id, call);
    }
    call.members.set(rank, r);
    if (r.late_by === 0) call.step = r.step ?? 0;
    if (r.late_by > call.span) {
      call.span = r.late_by;
      call.last = rank;
    }
  }
  const list = [...calls.values()].sort((a, b) => a.first - b.first);
  const places = new Map<number, number>();
  for (const c of list) {
    c.place = (places.get(c.step) ?? 0) + 1;
    places.set(c.step, c.place);
  }
  return list;
}

export type Measure = "late_by" | "waiting" | "duration";

/** Lateness, waiting for the last, or the time from arrival to end of one rank in one call. */
export function measureOf(call: Call, rank: number, measure: Measure): number | null {
  const r = call.members.get(rank);
  if (!r) return null;
  if (measure === "waiting") return isKnown(r.late_by) ? call.span - r.late_by : null;
  return r[measure];
}

/** How often a rank arrived last, by name of the collective; calls of one member have no
 * last. */
export function timesLast(calls: readonly Call[], rank: number, name: string): { last: number; of: number } {
  const own = calls.filter((c) => c.name === name && c.members.has(rank));
  return { last: own.filter((c) => c.members.size > 1 && c.last === rank).length, of: own.length };
}

export interface Chosen<R> {
  row: R;
  median: boolean;
}

/** All rows when they are few; else the one the others wait for, the `most` largest and the one in the middle. */
export function worstAndMedian<R extends { rank: number | null }>(
  rows: readonly R[],
  size: (r: R) => Maybe,
  straggler = -1,
  most = 16,
): Chosen<R>[] {
  if (rows.length <= most + 1) return rows.map((row) => ({ row, median: false }));
  const sorted = [...rows].sort(largestFirst(size));
  const middle = sorted[Math.floor(sorted.length / 2)] as R;
  const first = sorted.filter((r) => r.rank === straggler);
  const rest = sorted.filter((r) => r.rank !== straggler).slice(0, most - first.length);
  return [...first, ...rest].map((row) => ({ row, median: false })).concat({ row: middle, median: true });
}

/** One value for each rank and step, in one array: row r, column c is cells[r * steps.length + c]; NaN: none. */
export interface StepCells {
  ranks: (number | string)[];
  steps: number[];
  cells: Float64Array;
  causes: Map<string, string>; // "row column" of those that were late
  max: number;
}

export type HeatMeasure = "total" | "computation" | "communication" | "waiting" | "late";

/** The heat map of a table with a row for each rank and step; `worstFirst`: by the sum of a row. */
export function stepCells(
  table: Table<Row<"distributed", "heat_map">> | undefined,
  measure: HeatMeasure,
  worstFirst: boolean,
): StepCells {
  const rows = rowsOf(table);
  const stepOf = (r: (typeof rows)[number]) => r.step ?? 0; // a trace without steps is one
  const rankOf = (r: (typeof rows)[number]) => r.rank ?? r.worker ?? "";
  const sums = new Map<number | string, number>();
  for (const r of rows) sums.set(rankOf(r), (sums.get(rankOf(r)) ?? 0) + (r[measure] ?? 0));
  const ranks = [...sums.keys()];
  if (worstFirst) ranks.sort(largestFirst((rank) => sums.get(rank)));
  const steps = [...new Set(rows.map(stepOf))].sort((a, b) => a - b);
  const rowOf = new Map(ranks.map((r, i) => [r, i]));
  const columnOf = new Map(steps.map((s, i) => [s, i]));
  const cells = new Float64Array(ranks.length * steps.length).fill(Number.NaN);
  const causes = new Map<string, string>();
  for (const r of rows) {
    const [y, x] = [rowOf.get(rankOf(r)) ?? 0, columnOf.get(stepOf(r)) ?? 0];
    cells[y * steps.length + x] = r[measure] ?? Number.NaN;
    if (r.cause) causes.set(`${y} ${x}`, r.cause);
  }
  return { ranks, steps, cells, causes, max: largest(rows, (r) => r[measure], 0) };
}
