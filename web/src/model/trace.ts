// The trace in view: its run, worker and span, what it holds, and its steps.
import { computed } from "@preact/signals";
import type { Query } from "../api/transport.ts";
import type { Answer, Cell, RunInfo, SpanInfo, Table } from "../api/types.ts";
import { type Asked, ask, runs, server } from "./answers.ts";
import { language, t } from "./language.ts";
import { param, traceQuery, type View, view, windowQuery } from "./route.ts";

export const currentRun = computed<RunInfo | undefined>(() => {
  const all = runs.value?.runs ?? [];
  const wanted = param("run");
  return wanted ? all.find((r) => r.name === wanted) : all.length === 1 ? all[0] : undefined;
});

export const currentWorker = computed(() => {
  const workers = currentRun.value?.workers ?? [];
  return workers.find((w) => w.name === param("worker")) ?? workers[0];
});

/** Whether the run is one job of several ranks. Traces that only lie in one folder are not, and are never added up. */
export const isJob = (run: RunInfo | undefined): boolean => (run?.ranks ?? 0) > 1;

/** Whether the reader chose all ranks. */
export const allChosen = computed(() => param("worker") === "*" && isJob(currentRun.value));

// Views and analyses that can be of all ranks; the others are of one.
const VIEWS_OF_ALL: readonly string[] = ["overview", "operators", "kernels"];
const ANALYSES_OF_ALL: readonly string[] = ["overview", "advise", "operators", "kernels"];

/** Whether what is in view is of all ranks: breadcrumb, events and numbers follow this. */
export const allRanks = computed(() =>
  view.value === "distributed" ? isJob(currentRun.value) : allChosen.value && VIEWS_OF_ALL.includes(view.value),
);

/** How many workers count when all are meant: the ranks, without ranks every trace; never a data loader. */
export const ranksOf = (run: RunInfo | undefined): number =>
  !run ? 1 : run.ranks > 1 ? run.ranks : run.workers.filter((w) => w.role === "rank" || w.role === "trace").length;

/** The server takes a question without a worker for one about all ranks: views of one worker name it. */
export const oneWorker = (): Query => ({
  worker: currentWorker.value?.name ?? traceQuery.value.worker,
  "all-workers": undefined,
});
export const allWorkers = (): Query => ({ worker: undefined, "all-workers": 1 });

/** Whose numbers are in view: the worker's name, or how many ranks. */
export const whoseNumbers = (): string =>
  allRanks.value ? t("n_ranks", { n: ranksOf(currentRun.value) }) : (currentWorker.value?.name ?? "");

export const currentSpan = computed<SpanInfo | undefined>(() => {
  const spans = currentWorker.value?.spans ?? [];
  return spans.find((s) => String(s.number) === param("span")) ?? spans[spans.length - 1];
});

/** The answer of an analysis about the chosen trace, in the chosen window and language. */
export function analysis(name: string, extra: Query = {}, slot = name): Asked<Answer> {
  return ask<Answer>(slot, name, analysisQuery(name, extra));
}

export const analysisQuery = (name: string, extra: Query = {}): Query => ({
  ...traceQuery.value,
  ...(allRanks.value && ANALYSES_OF_ALL.includes(name) ? allWorkers() : oneWorker()),
  ...windowQuery.value,
  lang: language.value,
  ...extra,
});

/** The address of a whole table as CSV. */
export const csvUrl = (name: string, table: string, extra: Query = {}): string =>
  server().url(name, analysisQuery(name, { ...extra, table, format: "csv", limit: 0 }));

/** Facts of the worker that do not depend on the window. */
export function info(): Asked<Answer> {
  return ask<Answer>("info", "info", { ...traceQuery.value, ...oneWorker(), lang: language.value });
}

/** The same of what is in view: all ranks, or the worker. */
export function infoInView(): Asked<Answer> {
  if (!allRanks.value) return info();
  return ask<Answer>("info-all", "info", { ...traceQuery.value, ...allWorkers(), lang: language.value });
}

/** A fact about the trace; undefined when it is not known (yet). */
export const factOf = (key: string): string | undefined => {
  const found = info().value?.tables.trace?.rows.find((r) => r[0] === key)?.[1];
  return found === undefined || found === null ? undefined : String(found);
};

/** A trace without steps, marked or found: then nothing is said of "each step". */
export const hasNoSteps = (): boolean => factOf("steps") === "0";

const FRAMEWORKS: Record<string, string> = {
  kineto: "PyTorch",
  pytorch: "PyTorch",
  paddle: "Paddle",
  mindspore: "MindSpore",
  megengine: "MegEngine",
  jax: "JAX",
  chrome: "Chrome JSON",
  memory_flow: "MegEngine",
};

/** The framework that writes a format. */
export const frameworkOf = (format: string): string => FRAMEWORKS[format] ?? FRAMEWORKS[format.split(/[ _-]/)[0] ?? ""] ?? format;

export type Row = Record<string, Cell>;

/** Rows as objects: for small tables only. */
export function rowsOf(table: Table | undefined): Row[] {
  if (!table) return [];
  return table.rows.map((r) => Object.fromEntries(table.columns.map((c, i) => [c.name, r[i] ?? null])));
}

export const num = (cell: Cell | undefined): number => (typeof cell === "number" ? cell : 0);

/** Number of events of a kind, undefined while unknown. */
export function countOf(...kinds: string[]): number | undefined {
  const table = info().value?.tables.events;
  if (!table) return undefined;
  return table.rows.reduce((sum, r) => sum + (kinds.includes(String(r[0])) ? num(r[1]) : 0), 0);
}

/** Whether memory is all there is: allocations, with marks and counters at most, and nothing that takes time. */
export function isOnlyMemory(): boolean {
  const kinds = (info().value?.tables.events?.rows ?? []).map((r) => String(r[0]));
  return kinds.includes("memory") && kinds.every((k) => ["memory", "step", "instant", "counter", "span"].includes(k));
}

/** Whether the producer recorded the queues of its input pipeline; only MindSpore does. */
export const hasQueues = (): boolean => mindHas("pipeline", "operators", "flow", "queues") || hasStages();

/** A table that is only there when it has rows. */
const hasStages = (): boolean =>
  info().value?.trace.format === "mindspore" && (analysis("pipeline").value?.tables.dataset_stages?.rows.length ?? 0) > 0;

/** Whether an analysis has rows in one of these tables, which only MindSpore's files fill. */
function mindHas(name: string, ...tables: string[]): boolean {
  if (info().value?.trace.format !== "mindspore") return false;
  return tables.some(
    (table) => (analysis(name, { table, limit: 0 }, `${name}-${table}`).value?.tables[table]?.rows.length ?? 0) > 0,
  );
}

/** Whether a view has data in this trace; true while unknown, so that nothing blinks. */
export function hasData(view: View): boolean {
  const some = (...kinds: string[]) => (countOf(...kinds) ?? 1) > 0;
  switch (view) {
    case "operators":
      return some("op", "forward", "backward", "optimizer", "kernel");
    case "kernels":
      return some("kernel");
    case "roofline":
      return some("op");
    case "modules":
      return some("module");
    case "memory":
      return some("memory");
    case "steps":
      return some("step") || Number(factOf("steps") ?? 1) > 0; // some are found without marks
    case "pipeline":
      return hasQueues() || some("data_loading");
    case "distributed":
      return isJob(currentRun.value) || some("collective") || mindHas("distributed", "cluster_steps", "parallel_stages");
    default:
      return true;
  }
}
