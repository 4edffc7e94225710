// The table of operators: rows open to shapes, then stacks, then frames; those a producer added up, to what it says of them.
import type { ComponentChildren } from "preact";
import { isKnown, largest } from "../../base/aggregate.ts";
import { ABSENT, inScale, percent, type Scale, scaleOf, short } from "../../base/format.ts";
import { shapesLabel } from "../../base/names.ts";
import { nth } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { param } from "../../model/route.ts";
import { isSelected, select } from "../../model/selection.ts";
import { allRanks, analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import type { CellValue, TableRow } from "../../widgets/table-types.ts";
import { codeFrames, EditorMenu, Frames } from "../shared/stack-frames.tsx";
import {
  cellsOf,
  columns,
  type ListedColumn,
  quoted,
  ROOF_COLUMNS,
  ROOF_NAMES,
  type SourceRow,
  source,
  sumsOf,
} from "../shared/table-source.ts";
import { TableView } from "../shared/table-view.tsx";
import { showRow } from "./show-row.ts";
import { sideFilter, Which, whatItIs, within } from "./type-shares.tsx";

export type OperatorRow = Row<"operators", "operators">;

const GROUPS = ["name", "name+shape", "name+stack", "type", "subgraph"] as const;
type Group = (typeof GROUPS)[number];

/** Sums the producer made itself: it knows neither self times nor, of device operators, the host. */
export const isGiven = (rows: readonly OperatorRow[]): boolean =>
  rows.length > 0 && rows.every((r) => r.device_self === null && r.host_self === null);

/** Rows of a finer grouping below one row, all of the same name. */
function finer(name: string, group: string, parent: TableRow, keep: (r: OperatorRow) => boolean): TableRow[] | undefined {
  const asked = analysis(
    "operators",
    { "group-by": group, filter: `name:${quoted(name)}`, limit: 2000, table: "operators", sort: param("sort") || undefined },
    `operators/${parent.key}`,
  );
  if (!asked.value) return undefined;
  const own = rowsOf(asked.value.tables.operators).filter((r) => r.name === name && keep(r));
  const best_rate = largest(own, (r) => r.flops_per_s, 0);
  return own.map((r, i) => childRow({ ...r, best_rate }, `${parent.key}/${i}`, (parent.depth ?? 0) + 1, group));
}

function childRow(r: OperatorRow & { best_rate: number }, key: string, depth: number, group: string): TableRow {
  const shape = group === "name+shape";
  const row: TableRow = {
    key,
    depth,
    faded: true,
    cell: cellsOf(r),
    label: shape ? <code>{r.shapes ? shapesLabel(r.shapes) : t("no_shapes")}</code> : <StackLabel stack={r.stack} />,
    opens: shape || Boolean(r.stack),
  };
  if (shape) row.kids = () => finer(String(r.name), "name+shape+stack", row, (s) => s.shapes === r.shapes);
  else row.kids = () => frames(r.stack ?? "", key, depth + 1);
  return row;
}

const StackLabel = ({ stack }: { stack: string | null | undefined }) =>
  stack ? (
    <code title={stack}>{stack.split(";").find((f) => /\.py\(/.test(f)) ?? stack.split(";")[0]}</code>
  ) : (
    <span class="t3">{t("no_stack")}</span>
  );

function frames(stack: string, key: string, depth: number): TableRow[] {
  const row = (id: string, label: ComponentChildren): TableRow => ({
    key: `${key}/${id}`,
    depth,
    faded: true,
    wide: true,
    cell: () => undefined,
    label,
  });
  if (stack === "") return [row("none", <span class="t3">{t("no_stack")}</span>)];
  return [row("editor", <EditorMenu />), ...codeFrames(stack).map((f, i) => row(`f${i}`, <Frames frame={f} />))];
}

/** With all ranks the names are added up; shapes and stacks are of one. */
const groupOf = (): Group => (allRanks.value ? "name" : (GROUPS.find((g) => g === param("group")) ?? "name"));

/** Whether types tell operators apart: where nearly all are of one, as of a name space, they are noise. */
export function tellsTypes(rows: readonly OperatorRow[]): boolean {
  const time = (r: OperatorRow) => r.device_self ?? r.host_self ?? r.device_total ?? r.host_total ?? 0;
  const whole = rows.reduce((s, r) => s + time(r), 0);
  const sums = new Map<string, number>();
  for (const r of rows) sums.set(String(r.type), (sums.get(String(r.type)) ?? 0) + time(r));
  return [...sums.values()].every((v) => v < whole * 0.8);
}

const groupsOf = (given: boolean, graphs: boolean, types: boolean) =>
  GROUPS.filter((g) => (!given || !g.includes("+")) && (g !== "subgraph" || graphs) && (g !== "type" || types)).map((g) => ({
    id: g,
    label: t(`group_${g.replace("+", "_")}` as "group_name"),
  }));

interface TableProps {
  names: readonly string[]; // that have a color
  device: boolean;
  rows: readonly OperatorRow[];
}

export function OperatorTable({ names, device, rows }: TableProps) {
  const group = groupOf();
  const given = isGiven(rows);
  const sort = param("sort") || `${device ? "device" : "host"}_${given ? "total" : "self"}:desc`;
  const sides = [...new Set(rows.map((r) => r.side ?? ""))].filter(Boolean);
  const s = source(
    "operators",
    "operators",
    { roofline: "yes", "group-by": group === "name" ? undefined : group, sort, filter: sideFilter(sides) },
    (r, i) => keyOf(r, i, group, given),
  );
  const one = group === "type" || group === "subgraph" ? undefined : group;
  return (
    <TableView
      name={t("operators")}
      filterLabel={t("filter_operators")}
      source={s}
      row={(i) => (one ? operatorRow(s.row(i), one, names, given) : groupRow(s.row(i), group as "type" | "subgraph", rows))}
      columns={columns(s, columnsOf(rows, device))}
      optional={optionalOf(rows)}
      sort={sort}
      sum={param("q") ? undefined : sumsOf(rows, ADDED)}
      {...(allRanks.value
        ? {}
        : {
            groups: groupsOf(
              given,
              rows.some((r) => r.subgraph),
              group === "type" || tellsTypes(rows),
            ),
          })}
      group={group}
      more={
        <Which
          sides={sides}
          full={param("names") === "full"}
          named={rows.some((r) => r.full_name !== null && r.full_name !== r.name)}
        />
      }
      onRow={(r) => {
        if ((r.depth ?? 0) === 0 && one) select("operator", String(r.cell("name")));
      }}
      onTimeline={(r) => showRow(r, labelOf(r), "operators")}
    />
  );
}

/** What a row is about: the operator, and its shapes where it has some. */
function labelOf(r: TableRow): string {
  const shapes = r.cell("shapes");
  return [r.cell("name"), shapes ? shapesLabel(String(shapes)) : ""].filter(Boolean).join(" ");
}

function keyOf(r: SourceRow<OperatorRow>, i: number, group: Group, given: boolean): string {
  if (group === "type" || group === "subgraph") return String(r.cell(group));
  return group === "name" && !given ? String(r.cell("name")) : `${r.cell("name")} ${i}`;
}

/** A type or a sub-graph with its operators below. */
function groupRow(r: SourceRow<OperatorRow>, group: "type" | "subgraph", rows: readonly OperatorRow[]): TableRow {
  const own = String(r.cell(group));
  const mixed = group === "subgraph" ? ["type", "side"] : []; // a sub-graph holds several
  return {
    ...r,
    marked: isSelected("operator", String(r.cell("name"))),
    cell: (c) => (mixed.includes(c) ? null : r.cell(c as keyof OperatorRow)),
    label: own,
    opens: true,
    kids: () => within(rows, group, own),
  };
}

function operatorRow(
  r: SourceRow<OperatorRow>,
  group: Exclude<Group, "type" | "subgraph">,
  names: readonly string[],
  given: boolean,
): TableRow {
  const name = String(r.cell("name"));
  const rank = names.indexOf(name);
  const shown = param("names") === "full" ? String(r.cell("full_name") ?? name) : name;
  const second = group === "name+shape" ? shapesLabel(r.cell("shapes") ?? "[]") : "";
  const key = { ...r };
  return {
    ...r,
    marked: isSelected("operator", name),
    ...(allRanks.value ? { shows: !r.missing } : {}),
    label: (
      <>
        {rank >= 0 ? <Swatch color={nth(rank)} /> : <i class="swatch" />}
        {group === "name" ? <LongName text={shown} /> : <code class="keep">{shown}</code>}
        {second ? <code class="t3"> {second}</code> : null}
        {group === "name+stack" ? (
          <span class="t3">
            {" "}
            <StackLabel stack={r.cell("stack")} />
          </span>
        ) : null}
      </>
    ),
    opens: !allRanks.value,
    kids: () => {
      if (given) return whatItIs(r);
      if (group === "name") return finer(name, "name+shape", key, () => true);
      if (group === "name+shape") return finer(name, "name+shape+stack", key, (x) => x.shapes === r.cell("shapes"));
      return frames(r.cell("stack") ?? "", r.key, 1);
    },
  };
}

function columnsOf(rows: readonly OperatorRow[], device: boolean): ListedColumn<OperatorRow>[] {
  const fastest = largest(rows, (r) => r.flops_per_s, 0);
  const rateScale = scaleOf("flops_per_s", fastest);
  const given = isGiven(rows);
  const when = (there: boolean, ...list: ListedColumn<OperatorRow>[]) => (there ? list : []);
  return [
    ["name", { title: t("operator"), text: true, mono: true, least: 230 }],
    ["calls", { width: 66 }],
    ...when(given, ["device_total", { bar: "var(--kernel)", width: 190 }], ["share", { width: 80, soft: true }]),
    ...when(
      device && !given,
      ["device_self", { bar: "var(--kernel)", width: 168 }],
      ["share", { width: 70, soft: true }],
      ["device_total", { width: 116 }],
    ),
    ...when(!given, ["host_self", { bar: "var(--cpu_exec)", width: 150 }], ["host_total", { width: 104 }]),
    ...when(device && !given && !allRanks.value, ["tensor_core_self_share", { width: 94, show: tensorCell }]),
    ["flops", { width: 70, unitOnly: true }],
    ["flops_per_s", { width: 82, unitOnly: true, scale: rateScale, show: lowRate(rateScale) }],
    ["mean", { width: 90 }],
    ["max", { width: 90 }],
    ["min", { width: 90 }],
    ["device_mean", { width: 110 }],
    ["dispatch_mean", { width: 110 }],
    ["subgraph", { width: 110, text: true }],
    ["side", { width: 80, text: true }],
    ["type", { width: given ? 170 : 80, text: true }],
    ...when(!given && !allRanks.value, ...ROOF_COLUMNS),
  ];
}

/** Columns that are shown when chosen. */
function optionalOf(rows: readonly OperatorRow[]): string[] {
  const unless = (column: "dispatch_mean" | "flops", ...hidden: string[]) => (rows.some((r) => isKnown(r[column])) ? [] : hidden);
  return [
    ...unless("dispatch_mean", "dispatch_mean"),
    "subgraph",
    ...ROOF_NAMES,
    ...(isGiven(rows) ? ["max", "min", "device_mean"] : ["mean", "max", "min", "device_mean", "side", "type"]),
    ...unless("flops", "flops", "flops_per_s"),
  ];
}

// Columns that add up over all operators; totals hold their children and do not.
const ADDED = ["calls", "device_self", "share", "host_self"] as const;

const tensorCell = (v: CellValue, row: TableRow): string =>
  row.cell("tensor_core_eligible") === true && isKnown(v) ? percent(v, 0) : ABSENT;

/** The rate of a shape far below that of the best shape of its operator stands out. */
const lowRate = (scale: Scale) => (v: CellValue, row: TableRow) => {
  if (!isKnown(v)) return ABSENT;
  const best = row.cell("best_rate");
  const low = isKnown(best) && v < best / 3;
  return (
    <span class={low ? "critical" : ""} title={short(v, "flops_per_s")}>
      {inScale(v, scale)}
    </span>
  );
};
