// Why one is here: the advice or the row that led to the timeline, its other events, and the way back.
import { useEffect, useRef } from "preact/hooks";
import type { Severity } from "../../api/types.ts";
import { short } from "../../base/format.ts";
import { closeEvidence, goBack, goToAdvice, goToEvent, type ShownAdvice, showAdvice, shownAdvice } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { param, parsePlace } from "../../model/route.ts";
import { Key, WithCode } from "../../widgets/controls.tsx";
import { Icon, SeverityMark } from "../../widgets/icons.tsx";
import { eventName } from "../shared/advice.tsx";

/** A comparison gives its own sentence; other rows are what costs most of something. */
export function EvidenceStrip() {
  const claim = param("claim");
  if (param("advice")) return <AdviceStrip />;
  if (!claim) return null;
  return (
    <aside class="tl-strip" aria-label={t("strip")}>
      <Back />
      <span class="tl-strip-text">
        {parsePlace(param("back")).view === "compare" ? (
          <WithCode text={claim} />
        ) : (
          <>
            <b>{t("strip_costliest")}</b> <code>{claim}</code>
          </>
        )}
      </span>
      <Close />
    </aside>
  );
}

function AdviceStrip() {
  const shown = shownAdvice();
  const placed = useRef("");
  const now = shown && `${shown.row.id} ${shown.event}`;
  // Advice of all ranks was opened in one of them, or a link names it: its events are known only now.
  useEffect(() => {
    if (!shown || !now || placed.current === now) return;
    placed.current = now;
    if (!param("sel")) showAdvice(shown.row, shown.events, shown.event);
  }, [now]);
  return (
    <aside class="tl-strip" aria-label={t("strip")}>
      <Back />
      {shown ? <AdviceWords {...shown} /> : <span class="tl-strip-text" />}
      <Close />
    </aside>
  );
}

function AdviceWords({ row, rows, at, events, event }: ShownAdvice) {
  const now = events[event];
  return (
    <>
      <Steps
        label={t("strip_advice", { n: at + 1, all: rows.length })}
        previous={t("strip_advice_previous")}
        next={t("strip_advice_next")}
        keys="J K"
        go={goToAdvice}
        alone={rows.length < 2}
      />
      <SeverityMark severity={row.severity as Severity} label={t(`sev_${row.severity as Severity}`)} />
      <span class="tl-strip-text" title={String(row.evidence)}>
        <b>{String(row.title)}</b>{" "}
        <span class="t2">
          <WithCode text={String(row.evidence)} />
        </span>
      </span>
      {events.length ? (
        <Steps
          label={t("strip_event", { n: event + 1, all: events.length })}
          previous={t("strip_event_previous")}
          next={t("strip_event_next")}
          keys="j k"
          go={goToEvent}
          alone={events.length < 2}
          detail={now ? `${eventName(now)} · ${short(now.cost, "ns")}` : ""}
        />
      ) : null}
    </>
  );
}

interface StepsProps {
  label: string;
  previous: string;
  next: string;
  keys: string;
  alone: boolean;
  detail?: string;
  go: (by: 1 | -1) => void;
}

/** "2 of 7 ‹ ›". */
function Steps({ label, previous, next, keys, go, alone, detail }: StepsProps) {
  return (
    <span class="tl-strip-steps" title={detail ?? ""}>
      <span aria-live="polite">{label}</span>
      {alone ? null : (
        <>
          <button
            type="button"
            class="tl-bare"
            aria-label={previous}
            title={`${previous} (${keys.split(" ")[1]})`}
            onClick={() => go(-1)}
          >
            ‹
          </button>
          <button type="button" class="tl-bare" aria-label={next} title={`${next} (${keys.split(" ")[0]})`} onClick={() => go(1)}>
            ›
          </button>
        </>
      )}
    </span>
  );
}

function Back() {
  const to = param("back");
  if (!to) return null;
  const view = parsePlace(to).view;
  return (
    <button type="button" class="button tl-back" onClick={goBack}>
      ← {t(view as "overview")} <Key>b</Key>
    </button>
  );
}

const Close = () => (
  <button type="button" class="tl-bare" aria-label={t("strip_close")} title={t("strip_close")} onClick={closeEvidence}>
    <Icon name="close" size={13} />
  </button>
);
