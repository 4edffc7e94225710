// Each rank of A against the same rank of B: which one changed by itself, and which only waits for it.
import { c, type Diff, diffCsv, type Side, stepOf } from "../../model/compare.ts";
import { showRankIn } from "../../model/compared.ts";
import { t } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { rowsOf } from "../../model/trace.ts";
import { sortKeys } from "../../widgets/sort.ts";
import type { TableRow } from "../../widgets/table-types.ts";
import { TablePanel } from "../shared/table-panel.tsx";
import { wholeTable } from "../shared/table-source.ts";
import { changeCell, strongest } from "./change.tsx";
import { wordOf } from "./step-change.tsx";

export function RankChanges({ asked, both }: { asked: Diff; both: readonly [Side, Side] }) {
  const rows = rowsOf(asked.value?.tables.ranks);
  if (rows.length < 2) return null;
  const whole = wholeTable(asked.value, "ranks", (r) => String(r.cell("worker")));
  const changes = rows.flatMap((r) => [r.change, r.own_change, r.device_change, r.communication_change]);
  const change = changeCell(strongest(changes, stepOf(asked)));
  const sort = sortKeys(param("rsort"))[0];
  const order = Array.from({ length: whole.total }, (_, i) => whole.row(i) as TableRow);
  if (sort)
    order.sort((x, y) => (sort.order === "asc" ? 1 : -1) * (Number(x.cell(sort.name) ?? 0) - Number(y.cell(sort.name) ?? 0)));
  /** Where the rank spends most of the part of its step that changed most. */
  const show = (row: TableRow) => {
    const rank = rows.find((r) => r.worker === row.cell("worker"));
    const said = (side: Side, category: string) =>
      `${side.id}: ${t("rank_n", { n: String(rank?.rank ?? rank?.worker) })}, ${wordOf(category)}`;
    if (rank) showRankIn(rank, both, said);
  };
  return (
    <TablePanel
      name={c("ranks")}
      words={c("ranks_words")}
      csv={diffCsv(both, "ranks")}
      asked={asked}
      rows={whole}
      row={(i) => ({ ...(order[i] as TableRow), shows: true })}
      list={[
        ["rank", { title: c("rank"), show: (v) => t("rank_n", { n: String(v) }) }],
        ["a", { title: "A", width: 100, leaves: 3 }],
        ["b", { title: "B", width: 100, leaves: 3 }],
        ["change", { title: c("change"), unit: undefined, width: 130, show: change, stays: true }],
        ["own_change", { title: c("own_change"), unit: undefined, width: 150, show: change }],
        ["device_change", { title: c("device_change"), unit: undefined, width: 130, show: change, leaves: 1 }],
        ["communication_change", { title: c("communication_change"), unit: undefined, width: 130, show: change, leaves: 2 }],
      ]}
      table={{
        sort: param("rsort"),
        onSort: (rsort) => go({ params: { rsort } }),
        height: 320,
        onTimeline: show,
        timelineLabel: c("find_name"),
      }}
    />
  );
}
