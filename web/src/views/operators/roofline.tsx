// Roofline: how far each operator is from what the device can do, and the MFU of the step.
import { isKnown, sum } from "../../base/aggregate.ts";
import { percent, short, thousands } from "../../base/format.ts";
import { shapesLabel } from "../../base/names.ts";
import { Definition } from "../../base/tip.tsx";
import { type Ridge, Roof, type RoofPoint } from "../../draw/charts/roof.tsx";
import { nth } from "../../draw/patterns.tsx";
import { showName } from "../../model/costliest.ts";
import { t, wordOr } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { isSelected, select } from "../../model/selection.ts";
import { type AskedFor, analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Swatch } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { Missing } from "../shared/missing.tsx";
import { boundCell, columns, panelFor, quoted, ratioCell, source, sumsOf } from "../shared/table-source.ts";
import { TableView } from "../shared/table-view.tsx";
import { Verdict } from "../shared/verdict.tsx";

const GROUPS = ["name", "name+shape"] as const;
const KINDS = ["bf16", "fp16", "tf32", "fp8", "vector", "fp32", "fp64", "int8", "fp4"];

/** Types on matrix units have a color each; what the vector unit does, another. */
type Point = Row<"roofline", "points">;

const colorOf = (r: Pick<Point, "unit" | "type">): string =>
  nth(Math.max(0, KINDS.indexOf(String(r.unit === "vector" ? "vector" : r.type))));

/** The most expensive call of an operator, or of it with these shapes. */
function showPoint(name: string, shapes: unknown): void {
  const own = shapes ? { "group-by": "name+shape", filter: `shapes="${shapes}"` } : {};
  showName("operators", name, name, {}, own);
}

const groupNow = () => (GROUPS as readonly string[]).find((g) => g === param("group")) ?? "name";
const idOf = (r: Point): string => [r.name, r.shapes ?? "", r.type ?? "", r.unit].join("\u0001");

export function Roofline() {
  const group = groupNow();
  const query = { "group-by": group === "name" ? undefined : group, limit: 0 };
  const asked = analysis("roofline", query, "roofline-all");
  const rows = rowsOf(asked.value?.tables.points);
  if (asked.value && rows.length === 0) return <Missing name="roofline" />;
  return (
    <>
      <Verdict answer={asked.value} otherwise={t("roofline")} facts={factsOf(asked)} show={showNamed(asked)} />
      <div class="grid">
        <RoofPanel asked={asked} rows={rows} />
        <PointTable group={group} rows={rows} />
      </div>
    </>
  );
}

type Asked = AskedFor<"roofline">;

/** The way to the operator that the verdict names. */
function showNamed(asked: Asked): (() => void) | undefined {
  const op = asked.value?.verdict?.values.op;
  return typeof op === "string" ? () => showName("operators", op) : undefined;
}

function factsOf(asked: Asked): (string | undefined)[] {
  const tables = asked.value?.tables;
  const mfu = rowsOf(tables?.mfu)[0];
  const ridge = rowsOf(tables?.ridges)[0];
  const known = rowsOf(tables?.coverage).filter((r) => r.known === "flops" || r.known === "bytes");
  const share = sum(known, (r) => r.share);
  return [
    isKnown(mfu?.mfu)
      ? t(mfu.steps === null ? "fact_mfu_whole" : "fact_mfu", {
          v: short(mfu.mfu, "share"),
          f: short(mfu.flops, "flops"),
          n: short(mfu.step_time, "ns"),
          p: `${mfu.type} ${short(mfu.peak, "flops_per_s")}`,
        })
      : undefined,
    known.some((r) => r.share !== null) ? t("fact_coverage", { v: short(share, "share") }) : undefined,
    !ridge ? t("fact_no_peaks") : ridge.source === "given" ? t("fact_peaks_given") : t("fact_peaks", { d: String(ridge.source) }),
  ];
}

/** What hovering says of a point. */
function Card({ row }: { row: Point }) {
  const facts = [
    `${short(row.time, "ns")}${row.share === null ? "" : ` · ${short(row.share, "share")}`} · ${thousands(row.calls)}×`,
    `${short(row.flops_per_s, "flops_per_s")} · ${short(row.bytes_per_s, "bandwidth")} · ${short(row.intensity, "plain")} FLOP/B`,
    isKnown(row.roof_share)
      ? `${t("roof_share", { v: percent(row.roof_share, 1) })} · ${t("roof_bound", { b: t(`bound_${row.bound === "compute" ? "compute" : "memory"}`) })}`
      : "",
  ];
  const second = row.shapes ? ` ${shapesLabel(String(row.shapes))}` : "";
  return (
    <>
      <Definition
        title={`${row.name}${second}`}
        help={`${row.type ?? ""} ${t(row.unit === "matrix" ? "unit_matrix" : "unit_vector")}`}
      />
      {facts.map((f) => (f ? <p key={f}>{f}</p> : null))}
    </>
  );
}

const shortName = (name: string) => name.replace(/^aten::_?/, "");

function RoofPanel({ asked, rows }: { asked: Asked; rows: readonly Point[] }) {
  const drawn = rows.filter((r) => (r.intensity ?? 0) > 0 && (r.flops_per_s ?? 0) > 0);
  const moves = sum(rows, (r) => (r.flops === 0 ? r.share : 0));
  const points: RoofPoint[] = drawn.map((r) => ({
    id: idOf(r),
    x: r.intensity ?? 0,
    y: r.flops_per_s ?? 0,
    area: r.time ?? 0,
    fill: colorOf(r),
    label: shortName(String(r.name)),
    card: <Card row={r} />,
    chosen: isSelected("operator", String(r.name)),
  }));
  const ridges: Ridge[] = rowsOf(asked.value?.tables.ridges).map((r) => ({
    id: `${r.type} ${r.unit}`,
    peak: r.peak ?? 0,
    bandwidth: r.bandwidth,
    stroke: colorOf(r),
    label: r.unit === "vector" ? `${t("roof_vector")} ${r.type}` : String(r.type),
  }));
  const kinds = new Map(
    drawn.map((r) => [colorOf(r), r.unit === "vector" ? t("roof_vector") : String(r.type ?? t("not_known"))]),
  );
  const pick = (id: string) => {
    const name = id.split("\u0001")[0] ?? "";
    go({ params: { q: `name:${quoted(name)}`, sel: `operator:${name}` } });
  };
  return (
    <Panel
      span="w12"
      name={t("roof_chart")}
      words={moves > 0.005 ? `${t("roof_words")} · ${t("roof_moves", { v: short(moves, "share") })}` : t("roof_words")}
      {...panelFor(asked, "roofline", "points", "roof_share")}
      height={340}
      controls={<Legend items={[...kinds].map(([color, label]) => ({ color, label }))} />}
    >
      <div class="pad">
        <Roof
          points={points}
          ridges={ridges}
          height={336}
          label={t("roof_chart")}
          xTitle={t("roof_x")}
          onPoint={pick}
          onShow={(id) => showPoint(...(id.split("\u0001") as [string, string]))}
        />
      </div>
    </Panel>
  );
}

const groups = () => GROUPS.map((g) => ({ id: g, label: t(`group_${g.replace("+", "_")}` as "group_name") }));
const ADDED = ["time", "share"] as const;

function PointTable({ group, rows }: { group: string; rows: readonly Point[] }) {
  const sort = param("sort") || "time:desc";
  const s = source(
    "roofline",
    "points",
    { "group-by": group === "name" ? undefined : group, sort, filter: param("q") || undefined },
    (r) => (["name", "shapes", "type", "unit"] as const).map((c) => String(r.cell(c) ?? "")).join("\u0001"),
  );
  const row = (i: number): TableRow => {
    const r = s.row(i);
    const name = String(r.cell("name"));
    const shapes = group === "name" ? "" : shapesLabel(String(r.cell("shapes") ?? "[]"));
    r.marked = isSelected("operator", name);
    r.shows = !r.missing;
    r.label = (
      <>
        <Swatch color={colorOf({ unit: r.cell("unit"), type: r.cell("type") })} />
        {shapes ? <code class="keep">{name}</code> : <LongName text={name} />}
        {shapes ? <code class="t3"> {shapes}</code> : null}
      </>
    );
    return r;
  };
  const unit = (v: unknown) => (typeof v === "string" ? wordOr(`unit_${v}`, v) : "–");
  const all = columns(s, [
    ["name", { title: t("operator"), text: true, mono: true, least: 230 }],
    ["time", { bar: "var(--kernel)", width: 160 }],
    ["share", { width: 70, soft: true }],
    ["roof_share", { width: 100 }],
    ["bound", { width: 90, text: true, show: boundCell }],
    ["type", { width: 60, text: true }],
    ["intensity", { width: 80, show: ratioCell }],
    ["flops_per_s", { width: 96, unitOnly: true }],
    ["bytes_per_s", { width: 90, unit: "bandwidth", unitOnly: true }],
    ["calls", { width: 66 }],
    ["peak_share", { width: 90 }],
    ["bandwidth_share", { width: 110 }],
    ["flops", { width: 80, unitOnly: true }],
    ["bytes", { width: 96, title: t("col_moved") }],
    ["unit", { width: 76, text: true, show: unit }],
  ]);
  return (
    <TableView
      name={t("roofline")}
      filterLabel={t("filter_roofline")}
      source={s}
      row={row}
      columns={all}
      optional={["peak_share", "bandwidth_share", "flops", "bytes", "unit"]}
      sort={sort}
      sum={param("q") ? undefined : sumsOf(rows, ADDED)}
      groups={groups()}
      group={group}
      onRow={(r) => select("operator", String(r.cell("name")))}
      onTimeline={(r) => showPoint(String(r.cell("name")), r.cell("shapes"))}
    />
  );
}
