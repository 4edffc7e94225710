// Operators or kernels of both runs side by side: what changed most is first, unless the reader sorts.
import { isKnown, type Maybe } from "../../base/aggregate.ts";
import { thousands } from "../../base/format.ts";
import { fuzzy } from "../../base/fuzzy.ts";
import { foldKernel, kernelLabel } from "../../base/names.ts";
import { c, cOr, type Diff, type DiffRow, diffCsv, placeIn, type Side, stepOf } from "../../model/compare.ts";
import { showName } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { sortKeys } from "../../widgets/sort.ts";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { columns, wholeTable } from "../shared/table-source.ts";
import { changeCell, RampLegend, shareOfChange, strongest } from "./change.tsx";

export const ONLY = ["all", "changed", "a", "b"] as const;
export type Only = (typeof ONLY)[number];

const STATUS: Record<Only, (status: string | null) => boolean> = {
  all: () => true,
  changed: (s) => s === "changed",
  a: (s) => s === "removed",
  b: (s) => s === "added",
};

/** Time of a row in a run: what the change is of. */
const timeOf = (r: DiffRow, side: "a" | "b"): Maybe => {
  const [device, host] = side === "a" ? [r.device_a, r.host_a] : [r.device_b, r.host_b];
  return isKnown(device) || isKnown(host) ? (device ?? 0) + (host ?? 0) : null;
};

const cellOf = (r: DiffRow, column: string): CellValue =>
  column === "share" ? relative(r) : ((r as unknown as Record<string, CellValue>)[column] ?? null);

function relative(r: DiffRow): number | null {
  const [a, b] = [timeOf(r, "a"), timeOf(r, "b")];
  return isKnown(a) && isKnown(b) && a > 0 ? (b - a) / a : null;
}

/** Rows of a filter in the order of a sort; without one, the largest change either way comes first. */
export function inOrder(rows: readonly DiffRow[], only: Only, text: string, sort: string): DiffRow[] {
  const kept = rows.filter((r) => STATUS[only](r.status) && (text === "" || fuzzy(text, r.name ?? "")));
  const keys = sortKeys(sort);
  if (keys.length === 0) return kept.sort((x, y) => Math.abs(y.change ?? 0) - Math.abs(x.change ?? 0));
  return kept.sort((x, y) => {
    for (const k of keys) {
      const [v, w] = [cellOf(x, k.name), cellOf(y, k.name)];
      if (v === w) continue;
      if (v === null || v === undefined) return 1; // what is absent is last in every order
      if (w === null || w === undefined) return -1;
      const less = typeof v === "number" && typeof w === "number" ? v - w : String(v).localeCompare(String(w));
      if (less) return k.order === "asc" ? less : -less;
    }
    return 0;
  });
}

const calls = (v: CellValue) => (isKnown(v) ? (Number.isInteger(v) ? thousands(v) : v.toFixed(1)) : "–");

interface Props {
  asked: Diff;
  both: readonly [Side, Side];
  table: "operators" | "kernels";
}

export function NameChanges({ asked, both, table }: Props) {
  const rows = rowsOf(asked.value?.tables[table]);
  const [only, setOnly] = choice("only", "all");
  const chosen = ONLY.find((o) => o === only) ?? "all";
  const shown = inOrder(rows, chosen, param("q"), param("sort"));
  const count = (o: Only) => rows.filter((r) => STATUS[o](r.status)).length;
  return (
    <Panel
      name={t(table)}
      words={c("operators_words")}
      csv={diffCsv(both, table)}
      asked={asked}
      height={420}
      controls={
        <>
          <RampLegend />
          <Segmented
            label={c("only")}
            chosen={chosen}
            onChoose={setOnly}
            choices={ONLY.map((o) => ({ id: o, label: c(`only_${o}`, { n: thousands(count(o)) }) }))}
          />
          <Filter label={t("filter")} />
        </>
      }
    >
      <Table
        name={t(table)}
        total={shown.length}
        row={(i) => rowOf(shown[i] as DiffRow, table)}
        columns={columnsOf(asked, rows, table)}
        sort={param("sort")}
        onSort={(sort) => go({ params: { sort } })}
        height="max(420px, calc(100vh - 190px))"
        onTimeline={(r) => showIn(r, table, both)}
        timelineLabel={c("find_name")}
        onFilter={(r) => go({ params: { q: String(r.cell("name")) } })}
        empty={rows.length ? t("no_rows") : c(table === "kernels" ? "no_kernels" : "no_operators")}
      />
    </Panel>
  );
}

function columnsOf(asked: Diff, rows: readonly DiffRow[], table: Props["table"]): TableColumn[] {
  const most = strongest(
    rows.map((r) => r.change),
    stepOf(asked),
  );
  const whole = wholeTable(asked.value, table, (r) => String(r.cell("name")));
  const known = (column: keyof DiffRow) => rows.some((r) => r[column] !== null);
  const side = (name: "device" | "host", leaves: number) =>
    known(`${name}_a`) || known(`${name}_b`)
      ? ([
          [`${name}_a`, { title: c(`${name}_a`), width: 100, leaves }],
          [`${name}_b`, { title: c(`${name}_b`), width: 100, leaves }],
        ] as const)
      : [];
  return columns(whole, [
    ["name", { title: c("name"), text: true, mono: true, least: 240 }],
    ["change", { title: c("change"), unit: undefined, width: 116, stays: true, show: changeCell(most) }],
    {
      name: "share",
      title: c("change_share"),
      width: 88,
      leaves: 1,
      soft: true,
      show: (_, row) => shareOfChange(row.cell("time_a") as Maybe, row.cell("time_b") as Maybe),
    },
    ...side("device", 2),
    ...side("host", 3),
    ["calls_a", { title: c("calls_a"), width: 78, leaves: 4, unit: undefined, show: calls }],
    ["calls_b", { title: c("calls_b"), width: 78, leaves: 4, unit: undefined, show: calls }],
    ["status", { title: c("status"), text: true, width: 92, leaves: 5, show: (v) => cOr(`status_${v}`, String(v)) }],
  ]);
}

const rowOf = (r: DiffRow, table: Props["table"]): TableRow => ({
  key: r.name ?? "",
  cell: (name) => (name === "time_a" ? timeOf(r, "a") : name === "time_b" ? timeOf(r, "b") : cellOf(r, name)),
  label:
    r.name === null ? (
      <span class="t3">{c("no_call")}</span>
    ) : (
      <LongName text={table === "kernels" ? foldKernel(r.name) : r.name} />
    ),
  shows: r.name !== null,
});

/** Where the name costs most in B, or in A where only A has it. */
function showIn(row: TableRow, table: Props["table"], both: readonly [Side, Side]): void {
  const side = row.cell("status") === "removed" ? both[0] : both[1];
  const name = String(row.cell("name"));
  showName(table, name, `${side.id}: ${table === "kernels" ? kernelLabel(name, 60) : name}`, { place: placeIn(side) });
}
