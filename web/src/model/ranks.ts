// Collectives over ranks: which arrivals belong together, what each rank did there, who is worst.
import type { Table } from "../api/types.ts";
import type { Row } from "./trace.ts";

const num = (v: unknown): number => (typeof v === "number" ? v : 0);

export interface Call {
  id: string;
  step: number;
  place: number; // in its step, from 1
  name: string;
  members: Map<number, Row>; // by rank
  last: number; // rank that came last
  span: number; // from the first to the last arrival, ns
}

/** The calls in order of time. All members of a call agree on when the first of them arrived. */
export function callsOf(arrivals: readonly Row[]): Call[] {
  const calls = new Map<string, Call & { first: number }>();
  for (const r of arrivals) {
    const first = num(r.start) - num(r.late_by);
    const id = `${r.group ?? ""} ${r.name} ${first}`;
    let call = calls.get(id);
    if (!call) {
      call = { id, step: num(r.step), place: 0, name: String(r.name), members: new Map(), last: -1, span: -1, first };
      calls.set(id, call);
    }
    call.members.set(num(r.rank), r);
    if (num(r.late_by) === 0) call.step = num(r.step);
    if (num(r.late_by) > call.span) {
      call.span = num(r.late_by);
      call.last = num(r.rank);
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
  if (measure === "waiting") return call.span - num(r.late_by);
  return num(r[measure]);
}

/** How often a rank came last, by name of the collective; calls of one member have no last. */
export function timesLast(calls: readonly Call[], rank: number, name: string): { last: number; of: number } {
  const own = calls.filter((c) => c.name === name && c.members.has(rank));
  return { last: own.filter((c) => c.members.size > 1 && c.last === rank).length, of: own.length };
}

export interface Chosen {
  row: Row;
  median: boolean;
}

/** All rows when they are few; else the one the others wait for, the `most` largest and the one in the middle. */
export function worstAndMedian(rows: readonly Row[], size: (r: Row) => number, straggler = -1, most = 16): Chosen[] {
  if (rows.length <= most + 1) return rows.map((row) => ({ row, median: false }));
  const sorted = [...rows].sort((a, b) => size(b) - size(a));
  const middle = sorted[Math.floor(sorted.length / 2)] as Row;
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

/** The heat map of a table with a row for each rank and step; `worstFirst`: by the sum of a row. */
export function stepCells(table: Table | undefined, measure: string, worstFirst: boolean): StepCells {
  const at = (name: string) => table?.columns.findIndex((c) => c.name === name) ?? -1;
  const [rankAt, workerAt, stepAt, valueAt, causeAt] = [at("rank"), at("worker"), at("step"), at(measure), at("cause")];
  const rows = table?.rows ?? [];
  const rankOf = (r: (typeof rows)[number]) => (r[rankAt] ?? r[workerAt] ?? "") as number | string;
  const sums = new Map<number | string, number>();
  for (const r of rows) sums.set(rankOf(r), (sums.get(rankOf(r)) ?? 0) + num(r[valueAt]));
  const ranks = [...sums.keys()];
  if (worstFirst) ranks.sort((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0));
  const steps = [...new Set(rows.map((r) => num(r[stepAt])))].sort((a, b) => a - b);
  const rowOf = new Map(ranks.map((r, i) => [r, i]));
  const columnOf = new Map(steps.map((s, i) => [s, i]));
  const made: StepCells = {
    ranks,
    steps,
    cells: new Float64Array(ranks.length * steps.length).fill(Number.NaN),
    causes: new Map(),
    max: 0,
  };
  for (const r of rows) {
    const [y, x] = [rowOf.get(rankOf(r)) ?? 0, columnOf.get(num(r[stepAt])) ?? 0];
    made.cells[y * steps.length + x] = num(r[valueAt]);
    made.max = Math.max(made.max, num(r[valueAt]));
    if (r[causeAt]) made.causes.set(`${y} ${x}`, String(r[causeAt]));
  }
  return made;
}
