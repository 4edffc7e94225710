// What did it: the causes from A to B as a waterfall, and each as a sentence with its evidence in both traces.
import { isKnown, sum } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { shownName } from "../../base/names.ts";
import { type Fall, levelsOf, lowOf, Waterfall } from "../../draw/charts/waterfall.tsx";
import { c, cOr, type Diff, diffCsv, lengthsOf, placeIn, type Side, stepOf } from "../../model/compare.ts";
import { showSlice } from "../../model/evidence.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { WithCode } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";
import { RampCell, signed, strongest } from "./change.tsx";

export type Cause = Row<"diff", "causes">;
/** What a row has to be shown in the timelines of both runs. */
export type Seen = Pick<Cause, "title" | "slice_a" | "slice_b" | "worker_a" | "worker_b">;
type Both = readonly [Side, Side];

const REST = "unexplained";

/** What is left over comes last, and is shown only where a reader could see it. */
const inOrder = (rows: readonly Cause[]): Cause[] => [...rows.filter((r) => r.id !== REST), ...rows.filter((r) => r.id === REST)];

const kindOf = (r: Cause): Fall["kind"] => (r.id === REST ? "rest" : r.certain ? "certain" : "uncertain");
const wordOf = (r: Cause): string => cOr(`cause_${r.id}`, String(r.id).replace(/_/g, " "));
const sliceOf = (r: Seen, side: Side): number | null => (side.id === "A" ? r.slice_a : r.slice_b);

/** Opens a cause where it can be seen in the timeline of a side. */
export function showCause(r: Seen, side: Side): void {
  const slice = sliceOf(r, side);
  if (isKnown(slice)) showSlice(slice, `${side.id}: ${r.title ?? ""}`, placeIn(side, side.id === "A" ? r.worker_a : r.worker_b));
}

/** The side that shows a cause best: what is gone can only be seen in A. */
export const tellingSide = (r: Seen, both: Both): Side | undefined => [both[1], both[0]].find((s) => isKnown(sliceOf(r, s)));

export function CauseWaterfall({ asked, both }: { asked: Diff; both: Both }) {
  const rows = inOrder(rowsOf(asked.value?.tables.causes));
  const [a, b] = lengthsOf(asked);
  const falls = rows.map(
    (r, i): Fall => ({
      id: String(i),
      label: wordOf(r),
      detail: r.name === null ? undefined : shownName(r.name),
      change: r.change ?? 0,
      text: signed(r.change, "ns"),
      kind: kindOf(r),
    }),
  );
  const low = lowOf(levelsOf(a, falls));
  const label = c("waterfall_label", {
    v: signed(b - a, "ns"),
    list: falls.map((f) => `${f.label} ${f.text}`).join(", "),
  });
  const open = (id: string) => {
    const cause = rows[Number(id)];
    const side = cause && tellingSide(cause, both);
    if (side) showCause(cause, side);
  };
  const end = (i: 0 | 1, value: number) => ({ label: `${both[i].id} ${both[i].name}`, value, text: short(value, "ns") });
  return (
    <Panel
      name={c("waterfall")}
      words={low > 0 ? c("waterfall_cut", { v: short(low, "ns") }) : c("waterfall_words")}
      define={defined(asked.value, "causes", "change")}
      csv={diffCsv(both, "causes")}
      asked={asked}
      height={260}
      figure={label}
    >
      <div class="pad">
        <Waterfall from={end(0, a)} to={end(1, b)} falls={falls} label={label} onFall={open} />
      </div>
    </Panel>
  );
}

export function CauseList({ asked, both }: { asked: Diff; both: Both }) {
  const rows = inOrder(rowsOf(asked.value?.tables.causes));
  const most = strongest(
    rows.map((r) => r.change),
    stepOf(asked),
  );
  const all = sum(rows, (r) => r.change);
  return (
    <Panel
      name={c("causes")}
      words={c("causes_words", { v: signed(all, "ns") })}
      define={defined(asked.value, "causes", "certain")}
      csv={diffCsv(both, "causes")}
      asked={asked}
      height={160}
    >
      {asked.value && rows.every((r) => r.id === REST || !r.certain) ? <p class="empty">{c("no_causes")}</p> : null}
      {rows.map((r, i) => (
        <CauseRow key={i} cause={r} both={both} most={most} />
      ))}
    </Panel>
  );
}

/** Opens the row's event in the timeline of each run that has one. */
export function SideLinks({ row, both }: { row: Seen; both: Both }) {
  return (
    <span class="cause-links">
      {both.map((s) =>
        isKnown(sliceOf(row, s)) ? (
          <button type="button" key={s.id} class="link" onClick={() => showCause(row, s)} title={c("show_in", { side: s.name })}>
            {c(s.id === "A" ? "in_a" : "in_b")} →
          </button>
        ) : null,
      )}
    </span>
  );
}

function CauseRow({ cause: r, both, most }: { cause: Cause; both: Both; most: number }) {
  const kind = kindOf(r);
  return (
    <div class={`advice cause cause-${kind}`}>
      <span class="cause-kind">
        <b>{wordOf(r)}</b>
        {kind === "rest" ? null : <span class="t3">{c(r.id === "host_speed" ? "machine" : kind)}</span>}
      </span>
      <div class="advice-text">
        <div class="advice-title">
          <WithCode text={r.title ?? ""} />
        </div>
        {r.evidence ? (
          <p>
            <WithCode text={r.evidence} />
          </p>
        ) : null}
      </div>
      <SideLinks row={r} both={both} />
      <span class="cause-change">
        <RampCell value={kind === "certain" ? r.change : null} most={most}>
          <b>{signed(r.change, "ns")}</b>
        </RampCell>
        <span class="t3">{isKnown(r.share) ? signed(r.share, "share") : ""}</span>
      </span>
    </div>
  );
}
