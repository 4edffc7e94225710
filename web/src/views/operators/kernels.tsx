// Kernels: which kernel, and is it large enough for the device.
import { isKnown, shareOf, sum } from "../../base/aggregate.ts";
import { percent, short, thousands } from "../../base/format.ts";
import { cutMiddle, foldKernel, kernelLabel } from "../../base/names.ts";
import { Definition } from "../../base/tip.tsx";
import { Scatter } from "../../draw/charts/scatter.tsx";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { showName } from "../../model/costliest.ts";
import { deviceWords, matrixShare } from "../../model/device.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { isSelected, select, selection } from "../../model/selection.ts";
import { type AskedFor, allRanks, analysis, hasData, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented, Swatch } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { AdviceRow } from "../shared/advice.tsx";
import { columns, panelFor, quoted, ROOF_COLUMNS, ROOF_NAMES, source, sumsOf } from "../shared/table-source.ts";
import { TableView } from "../shared/table-view.tsx";
import { TopChart } from "../shared/top-chart.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { AcrossRanks } from "./across-ranks.tsx";
import { SharePie, shareParts, TopMenu } from "./name-shares.tsx";
import { showRow } from "./show-row.ts";
import { topRows } from "./type-shares.tsx";

const GROUPS = ["name", "name+op", "launch"] as const;
const ABOUT_KERNELS = /kernel|grid|occupancy|tensor|float32|odd_dimension|layout|fused|sm_eff/;

/** Only the kernels of the module that was chosen in Modules, forward and backward. */
const ofModule = () => ({ module: param("module") || undefined });

/** The module, and the way back to all. */
const ModuleChip = () =>
  param("module") ? (
    <button type="button" class="button" aria-label={t("module_all")} onClick={() => go({ params: { module: undefined } })}>
      {t("of_module", { n: param("module") })} ×
    </button>
  ) : null;

/** To the roofline: of the operator whose kernel is selected, or of all. */
function ToRoofline({ op }: { op: string | null | undefined }) {
  if (!hasData("roofline")) return null;
  const params = { q: op ? `name:${quoted(op)}` : undefined, sort: undefined, group: undefined };
  return (
    <button type="button" class="link" onClick={() => go({ view: "roofline", params })}>
      {t("roofline")} →
    </button>
  );
}

export function Kernels() {
  const asked = analysis("kernels", { ...ofModule(), table: "kernels", sort: "total:desc", limit: 0 }, "kernels-all");
  const rows = rowsOf(asked.value?.tables.kernels);
  const total = sum(rows, (r) => r.total);
  const launches = sum(rows, (r) => r.calls);
  const brief = sum(rows, (r) => (isKnown(r.mean) && r.mean < 5000 ? r.calls : 0));
  const matrix = matrixShare(rows);
  const top = Number(param("top") || 10);
  const names = rows.slice(0, top).map((r) => String(r.name));
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("kernels")}
        show={allRanks.value ? showNamed(asked.value?.verdict?.values.kernel) : undefined}
        facts={[
          olderFact(asked.value?.verdict?.values),
          t("fact_launches", { n: thousands(launches), m: thousands(rows.length), v: short(total, "ns") }),
          brief ? t("fact_brief", { n: thousands(brief) }) : undefined,
          matrix.total && matrix.unsure < matrix.total / 10
            ? t("fact_kernel_tensor", { m: deviceWords().matrix, v: short(matrix.used / matrix.total, "share") })
            : undefined,
        ]}
      />
      <div class="grid">
        <KernelShares asked={asked} rows={rows} names={names} total={total} top={top} />
        {allRanks.value ? null : <KernelScatter asked={asked} rows={rows} />}
        {allRanks.value ? <AcrossRanks name="kernels" /> : null}
        <KernelTable names={names} rows={rows} />
      </div>
    </>
  );
}

/** The way to the kernel that the verdict of all ranks names; that of one has its event. */
const showNamed = (name: unknown): (() => void) | undefined =>
  typeof name === "string" ? () => showName("kernels", name, kernelLabel(name, 60)) : undefined;

/** Which of the kernels for an older GPU takes most, where the verdict is about them. */
function olderFact(values: Record<string, unknown> | undefined): string | undefined {
  if (!values?.arch) return undefined;
  return t("fact_older", { name: cutMiddle(String(values.kernel), 40), arch: String(values.arch) });
}

type Kernel = Row<"kernels", "kernels">;

interface SharesProps {
  asked: AskedFor<"kernels">;
  rows: readonly Kernel[];
  names: readonly string[];
  total: number;
  top: number;
}

type Side = "used" | "unused" | "not" | "unknown";

/** Which side of the matrix units a kernel is on: used; by an operator that could; by none that could; not known. */
function sides(): (r: Kernel) => Side {
  const ops = new Set(
    rowsOf(
      analysis("operators", { table: "operators", sort: "device_self:desc", limit: 0 }, "operators-all").value?.tables.operators,
    )
      .filter((r) => r.tensor_core_eligible === true)
      .map((r) => r.name),
  );
  // With all ranks it is unknown which operator launched a kernel, and so whether it could use
  // them.
  return (r) =>
    typeof r.tensor_core !== "boolean" || (allRanks.value && !r.tensor_core)
      ? "unknown"
      : r.tensor_core
        ? "used"
        : ops.has(r.op ?? "")
          ? "unused"
          : "not";
}

/** The kernel that takes most on a side; rows come with the largest first. */
function showSide(rows: readonly Kernel[], side: string): void {
  const sideOf = sides();
  const name = rows.find((r) => sideOf(r) === side)?.name;
  if (name) showName("kernels", name, kernelLabel(name, 60));
}

function tensorParts(rows: readonly Kernel[], total: number): Part[] {
  const sums = { used: 0, unused: 0, not: 0, unknown: 0 };
  const sideOf = sides();
  for (const r of rows) sums[sideOf(r)] += r.total ?? 0;
  const m = deviceWords().matrix;
  const part = (id: Side, fill: string, plain: boolean): Part => {
    const share = short(shareOf(sums[id], total), "share");
    return {
      id,
      value: sums[id],
      fill,
      plain,
      label: `${t(`tensor_${id}`, { m })} ${share}`,
      short: share,
      card: <Definition title={t(`tensor_${id}`, { m })} help={`${short(sums[id], "ns")} · ${share}`} />,
    };
  };
  return [
    part("used", "var(--kernel)", false),
    part("unused", "var(--memcpy)", false),
    part("not", "var(--track)", true),
    part("unknown", "var(--track)", true),
  ].filter((p) => p.value > 0);
}

function KernelShares({ asked, rows, names, total, top }: SharesProps) {
  const [form, setForm] = choice("form", "strips");
  const advised = analysis("advise");
  const advice = rowsOf(advised.value?.tables.advice).find((r) => ABOUT_KERNELS.test(String(r.id)));
  const all = rows.map((r) => ({ name: String(r.name), label: kernelLabel(String(r.name), 24), value: r.total ?? 0 }));
  const parts = shareParts(all, names, total, rows.length);
  const tensor = tensorParts(rows, total);
  const show = (id: string) => showName("kernels", id, kernelLabel(id, 60));
  const [by, setBy] = choice("measure", "total");
  const activity =
    by === "mean" ? analysis("kernels", { ...ofModule(), table: "top", limit: 0 }, "kernels-top").value : undefined;
  const means = topRows(rowsOf(activity?.tables.top), "mean", (n) => kernelLabel(n, 40));
  return (
    <Panel
      span={allRanks.value ? "w12" : "w7"}
      name={t("share_of_kernels")}
      words={
        by === "mean"
          ? t(means.some((r) => r.rest) ? "kernel_top_words" : "kernel_mean_words", { n: means.filter((r) => !r.rest).length })
          : t("kernel_words", { n: names.length, m: deviceWords().matrix })
      }
      {...panelFor(asked, "kernels", "kernels", "share")}
      height={170}
      controls={
        <>
          {by === "mean" ? null : <TopMenu n={top} onChoose={(n) => go({ params: { top: String(n) } })} />}
          <Segmented label={t("measure")} chosen={by} onChoose={setBy} choices={{ total: t("total_time"), mean: t("by_mean") }} />
          <Segmented
            label={t("form")}
            chosen={by === "mean" && form !== "pies" ? "bars" : form}
            onChoose={setForm}
            choices={[
              by === "mean" ? { id: "bars", label: t("bars") } : { id: "strips", label: t("strips") },
              { id: "pies", label: t("pies") },
            ]}
          />
        </>
      }
    >
      {by === "mean" ? (
        <TopChart
          rows={means}
          form={form === "pies" ? "pies" : "bars"}
          chosen={selection.value?.kind === "kernel" ? selection.value.name : ""}
          title={t("share_of_kernels")}
          onName={show}
        />
      ) : form !== "pies" ? (
        <div class="pad gaps">
          <Strip
            parts={parts}
            total={total}
            height={24}
            label={t("share_of_kernels")}
            onPart={show}
            chosen={selection.value?.kind === "kernel" ? selection.value.name : undefined}
          />
          <Strip
            parts={tensor}
            total={total}
            height={24}
            label={t("tensor_cores", { m: deviceWords().matrix })}
            onPart={(id) => showSide(rows, id)}
          />
        </div>
      ) : (
        <div class="pies">
          <SharePie title={t("share_of_kernels")} total={total} parts={parts} onPart={show} />
          <SharePie
            title={t("tensor_cores", { m: deviceWords().matrix })}
            total={total}
            parts={tensor}
            onPart={(id) => showSide(rows, id)}
          />
        </div>
      )}
      {advice ? <AdviceRow row={advice} asked={advised} brief /> : null}
    </Panel>
  );
}

function KernelScatter({ asked, rows }: { asked: AskedFor<"kernels">; rows: readonly Kernel[] }) {
  const dots = rows.map((r) => {
    const name = String(r.name);
    // The producer writes 0 where it could not compute it.
    const occupancy = r.occupancy || null;
    return {
      id: name,
      x: r.mean ?? 0,
      y: occupancy,
      area: r.total ?? 0,
      fill: r.tensor_core === true ? "var(--kernel)" : "var(--t3)",
      chosen: isSelected("kernel", name),
      card: (
        <Definition
          title={kernelLabel(name)}
          help={`${short(r.mean, "ns")} × ${thousands(r.calls)} = ${short(r.total, "ns")} · ${t("col_occupancy")} ${occupancy ? short(occupancy, "share") : t("not_known")}`}
        />
      ),
    };
  });
  return (
    <Panel
      span="w5"
      name={t("scatter")}
      words={t("scatter_words")}
      {...panelFor(asked, "kernels", "kernels", "occupancy")}
      height={200}
      controls={<Legend items={[{ label: t("tensor_cores", { m: deviceWords().matrix }), color: "var(--kernel)" }]} />}
    >
      <div class="pad">
        <Scatter
          dots={dots}
          height={196}
          label={t("scatter")}
          onShow={(id) => showName("kernels", id, kernelLabel(id, 60))}
          onDot={(id) => go({ params: { q: `name:${quoted(id)}`, sel: `kernel:${id}` } })}
        />
      </div>
    </Panel>
  );
}

const ADDED = ["calls", "total", "share"] as const;
const groups = () => GROUPS.map((g) => ({ id: g, label: t(`group_${g.replace("+", "_")}` as "group_name") }));

function KernelTable({ names, rows }: { names: readonly string[]; rows: readonly Kernel[] }) {
  const group = allRanks.value ? "name" : ((GROUPS as readonly string[]).find((g) => g === param("group")) ?? "name");
  const sort = param("sort") || "total:desc";
  const s = source(
    "kernels",
    "kernels",
    { ...ofModule(), roofline: "yes", "group-by": group === "name" ? undefined : group, sort, filter: param("q") || undefined },
    (r, i) => (group === "name" ? String(r.cell("name")) : `${r.cell("name")} ${i}`),
  );
  const row = (i: number): TableRow => {
    const r = s.row(i);
    const name = String(r.cell("name"));
    const rank = names.indexOf(name);
    r.marked = isSelected("kernel", name);
    if (allRanks.value) r.shows = !r.missing;
    r.label = (
      <>
        {rank >= 0 ? <Swatch color={nth(rank)} /> : <i class="swatch" />}
        <LongName text={foldKernel(name)} />
      </>
    );
    return r;
  };
  const occupancy = (v: unknown) => (isKnown(v) && v > 0 ? percent(v, 0) : <span class="t3">{t("not_known")}</span>);
  const blocks = (v: unknown) =>
    isKnown(v) ? <span class={v < 1 ? "warning" : ""}>{v >= 10 ? v.toFixed(0) : v.toFixed(2)}</span> : "–";
  const all = columns(s, [
    ["name", { title: t("kernel"), text: true, mono: true, least: 250 }],
    ["op", { text: true, mono: true, soft: true, width: 150, title: t("operator") }],
    ...(group === "launch"
      ? ([
          ["grid", { width: 112 }],
          ["block", { width: 100 }],
          ["registers", { width: 78 }],
          ["shared_memory", { width: 142 }],
        ] as const)
      : []),
    ["calls", { width: 66 }],
    ["total", { bar: "var(--kernel)", width: 150 }],
    ["share", { soft: true, width: 70 }],
    ["mean", { width: 90 }],
    ["max", { width: 90 }],
    ["min", { width: 90 }],
    ["tensor_core", { width: 50, title: t("col_tensor_core"), show: (v) => (v === true ? t("yes") : "–") }],
    ["blocks_per_sm", { width: 96, show: blocks }],
    ["occupancy", { width: 100, show: occupancy }],
    ...(rows.some((r) => r.source)
      ? ([
          ["fused", { text: true, mono: true, soft: true, width: 190 }],
          ["source", { text: true, mono: true, soft: true, width: 220 }],
        ] as const)
      : []),
    ...(allRanks.value ? [] : ([["flops_per_s", { width: 90, unitOnly: true }], ...ROOF_COLUMNS] as const)),
  ]);
  return (
    <TableView
      name={t("kernels")}
      filterLabel={t("filter_kernels")}
      source={s}
      row={row}
      columns={all}
      optional={allRanks.value ? ["min", "op", "blocks_per_sm", "occupancy"] : ["min", "flops_per_s", ...ROOF_NAMES]}
      sort={sort}
      sum={param("q") ? undefined : sumsOf(rows, ADDED)}
      {...(allRanks.value ? {} : { groups: groups() })}
      group={group}
      more={
        <>
          <ModuleChip />
          <ToRoofline op={rows.find((r) => isSelected("kernel", r.name ?? ""))?.op} />
        </>
      }
      onRow={(r) => select("kernel", String(r.cell("name")))}
      onTimeline={(r) => showRow(r, kernelLabel(String(r.cell("name")), 60), "kernels")}
    />
  );
}
