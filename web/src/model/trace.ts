// The trace in view: its run, worker and span, its contents, and its steps.
import { computed } from "@preact/signals";
import type { AnalysisName, Tables } from "../api/tables.ts";
import type { Query } from "../api/transport.ts";
import type { Answer, RunInfo, SpanInfo, Table, TableName } from "../api/types.ts";
import { sum } from "../base/aggregate.ts";
import { type Asked, ask, deleted, runs, server } from "./answers.ts";
import { language, t } from "./language.ts";
import { param, traceQuery, type View, view, WHOLE_TRACE, windowQuery } from "./route.ts";

export const currentRun = computed<RunInfo | undefined>(() => {
  const all = runs.value?.runs ?? [];
  const wanted = param("run");
  if (wanted) return all.find((r) => r.name === wanted) ?? deleted.value.get(wanted)?.run;
  if (all.length > 0) return all.length === 1 ? all[0] : undefined;
  return deleted.value.size === 1 ? [...deleted.value.values()][0]?.run : undefined;
});

/** Since when the files of the run in view are gone. */
export const deletedSince = computed<Date | undefined>(() => {
  const gone = deleted.value.get(currentRun.value?.name ?? "");
  return gone?.run === currentRun.value ? gone?.since : undefined;
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
const VIEWS_OF_ALL: readonly string[] = ["overview", "timeline", "operators", "kernels", "compare"];
const ANALYSES_OF_ALL: readonly string[] = ["overview", "advise", "operators", "kernels"];

/** Whether what is in view is of all ranks: breadcrumb, events and numbers follow this. */
export const allRanks = computed(() =>
  view.value === "distributed" || view.value === "hang"
    ? isJob(currentRun.value)
    : allChosen.value && VIEWS_OF_ALL.includes(view.value),
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
export function analysis<N extends AnalysisName>(name: N, extra: Query = {}, slot: string = name): AskedFor<N> {
  const evidence = WITH_EVIDENCE.includes(name) ? { evidence: "yes" } : {};
  return ask<Answer<N>>(slot, name, { ...analysisQuery(name, extra), ...evidence });
}

/** Asks what the first view begins with before it is drawn: the server works meanwhile. */
export function askFirst(): void {
  if (view.value === "overview" && currentRun.value) analysis("overview");
}

// Those that tell where in the timeline a row costs most. Files that are saved are without it.
const WITH_EVIDENCE: readonly string[] = ["overview", "advise", "operators", "kernels", "modules", "memory"];

/** What a panel is given: the answer of one analysis, as far as it is there. */
export type AskedFor<N extends AnalysisName> = Asked<Answer<N>>;

export const analysisQuery = (name: string, extra: Query = {}): Query => ({
  ...traceQuery.value,
  ...(allRanks.value && ANALYSES_OF_ALL.includes(name) ? allWorkers() : oneWorker()),
  ...windowQuery.value,
  lang: language.value,
  ...extra,
});

/** The address of a whole table as CSV. */
export const csvUrl = <N extends AnalysisName>(name: N, table: TableName<N>, extra: Query = {}): string =>
  server().url(name, analysisQuery(name, { ...extra, table, format: "csv", limit: 0 }));

/** Facts of the worker that do not depend on the window. */
export function info(): AskedFor<"info"> {
  return ask<Answer<"info">>("info", "info", { ...traceQuery.value, ...oneWorker(), lang: language.value });
}

/** The same of what is in view: all ranks, or the worker. */
export function infoInView(): AskedFor<"info"> {
  if (!allRanks.value) return info();
  return ask<Answer<"info">>("info-all", "info", { ...traceQuery.value, ...allWorkers(), lang: language.value });
}

/** A fact of an answer about a trace; undefined when it is not known. */
export const factIn = (answer: Answer<"info"> | undefined, key: string): string | undefined =>
  rowsOf(answer?.tables.trace).find((r) => r.key === key)?.value ?? undefined;

/** A fact about the trace in view; undefined when it is not known (yet). */
export const factOf = (key: string): string | undefined => factIn(info().value, key);

/** A trace without steps, marked or found: then no sentence mentions "each step". */
export const hasNoSteps = (): boolean => factOf("steps") === "0";

const FRAMEWORKS: Record<string, string> = {
  kineto: "PyTorch",
  pytorch: "PyTorch",
  paddle: "Paddle",
  mindspore: "MindSpore",
  megengine: "MegEngine",
  jax: "JAX",
  xplane_jax: "JAX",
  xplane_tensorflow: "TensorFlow",
  xplane: "XLA",
  perfetto: "Perfetto",
  perfetto_pytorch: "PyTorch",
  perfetto_rocm: "ROCm",
  chrome: "Chrome JSON",
  memory_flow: "MegEngine",
  torch: "PyTorch",
  flight_recorder: "PyTorch",
  nsight: "Nsight Systems",
  nsight_pytorch: "PyTorch",
  rocprof: "ROCm",
  cann: "CANN",
  tacho_recording: "tacho",
  tacho_recording_jax: "tacho",
};

/** The framework that writes a format. */
export const frameworkOf = (format: string): string => FRAMEWORKS[format] ?? FRAMEWORKS[format.split(/[ _-]/)[0] ?? ""] ?? format;

/** A row of a table of an analysis, by the names of its columns. */
export type Row<N extends AnalysisName, T extends TableName<N>> = Tables[N][T];

/** Rows by the names of their columns. */
export function rowsOf<R extends object>(table: Table<R> | undefined): R[] {
  if (!table) return [];
  const names = table.columns.map((c) => c.name);
  return table.rows.map((cells) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) row[names[i] as string] = cells[i] ?? null;
    return row as R;
  });
}

/** Number of events of some kinds in an answer, undefined while unknown. */
export function countIn(answer: Answer<"info"> | undefined, kinds: readonly string[]): number | undefined {
  const table = answer?.tables.events;
  return table && sum(rowsOf(table), (r) => (kinds.includes(r.kind ?? "") ? r.count : 0));
}

/** The same of the trace in view. */
export const countOf = (...kinds: string[]): number | undefined => countIn(info().value, kinds);

/** Whether memory is all there is: allocations, with marks and counters at most, and nothing that takes time. */
export function isOnlyMemory(): boolean {
  const kinds = rowsOf(info().value?.tables.events).map((r) => r.kind ?? "");
  return kinds.includes("memory") && kinds.every((k) => ["memory", "step", "instant", "counter", "span"].includes(k));
}

/** Whether an answer has rows in one of these tables: what is recorded decides, not who recorded it. Undefined: not known yet. */
export const hasRows = <N extends AnalysisName>(asked: AskedFor<N>, ...tables: TableName<N>[]): boolean | undefined =>
  asked.error ? false : asked.value && tables.some((name) => (asked.value?.tables[name]?.rows.length ?? 0) > 0);

/** What an analysis knows of a trace, by one row of each table. */
const recorded = <N extends AnalysisName>(name: N, query: Query = {}): AskedFor<N> =>
  analysis(name, { ...WHOLE_TRACE, limit: 1, ...query }, `${name}-recorded`);

/** Asks a trace of one worker: a summary of many answers only for all. Undefined: not known yet. */
function ofOneTrace(test: () => boolean | undefined): boolean | undefined {
  if (!info().value) return undefined;
  return factOf("workers") ? false : test();
}

/** Whether the way of the data was recorded: operators that feed each other, or the queues between them. */
export const hasQueues = (): boolean | undefined =>
  ofOneTrace(() => {
    const asked = recorded("pipeline");
    // A queue without an id is not part of a graph.
    const graph = rowsOf(asked.value?.tables.operators).some((r) => r.id !== null);
    return graph || hasRows(asked, "flow", "queues", "dataset_stages");
  });

/** Whether a line of the program is known without calls of Python: from call stacks of operators, or from samples. */
const hasLines = (): boolean | undefined =>
  ofOneTrace(() => {
    const asked = recorded("lines", { table: "files", limit: 20 });
    return asked.error ? false : asked.value && rowsOf(asked.value.tables.files).some((r) => r.file !== null);
  });

/** Whether a device of the job wrote about itself and the others. */
const hasDeviceReport = (): boolean | undefined =>
  ofOneTrace(() =>
    hasRows(recorded("distributed", { table: "cluster_steps,parallel_stages" }), "cluster_steps", "parallel_stages"),
  );

const OF_EVENTS: ReadonlySet<View> = new Set<View>([
  "code",
  "timeline",
  "roofline",
  "modules",
  "memory",
  "steps",
  "pipeline",
  "serving",
  "query",
]);

/** How many workers a summary file is of, where the view needs the events that it has not; else 0. */
export const workersWithoutEvents = (view: View): number =>
  OF_EVENTS.has(view) && currentRun.value && !isJob(currentRun.value) && factOf("format") === "tacho_summary"
    ? Number(factOf("workers") ?? 0)
    : 0;

/** Whether it is a summary of many workers: no events, so no timeline and no strip of the whole trace. */
export const isSummary = (): boolean => workersWithoutEvents("timeline") > 0;

/** Whether it is a dump of the flight recorder: the last collectives of a rank, and nothing else. */
export const isDump = (): boolean => currentRun.value !== undefined && factOf("format") === "flight_recorder";

/** Whether the program serves: iterations of a language model, or requests. False while unknown. */
export const isServer = (): boolean => currentRun.value !== undefined && serves() === true;

const serves = (): boolean | undefined =>
  ofOneTrace(() => {
    if (Number(factOf("requests") ?? 0) > 0) return true;
    return Number(factOf("steps") ?? 0) > 0 && hasRows(recorded("serving", { table: "serving" }), "serving");
  });

/** Whether a view has data in this trace; true while unknown, so that nothing blinks. */
export function hasData(view: View): boolean {
  const some = (...kinds: string[]) => (countOf(...kinds) ?? 1) > 0;
  switch (view) {
    case "code":
      return some("python") || hasLines() !== false;
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
      return some("data_loading") || hasQueues() !== false;
    case "serving":
      return serves() !== false;
    case "distributed":
      return isJob(currentRun.value) || some("collective") || hasDeviceReport() !== false;
    case "hang":
      return isDump();
    case "why":
      return Number(factOf("steps") ?? 1) > 0;
    case "history":
      return (factOf("format") ?? "tacho_summary") === "tacho_summary";
    default:
      return true;
  }
}
