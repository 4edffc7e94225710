// Advice: rows sorted by what they save; a row opens to the code, its evidence, and how the saving was computed.
import { useState } from "preact/hooks";
import type { Severity } from "../../api/types.ts";
import { short } from "../../base/format.ts";
import { cutMiddle, kernelLabel } from "../../base/names.ts";
import { paper } from "../../base/paper.ts";
import { type AdviceEvent, type AdviceLine, eventsOf, inOrder, keepMuted, readMuted, showAdvice } from "../../model/evidence.ts";
import { language, t } from "../../model/language.ts";
import { choice, go } from "../../model/route.ts";
import { type AskedFor, allRanks, csvUrl, isSummary, rowsOf } from "../../model/trace.ts";
import { WithCode } from "../../widgets/controls.tsx";
import { Icon, SeverityMark } from "../../widgets/icons.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { CodeLink } from "./code-link.tsx";
import { defined } from "./table-source.ts";

// The color of what a piece of advice is about; device time where nothing else fits.
const ABOUT: readonly (readonly [RegExp, string])[] = [
  [/^data_/, "var(--data_loader)"],
  [/copies|pageable/, "var(--memcpy)"],
  [/sync|host_late|allocator|dependency/, "var(--runtime)"],
  [/communication|straggler|imbalance|nccl|parallel/, "var(--communication)"],
  [/small_kernels|optimizer|profiler/, "var(--cpu_exec)"],
];

const fillFor = (id: string): string => ABOUT.find(([re]) => re.test(id))?.[1] ?? "var(--kernel)";

const FIRST = 3; // that are shown at first: the others save less

export function Advice({ asked }: { asked: AskedFor<"advise"> }) {
  const [shown, setShown] = choice("advices", "first");
  const [muted, setMuted] = useState(readMuted);
  const all = rowsOf(asked.value?.tables.advice);
  const rows = inOrder(all, muted);
  const setAndKeep = (ids: string[]) => {
    keepMuted(ids);
    setMuted(ids);
  };
  const mute = (id: string) => setAndKeep([...muted, id]);
  const unmute = () => setAndKeep([]);
  const whole = shown === "all" || rows.length <= FIRST || paper.value;
  return (
    <Panel
      span="w12 advice-panel"
      name={t("advice")}
      define={defined(asked.value, "advice", "saves")}
      words={rows.length ? t("advice_words", { n: rows.length }) : undefined}
      csv={csvUrl("advise", "advice")}
      asked={asked}
      height={165}
      controls={
        all.length > rows.length ? (
          <button type="button" class="link" onClick={unmute}>
            {t("muted_n", { n: all.length - rows.length })}
          </button>
        ) : null
      }
    >
      {rows.length === 0 ? (
        <p class="empty">{nothingFound(asked.value, all.length > 0)}</p>
      ) : (
        <>
          {(whole ? rows : rows.slice(0, FIRST)).map((r) => (
            <AdviceRow key={String(r.id) + String(r.name ?? "")} row={r} asked={asked} mute={mute} />
          ))}
          {whole ? null : (
            <button type="button" class="advice-rest link" onClick={() => setShown("all")}>
              {t("advice_rest", { n: rows.length - FIRST })}
            </button>
          )}
        </>
      )}
    </Panel>
  );
}

/** No rows: what the answer itself says of that, where little could be checked or the bottleneck is
 * elsewhere. */
function nothingFound(answer: AskedFor<"advise">["value"], muted: boolean): string {
  const verdict = answer?.verdict;
  if (/_cut$|_lost$|_empty$/.test(verdict?.id ?? "")) return t("no_advice_cut");
  return verdict && !muted && verdict.id !== "nothing_to_advise" ? sentences(verdict.text[language.value]) : t("no_advice");
}

/** Two sentences, each with its full stop. */
function sentences(...parts: string[]): string {
  const stop = language.value === "zh" ? "。" : ".";
  const between = language.value === "zh" ? "" : " ";
  return parts.map((p) => (/[.。]$/.test(p) ? p : p + stop)).join(between);
}

/** A share as people say it: what would be written as 0.0 % is less than the smallest that can be written. */
const sharePart = (v: number | null): string => (v !== null && v < 0.0005 ? `<${short(0.001, "share")}` : short(v, "share"));

interface RowProps {
  row: AdviceLine;
  asked: AskedFor<"advise">; // all of the advice, which one row may be part of
  mute?: (id: string) => void;
  brief?: boolean;
}

export function AdviceRow({ row, asked, mute, brief }: RowProps) {
  const [open, setOpen] = useState(false);
  const share = row.share ?? 0; // of the picture
  // Its time is already saved by another: it saves nothing more, which is not nothing.
  const whole = rowsOf(asked.value?.tables.advice).find((r) => r.id === row.included_in);
  const within = whole && !row.saves ? String(whole.title) : undefined;
  const events = eventsOf(asked, String(row.id));
  return (
    <article class={`advice ${brief ? "brief" : ""}`}>
      <SeverityMark severity={row.severity as Severity} label={t(`sev_${row.severity as Severity}`)} />
      <div class="advice-text">
        <button type="button" class="advice-title" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} size={12} />
          {String(row.title)}
        </button>
        <p>
          <WithCode text={sentences(String(row.evidence), String(row.suggestion))} />{" "}
          <CodeLink text={`${row.title} ${row.evidence} ${row.suggestion}`} />
          {allRanks.value && row.worker ? (
            <span class="t3"> {t("advice_ranks", { n: row.workers ?? 1, worker: String(row.worker) })}</span>
          ) : null}
        </p>
        {open ? <Opened row={row} events={events} mute={mute} /> : null}
      </div>
      {brief ? null : row.saves === null ? (
        <span class="advice-picture none" />
      ) : (
        <svg class="advice-picture" width="110" height="8" role="img" aria-label={short(row.share, "share")}>
          <rect width="110" height="8" rx="1.5" fill="var(--track)" />
          <rect width={Math.max(share > 0 ? 2 : 0, share * 110)} height="8" rx="1.5" fill={fillFor(String(row.id))} />
        </svg>
      )}
      <div class="saves">
        <span>
          {row.saves === null
            ? t("not_estimated")
            : within
              ? t("saves_within")
              : row.saves === 0
                ? t("saves_nothing")
                : t("saves")}
        </span>
        {within ? <span class="t3">{within}</span> : null}
        {!row.saves || within ? null : (
          <span>
            <b>{short(row.saves, "ns")}</b> <span class="t3">{sharePart(row.share)}</span>
          </span>
        )}
      </div>
      {allRanks.value && !row.worker ? (
        <button type="button" class="link" onClick={() => go({ view: "distributed" })}>
          {t("distributed")} →
        </button>
      ) : row.from === null || isSummary() ? (
        <span class="link-space" />
      ) : (
        <button type="button" class="link" onClick={() => showAdvice(row, events)}>
          {t("show_in_timeline")}
        </button>
      )}
    </article>
  );
}

/** What is below an open row: the events it is based on, each a link to the timeline, and how the saving was
 * computed. */
function Opened({ row, events, mute }: { row: AdviceLine; events: readonly AdviceEvent[]; mute?: RowProps["mute"] }) {
  return (
    <>
      {row.code ? <Code text={row.code} /> : null}
      {events.length ? (
        <>
          <p class="advice-basis">
            <b>{t("advice_events", { n: events.length })}</b>
          </p>
          <ol class="advice-events">
            {events.map((e, i) => (
              <li key={`${e.slice} ${e.from}`}>
                <button type="button" class="link" title={String(e.name ?? "")} onClick={() => showAdvice(row, events, i)}>
                  {eventName(e)}
                </button>
                <span class="t3">
                  {e.step === null ? "" : `${t("step_n", { n: String(e.step) })} · `}
                  {short(e.cost, "ns")}
                </span>
              </li>
            ))}
          </ol>
        </>
      ) : null}
      <p class="advice-basis">
        <b>{t("how_computed")}</b> {String(row.basis ?? "–")}
        {mute ? (
          <button type="button" class="link" onClick={() => mute(String(row.id))}>
            {t("mute")}
          </button>
        ) : null}
      </p>
    </>
  );
}

/** The change itself, to copy. */
function Code({ text }: { text: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    setCopied(true);
  };
  return (
    <div class="advice-code">
      <pre>
        <code>{text}</code>
      </pre>
      <button type="button" class="button" onClick={() => void copy()}>
        {copied ? t("copied") : t("copy_code")}
      </button>
    </div>
  );
}

/** What an event is called: of a gap, what the device waited for. */
export function eventName(e: AdviceEvent): string {
  const onDevice = e.kind === "kernel" || e.kind === "gap";
  const name = e.name ? (onDevice ? kernelLabel(e.name, 60) : cutMiddle(e.name, 60)) : "";
  if (e.kind !== "gap") return name || t("tl_step_n", { n: String(e.step ?? "") });
  return name ? t("gap_before", { name }) : t("gap_at_end");
}
