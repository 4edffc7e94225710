// Operators or kernels of all ranks: how far the ranks are apart in each, who spent most, and how long a call lasts anywhere.
import { ABSENT, scaleOf } from "../../base/format.ts";
import { foldKernel, kernelLabel } from "../../base/names.ts";
import { showName } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { rowsOf } from "../../model/trace.ts";
import { LongName } from "../../widgets/long-name.tsx";
import type { CellValue, TableRow } from "../../widgets/table-types.ts";
import { RankLink, RankRange } from "../shared/rank-range.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";

const number = (v: CellValue) => (typeof v === "number" ? v : undefined);

/** Drawn of three other columns; sorted as the longest is. */
const range = (_: CellValue, row: TableRow) => (
  <RankRange least={number(row.cell("least"))} middle={number(row.cell("median"))} most={number(row.cell("worst"))} />
);

const rank = (v: CellValue) => (typeof v === "string" && v ? <RankLink worker={v} /> : ABSENT);

const labelOf = (what: string, name: string) => (what === "kernels" ? kernelLabel(name, 60) : name);

export function AcrossRanks({ name }: { name: "operators" | "kernels" }) {
  const sort = param("rsort") || "worst:desc";
  const s = source(name, "workers", { sort, filter: param("q") || undefined }, (r) => String(r.cell("name")));
  // Three columns that are compared with each other have one unit.
  const longest = rowsOf(s.table).reduce((most, r) => Math.max(most, r.worst ?? 0), 0);
  const scale = scaleOf("ns", longest);
  return (
    <TablePanel
      name={t("across_ranks")}
      words={t("across_ranks_words")}
      define={defined(s.answer, "workers", "worst")}
      height={220}
      rows={s}
      row={(i) => {
        const r = s.row(i);
        const own = String(r.cell("name") ?? "");
        return { ...r, shows: !r.missing, label: <LongName text={name === "kernels" ? foldKernel(own) : own} /> };
      }}
      table={{
        height: 296,
        sort,
        onSort: (next) => go({ params: { rsort: next } }),
        empty: t("no_rows"),
        timelineLabel: t("show_costliest"),
        onTimeline: (r) => showName(name, String(r.cell("name")), labelOf(name, String(r.cell("name")))),
      }}
      list={[
        ["name", { text: true, mono: true, title: t(name === "kernels" ? "kernel" : "operator") }],
        ["workers", { width: 70, title: t("spread_workers"), leaves: 3 }],
        { name: "range", width: 180, text: true, title: t("spread_range"), sortable: false, show: range },
        ["least", { width: 106, title: t("spread_min"), scale }],
        ["median", { width: 106, title: t("spread_median"), scale }],
        ["worst", { width: 106, title: t("spread_max"), scale, stays: true }],
        ["worst_worker", { width: 110, text: true, title: t("spread_max_worker"), show: rank, stays: true }],
        ["p50", { width: 110, title: t("spread_p50"), leaves: 2 }],
        ["p99", { width: 110, title: t("spread_p99"), leaves: 1 }],
      ]}
    />
  );
}
