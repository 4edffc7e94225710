// The frame around every view: top bar, rail, tape, the view itself, and what lies above the page.
import { effect } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { thousands } from "../base/format.ts";
import { hideTip, TipLayer } from "../base/tip.tsx";
import { Patterns } from "../draw/patterns.tsx";
import { connection, open, progress, reconnect, runs, summaries, tryAgain } from "../model/data.ts";
import { type View, view } from "../model/place.ts";
import { currentRun, hasData } from "../model/trace.ts";
import { language, t } from "../model/words.ts";
import { panelActions, panelWords } from "../widgets/panel.tsx";
import { Distributed } from "./distributed.tsx";
import { DropZone } from "./drop.tsx";
import { Kernels } from "./kernels.tsx";
import { KeySheet, listenToKeys } from "./keys.tsx";
import { layer, openLayer } from "./layers.ts";
import { lazy } from "./lazy.tsx";
import { Missing } from "./missing.tsx";
import { Modules } from "./modules.tsx";
import { OneRank } from "./onerank.tsx";
import { Operators } from "./operators.tsx";
import { Overview } from "./overview.tsx";
import { Palette } from "./palette.tsx";
import { Rail } from "./rail.tsx";
import { RangeDialog } from "./range.tsx";
import { PrintHead } from "./report.tsx";
import { NoRuns, RunsTable } from "./runs.tsx";
import { TapeBar } from "./tape.tsx";
import { TopBar } from "./topbar.tsx";
import { TrustDrawer } from "./trust.tsx";

// Loaded when first opened: together they are half of the script.
const Memory = lazy(() => import("./memory.tsx").then((m) => m.Memory));
const Roofline = lazy(() => import("./roofline.tsx").then((m) => m.Roofline));
const InputPipeline = lazy(() => import("./pipeline.tsx").then((m) => m.InputPipeline));
const Steps = lazy(() => import("./steps.tsx").then((m) => m.Steps));
const Timeline = lazy(() => import("./timeline.tsx").then((m) => m.Timeline));

const PAGES: Record<View, (props: object) => ComponentChild> = {
  runs: RunsTable,
  overview: Overview,
  timeline: Timeline,
  operators: Operators,
  kernels: Kernels,
  roofline: Roofline,
  modules: Modules,
  memory: Memory,
  steps: Steps,
  pipeline: InputPipeline,
  distributed: Distributed,
};

/** Which page to show: the table of runs when there are several and none is chosen. */
function Page() {
  const all = runs.value;
  if (!all) return null;
  if (all.runs.length === 0) return <NoRuns path={all.path} />;
  const run = currentRun.value;
  const name: View = view.value in PAGES ? view.value : "overview";
  if (!run || name === "runs") return <RunsTable />;
  if (!hasData(name) && name !== "overview" && name !== "timeline") return <Missing key={name} name={name} />;
  const View = PAGES[name];
  return <View key={name} />;
}

export function Shell() {
  // Before the first picture: what can be seen can be operated, and no key is lost.
  useLayoutEffect(() => {
    listenToKeys();
    panelActions.rests = () => openLayer("trust");
    panelActions.tryAgain = tryAgain;
    addEventListener("scroll", hideTip, true);
    return effect(() => document.getElementById("content")?.setAttribute("aria-busy", String(open.value > 0)));
  }, []);
  const run = currentRun.value;
  const place = view.value;
  useEffect(() => {
    document.title = `${run ? `${run.name} · ` : ""}${t(place in PAGES ? place : "overview")} · tacho`;
    document.documentElement.lang = language.value === "zh" ? "zh-CN" : "en";
  });
  panelWords.current = {
    menu: t("menu_of"),
    rests: t("rests_on"),
    copy: t("copy_text"),
    tryAgain: t("try_again"),
    copyDetails: t("copy_details"),
    failed: t("failed"),
  };
  const inRun = run !== undefined && place !== "runs";
  return (
    <div class={`shell ${place === "timeline" && inRun ? "shell-timeline" : ""}`}>
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        {t("skip")}
      </button>
      <Patterns />
      <TopBar />
      <Loading />
      <Connection />
      <Rail />
      {inRun ? <TapeBar /> : null}
      <main id="content" tabIndex={-1} class={inRun ? "" : "without-tape"}>
        {inRun ? <PrintHead /> : null}
        {inRun ? <OneRank /> : null}
        <Page />
      </main>
      {layer.value === "palette" ? <Palette /> : null}
      {layer.value === "trust" ? <TrustDrawer /> : null}
      {layer.value === "keys" ? <KeySheet /> : null}
      {layer.value === "range" ? <RangeDialog /> : null}
      <DropZone />
      <TipLayer />
    </div>
  );
}

/** Traces that are read, then summaries that are made. */
function Loading() {
  const isOpen = (p: { done: number; total: number } | undefined) => p !== undefined && p.done < p.total;
  const reads = isOpen(progress.value);
  const now = reads ? progress.value : summaries.value;
  if (!now || !isOpen(now)) return null;
  return (
    <div
      class="loading"
      role="progressbar"
      aria-label={reads ? t("loading") : t("summaries_made", { n: thousands(now.done), m: thousands(now.total) })}
      aria-valuemin={0}
      aria-valuemax={now.total}
      aria-valuenow={now.done}
    >
      <i style={{ width: `${(now.done / now.total) * 100}%` }} />
    </div>
  );
}

function Connection() {
  if (!connection.value.lost) return null;
  const time = connection.value.since.toTimeString().slice(0, 5);
  return (
    <div class="connection" role="status">
      {t("connection_lost", { time })}{" "}
      <button type="button" class="link" onClick={reconnect}>
        {t("try_now")}
      </button>
    </div>
  );
}
