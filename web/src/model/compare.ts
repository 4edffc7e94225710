// Two traces that are compared: A is the one in view, B the one that `other` and `other_worker` of the address name.
// The words of the Compare view are here too, since they are fetched with it.
import { computed } from "@preact/signals";
import type { AnalysisName } from "../api/tables.ts";
import type { Query } from "../api/transport.ts";
import type { Answer, RunInfo } from "../api/types.ts";
import { enCompare } from "../text/en-compare.ts";
import { fill } from "../text/fill.ts";
import { zhCompare } from "../text/zh-compare.ts";
import { ask, runs, server } from "./answers.ts";
import { language } from "./language.ts";
import { go, param, traceQuery } from "./route.ts";
import { type AskedFor, allRanks, currentRun, currentWorker, type Row, rowsOf } from "./trace.ts";

export type CompareKey = keyof typeof enCompare;

/** A sentence of the Compare view. */
export function c(key: CompareKey, values: Record<string, string | number> = {}): string {
  return fill((language.value === "zh" ? zhCompare : enCompare)[key], values);
}

/** The word of a key made at run time: what the program adds later is shown by its own name. */
export const cOr = (key: string, otherwise: string): string => (key in enCompare ? c(key as CompareKey) : otherwise);

export interface Side {
  id: "A" | "B";
  run: string;
  worker: string;
  name: string; // what tells it from the other: the run, the worker of one run, or the steps of one worker
}

type Worker = RunInfo["workers"][number];

const otherRun = computed<RunInfo | undefined>(() => {
  const wanted = param("other");
  if (wanted) return runs.value?.runs.find((r) => r.name === wanted);
  return param("other_worker") ? currentRun.value : undefined;
});

const otherWorker = computed<Worker | undefined>(() => {
  const workers = otherRun.value?.workers ?? [];
  const wanted = param("other_worker") || currentWorker.value?.name;
  return workers.find((w) => w.name === wanted) ?? workers[0];
});

/** A and B; undefined while one of them is not chosen. */
export const sides = computed<readonly [Side, Side] | undefined>(() => {
  const [run, worker, other, second] = [currentRun.value, currentWorker.value, otherRun.value, otherWorker.value];
  if (!run || !worker || !other || !second) return undefined;
  const name = (id: "A" | "B", r: RunInfo, w: Worker): string =>
    run.name !== other.name ? r.name : worker.name !== second.name ? w.name : stepsWord(windowOf(id));
  return [
    { id: "A", run: run.name, worker: worker.name, name: name("A", run, worker) },
    { id: "B", run: other.name, worker: second.name, name: name("B", other, second) },
  ];
});

/** A trace can be compared with itself by other steps only. */
export const isSameTrace = ([a, b]: readonly [Side, Side]): boolean =>
  a.run === b.run && (allRanks.value || a.worker === b.worker) && windowOf("A") === windowOf("B");

/** The steps of a side; B has those of A unless it has its own. */
export const windowOf = (id: "A" | "B"): string => (id === "B" && param("other_step")) || param("step");

const stepsWord = (steps: string): string =>
  steps === "" || steps === "0.." ? c("all_steps") : c(/^\d+$/.test(steps) ? "step_n" : "steps_of", { steps, n: steps });

/** A run that could be B: a run of the folder, or another trace of the same run. */
export interface Candidate {
  id: string;
  label: string;
  folder: string; // the run of a trace that is one of several
  step: number | undefined; // mean, as far as it is known
}

const SPLIT = "\n"; // between run and worker in an id: no name has it

/** Every trace that can be chosen. A job counts as one; traces that only lie in one folder count each. */
export function candidates(): Candidate[] {
  const step = (...workers: Worker[]) =>
    workers.flatMap((w) => w.spans).find((s) => s.facts?.mean_step)?.facts?.mean_step ?? undefined;
  return (runs.value?.runs ?? []).flatMap((r): Candidate[] => {
    const traces = r.workers.filter((w) => w.role === "trace");
    if (traces.length < 2 || r.ranks > 1) return [{ id: r.name + SPLIT, label: r.name, folder: "", step: step(...r.workers) }];
    return traces.map((w) => ({ id: r.name + SPLIT + w.name, label: w.name, folder: r.name, step: step(w) }));
  });
}

/** The candidate a side is. */
export const candidateOf = (side: Pick<Side, "run" | "worker">): Candidate | undefined =>
  candidates().find((x) => x.id === side.run + SPLIT + side.worker || x.id === side.run + SPLIT);

// Steps, slices and times belong to one trace.
const FORGOTTEN = {
  span: undefined,
  step: undefined,
  from: undefined,
  to: undefined,
  pair: undefined,
  zoom: undefined,
  sel: undefined,
};

export function chooseFirst(id: string): void {
  const [run, worker] = id.split(SPLIT);
  go({ params: { ...FORGOTTEN, run, worker: worker || undefined } });
}

export function chooseSecond(id: string): void {
  const [other, worker] = id.split(SPLIT);
  go({ params: { other, other_worker: worker || undefined, pair: undefined, zoom: undefined } });
}

export function swapSides(): void {
  const both = sides.peek();
  if (!both) return;
  const [a, b] = both;
  const [x, y] = param("pair").split("-");
  const worker = (s: Side) => (allRanks.peek() ? undefined : s.worker);
  const own = param("other_step"); // each side keeps its steps
  go({
    params: {
      run: b.run,
      worker: worker(b) ?? "*",
      other: a.run,
      other_worker: worker(a),
      span: undefined,
      ...(own ? { step: own, other_step: param("step") || "0.." } : {}),
      pair: x && y ? `${y}-${x}` : undefined,
      only: param("only") === "a" ? "b" : param("only") === "b" ? "a" : param("only"),
    },
  });
}

// ---- what the server is asked ----

export type Diff = AskedFor<"diff">;
export type DiffRow = Row<"diff", "operators">;

const diffQuery = ([a, b]: readonly [Side, Side]): Query => ({
  run: a.run,
  worker: allRanks.value ? undefined : a.worker,
  span: traceQuery.value.span,
  other: b.run,
  other_worker: allRanks.value ? undefined : b.worker,
  step: param("step") || undefined,
  other_step: param("other_step") || undefined,
  base_runs: param("base_runs") || undefined,
  lang: language.value,
});

/** The whole comparison: its tables are small, so they are sorted and filtered here. */
export const askDiff = (both: readonly [Side, Side]): Diff =>
  ask<Answer<"diff">>("diff", "diff", { ...diffQuery(both), limit: 0 });

export const diffCsv = (both: readonly [Side, Side], table: string): string =>
  server().url("diff", { ...diffQuery(both), table, format: "csv", limit: 0 });

/** An analysis of one side, in the window of both. */
export function askSide<N extends AnalysisName>(name: N, side: Side, extra: Query = {}): AskedFor<N> {
  const query = { run: side.run, worker: side.worker, step: windowOf(side.id) || undefined, lang: language.value, ...extra };
  return ask<Answer<N>>(`${name}-${side.id}`, name, query);
}

/** The steps of a side: A may have more rows, one for each run of its program, of which the first is its own. */
export const stepsOf = (asked: Diff, side: Side): Row<"diff", "steps"> | undefined =>
  rowsOf(asked.value?.tables.steps).find((r) => r.run === side.id.toLowerCase());

/** The length of the step of both, as the comparison took it. */
export function lengthsOf(asked: Diff): readonly [number, number] {
  const step = rowsOf(asked.value?.tables.changes).find((r) => r.metric === "step");
  const mean = (run: string) => rowsOf(asked.value?.tables.steps).find((r) => r.run === run)?.mean;
  return [step?.a ?? mean("a") ?? 0, step?.b ?? mean("b") ?? 0];
}

/** The mean step of A, which changes are measured by. */
export const stepOf = (asked: Diff): number => lengthsOf(asked)[0];

export type RankRow = Row<"diff", "ranks">;

/** The worker of a side that a row of the ranks is about: by its rank, else by its name. */
export function workerOf(side: Side, row: RankRow): string | null {
  const workers = runs.value?.runs.find((r) => r.name === side.run)?.workers ?? [];
  const same = (w: Worker) => (row.rank === null ? w.name === row.worker : w.rank === row.rank);
  return workers.find(same)?.name ?? null;
}

/** What a link to the timeline of a side carries; of all ranks it names the one. */
export const placeIn = (side: Side, worker: string | null = null): Record<string, string | undefined> => ({
  run: side.run,
  worker: worker ?? side.worker,
  span: undefined,
  step: undefined,
  from: undefined,
  to: undefined,
});
