// Rank × step: the heat map of a run of any size, who holds up the job, groups slower than their like, what if.
import { useMemo } from "preact/hooks";
import { largestFirst } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import type { HeatColumn } from "../../draw/charts/heat.tsx";
import { showCall, showWork } from "../../model/costliest.ts";
import { t, wordOr } from "../../model/language.ts";
import { type Call, type HeatMeasure, type Measure, type StepCells, stepCells } from "../../model/ranks.ts";
import { choice } from "../../model/route.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, wholeTable, yesNo } from "../shared/table-source.ts";
import { chooseCell, HeatControls, heatScale, RankHeat, rankWord, saidOf } from "./rank-heat.tsx";

type Asked = AskedFor<"distributed">;
type HeatRow = Row<"distributed", "heat_map">;
const MEASURES: readonly HeatMeasure[] = ["total", "computation", "communication", "waiting", "late"];

const causeWord = (cause: unknown): string => (cause ? wordOr(`cause_${cause}`, String(cause)) : "–");

/** What a cell is about: its worst collective, or the longest work of that rank in the step. */
function showCell(calls: readonly Call[], row: HeatRow, measure: HeatMeasure, said: string): void {
  const own = calls.filter((c) => c.step === row.step);
  const by = measure === "late" ? "late_by" : measure === "waiting" ? "waiting" : "duration";
  const met = measure === "late" || measure === "waiting" || measure === "communication";
  if (met && row.rank !== null && showCall(own, row.rank, by, () => said)) return;
  showWork(said, { worker: row.worker, step: row.step ?? undefined });
}

export function StepMap({ asked, calls, worst }: { asked: Asked; calls: readonly Call[]; worst: number }) {
  const table = asked.value?.tables.heat_map;
  // Where no rank is late that map is empty: the steps say more.
  const late = useMemo(() => rowsOf(table).some((r) => (r.late ?? 0) > 0), [table]);
  const [wanted, setMeasure] = choice("heat", late ? "late" : "total");
  const order = choice("heat-order", "rank");
  const measure = MEASURES.find((m) => m === wanted) ?? "late";
  const map: StepCells = useMemo(() => stepCells(table, measure, order[0] === "value"), [table, measure, order[0]]);
  const scale = heatScale(Math.max(map.max, 1));
  const value = useMemo(
    () => (r: number, c: number) => {
      const v = map.cells[r * map.steps.length + c] as number;
      return Number.isNaN(v) ? null : v;
    },
    [map],
  );
  if (table && map.ranks.length === 0) return null;
  const heatMap = {
    ranks: map.ranks.map(rankWord),
    columns: map.steps.map((s): HeatColumn => ({ id: String(s), group: "", lines: [String(s)] })),
    groupName: () => "",
    value,
    speak: (r: number, c: number) => {
      const v = value(r, c);
      const cause = map.causes.get(`${r} ${c}`);
      return `${rankWord(map.ranks[r] ?? "")}, ${t("step_n", { n: map.steps[c] ?? "" })}: ${short(v, "ns")} ${t(`heat_m_${measure}`)}${cause ? ` (${causeWord(cause)})` : ""}`;
    },
    format: scale.format,
    worst: map.ranks.indexOf(worst),
    label: t("rank_step_map"),
    onCell: (r: number, c: number, shift: boolean) => {
      const [rank, step] = [map.ranks[r] ?? "", map.steps[c] ?? 0];
      const row = rowsOf(table).find((h) => (h.rank ?? h.worker ?? "") === rank && (h.step ?? 0) === step);
      if (shift || !row) chooseCell(step, rank);
      else showCell(calls, row, measure, heatMap.speak(r, c));
    },
  };
  return (
    <Panel
      name={t("rank_step_map")}
      words={`${map.max > 0 ? `${scale.unit} · ` : ""}${t("rank_step_words")}${late ? "" : ` · ${t("no_rank_late")}`}`}
      define={defined(asked.value, "heat_map", measure)}
      asked={asked}
      height={170}
      controls={
        <HeatControls
          largest={map.max > 0 ? Math.max(map.max, 1) : 0}
          ranks={map.ranks.length}
          order={order}
          measure={measure}
          onMeasure={setMeasure}
          measures={MEASURES.map((id) => ({ id, label: t(`heat_b_${id}`) }))}
        />
      }
    >
      <RankHeat {...heatMap} />
    </Panel>
  );
}

/** Where a rank loses the most time in collectives; where they are not known, its longest
 * work. */
export function showRank(calls: readonly Call[], rank: number, worker: string, measure: Measure): void {
  const said = (call: Call) => saidOf(call, rank, measure);
  if (!showCall(calls, rank, measure, said)) showWork(rankWord(rank), { worker });
}

/** Who holds up the job, and what it costs. */
export function Stragglers({ asked, calls, worst }: { asked: Asked; calls: readonly Call[]; worst: number }) {
  const rows = wholeTable(asked.value, "stragglers", (r) => String(r.cell("worker")));
  if (!asked.value || rows.total === 0) return null;
  const cause = { text: true, least: 100, show: causeWord };
  return (
    <TablePanel
      span="w6"
      name={t("stragglers")}
      words={t("stragglers_words")}
      define={defined(asked.value, "stragglers", "cost")}
      asked={asked}
      height={160}
      rows={rows}
      row={(i) => ({ ...rows.row(i), tinted: rows.row(i).cell("rank") === worst, shows: true })}
      table={{
        height: 320,
        timelineLabel: t("show_costliest"),
        onTimeline: (r) => showRank(calls, Number(r.cell("rank")), String(r.cell("worker")), "late_by"),
      }}
      list={[
        ["rank", { width: 52 }],
        ["host", { text: true, width: 90 }],
        ["cause", cause],
        ["steps", { width: 54 }],
        ["late", { width: 90 }],
        ["cost", { bar: "url(#waiting)", width: 130 }],
      ]}
    />
  );
}

/** What the job would take without what was found. */
export function WhatIf({ asked }: { asked: Asked }) {
  const rows = wholeTable(asked.value, "what_if", (r) => String(r.cell("scenario")));
  if (!asked.value || rows.total === 0) return null;
  return (
    <TablePanel
      span="w6"
      name={t("what_if")}
      words={t("what_if_words")}
      define={defined(asked.value, "what_if", "scenario")}
      asked={asked}
      height={160}
      rows={rows}
      table={{ height: 180 }}
      list={[
        ["scenario", { text: true, show: (v) => wordOr(`scenario_${v}`, String(v)) }],
        ["step_time", { width: 110 }],
        ["saves", { bar: "var(--communication)", width: 150 }],
        ["share", { width: 80, soft: true }],
      ]}
    />
  );
}

/** The call of a group whose members arrived furthest apart. */
const costliest = (calls: readonly Call[], group: unknown): Call | undefined =>
  calls.filter((c) => [...c.members.values()][0]?.group === group).sort(largestFirst((c) => c.span))[0];

/** Groups of ranks: what they are for, which is slower than similar ones. */
export function Groups({ asked, calls }: { asked: Asked; calls: readonly Call[] }) {
  const rows = wholeTable(asked.value, "groups", (r) => String(r.cell("group")));
  const slow = rowsOf(asked.value?.tables.groups).filter((r) => r.slow).length;
  if (!asked.value || rows.total === 0) return null;
  return (
    <TablePanel
      name={t("comm_groups")}
      words={slow ? t("comm_groups_slow", { n: slow }) : t("comm_groups_words")}
      define={defined(asked.value, "groups", "slower_by")}
      asked={asked}
      height={160}
      rows={rows}
      row={(i) => ({ ...rows.row(i), shows: costliest(calls, rows.row(i).cell("group")) !== undefined })}
      table={{
        height: 260,
        timelineLabel: t("show_costliest"),
        onTimeline: (r) => {
          const call = costliest(calls, r.cell("group"));
          if (call) showRank([call], call.last, "", "late_by");
        },
      }}
      list={[
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
      ]}
    />
  );
}
