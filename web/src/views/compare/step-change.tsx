// The mean step of both runs: two bars on one scale, and the table with the change of each category.
import { isKnown, sum } from "../../base/aggregate.ts";
import { ABSENT, exact, short } from "../../base/format.ts";
import { Mirrored, type MirroredPart } from "../../draw/charts/mirrored.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { c, type Diff, diffCsv, placeIn, type Side } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { showPartIn } from "../../model/moments.ts";
import { themeVersion } from "../../model/theme.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { defined } from "../shared/table-source.ts";
import { changeCell, shareOfChange, signed, strongest } from "./change.tsx";

type Part = Row<"diff", "breakdown">;

export const wordOf = (category: string | null): string =>
  CATEGORIES.some((k) => k === category) ? t(`cat_${category as (typeof CATEGORIES)[number]}`) : String(category);

const partOf = (r: Part): MirroredPart => ({
  id: String(r.category),
  label: wordOf(r.category),
  fill: fillOf(String(r.category)),
  a: r.a ?? 0,
  b: r.b ?? 0,
  card: (
    <>
      <b>{wordOf(r.category)}</b>
      <p>
        A {short(r.a, "ns")}, B {short(r.b, "ns")}, {signed(r.change, "ns")} ({shareOfChange(r.a, r.b)})
      </p>
    </>
  ),
});

/** Where a category takes most in B, or in A where only A has it. */
function showPart(r: Part | undefined, both: readonly [Side, Side]): void {
  if (!r) return;
  const side = (r.b ?? 0) > 0 ? both[1] : both[0];
  showPartIn(String(r.category), `${side.id}: ${wordOf(r.category)}`, placeIn(side));
}

export function StepChange({ asked, both }: { asked: Diff; both: readonly [Side, Side] }) {
  themeVersion.value; // text on fills follows the theme
  const rows = rowsOf(asked.value?.tables.breakdown);
  const totals = [sum(rows, (r) => r.a), sum(rows, (r) => r.b)] as const;
  const names = both.map((s, i) => `${s.id}  ${s.name}  ${short(totals[i], "ns")}`) as unknown as [string, string];
  const show = (category: string) =>
    showPart(
      rows.find((r) => r.category === category),
      both,
    );
  const label = c("step_label", { a: short(totals[0], "ns"), b: short(totals[1], "ns") });
  return (
    <Panel
      span="w7"
      name={c("step")}
      words={c("step_words")}
      define={defined(asked.value, "breakdown", "change")}
      csv={diffCsv(both, "breakdown")}
      asked={asked}
      height={420}
      figure={label}
    >
      <div class="pad">
        <Mirrored parts={rows.map(partOf)} names={names} label={label} onPart={show} />
      </div>
      <StepTable rows={rows} totals={totals} show={show} />
    </Panel>
  );
}

interface StepTableProps {
  rows: readonly Part[];
  totals: readonly [number, number];
  show: (category: string) => void;
}

function StepTable({ rows, totals, show }: StepTableProps) {
  const most = strongest(
    rows.map((r) => r.change),
    totals[0],
  );
  const time = (v: CellValue) =>
    isKnown(v) ? (
      <span title={exact(v, "ns")}>
        <Value text={short(v, "ns")} />
      </span>
    ) : (
      ABSENT
    );
  const columns: TableColumn[] = [
    { name: "category", title: t("category"), text: true, sortable: false },
    { name: "a", title: "A", width: 96, show: time, sortable: false },
    { name: "b", title: "B", width: 96, show: time, sortable: false },
    { name: "change", title: c("change"), width: 116, show: changeCell(most), sortable: false },
    { name: "share", title: c("change_share"), width: 96, soft: true, sortable: false, leaves: 1 },
  ];
  // A category that neither run has says nothing here.
  const shown = rows.filter((r) => (r.a ?? 0) > 0 || (r.b ?? 0) > 0);
  const row = (i: number): TableRow => {
    const r = shown[i] as Part;
    return {
      key: String(r.category),
      shows: true,
      label: (
        <>
          <Swatch color={fillOf(String(r.category))} /> {wordOf(r.category)}
        </>
      ),
      cell: (name) =>
        name === "share"
          ? shareOfChange(r.a, r.b)
          : name === "a"
            ? r.a
            : name === "b"
              ? r.b
              : name === "change"
                ? r.change
                : null,
    };
  };
  const change = totals[1] - totals[0];
  const sums: Record<string, CellValue> = { a: totals[0], b: totals[1], change, share: shareOfChange(...totals) };
  return (
    <Table
      name={c("step")}
      columns={columns}
      total={shown.length}
      rowHeight={32}
      row={row}
      onTimeline={(r) => show(r.key)}
      timelineLabel={c("find_name")}
      sum={(name) => sums[name]}
      sumLabel={<span class="under-swatch">{c("total")}</span>}
    />
  );
}
