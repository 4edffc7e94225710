// What a server did: its iterations and its requests, over time and by length. The words of the view are here too, since
// they are fetched with it.
import { isKnown, largest, type Maybe, mean, smallest } from "../base/aggregate.ts";
import { enServing } from "../text/en-serving.ts";
import { fill } from "../text/fill.ts";
import { zhServing } from "../text/zh-serving.ts";
import { showStretch } from "./evidence.ts";
import { language } from "./language.ts";
import { type AskedFor, analysis, type Row } from "./trace.ts";

export type ServingKey = keyof typeof enServing;

/** A sentence of the Serving view. */
export function w(key: ServingKey, values: Record<string, string | number> = {}): string {
  return fill((language.value === "zh" ? zhServing : enServing)[key], values);
}

/** The word of a key made at run time: what the program adds later is shown by its own name. */
export const wOr = (key: string, otherwise: string): string => (key in enServing ? w(key as ServingKey) : otherwise);

export type Iteration = Row<"serving", "iterations">;
export type Request = Row<"requests", "requests">;

const MOST_ITERATIONS = 20000;
const MOST_REQUESTS = 20000;

export const askServing = (): AskedFor<"serving"> => analysis("serving", { limit: MOST_ITERATIONS });
export const askRequests = (): AskedFor<"requests"> =>
  analysis("requests", { table: "latency,requests,load", limit: MOST_REQUESTS });

export const PHASES = ["decode", "prefill", "mixed"] as const;
const FILLS: Record<string, string> = { decode: "var(--kernel)", prefill: "var(--c4)", mixed: "var(--c9)" };
export const phaseFill = (phase: string): string => FILLS[phase] ?? "var(--other)";

/** What the device, or without one the program, does nothing in. */
export const waitOf = (r: Iteration): number => (r.gap_before ?? 0) + (r.launch ?? 0) + (r.idle ?? 0);
/** With the gap before it. */
export const cycleOf = (r: Iteration): number => (r.gap_before ?? 0) + (r.duration ?? 0);

/** Some iterations that follow each other, as one bar. */
export interface Bar {
  first: Iteration;
  last: Iteration;
  n: number;
  work: Record<string, number>; // by phase: mean of all n
  wait: number;
}

/** As few iterations a bar as fit. */
export function barsOf(rows: readonly Iteration[], most: number): Bar[] {
  const each = Math.max(1, Math.ceil(rows.length / most));
  const bars: Bar[] = [];
  for (let i = 0; i < rows.length; i += each) {
    const some = rows.slice(i, i + each);
    const work: Record<string, number> = {};
    for (const r of some) {
      const phase = r.phase ?? "";
      work[phase] = (work[phase] ?? 0) + Math.max(0, cycleOf(r) - waitOf(r)) / some.length;
    }
    const [first, last] = [some[0] as Iteration, some[some.length - 1] as Iteration];
    bars.push({ first, last, n: some.length, work, wait: mean(some, waitOf) ?? 0 });
  }
  return bars;
}

export type Series = readonly (readonly [number, number | null])[];

/** The mean of a value over time, in stretches of the same length: each row counts in those it runs in. */
export function overTime(
  rows: readonly { start: Maybe; duration: Maybe }[],
  bins: number,
  value: (i: number) => Maybe, // of a row, per ns
): Series {
  const from = smallest(rows, (r) => r.start, Number.MAX_SAFE_INTEGER);
  const to = largest(rows, (r) => (r.start ?? 0) + (r.duration ?? 0), from);
  const step = (to - from) / bins;
  if (!(step > 0)) return [];
  const sums = new Array<number>(bins).fill(0);
  rows.forEach((r, i) => {
    const v = value(i);
    if (!isKnown(v) || !isKnown(r.start) || !isKnown(r.duration)) return;
    const end = r.start + r.duration;
    for (let b = Math.floor((r.start - from) / step); b < bins && from + b * step < end; b++) {
      const inside = Math.min(end, from + (b + 1) * step) - Math.max(r.start, from + b * step);
      sums[b] = (sums[b] ?? 0) + (Math.max(0, inside) * v) / step;
    }
  });
  return sums.map((s, b) => [from + (b + 0.5) * step, s] as const);
}

/** Tokens per second over time. */
export const rateOf = (rows: readonly Iteration[], bins: number, tokens: (r: Iteration) => Maybe): Series =>
  overTime(rows, bins, (i) => {
    const r = rows[i] as Iteration;
    const n = tokens(r);
    return isKnown(n) && r.duration ? (n * 1e9) / r.duration : null;
  });

export const MEASURES = ["ttft", "per_token", "latency"] as const;
export type Measure = (typeof MEASURES)[number];

/** Did it wait for others for most of its time? */
export const isHeldUp = (r: Request): boolean => isKnown(r.waiting) && isKnown(r.latency) && r.waiting * 2 > r.latency;

export interface Bin {
  from: number;
  to: number;
  requests: readonly Request[];
}

/** Requests by length, in bins that grow by the same factor. */
export function binsOf(rows: readonly Request[], measure: Measure, bins: number): Bin[] {
  const known = rows.filter((r) => isKnown(r[measure]));
  if (known.length === 0) return [];
  const low = Math.max(
    1,
    smallest(known, (r) => r[measure]),
  );
  const high = Math.max(
    low * 1.01,
    largest(known, (r) => r[measure]),
  );
  const grow = (high / low) ** (1 / bins);
  const at = (r: Request) => {
    const v = Math.max(low, r[measure] as number);
    return Math.min(bins - 1, Math.max(0, Math.floor(Math.log(v / low) / Math.log(grow))));
  };
  const made = Array.from({ length: bins }, (_, i) => ({
    from: low * grow ** i,
    to: low * grow ** (i + 1),
    requests: [] as Request[],
  }));
  for (const r of known) made[at(r)]?.requests.push(r);
  return made;
}

/** Shows an iteration with the gap before it. */
export function showIteration(r: Iteration, claim: string): void {
  if (isKnown(r.start) && isKnown(r.duration)) showStretch(r.start - (r.gap_before ?? 0), r.start + r.duration, claim);
}

/** Shows the time of a request. */
export function showRequest(r: Pick<Request, "id" | "arrival" | "end">): void {
  if (isKnown(r.arrival) && isKnown(r.end)) showStretch(Math.max(0, r.arrival), r.end, String(r.id));
}
