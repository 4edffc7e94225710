// History: at which commit did a measure change its level?
import { isKnown } from "../../base/aggregate.ts";
import { ABSENT, percent, short, type Unit } from "../../base/format.ts";
import { askHistory, h } from "../../model/history.ts";
import { t } from "../../model/language.ts";
import { csvUrl, currentRun, factOf, hasData, info, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { TablePanel } from "../shared/table-panel.tsx";
import { wholeTable, yesNo } from "../shared/table-source.ts";
import { Headline, Verdict } from "../shared/verdict.tsx";
import {
  type HistoryChange,
  type HistoryPoint,
  METRICS,
  type Metric,
  MetricCharts,
  nameOf,
  shortCommit,
  UNIT_OF,
} from "./metric-charts.tsx";

export function History() {
  // Not known yet whether there is anything to ask: no answer, or that of the run before.
  if (factOf("format") === undefined || info().value?.trace.run !== currentRun.value?.name) return null;
  return hasData("history") ? <Runs /> : <None />;
}

const None = () => <Headline title={h("none")} facts={[h("none_words")]} />;

function Runs() {
  const asked = askHistory();
  if (asked.error) return <None />;
  const points = rowsOf(asked.value?.tables.points);
  const changes = rowsOf(asked.value?.tables.changes);
  const facts = [
    h("facts", { n: points.length, first: nameOf(points[0]), last: nameOf(points.at(-1)) }),
    changes.length ? h("facts_changes", { n: changes.length }) : undefined,
  ];
  return (
    <>
      <Verdict answer={asked.value} otherwise={t("history")} facts={facts} />
      <div class="grid">
        <MetricCharts asked={asked} points={points} changes={changes} />
        <Changes changes={changes} />
        <Points />
      </div>
    </>
  );
}

const unitOf = (c: HistoryChange): Unit => (METRICS.some((m) => m === c.metric) ? UNIT_OF[c.metric as Metric] : "plain");

const signedShare = (v: number | null): string => (isKnown(v) ? (v > 0 ? "+" : "") + percent(v, 1) : ABSENT);

const COLUMNS = (): TableColumn[] => [
  { name: "metric", title: h("metric"), text: true, sortable: false, least: 90, stays: true },
  { name: "commit", title: h("commit"), text: true, sortable: false, width: 120 },
  { name: "commit_before", title: h("commit_before"), text: true, sortable: false, width: 120, soft: true, leaves: 1 },
  { name: "before", title: h("before"), sortable: false, width: 90, soft: true, leaves: 3 },
  { name: "after", title: h("after"), sortable: false, width: 90, soft: true, leaves: 3 },
  { name: "change", title: h("change"), sortable: false, width: 90, stays: true },
  { name: "range", title: h("range"), sortable: false, width: 150, soft: true, leaves: 2 },
  { name: "certain", title: h("certain"), text: true, sortable: false, width: 80 },
];

function cellOf(c: HistoryChange, name: string): string {
  switch (name) {
    case "metric":
      return METRICS.some((m) => m === c.metric) ? h(`metric_${c.metric as Metric}`) : (c.metric ?? "");
    case "commit":
      return shortCommit(c.commit) || ABSENT;
    case "commit_before":
      return shortCommit(c.commit_before) || ABSENT;
    case "before":
      return short(c.value_before, unitOf(c));
    case "after":
      return short(c.value_after, unitOf(c));
    case "change":
      return signedShare(c.change);
    case "range":
      return `${signedShare(c.low)} … ${signedShare(c.high)}`;
    default:
      return yesNo(c.certain);
  }
}

function Changes({ changes }: { changes: readonly HistoryChange[] }) {
  const asked = askHistory();
  const row = (i: number): TableRow => {
    const c = changes[i] as HistoryChange;
    return { key: `${c.metric} ${c.at}`, cell: (name) => cellOf(c, name) };
  };
  return (
    <Panel name={h("changes")} words={h("changes_words")} asked={asked} csv={csvUrl("history", "changes")} span="w12">
      {changes.length ? (
        <Table name={h("changes")} columns={COLUMNS()} total={changes.length} row={row} />
      ) : (
        <p class="empty">{h("changes_none")}</p>
      )}
    </Panel>
  );
}

/** The time of day of a run, in the reader's own zone. */
const dayOf = (p: HistoryPoint["time_unix"] | unknown): string =>
  typeof p === "string" ? new Date(Number(p) / 1e6).toLocaleString() : ABSENT;

function Points() {
  const asked = askHistory();
  const rows = wholeTable(asked.value, "points", (r) => String(r.cell("point")));
  return (
    <TablePanel
      name={h("points")}
      words={h("points_words")}
      asked={asked}
      csv={csvUrl("history", "points")}
      span="w12"
      rows={rows}
      list={[
        ["commit", { title: h("commit"), text: true, width: 120, show: (v) => shortCommit(v as string | null) || ABSENT }],
        ["name", { title: h("name"), text: true, soft: true, leaves: 2 }],
        ["time_unix", { title: h("recorded"), text: true, width: 200, soft: true, leaves: 1, show: dayOf }],
        ["step", { title: h("metric_step"), stays: true }],
        ["device", { title: h("metric_device") }],
        ["host", { title: h("metric_host") }],
        ["memory", { title: h("metric_memory") }],
        ["kernels", { title: h("metric_kernels") }],
        ["mfu", { title: h("metric_mfu"), leaves: 3 }],
      ]}
      table={{ height: 360 }}
    />
  );
}
