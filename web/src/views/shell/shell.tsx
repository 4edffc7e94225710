// The frame around every view: top bar, rail, tape, the view itself, and what is above the page.
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { thousands } from "../../base/format.ts";
import { hideTip, TipLayer } from "../../base/tip.tsx";
import { Patterns } from "../../draw/patterns.tsx";
import { connection, open, progress, reconnect, runs, summaries, tryAgain } from "../../model/answers.ts";
import { language, t } from "../../model/language.ts";
import { narrowRail } from "../../model/rail.ts";
import { go, param, view } from "../../model/route.ts";
import { currentRun, deletedSince, isSummary } from "../../model/trace.ts";
import { panelActions, panelWords } from "../../widgets/panel.tsx";
import { tableWords } from "../../widgets/table-words.ts";
import { lazy } from "../shared/lazy.tsx";
import { OneRank } from "../shared/one-rank.tsx";
import { PrintHead } from "../shared/report.tsx";
import { DropZone } from "./drop-zone.tsx";
import { listenToKeys } from "./keys.tsx";
import { LiveLine, NewRuns } from "./live.tsx";
import { layer, openLayer } from "./overlays.ts";
import { Page } from "./pages.tsx";
import { Palette } from "./palette.tsx";
import { TrustDrawer } from "./quality-drawer.tsx";
import { Rail } from "./rail.tsx";
import { TapeBar } from "./tape.tsx";
import { TopBar } from "./top-bar.tsx";

const KeySheet = lazy(() => import("./key-sheet.tsx").then((m) => m.KeySheet), 0);
const RangeDialog = lazy(() => import("./range-dialog.tsx").then((m) => m.RangeDialog), 0);

let onlyRun = ""; // the one that was meant without being named

/** The only run needs no name in the address, until a second one comes. */
function pinRun(): void {
  const all = runs.value?.runs ?? [];
  if (all.length === 1) onlyRun = all[0]?.name ?? "";
  else if (onlyRun && !param("run") && view.value !== "runs" && all.some((r) => r.name === onlyRun))
    go({ params: { run: onlyRun } }, true);
}

export function Shell() {
  // Before the first picture: what can be seen can be operated, and no key is lost.
  useLayoutEffect(() => {
    listenToKeys();
    panelActions.rests = () => openLayer("trust");
    panelActions.tryAgain = tryAgain;
    addEventListener("scroll", hideTip, true);
    const stopPinning = effect(pinRun);
    const stopBusy = effect(() => document.getElementById("content")?.setAttribute("aria-busy", String(open.value > 0)));
    return () => {
      stopPinning();
      stopBusy();
    };
  }, []);
  const run = currentRun.value;
  const place = view.value;
  useEffect(() => {
    document.title = `${run ? `${run.name} · ` : ""}${t(place)} · tacho`;
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
  tableWords.current = {
    menu: t("table_menu"),
    copyCell: t("copy_cell"),
    copyRow: t("copy_row"),
    filter: t("filter_this"),
    timeline: t("show_in_timeline"),
    descending: t("sort_descending"),
    ascending: t("sort_ascending"),
    fit: t("column_fit"),
    left: t("column_left"),
    right: t("column_right"),
    reset: t("columns_reset"),
    more: t("columns_more"),
  };
  const inRun = run !== undefined && place !== "runs";
  const hasTape = inRun && !isSummary();
  return (
    <div class={`shell ${place === "timeline" && inRun ? "shell-timeline" : ""} ${narrowRail.value ? "narrow" : ""}`}>
      <button type="button" class="skip" onClick={() => document.getElementById("content")?.focus()}>
        {t("skip")}
      </button>
      <Patterns />
      <TopBar />
      <Loading />
      <Connection />
      <Rail />
      {hasTape ? <TapeBar /> : null}
      <main id="content" tabIndex={-1} class={hasTape ? "" : "without-tape"}>
        {inRun ? <PrintHead /> : null}
        {inRun ? <LiveLine /> : null}
        {inRun ? <OneRank /> : null}
        <Page />
      </main>
      {layer.value === "palette" ? <Palette /> : null}
      {layer.value === "trust" ? <TrustDrawer /> : null}
      {layer.value === "keys" ? <KeySheet /> : null}
      {layer.value === "range" ? <RangeDialog /> : null}
      <NewRuns />
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

const clock = (at: Date) => at.toTimeString().slice(0, 5);

function Connection() {
  const gone = deletedSince.value;
  if (!connection.value.lost && gone)
    return (
      <div class="connection" role="status">
        {t("run_deleted", { name: currentRun.value?.name ?? "", time: clock(gone) })}
      </div>
    );
  if (!connection.value.lost) return null;
  const time = clock(connection.value.since);
  return (
    <div class="connection" role="status">
      {connection.value.token ? t("connection_token") : t("connection_lost", { time })}{" "}
      <button type="button" class="link" onClick={reconnect}>
        {t("try_now")}
      </button>
    </div>
  );
}
