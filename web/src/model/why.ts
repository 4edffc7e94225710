// Why a step is as long as it is: what the Why view asks, and the scenario of its what-if, which is in the address.
// The words of the view are here too, since they are fetched with it.
import type { Query } from "../api/transport.ts";
import type { Answer } from "../api/types.ts";
import { enWhy } from "../text/en-why.ts";
import { fill } from "../text/fill.ts";
import { zhWhy } from "../text/zh-why.ts";
import { ask } from "./answers.ts";
import { language } from "./language.ts";
import { go, param, WHOLE_TRACE } from "./route.ts";
import { type AskedFor, analysis, analysisQuery, type Row, rowsOf } from "./trace.ts";

export type WhyKey = keyof typeof enWhy;

/** A sentence of the Why view. */
export function w(key: WhyKey, values: Record<string, string | number> = {}): string {
  return fill((language.value === "zh" ? zhWhy : enWhy)[key], values);
}

/** The word of a key made at run time: what the program adds later is shown by its own name. */
export const wOr = (key: string, otherwise: string): string => (key in enWhy ? w(key as WhyKey) : otherwise);

/** The word for a kind of the path. */
export const kindWord = (kind: string): string => wOr(`kind_${kind}`, kind.replace(/_/g, " "));

// What each kind is drawn with; what is lost is hatched.
const FILLS: Record<string, string> = {
  device: "var(--kernel)",
  copy: "var(--memcpy)",
  communication: "var(--communication)",
  queue: "url(#hatch)",
  launch_latency: "var(--c9)",
  launch_call: "var(--runtime)",
  sync: "var(--c7)",
  operator: "var(--cpu_exec)",
  data_loading: "var(--data_loader)",
  between: "var(--t3)",
  unknown: "var(--track)",
};

export const kindFill = (kind: string): string => FILLS[kind] ?? "var(--track)";

// ---- what the server is asked ----

export type ByName = Row<"critical", "by_name">;
export type Piece = Row<"critical", "path">;

/** Sums over the steps of the window. */
export const askCritical = (): AskedFor<"critical"> =>
  analysis("critical", { table: "by_kind,by_name,by_module,by_line,slack", limit: 500 }, "critical");

/** What the path of a step is asked with: a step lasts to the start of the next one, where that is in the window. */
export const pathQuery = (step: number, rows: readonly Row<"whatif", "steps">[]): Query => ({
  ...WHOLE_TRACE,
  step: rows.some((r) => r.step === step + 1) ? `${step}..${step + 1}` : step,
});

/** The path of one step, piece by piece. */
export const askPath = (query: Query): AskedFor<"critical"> =>
  ask<Answer<"critical">>("critical-path", "critical", {
    ...analysisQuery("critical", query),
    table: "path",
    limit: 0,
  });

/** The step whose recorded length is the median, the lower one of two: what `whatif` calls the step. */
export function typicalStep(rows: readonly Row<"whatif", "steps">[]): Row<"whatif", "steps"> | undefined {
  const sorted = [...rows].sort((a, b) => (a.recorded ?? 0) - (b.recorded ?? 0) || (a.step ?? 0) - (b.step ?? 0));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}

/** The pieces of one step, which are adjacent and add up to it. */
export const piecesOf = (asked: AskedFor<"critical">, step: number): Piece[] =>
  rowsOf(asked.value?.tables.path).filter((p) => p.step === step);

// ---- the scenario ----

export const SWITCHES = [
  "no_launch_cost",
  "no_sync",
  "no_data_wait",
  "no_communication",
  "overlap_communication",
  "unprofiled",
  "cuda_graph",
] as const;
export type Switch = (typeof SWITCHES)[number];

/** What can be larger or faster by a factor, by the name it has in the address and on the command line. */
export const MULTIPLES = ["batch", "network"] as const;
export type Multiple = (typeof MULTIPLES)[number];

/** Something that can be made faster or slower: `kernel:NAME`, `op:NAME`. */
export interface Candidate {
  id: string;
  kind: string;
  name: string;
  ns: number; // on the path per step
}

const SPLIT = "\n"; // between changes in the address: no name has it
const CHANGED: Record<string, string> = {
  device: "kernel",
  copy: "kernel",
  communication: "kernel",
  operator: "op",
  data_loading: "range",
};
const MOST_CANDIDATES = 8;

/** What is on the path and can be scaled, the most first; with it what the address scales already. */
export function candidatesOf(rows: readonly ByName[], scales: ReadonlyMap<string, number>): Candidate[] {
  const all = rows.flatMap((r): Candidate[] => {
    const word = CHANGED[r.kind ?? ""];
    return word && r.name ? [{ id: `${word}:${r.name}`, kind: r.kind ?? "", name: r.name, ns: r.time ?? 0 }] : [];
  });
  const top = all.slice(0, MOST_CANDIDATES);
  const missing = [...scales.keys()].filter((id) => !top.some((c) => c.id === id));
  const named = (id: string): Candidate =>
    all.find((c) => c.id === id) ?? {
      id,
      kind: id.startsWith("op:") ? "operator" : "device",
      name: id.slice(id.indexOf(":") + 1),
      ns: 0,
    };
  return [...top, ...missing.map(named)];
}

/** `op:aten::mm=0.5` of the address, by what is scaled. */
export function parseScales(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const part of text.split(SPLIT)) {
    const equals = part.lastIndexOf("=");
    const factor = Number(part.slice(equals + 1));
    if (equals > 0 && part.slice(equals + 1) !== "" && factor >= 0 && factor <= 2) found.set(part.slice(0, equals), factor);
  }
  return found;
}

export const writeScales = (scales: ReadonlyMap<string, number>): string =>
  [...scales]
    .filter(([, factor]) => factor !== 1)
    .map(([id, factor]) => `${id}=${factor}`)
    .join(SPLIT);

export const scalesNow = (): Map<string, number> => parseScales(param("scale"));

export const switchesNow = (): Switch[] => SWITCHES.filter((s) => param("without").split(",").includes(s));

/** Changes a factor; `quiet` while a slider moves. */
export function setScale(id: string, factor: number, quiet: boolean): void {
  const scales = scalesNow();
  scales.set(id, factor);
  go({ params: { scale: writeScales(scales) } }, quiet);
}

export function toggleSwitch(which: Switch): void {
  const on = switchesNow();
  const next = on.includes(which) ? on.filter((s) => s !== which) : [...on, which];
  go({ params: { without: SWITCHES.filter((s) => next.includes(s)).join(",") } });
}

/** The factor in the address; 1 where there is none that makes sense. */
export function multipleNow(which: Multiple): number {
  const factor = Number(param(which));
  return factor > 0 && Number.isFinite(factor) ? factor : 1;
}

export const setMultiple = (which: Multiple, factor: number, quiet: boolean): void =>
  go({ params: { [which]: factor === 1 ? undefined : String(factor) } }, quiet);

const multiplesNow = (): Multiple[] => MULTIPLES.filter((m) => multipleNow(m) !== 1);

/** Is anything different from the recording? */
export const isChanged = (): boolean => scalesNow().size + switchesNow().length + multiplesNow().length > 0;

export const resetScenario = (): void =>
  go({ params: { scale: undefined, without: undefined, batch: undefined, network: undefined } });

/** The replay with the scenario of the address; without one, as recorded. */
export function askWhatIf(): AskedFor<"whatif"> {
  const scale = writeScales(scalesNow());
  const flags: Query = Object.fromEntries(switchesNow().map((s) => [s, "yes"]));
  const factors: Query = Object.fromEntries(multiplesNow().map((m) => [m, String(multipleNow(m))]));
  return analysis("whatif", { ...(scale ? { scale: scale.split(SPLIT) } : {}), ...flags, ...factors, limit: 0 }, "whatif");
}

/** The name a change has in the table of the answer. */
export const changeOf = (id: string, scales: ReadonlyMap<string, number>): string => `${id}=${scales.get(id)}`;

export type Change = Row<"whatif", "whatif">;

/** Recorded, replayed as it is, each change alone, and all of them. */
export interface Replayed {
  recorded: number | null;
  together: number | null; // null: nothing is changed
  least: number | null; // where `together` is an estimate: what it is between
  most: number | null;
  alone: ReadonlyMap<string, Change>;
}

export function replayedOf(rows: readonly Change[]): Replayed {
  const changes = rows.slice(1).filter((r) => r.change !== "all");
  const last = rows.length > 1 ? rows[rows.length - 1] : undefined;
  return {
    recorded: (last ?? rows[0])?.step_before ?? null,
    together: last?.step_after ?? null,
    least: last?.least ?? null,
    most: last?.most ?? null,
    alone: new Map(changes.map((r) => [r.change ?? "", r])),
  };
}
