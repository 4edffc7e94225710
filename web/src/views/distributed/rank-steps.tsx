// Rank × step: the heat map of a run of any size, who holds up the job, groups slower than their like, what if.
import { useMemo } from "preact/hooks";
import { scaleOf, short } from "../../base/format.ts";
import { roundUp } from "../../base/scale.ts";
import { Heat, type HeatColumn, HeatScale } from "../../draw/charts/heat.tsx";
import { HeatMany } from "../../draw/charts/heat-many.tsx";
import { t, wordOr } from "../../model/language.ts";
import { type StepCells, stepCells } from "../../model/ranks.ts";
import { choice, go } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { type analysis, num, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { columns, defined, wholeTable, yesNo } from "../shared/table-source.ts";

type Asked = ReturnType<typeof analysis>;
const MEASURES = ["total", "computation", "communication", "waiting", "late"] as const;
const MANY = 64; // ranks: from here on rows are thin

const causeWord = (cause: unknown): string => (cause ? wordOr(`cause_${cause}`, String(cause)) : "–");

export function StepMap({ asked, worst }: { asked: Asked; worst: number }) {
  const table = asked.value?.tables.heat_map;
  // Where no rank is late that map is empty: the steps say more.
  const late = useMemo(() => stepCells(table, "late", false).max > 0, [table]);
  const [wanted, setMeasure] = choice("heat", late ? "late" : "total");
  const [order, setOrder] = choice("heat-order", "rank");
  const measure = MEASURES.find((m) => m === wanted) ?? "late";
  const map: StepCells = useMemo(() => stepCells(table, measure, order === "value"), [table, measure, order]);
  const max = roundUp(Math.max(map.max, 1));
  const scale = scaleOf("ns", max);
  const value = useMemo(
    () => (r: number, c: number) => {
      const v = map.cells[r * map.steps.length + c] as number;
      return Number.isNaN(v) ? null : v;
    },
    [map],
  );
  if (table && map.ranks.length === 0) return null;
  const many = map.ranks.length > MANY;
  const shared = {
    ranks: map.ranks.map((n) => (typeof n === "number" ? t("rank_n", { n }) : n)),
    columns: map.steps.map((s): HeatColumn => ({ id: String(s), group: "", lines: [String(s)] })),
    groupName: () => "",
    value,
    speak: (r: number, c: number) => {
      const v = value(r, c);
      const cause = map.causes.get(`${r} ${c}`);
      return `${t("rank_n", { n: map.ranks[r] ?? "" })}, ${t("step_n", { n: map.steps[c] ?? "" })}: ${v === null ? "–" : short(v, "ns")} ${t(`heat_m_${measure}`)}${cause ? ` (${causeWord(cause)})` : ""}`;
    },
    format: (v: number) => (v / scale.factor).toFixed(1),
    worst: map.ranks.indexOf(worst),
    label: t("rank_step_map"),
    onCell: (r: number, c: number) => {
      setSteps(map.steps[c] ?? 0, map.steps[c] ?? 0);
      go({ params: { sel: `rank:${map.ranks[r]}` } }, true);
    },
  };
  return (
    <Panel
      name={t("rank_step_map")}
      title={t("rank_step_map")}
      words={`${map.max > 0 ? `${scale.unit} · ` : ""}${t("rank_step_words")}${late ? "" : ` · ${t("no_rank_late")}`}`}
      define={defined(asked.value, "heat_map", measure)}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={170}
      controls={
        <>
          {map.max > 0 ? <HeatScale low="0" high={short(max, "ns").replace(/\.0+/, "")} /> : null}
          {many ? <RankOrder order={order} onChoose={setOrder} /> : null}
          <Segmented
            label={t("measure")}
            chosen={measure}
            onChoose={setMeasure}
            choices={MEASURES.map((id) => ({ id, label: t(`heat_b_${id}`) }))}
          />
        </>
      }
    >
      <div class="pad">{many ? <HeatMany {...shared} version={themeVersion.value} /> : <Heat {...shared} />}</div>
    </Panel>
  );
}

/** Rows of many ranks: by number, or the worst first. */
export function RankOrder({ order, onChoose }: { order: string; onChoose: (id: string) => void }) {
  return (
    <Segmented
      label={t("order")}
      chosen={order}
      onChoose={onChoose}
      choices={[
        { id: "rank", label: t("by_rank") },
        { id: "value", label: t("by_value") },
      ]}
    />
  );
}

/** Who holds up the job, and what it costs. */
export function Stragglers({ asked, worst }: { asked: Asked; worst: number }) {
  const rows = wholeTable(asked.value?.tables.stragglers, (r) => String(r.cell("worker")));
  if (!asked.value || rows.total === 0) return null;
  const cause = { text: true, width: 120, show: causeWord };
  return (
    <Panel
      span="w6"
      name={t("stragglers")}
      title={t("stragglers")}
      words={t("stragglers_words")}
      define={defined(asked.value, "stragglers", "cost")}
      old={asked.old}
      height={160}
    >
      <Table
        name={t("stragglers")}
        total={rows.total}
        row={(i) => ({ ...rows.row(i), tinted: rows.row(i).cell("rank") === worst })}
        height={320}
        columns={columns(rows, "distributed.stragglers", [
          ["rank", { width: 52 }],
          ["host", { text: true, width: 90 }],
          ["cause", cause],
          ["steps", { width: 54 }],
          ["late", { width: 90 }],
          ["cost", { bar: "url(#waiting)", width: 130 }],
        ])}
      />
    </Panel>
  );
}

/** What the job would take without what was found. */
export function WhatIf({ asked }: { asked: Asked }) {
  const rows = wholeTable(asked.value?.tables.what_if, (r) => String(r.cell("scenario")));
  if (!asked.value || rows.total === 0) return null;
  return (
    <Panel
      span="w6"
      name={t("what_if")}
      title={t("what_if")}
      words={t("what_if_words")}
      define={defined(asked.value, "what_if", "scenario")}
      old={asked.old}
      height={160}
    >
      <Table
        name={t("what_if")}
        total={rows.total}
        row={rows.row}
        height={180}
        columns={columns(rows, "distributed.what_if", [
          ["scenario", { text: true, show: (v) => wordOr(`scenario_${v}`, String(v)) }],
          ["step_time", { width: 110 }],
          ["saves", { bar: "var(--communication)", width: 150 }],
          ["share", { width: 80, soft: true }],
        ])}
      />
    </Panel>
  );
}

/** Groups of ranks: what they are for, which is slower than its like. */
export function Groups({ asked }: { asked: Asked }) {
  const rows = wholeTable(asked.value?.tables.groups, (r) => String(r.cell("group")));
  const slow = rowsOf(asked.value?.tables.groups).filter((r) => r.slow === true || num(r.slow) === 1).length;
  if (!asked.value || rows.total === 0) return null;
  return (
    <Panel
      name={t("comm_groups")}
      title={t("comm_groups")}
      words={slow ? t("comm_groups_slow", { n: slow }) : t("comm_groups_words")}
      define={defined(asked.value, "groups", "slower_by")}
      old={asked.old}
      height={160}
    >
      <Table
        name={t("comm_groups")}
        total={rows.total}
        row={rows.row}
        height={260}
        columns={columns(rows, "distributed.groups", [
          ["group", { text: true, mono: true }],
          ["kind", { text: true, width: 100, show: (v) => wordOr(`parallel_${v}`, String(v)) }],
          ["ranks", { text: true, width: 160 }],
          ["calls", { width: 80 }],
          ["bytes", { width: 100 }],
          ["bandwidth", { width: 120 }],
          ["waiting", { width: 110 }],
          ["slower_by", { width: 100 }],
          ["slow", { width: 70, show: yesNo }],
          ["cost", { width: 110 }],
        ])}
      />
    </Panel>
  );
}
