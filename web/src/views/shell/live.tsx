// Words about unfinished runs (being recorded or written) and the note about new runs.
import { useEffect } from "preact/hooks";
import { thousands } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { followViewed, type Live, liveInView, liveOf, newRuns, note } from "../../model/live.ts";
import { go } from "../../model/route.ts";
import { changeTrace } from "../../model/steps.ts";
import { currentRun, currentSpan, info } from "../../model/trace.ts";
import { Rich } from "../../widgets/controls.tsx";
import { Icon } from "../../widgets/icons.tsx";
import { Headline } from "../shared/verdict.tsx";

/** The badge next to the run's name. */
export function LiveBadge() {
  const live = liveOf(currentRun.value);
  if (!live) return null;
  const word = t(live.recorded ? "state_recording" : "state_growing");
  return (
    <span class="live-badge growing" title={word}>
      <span>{word}</span>
    </span>
  );
}

const stateWords = (live: Live): string =>
  !live.recorded ? t("live_written") : live.steps ? t("live_recorded", { n: thousands(live.steps) }) : t("live_no_steps");

/** The line above every view of an unfinished run: how far it is, and how much of it the numbers cover. */
export function LiveLine() {
  const live = liveInView();
  if (!live || isFirst()) return null;
  return (
    <p class="live-line">
      <Rich text={stateWords(live)} /> {live.covered ? t("live_covers", { n: thousands(live.covered) }) : t("live_grows")}
    </p>
  );
}

/** Whether nothing of an unfinished trace has been read yet. */
export const isFirst = (): boolean =>
  liveOf(currentRun.value) !== undefined && currentSpan.value?.facts === null && currentSpan.value.state !== "ready";

/** Replaces the view until there are numbers. */
export function BeforeFirst() {
  info(); // traces that are not preloaded are read on request
  const live = liveInView();
  return <Headline title={currentRun.value?.name ?? ""} facts={[live && stateWords(live), t("live_first")]} />;
}

/** A note in the corner: a new run appeared while another one is in view. */
export function NewRuns() {
  useEffect(followViewed, []);
  const list = newRuns();
  const [first] = list;
  if (!first) return null;
  const close = () => note(list.map((r) => r.name));
  const open = () =>
    list.length > 1
      ? go({ view: "runs", params: { run: undefined, worker: undefined, span: undefined } })
      : changeTrace({ run: first.name, worker: undefined, span: undefined });
  return (
    <div class="new-runs" role="status">
      <span>
        <Rich
          text={
            list.length > 1
              ? t("new_runs", { n: list.length })
              : t(liveOf(first)?.recorded ? "new_recording" : "new_run", { name: first.name })
          }
        />
      </span>
      <button type="button" class="button" onClick={open}>
        {t(list.length > 1 ? "new_show" : "new_open")}
      </button>
      <button type="button" class="iconic" onClick={close} aria-label={t("new_close")} title={t("new_close")}>
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
