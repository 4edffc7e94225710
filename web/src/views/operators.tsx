// Operators: which operator costs most, and what is odd about it.
import { percent, short, thousands } from "../base/format.ts";
import { operatorLabel, shapesLabel } from "../base/names.ts";
import { nth } from "../draw/patterns.tsx";
import { choice, go, param } from "../model/place.ts";
import { isSelected, select, selection } from "../model/selection.ts";
import { analysis, num, type Row, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Segmented, Swatch } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import type { TableColumn, TableRow } from "../widgets/table.tsx";
import { Frames } from "./frames.tsx";
import { lazy } from "./lazy.tsx";
import { columns, source } from "./rows.ts";
import { SharePie, ShareStrip, shareParts, TopMenu } from "./shares.tsx";
import { TableView } from "./tableview.tsx";
import { Verdict } from "./verdict.tsx";

const Flame = lazy(() => import("./flame.tsx").then((m) => () => <m.OperatorFlame height={360} />));
const GROUPS = ["name", "name+shape", "name+stack", "type"] as const;

export function Operators() {
  const asked = analysis("operators", { table: "operators", sort: "device_self:desc", limit: 0 }, "operators-all");
  const rows = rowsOf(asked.value?.tables.operators);
  const sum = (c: string) => rows.reduce((s, r) => s + num(r[c]), 0);
  const device = sum("device_self") > 0;
  const best = device ? "device_self" : "host_self";
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
          device ? t("fact_device_self", { v: short(sum("device_self"), "ns") }) : undefined,
          t("fact_host_self", { v: short(sum("host_self"), "ns") }),
          device && tensor > 0 ? t("fact_tensor", { v: short(tensor, "share") }) : undefined,
        ]}
      />
      <div class="grid">
        <Shares asked={asked} rows={rows} names={names} device={device} top={top} />
        <OperatorTable names={names} device={device} />
      </div>
    </>
  );
}

function Shares(props: {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  names: readonly string[];
  device: boolean;
  top: number;
}) {
  const [form, setForm] = choice("form", "strips");
  const sides = form === "pies" ? ["device_self", "device_total", "host_self", "host_total"] : ["device_self", "host_self"];
  const measures = sides.filter((m) => props.device || m.startsWith("host"));
  const chosen = selection.value?.kind === "operator" ? selection.value.name : undefined;
  const pick = (id: string) => (id ? select("operator", id) : undefined);
  const parts = measures.map((m) => {
    const all = props.rows.map((r) => ({ name: String(r.name), label: operatorLabel(String(r.name)), value: num(r[m]) }));
    const total = all.reduce((s, r) => s + r.value, 0);
    return { m, total, parts: shareParts(all, props.names, total, all.length) };
  });
  return (
    <Panel
      name={t("share_of_time")}
      title={t("share_of_time")}
      words={t("share_words", {
        n: Math.min(props.top, props.names.length),
        by: t(props.device ? "col_device_self" : "col_host_self").toLowerCase(),
      })}
      old={props.asked.old}
      error={props.asked.error}
      busy={!props.asked.value}
      height={64}
      controls={
        <>
          <TopMenu n={props.top} onChoose={(n) => go({ params: { top: String(n) } })} />
          <Segmented
            label={t("form")}
            chosen={form}
            onChoose={setForm}
            choices={[
              { id: "strips", label: t("strips") },
              { id: "pies", label: t("pies") },
              { id: "flame", label: t("flame_graph") },
            ]}
          />
        </>
      }
    >
      {form === "flame" ? (
        <div class="pad">
          <Flame />
        </div>
      ) : form === "pies" ? (
        <div class="pies">
          {parts.map((p) => (
            <SharePie key={p.m} title={t(`col_${p.m}` as "col_device_self")} total={p.total} parts={p.parts} onPart={pick} />
          ))}
        </div>
      ) : (
        <div class="shares">
          {parts.map((p) => (
            <ShareStrip
              key={p.m}
              title={t(`col_${p.m}` as "col_device_self")}
              total={p.total}
              parts={p.parts}
              onPart={pick}
              chosen={chosen}
            />
          ))}
        </div>
      )}
    </Panel>
  );
}

/** Rows of a finer grouping below one row, all of the same name. */
function finer(name: string, group: string, parent: TableRow, keep: (r: Row) => boolean): TableRow[] | undefined {
  const asked = analysis(
    "operators",
    { "group-by": group, search: name, limit: 2000, table: "operators", sort: param("sort") || undefined },
    `operators/${parent.key}`,
  );
  if (!asked.value) return undefined;
  return rowsOf(asked.value.tables.operators)
    .filter((r) => r.name === name && keep(r))
    .map((r, i) => childRow(r, `${parent.key}/${i}`, (parent.depth ?? 0) + 1, group));
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
  return stack
    .split(";")
    .map((f, i) => ({ key: `${key}/f${i}`, depth, faded: true, cell: () => undefined, label: <Frames frame={f} /> }));
}

const groupOf = () => (GROUPS as readonly string[]).find((g) => g === param("group")) ?? "name";

function OperatorTable({ names, device }: { names: readonly string[]; device: boolean }) {
  const group = groupOf();
  const sort = param("sort") || (device ? "device_self:desc" : "host_self:desc");
  const s = source(
    "operators",
    "operators",
    { "group-by": group === "name" ? undefined : group, sort, search: param("q") || undefined },
    (r, i) => (group === "type" ? String(r.cell("type")) : group === "name" ? String(r.cell("name")) : `${r.cell("name")} ${i}`),
  );
  const row = (i: number): TableRow => {
    const r = s.row(i);
    const name = String(r.cell("name"));
    r.marked = isSelected("operator", name);
    if (group === "type") return { ...r, label: String(r.cell("type")) };
    const rank = names.indexOf(name);
    const second = group === "name+shape" ? shapesLabel(String(r.cell("shapes") ?? "[]")) : "";
    r.label = (
      <>
        {rank >= 0 ? <Swatch colour={nth(rank)} /> : <i class="swatch" />}
        <code>{name}</code>
        {second ? <code class="t3"> {second}</code> : null}
        {group === "name+stack" ? (
          <span class="t3">
            {" "}
            <StackLabel stack={r.cell("stack")} />
          </span>
        ) : null}
      </>
    );
    r.opens = true;
    const key = { ...r };
    r.kids = () =>
      group === "name"
        ? finer(name, "name+shape", key, () => true)
        : group === "name+shape"
          ? finer(name, "name+shape+stack", key, (x) => x.shapes === r.cell("shapes"))
          : frames(String(r.cell("stack") ?? ""), r.key, 1);
    return r;
  };
  const rate = lowRates(s.table?.rows.map((r) => r[s.table?.columns.findIndex((c) => c.name === "flops_per_s") ?? -1]) ?? []);
  const all: TableColumn[] = columns(s, "operators.operators", [
    ["name", { title: t("operator"), text: true, mono: true }],
    ["calls", { width: 70 }],
    ...(device
      ? ([
          ["device_self", { bar: "var(--kernel)", width: 200 }],
          ["share", { width: 74, soft: true }],
          ["device_total", { width: 120 }],
        ] as const)
      : []),
    ["host_self", { bar: "var(--cpu_exec)", width: 180 }],
    ["host_total", { width: 110 }],
    ...(device ? ([["tensor_core_self_share", { width: 104, show: tensorCell }]] as const) : []),
    ["flops", { width: 86 }],
    ["flops_per_s", { width: 86, show: rate }],
    ["mean", { width: 90 }],
    ["max", { width: 90 }],
    ["min", { width: 90 }],
    ["device_mean", { width: 110 }],
    ["side", { width: 70, text: true }],
    ["type", { width: 80, text: true }],
  ]);
  return (
    <TableView
      name={t("operators")}
      filterLabel={t("filter_operators")}
      source={s}
      row={row}
      columns={all}
      optional={[
        "mean",
        "max",
        "min",
        "device_mean",
        "side",
        "type",
        ...(s.table?.rows.some((r) => r[17] !== null) ? [] : ["flops", "flops_per_s"]),
      ]}
      sort={sort}
      groups={GROUPS.map((g) => ({ id: g, label: t(`group_${g.replace("+", "_")}` as "group_name") }))}
      group={group}
      onRow={(r) => {
        if ((r.depth ?? 0) === 0 && group !== "type") select("operator", String(r.cell("name")));
      }}
      onTimeline={(r) => go({ view: "timeline", params: { find: String(r.cell("name")), sel: `operator:${r.cell("name")}` } })}
    />
  );
}

const tensorCell = (v: unknown, row: TableRow) =>
  row.cell("tensor_core_eligible") === true && typeof v === "number" ? percent(v, 0) : "–";

/** Rates far below the best of the table stand out. */
function lowRates(values: readonly unknown[]) {
  const best = Math.max(0, ...values.filter((v): v is number => typeof v === "number"));
  return (v: unknown, row: TableRow) => {
    if (typeof v !== "number") return "–";
    return <span class={row.faded && v < best / 3 ? "critical" : ""}>{short(v, "flops_per_s")}</span>;
  };
}
