// Operators: which operator costs most, and what is odd about it.
import type { ComponentChildren } from "preact";
import type { Answer } from "../../api/types.ts";
import { inScale, percent, type Scale, scaleOf, short, thousands } from "../../base/format.ts";
import { operatorLabel, shapesLabel } from "../../base/names.ts";
import { nth } from "../../draw/patterns.tsx";
import { deviceWords } from "../../model/device.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { isSelected, select, selection } from "../../model/selection.ts";
import { allRanks, analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { lazy } from "../shared/lazy.tsx";
import { columns, defined, quoted, ROOF_COLUMNS, ROOF_NAMES, source } from "../shared/table-source.ts";
import { TableView } from "../shared/table-view.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { AcrossRanks } from "./across-ranks.tsx";
import { ShareBars, SharePie, ShareStrip, shareParts, TopMenu } from "./name-shares.tsx";
import { EditorMenu, Frames } from "./stack-frames.tsx";
import { OfSwitch, sideFilter, TypeShares, Which, whatItIs, within } from "./type-shares.tsx";

const Flame = lazy(() => import("./operator-flame.tsx").then((m) => m.OperatorFlame));
const GROUPS = ["name", "name+shape", "name+stack", "type", "subgraph"] as const;

export function Operators() {
  const asked = analysis("operators", { table: "operators", sort: "device_self:desc", limit: 0 }, "operators-all");
  const rows = rowsOf(asked.value?.tables.operators);
  const sum = (c: string) => rows.reduce((s, r) => s + num(r[c]), 0);
  const device = sum("device_self") > 0 || sum("device_total") > 0;
  const given = isGiven(rows);
  const best = `${device ? "device" : "host"}_${param("measure") === "total" || given ? "total" : "self"}`;
  const top = Number(param("top") || 9);
  const names = [...rows]
    .sort((a, b) => num(b[best]) - num(a[best]))
    .slice(0, top)
    .map((r) => String(r.name));
  const tensor = device
    ? rows.reduce((s, r) => s + num(r.tensor_core_self_share) * num(r.device_self), 0) / sum("device_self")
    : 0;
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("operators")}
        facts={[
          t("fact_operators", { n: thousands(rows.length) }),
          t("fact_calls", { n: thousands(sum("calls")) }),
          device ? t("fact_device_self", { v: short(sum(given ? "device_total" : "device_self"), "ns") }) : undefined,
          given ? undefined : t("fact_host_self", { v: short(sum("host_self"), "ns") }),
          device && tensor > 0 ? t("fact_tensor", { m: deviceWords().matrix, v: short(tensor, "share") }) : undefined,
        ]}
      />
      <div class="grid">
        {ofWhat(asked.value) === "type" ? (
          <TypeShares asked={asked} />
        ) : (
          <Shares asked={asked} rows={rows} names={names} device={device} top={top} />
        )}
        <OperatorTable names={names} device={device} rows={rows} />
        {allRanks.value ? <AcrossRanks name="operators" /> : null}
      </div>
    </>
  );
}

const groupsOf = (given: boolean, graphs: boolean) =>
  GROUPS.filter((g) => (!given || !g.includes("+")) && (g !== "subgraph" || graphs)).map((g) => ({
    id: g,
    label: t(`group_${g.replace("+", "_")}` as "group_name"),
  }));

/** Operators or their types: MindSpore's readers begin with types. */
const ofWhat = (answer: Answer | undefined): string =>
  allRanks.value ? "operator" : param("of") || (answer?.trace.format === "mindspore" ? "type" : "operator");

/** Sums the producer made itself: it knows neither self times nor, of device operators, the host. */
const isGiven = (rows: readonly Row[]): boolean =>
  rows.length > 0 && rows.every((r) => r.device_self === null && r.host_self === null);

const FORMS = ["strips", "pies", "bars", "flame"] as const;
type Measure = "device_self" | "device_total" | "host_self" | "host_total";
const FOUR: readonly Measure[] = ["device_self", "device_total", "host_self", "host_total"];

interface SharesProps {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  names: readonly string[];
  device: boolean;
  top: number;
}

function Shares(props: SharesProps) {
  const [form, setForm] = choice("form", "strips");
  const given = isGiven(props.rows);
  const [measure, setMeasure] = choice("measure", given ? "total" : "self");
  const [side, setSide] = choice("side", props.device ? "device" : "host");
  const chart = form === "strips" || form === "bars";
  const by = `${props.device ? "device" : "host"}_${measure}` as Measure;
  return (
    <Panel
      name={t("share_of_time")}
      title={t("share_of_time")}
      words={
        form === "flame"
          ? undefined
          : t("share_words", { n: Math.min(props.top, props.names.length), by: t(`col_${by}`).toLowerCase() })
      }
      define={defined(props.asked.value, "operators", by)}
      csv={csvUrl("operators", "operators")}
      old={props.asked.old}
      error={props.asked.error}
      busy={!props.asked.value}
      height={64}
      controls={
        <>
          {allRanks.value ? null : <OfSwitch chosen="operator" />}
          {form === "flame" ? null : <TopMenu n={props.top} onChoose={(n) => go({ params: { top: String(n) } })} />}
          {chart && !given ? <Pick label={t("measure")} ids={["self", "total"]} chosen={measure} onChoose={setMeasure} /> : null}
          {form === "bars" && props.device ? (
            <Pick label={t("side")} ids={["device", "host"]} chosen={side} onChoose={setSide} />
          ) : null}
          <Segmented
            label={t("form")}
            chosen={form}
            onChoose={setForm}
            choices={FORMS.filter((id) => id !== "flame" || !allRanks.value).map((id) => ({
              id,
              label: t(id === "flame" ? "flame_graph" : id),
            }))}
          />
        </>
      }
    >
      {form === "flame" ? (
        <div class="pad">
          <Flame />
        </div>
      ) : (
        <ShareCharts {...props} form={form} measure={measure} side={props.device ? side : "host"} />
      )}
    </Panel>
  );
}

const WORD = { self: "self", total: "total_time", device: "device", host: "host" } as const;

function Pick(props: { label: string; ids: readonly (keyof typeof WORD)[]; chosen: string; onChoose: (id: string) => void }) {
  return (
    <Segmented
      label={props.label}
      chosen={props.chosen}
      onChoose={props.onChoose}
      choices={props.ids.map((id) => ({ id, label: t(WORD[id]) }))}
    />
  );
}

function ShareCharts(props: SharesProps & { form: string; measure: string; side: string }) {
  const wanted =
    props.form === "pies"
      ? FOUR
      : props.form === "bars"
        ? [`${props.side}_${props.measure}`]
        : [`device_${props.measure}`, `host_${props.measure}`];
  const known = (m: Measure) => props.rows.some((r) => r[m] !== null) && (props.device || m.startsWith("host"));
  const measures = FOUR.filter((m) => wanted.includes(m) && known(m));
  const chosen = selection.value?.kind === "operator" ? selection.value.name : undefined;
  const pick = (id: string) => (id ? select("operator", id) : undefined);
  const charts = measures.map((m) => {
    const all = props.rows.map((r) => ({ name: String(r.name), label: operatorLabel(String(r.name)), value: num(r[m]) }));
    const total = all.reduce((s, r) => s + r.value, 0);
    return { m, total, title: t(`col_${m}`), define: defined(props.asked.value, "operators", m), all };
  });
  if (props.form === "bars") {
    const { all, total, m } = charts[0] ?? { all: [], total: 0, m: "host_self" as Measure };
    return <ShareBars all={all} total={total} top={props.top} title={t(`col_${m}`)} chosen={chosen} onBar={pick} />;
  }
  const Form = props.form === "pies" ? SharePie : ShareStrip;
  return (
    <div class={props.form === "pies" ? "pies" : "shares"}>
      {charts.map(({ m, all, total, title, define }) => (
        <Form
          key={m}
          title={title}
          define={define}
          total={total}
          parts={shareParts(all, props.names, total, all.length)}
          onPart={pick}
          chosen={chosen}
        />
      ))}
    </div>
  );
}

/** Rows of a finer grouping below one row, all of the same name. */
function finer(name: string, group: string, parent: TableRow, keep: (r: Row) => boolean): TableRow[] | undefined {
  const asked = analysis(
    "operators",
    { "group-by": group, filter: `name:${quoted(name)}`, limit: 2000, table: "operators", sort: param("sort") || undefined },
    `operators/${parent.key}`,
  );
  if (!asked.value) return undefined;
  const own = rowsOf(asked.value.tables.operators).filter((r) => r.name === name && keep(r));
  const best_rate = Math.max(0, ...own.map((r) => num(r.flops_per_s)));
  return own.map((r, i) => childRow({ ...r, best_rate }, `${parent.key}/${i}`, (parent.depth ?? 0) + 1, group));
}

function childRow(r: Row, key: string, depth: number, group: string): TableRow {
  const shape = group === "name+shape";
  const row: TableRow = {
    key,
    depth,
    faded: true,
    cell: (c) => r[c] ?? null,
    label: shape ? (
      <code>{r.shapes === null ? t("no_shapes") : shapesLabel(String(r.shapes))}</code>
    ) : (
      <StackLabel stack={r.stack} />
    ),
    opens: shape || (r.stack !== null && r.stack !== ""),
  };
  if (shape) row.kids = () => finer(String(r.name), "name+shape+stack", row, (s) => s.shapes === r.shapes);
  else row.kids = () => frames(String(r.stack), key, depth + 1);
  return row;
}

const StackLabel = ({ stack }: { stack: unknown }) =>
  stack ? (
    <code title={String(stack)}>
      {String(stack)
        .split(";")
        .find((f) => /\.py\(/.test(f)) ?? String(stack).split(";")[0]}
    </code>
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
  return [row("editor", <EditorMenu />), ...stack.split(";").map((f, i) => row(`f${i}`, <Frames frame={f} />))];
}

/** Of all ranks the names are added up; shapes and stacks are of one. */
const groupOf = () => (allRanks.value ? "name" : ((GROUPS as readonly string[]).find((g) => g === param("group")) ?? "name"));

function OperatorTable({ names, device, rows }: { names: readonly string[]; device: boolean; rows: readonly Row[] }) {
  const group = groupOf();
  const given = isGiven(rows);
  const sort = param("sort") || `${device ? "device" : "host"}_${given ? "total" : "self"}:desc`;
  const sides = [...new Set(rows.map((r) => String(r.side ?? "")))].filter(Boolean);
  const full = param("names") === "full";
  const graphs = rows.some((r) => r.subgraph !== null && r.subgraph !== undefined);
  const s = source(
    "operators",
    "operators",
    { roofline: "yes", "group-by": group === "name" ? undefined : group, sort, filter: sideFilter(sides) },
    (r, i) =>
      group === "type" || group === "subgraph"
        ? String(r.cell(group))
        : group === "name" && !given
          ? String(r.cell("name"))
          : `${r.cell("name")} ${i}`,
  );
  const row = (i: number): TableRow => {
    const r = s.row(i);
    const name = String(r.cell("name"));
    r.marked = isSelected("operator", name);
    if (group === "type" || group === "subgraph") {
      const own = String(r.cell(group));
      const mixed = group === "subgraph" ? ["type", "side"] : []; // a sub-graph holds several
      return {
        ...r,
        cell: (c) => (mixed.includes(c) ? null : r.cell(c)),
        label: own,
        opens: true,
        kids: () => within(rows, group, own),
      };
    }
    const rank = names.indexOf(name);
    const second = group === "name+shape" ? shapesLabel(String(r.cell("shapes") ?? "[]")) : "";
    r.label = (
      <>
        {rank >= 0 ? <Swatch colour={nth(rank)} /> : <i class="swatch" />}
        <code class={group === "name" ? "" : "keep"}>{full ? String(r.cell("full_name") ?? name) : name}</code>
        {second ? <code class="t3"> {second}</code> : null}
        {group === "name+stack" ? (
          <span class="t3">
            {" "}
            <StackLabel stack={r.cell("stack")} />
          </span>
        ) : null}
      </>
    );
    r.opens = !allRanks.value;
    if (given) {
      r.kids = () => whatItIs(r);
      return r;
    }
    const key = { ...r };
    r.kids = () =>
      group === "name"
        ? finer(name, "name+shape", key, () => true)
        : group === "name+shape"
          ? finer(name, "name+shape+stack", key, (x) => x.shapes === r.cell("shapes"))
          : frames(String(r.cell("stack") ?? ""), r.key, 1);
    return r;
  };
  const rateScale = scaleOf("flops_per_s", Math.max(0, ...rows.map((r) => num(r.flops_per_s))));
  const all: TableColumn[] = columns(s, "operators.operators", [
    ["name", { title: t("operator"), text: true, mono: true }],
    ["calls", { width: 66 }],
    ...(given
      ? ([
          ["device_total", { bar: "var(--kernel)", width: 190 }],
          ["share", { width: 80, soft: true }],
        ] as const)
      : []),
    ...(device && !given
      ? ([
          ["device_self", { bar: "var(--kernel)", width: 168 }],
          ["share", { width: 70, soft: true }],
          ["device_total", { width: 116 }],
        ] as const)
      : []),
    ...(given
      ? []
      : ([
          ["host_self", { bar: "var(--cpu_exec)", width: 150 }],
          ["host_total", { width: 104 }],
        ] as const)),
    ...(device && !given && !allRanks.value ? ([["tensor_core_self_share", { width: 94, show: tensorCell }]] as const) : []),
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
    ...(given || allRanks.value ? [] : ROOF_COLUMNS),
  ]);
  return (
    <TableView
      name={t("operators")}
      filterLabel={t("filter_operators")}
      source={s}
      row={row}
      columns={all}
      optional={[
        ...(rows.some((r) => r.dispatch_mean !== null && r.dispatch_mean !== undefined) ? [] : ["dispatch_mean"]),
        "subgraph",
        ...ROOF_NAMES,
        ...(given ? ["max", "min", "device_mean"] : ["mean", "max", "min", "device_mean", "side", "type"]),
        ...(rows.some((r) => r.flops !== null) ? [] : ["flops", "flops_per_s"]),
      ]}
      sort={sort}
      sum={param("q") ? undefined : (c) => (ADDED.includes(c) ? rows.reduce((a, r) => a + num(r[c]), 0) : undefined)}
      {...(allRanks.value ? {} : { groups: groupsOf(given, graphs) })}
      group={group}
      more={<Which sides={sides} full={full} named={rows.some((r) => r.full_name !== null && r.full_name !== r.name)} />}
      onRow={(r) => {
        if ((r.depth ?? 0) === 0 && group !== "type" && group !== "subgraph") select("operator", String(r.cell("name")));
      }}
      onTimeline={(r) => go({ view: "timeline", params: { find: String(r.cell("name")), sel: `operator:${r.cell("name")}` } })}
    />
  );
}

// Columns that add up over all operators; totals hold their children and do not.
const ADDED = ["calls", "device_self", "share", "host_self"];

const tensorCell = (v: unknown, row: TableRow) =>
  row.cell("tensor_core_eligible") === true && typeof v === "number" ? percent(v, 0) : "–";

/** The rate of a shape far below that of the best shape of its operator stands out. */
const lowRate = (scale: Scale) => (v: unknown, row: TableRow) => {
  if (typeof v !== "number") return "–";
  const best = row.cell("best_rate");
  const low = typeof best === "number" && v < best / 3;
  return (
    <span class={low ? "critical" : ""} title={short(v, "flops_per_s")}>
      {inScale(v, scale)}
    </span>
  );
};
