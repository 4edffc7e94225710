// Which view a name opens: the one file that knows the other rooms, each by its entry.
import type { ComponentChild } from "preact";
import { runs } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { type View, view } from "../../model/route.ts";
import { areCarried, stepsInstead } from "../../model/steps.ts";
import { currentRun, hasData, isSummary, workersWithoutEvents } from "../../model/trace.ts";
import { Kernels } from "../operators/kernels.tsx";
import { Modules } from "../operators/modules.tsx";
import { Operators } from "../operators/operators.tsx";
import { Overview } from "../overview/overview.tsx";
import { lazy } from "../shared/lazy.tsx";
import { isRecordable, Missing } from "../shared/missing.tsx";
import { BeforeFirst, isFirst } from "./live.tsx";
import { NoSuchStep } from "./no-such-step.tsx";
import { RunsTable } from "./runs.tsx";
import { failureInView, Unreadable } from "./unreadable.tsx";

// Loaded when first opened: together they are half of the script.
const Code = lazy(() => import("../code/code.tsx").then((m) => m.Code));
const Compare = lazy(() => import("../compare/compare.tsx").then((m) => m.Compare));
const Distributed = lazy(() => import("../distributed/distributed.tsx").then((m) => m.Distributed));
const Hang = lazy(() => import("../distributed/hang.tsx").then((m) => m.Hang));
const History = lazy(() => import("../history/history.tsx").then((m) => m.History));
const Memory = lazy(() => import("../memory/memory.tsx").then((m) => m.Memory));
const NoRuns = lazy<{ path: string }>(() => import("./start.tsx").then((m) => m.NoRuns));
const Query = lazy(() => import("../query/query.tsx").then((m) => m.Query));
const Roofline = lazy(() => import("../operators/roofline.tsx").then((m) => m.Roofline));
const InputPipeline = lazy(() => import("../pipeline/pipeline.tsx").then((m) => m.InputPipeline));
const Serving = lazy(() => import("../serving/serving.tsx").then((m) => m.Serving));
const Steps = lazy(() => import("../steps/steps.tsx").then((m) => m.Steps));
const Why = lazy(() => import("../why/why.tsx").then((m) => m.Why));
const Timeline = lazy(() => import("../timeline/timeline.tsx").then((m) => m.Timeline));

export const PAGES: Record<View, (props: object) => ComponentChild> = {
  runs: RunsTable,
  overview: Overview,
  why: Why,
  code: Code,
  timeline: Timeline,
  operators: Operators,
  kernels: Kernels,
  roofline: Roofline,
  modules: Modules,
  memory: Memory,
  steps: Steps,
  pipeline: InputPipeline,
  serving: Serving,
  distributed: Distributed,
  hang: Hang,
  compare: Compare,
  history: History,
  query: Query,
};

/** Which page to show: the table of runs when there are several and none is chosen. */
export function Page() {
  const all = runs.value;
  if (!all) return null;
  if (all.runs.length === 0 && !currentRun.value) return <NoRuns path={all.path} />;
  const run = currentRun.value;
  const name = view.value;
  if (!run || name === "runs") return <RunsTable />;
  const failure = failureInView();
  if (failure) return <Unreadable error={failure} />;
  if (isFirst()) return <BeforeFirst />;
  const without = workersWithoutEvents(name);
  if (without)
    return (
      <>
        <h1>{t(name)}</h1>
        <p class="not-inside">{t("of_summary", { n: without })}</p>
      </>
    );
  const there = name === "history" || isSummary() || areCarried() ? undefined : stepsInstead();
  if (there) return <NoSuchStep there={there} />;
  if (isRecordable(name) && !hasData(name)) return <Missing key={name} name={name} />;
  const View = PAGES[name];
  return <View key={name} />;
}
