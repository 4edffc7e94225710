// The average step of all ranks: how far they are apart in each category, and whose the shortest and longest are.
import { isKnown, largest } from "../../base/aggregate.ts";
import { ABSENT, chartScale, exact, inScale } from "../../base/format.ts";
import { fillOf } from "../../draw/patterns.tsx";
import { showCategoryOf } from "../../model/costliest.ts";
import { type Key, t } from "../../model/language.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { RankLink, RankRange } from "../shared/rank-range.tsx";
import { panelFor } from "../shared/table-source.ts";

type Spread = Row<"overview", "spread">;

export function RankSpread({ asked }: { asked: AskedFor<"overview"> }) {
  const table = asked.value?.tables.spread;
  const rows = rowsOf(table);
  if (rows.length === 0) return null;
  const scale = chartScale(
    "ns",
    largest(rows, (r) => r.max, 1),
  );
  const time = (v: CellValue) => (isKnown(v) ? <span title={exact(v, "ns")}>{inScale(v, scale)}</span> : ABSENT);
  const help = (name: string) => table?.columns.find((c) => c.name === name)?.help;
  const column = (name: string, title: string, more: Partial<TableColumn>): TableColumn => ({
    name,
    title,
    help: help(name),
    path: `overview.spread.${name}`,
    ...more,
  });
  const rank = (v: CellValue) => (typeof v === "string" && v ? <RankLink worker={v} /> : ABSENT);
  const columns: TableColumn[] = [
    column("category", t("category"), { text: true, width: 150 }),
    column("range", t("spread_range"), {
      text: true,
      show: (_, row) => rangeOf(rows.find((r) => r.category === row.key)),
    }),
    ...(["min", "median", "max"] as const).map((name) =>
      column(name, `${t(`spread_${name}`)}, ${scale.unit}`, { width: 110, show: time }),
    ),
    column("max_worker", t("spread_max_worker"), { text: true, width: 150, show: rank }),
    column("min_worker", t("spread_min_worker"), { text: true, width: 150, show: rank }),
  ];
  return (
    <Panel span="w12" name={t("across_ranks")} words={t("spread_words")} {...panelFor(asked, "overview", "spread", "category")}>
      <Table
        name={t("across_ranks")}
        columns={columns}
        total={rows.length}
        row={(i) => rowOf(rows[i] as Spread)}
        timelineLabel={t("show_costliest")}
        onTimeline={(r) => showCategoryOf(r.key, wordOf(r.key), { worker: String(r.cell("max_worker")) })}
      />
    </Panel>
  );
}

const rangeOf = (r: Spread | undefined) => <RankRange least={r?.min} middle={r?.median} most={r?.max} />;

const wordOf = (category: string): string => (category === "total" ? t("total") : t(`cat_${category}` as Key));

function rowOf(r: Spread): TableRow {
  const category = r.category ?? "";
  return {
    key: category,
    shows: category !== "total" && !!r.max && !!r.max_worker,
    label: (
      <>
        <Swatch color={category === "total" ? "var(--t3)" : fillOf(category as Parameters<typeof fillOf>[0])} />{" "}
        {wordOf(category)}
      </>
    ),
    cell: (name) => (r as unknown as Record<string, CellValue>)[name],
  };
}
