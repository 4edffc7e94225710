// Advice: rows sorted by what they save; a row opens to how the saving was computed.
import { useState } from "preact/hooks";
import type { Severity } from "../../api/types.ts";
import { isKnown, largestFirst } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { language, t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { type AskedFor, allRanks, csvUrl, currentRun, type Row, rowsOf } from "../../model/trace.ts";
import { WithCode } from "../../widgets/controls.tsx";
import { SeverityMark } from "../../widgets/icons.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "./table-source.ts";

// The colour of what a piece of advice is about; device time where nothing else fits.
const ABOUT: readonly (readonly [RegExp, string])[] = [
  [/^data_/, "var(--data_loader)"],
  [/copies|pageable/, "var(--memcpy)"],
  [/sync|host_late|allocator|dependency/, "var(--runtime)"],
  [/communication|straggler|imbalance|nccl|parallel/, "var(--communication)"],
  [/small_kernels|optimizer|profiler/, "var(--cpu_exec)"],
];

const fillFor = (id: string): string => ABOUT.find(([re]) => re.test(id))?.[1] ?? "var(--kernel)";

const mutedKey = () => `tacho.muted.${currentRun.value?.path ?? ""}`;
const readMuted = (): string[] => {
  try {
    return JSON.parse(localStorage.getItem(mutedKey()) ?? "[]") as string[];
  } catch {
    return [];
  }
};

export function Advice({ asked }: { asked: AskedFor<"advise"> }) {
  const [muted, setMuted] = useState(readMuted);
  const all = rowsOf(asked.value?.tables.advice);
  const rows = all.filter((r) => !muted.includes(String(r.id))).sort(largestFirst((r) => r.saves));
  const mute = (id: string) => {
    const next = [...muted, id];
    localStorage.setItem(mutedKey(), JSON.stringify(next));
    setMuted(next);
  };
  const unmute = () => {
    localStorage.removeItem(mutedKey());
    setMuted([]);
  };
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
        <p class="empty">{t("no_advice")}</p>
      ) : (
        rows.map((r) => <AdviceRow key={String(r.id) + String(r.name ?? "")} row={r} rows={all} mute={mute} />)
      )}
    </Panel>
  );
}

type AdviceLine = Row<"advise", "advice">;

/** What the timeline shows of it, with some room at both sides. */
function viewOf({ from, to }: AdviceLine): { view?: string } {
  if (!isKnown(from) || !isKnown(to)) return {};
  const pad = Math.max(1000, (to - from) * 0.2);
  return { view: `${Math.max(0, Math.round(from - pad))}-${Math.round(to + pad)}` };
}

function toTimeline(row: AdviceLine): void {
  // Advice about all ranks names the one that shows it best.
  const on = allRanks.value && row.worker ? { worker: String(row.worker) } : {};
  go({ view: "timeline", params: { ...on, ...viewOf(row), ...(row.name ? { find: String(row.name) } : {}) } });
}

/** Two sentences, each with its full stop. */
function sentences(...parts: string[]): string {
  const stop = language.value === "zh" ? "。" : ".";
  const between = language.value === "zh" ? "" : " ";
  return parts.map((p) => (/[.。]$/.test(p) ? p : p + stop)).join(between);
}

interface RowProps {
  row: AdviceLine;
  rows?: readonly AdviceLine[]; // all of the advice, which one row may be part of
  mute?: (id: string) => void;
  brief?: boolean;
}

export function AdviceRow({ row, rows, mute, brief }: RowProps) {
  const [open, setOpen] = useState(false);
  const share = row.share ?? 0; // of the picture
  // Its time is already saved by another: it saves nothing more, which is not nothing.
  const whole = rows?.find((r) => r.id === row.included_in);
  const within = whole && !row.saves ? String(whole.title) : undefined;
  return (
    <article class={`advice ${brief ? "brief" : ""}`}>
      <SeverityMark severity={row.severity as Severity} label={t(`sev_${row.severity as Severity}`)} />
      <div class="advice-text">
        <button type="button" class="advice-title" aria-expanded={open} onClick={() => setOpen(!open)}>
          {String(row.title)}
        </button>
        <p>
          <WithCode text={sentences(String(row.evidence), String(row.suggestion))} />
          {allRanks.value && row.worker ? (
            <span class="t3"> {t("advice_ranks", { n: row.workers ?? 1, worker: String(row.worker) })}</span>
          ) : null}
        </p>
        {open ? (
          <p class="advice-basis">
            <b>{t("how_computed")}</b> {String(row.basis ?? "–")}
            {mute ? (
              <button type="button" class="link" onClick={() => mute(String(row.id))}>
                {t("mute")}
              </button>
            ) : null}
          </p>
        ) : null}
      </div>
      {brief ? null : (
        <svg class="advice-picture" width="190" height="10" role="img" aria-label={short(row.share, "share")}>
          <rect width="190" height="10" rx="1.5" fill="var(--track)" />
          <rect width={Math.max(share > 0 ? 2 : 0, share * 190)} height="10" rx="1.5" fill={fillFor(String(row.id))} />
        </svg>
      )}
      <div class="saves">
        <span>{row.saves === null ? t("not_estimated") : within ? t("saves_within") : t("saves")}</span>
        {within ? <span class="t3">{within}</span> : null}
        {row.saves === null || within ? null : (
          <span>
            <b>{short(row.saves, "ns")}</b> <span class="t3">{short(row.share, "share")}</span>
          </span>
        )}
      </div>
      {brief ? null : row.from === null ? (
        <span class="link-space" />
      ) : (
        <button type="button" class="link" onClick={() => toTimeline(row)}>
          {t("show_in_timeline")}
        </button>
      )}
    </article>
  );
}
