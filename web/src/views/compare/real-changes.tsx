// Is it real: what was measured in both runs, the change, and the range in which it would lie if all were repeated.
import { isKnown, type Maybe } from "../../base/aggregate.ts";
import { ABSENT, scaleOf, short, THIN, type Unit } from "../../base/format.ts";
import { tip } from "../../base/tip.tsx";
import { c, cOr, type Diff, diffCsv, type Side } from "../../model/compare.ts";
import { showMeasuredIn, tellingSide } from "../../model/compared.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { defined } from "../shared/table-source.ts";
import { signed } from "./change.tsx";

type Measured = Row<"diff", "changes">;

const UNITS: Record<string, Unit> = { ns: "ns", bytes: "bytes", count: "count", share: "share" };
const unitOf = (r: Measured): Unit => UNITS[r.unit ?? ""] ?? "plain";
const show = (r: Measured, v: Maybe): string => (isKnown(v) ? short(v, unitOf(r)) : ABSENT);

const wordOf = (metric: string): string => cOr(`metric_${metric}`, metric.replace(/_/g, " "));

/** What the interval says about the change, in a word. */
const verdictOf = (r: Measured): string => cOr(`real_${r.judgment}`, String(r.judgment).replace(/_/g, " "));

/** Both ends in one unit. */
function rangeOf(r: Measured): string {
  const { low, high } = r;
  if (!isKnown(low) || !isKnown(high) || r.change === 0) return ABSENT;
  const unit = unitOf(r);
  const scale = scaleOf(unit, Math.max(Math.abs(low), Math.abs(high)));
  const digits = Math.max(0, scale.digits - 1); // three significant ones
  const end = (v: number) => (v < 0 ? "−" : "+") + Math.abs(v / scale.factor).toFixed(digits);
  return `${end(low)} … ${end(high)}${scale.unit ? THIN + scale.unit : ""}`;
}

export function RealChanges({ asked, both }: { asked: Diff; both: readonly [Side, Side] }) {
  // What only one run has is not a change.
  const rows = rowsOf(asked.value?.tables.changes).filter((r) => isKnown(r.change));
  if (asked.value && rows.length === 0) return null;
  /** Where B has most of it, or A where B has nothing. */
  const show = (row: TableRow) => {
    const side = tellingSide(rows.find((r) => r.metric === row.key) as Measured, both);
    if (side) showMeasuredIn(row.key, `${side.id}: ${wordOf(row.key)}`, side);
  };
  const columns: TableColumn[] = [
    { name: "metric", title: c("metric"), text: true, sortable: false, least: 96 },
    { name: "a", title: "A", width: 78, soft: true, sortable: false, leaves: 2 },
    { name: "b", title: "B", width: 78, soft: true, sortable: false, leaves: 2 },
    { name: "change", title: c("change"), width: 88, sortable: false, stays: true },
    { name: "certain", title: c("is_real"), text: true, width: 110, sortable: false, stays: true },
    { name: "range", title: c("range"), width: 152, soft: true, sortable: false, leaves: 1 },
  ];
  return (
    <Panel
      span="fill"
      name={c("real")}
      words={c("real_words")}
      define={defined(asked.value, "changes", "certain")}
      csv={diffCsv(both, "changes")}
      asked={asked}
      height={180}
    >
      <Table
        name={c("real")}
        columns={columns}
        total={rows.length}
        row={(i) => ({ ...rowOf(rows[i] as Measured), shows: tellingSide(rows[i] as Measured, both) !== undefined })}
        onTimeline={show}
        timelineLabel={c("find_name")}
      />
    </Panel>
  );
}

const rowOf = (r: Measured): TableRow => ({
  key: String(r.metric),
  cell: (name) => {
    switch (name) {
      case "a":
        return show(r, r.a);
      case "b":
        return show(r, r.b);
      case "change":
        return signed(r.change, unitOf(r));
      case "range":
        return rangeOf(r);
      case "certain":
        return verdictOf(r);
      default:
        return wordOf(String(r.metric));
    }
  },
  label: isKnown(r.detectable) ? (
    <span
      class="cut"
      {...tip(
        <>
          <b>
            A {show(r, r.a)}, B {show(r, r.b)}
          </b>
          <p>{c("detectable", { v: show(r, r.detectable) })}</p>
          {r.judgment === "may_be_machine" ? <p>{c("real_machine_words")}</p> : null}
        </>,
      )}
    >
      {wordOf(String(r.metric))}
    </span>
  ) : undefined,
});
