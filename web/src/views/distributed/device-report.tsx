// What devices of a cluster wrote about themselves (those of MindSpore do): the step trace of each, links and collectives
// as the devices measured them, operations and memory, how the network was split. Shown where those tables have rows.
import { isKnown, largest, largestFirst, sum } from "../../base/aggregate.ts";
import { chartScale, scaleOf, short } from "../../base/format.ts";
import { roundUp } from "../../base/scale.ts";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { Heat } from "../../draw/charts/heat.tsx";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { isSelected } from "../../model/selection.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Filter } from "../shared/filter.tsx";
import { Card } from "../shared/step-bars.tsx";
import { FILL } from "../shared/step-trace.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source, wholeTable } from "../shared/table-source.ts";
import { ranksCsv, ranksQuery } from "./rank-tables.tsx";

interface Props {
  asked: AskedFor<"distributed">;
}

export function DeviceReport({ asked }: Props) {
  return (
    <>
      <StepsOfRanks asked={asked} />
      <Links asked={asked} />
      <CommunicationOps />
      <Resources asked={asked} />
      <Strategy asked={asked} />
    </>
  );
}

// The parts that add up to a step: where the network is split, what communication costs; else the three of a step.
const SPLIT = [
  ["computation", "var(--kernel)"],
  ["receive_alone", "var(--memcpy)"],
  ["collective_alone", "var(--communication)"],
] as const;
const ALONE = [
  ["computation", "var(--kernel)"],
  ["communication_alone", "var(--communication)"],
] as const;
const PLAIN = [
  ["interval", FILL.interval],
  ["forward_backward", FILL.forward_backward],
  ["tail", FILL.tail],
] as const;

type RankStep = Row<"distributed", "cluster_steps">;
type Link = Row<"distributed", "links">;
type Column = (typeof SPLIT | typeof ALONE | typeof PLAIN)[number][0];

function partsOf(rows: readonly RankStep[]): readonly (readonly [Column, string])[] {
  const known = (c: Column) => rows.some((r) => isKnown(r[c]));
  return known("receive_alone") ? SPLIT : known("communication_alone") ? ALONE : PLAIN;
}

const columnWord = (c: Column): string => t(`cluster_${c}`);

/** The step of a row as a choice: none is the average. */
const stepOf = (r: { step: number | null }): string => (r.step === null ? "" : String(r.step));

/** Steps that can be chosen: the average, as the producer made it, and each. */
interface ChoiceProps {
  rows: readonly { step: number | null }[];
  chosen: string;
  onChoose: (id: string) => void;
}

function StepChoice({ rows, chosen, onChoose }: ChoiceProps) {
  const numbers = [...new Set(rows.map(stepOf))];
  if (numbers.length < 2) return null;
  const word = (n: string) => (n === "" ? t("average_short") : t("step_n", { n }));
  return (
    <Menu
      class="small-menu"
      right
      name={t("step")}
      label={word(chosen)}
      items={numbers.map((n) => ({ id: n || "average", label: word(n), checked: n === chosen }))}
      onChoose={(id) => onChoose(id === "average" ? "" : id)}
    />
  );
}

function StepsOfRanks({ asked }: Props) {
  const all = rowsOf(asked.value?.tables.cluster_steps);
  const [step, setStep] = choice("cstep", "");
  if (all.length === 0) return null;
  const shown = all.some((r) => stepOf(r) === step) ? step : stepOf(all[0] as RankStep);
  const rows = all.filter((r) => stepOf(r) === shown);
  const parts = partsOf(rows);
  const totalOf = (r: RankStep) => sum(parts, ([c]) => r[c]);
  const scale = chartScale("ns", largest(rows, totalOf, 1));
  const bars = rows.map((r): ColumnBar => {
    const total = totalOf(r);
    return {
      id: String(r.rank),
      total,
      parts: parts.map(([c, fill]) => ({ id: c, value: r[c] ?? 0, fill })),
      chosen: isSelected("rank", String(r.rank)),
      card: <Card title={t("rank_n", { n: String(r.rank) })} parts={parts.map(([c]) => [columnWord(c), r[c]])} total={total} />,
    };
  });
  return (
    <Panel
      name={t("cluster_steps")}
      words={`${scale.unit} · ${t("cluster_steps_words")}`}
      define={defined(asked.value, "cluster_steps", parts[0]?.[0] ?? "interval")}
      csv={ranksCsv("cluster_steps")}
      asked={asked}
      controls={
        <>
          <Legend items={parts.map(([c, color]) => ({ label: columnWord(c), color }))} />
          <StepChoice rows={all} chosen={shown} onChoose={setStep} />
        </>
      }
    >
      <div class="pad">
        <Columns
          bars={bars}
          height={190}
          factor={scale.factor}
          format={(v) => Number(v.toPrecision(3)).toString()}
          label={t("cluster_steps")}
          onBar={(id) => go({ params: { sel: `rank:${id}` } })}
        />
      </div>
    </Panel>
  );
}

/** The links of a step: which rank sends to which, and how long it takes. */
function Links({ asked }: Props) {
  const all = rowsOf(asked.value?.tables.links);
  const [step, setStep] = choice("lstep", "");
  if (all.length === 0) return null;
  const shown = all.some((r) => stepOf(r) === step) ? step : stepOf(all[0] as Link);
  const rows = all.filter((r) => stepOf(r) === shown);
  const ends = (end: "source" | "target") => [...new Set(rows.map((r) => r[end] ?? 0))].sort((a, b) => a - b);
  const [sources, targets] = [ends("source"), ends("target")];
  const slowest = (r: number, c: number): Link | undefined =>
    rows.filter((l) => l.source === sources[r] && l.target === targets[c]).sort(largestFirst((l) => l.time))[0];
  const most = roundUp(largest(rows, (r) => r.time, 0));
  const scale = scaleOf("ns", most);
  const table = wholeTable(
    asked.value,
    "links",
    (r, i) => `${r.cell("rank")} ${r.cell("source")} ${r.cell("target")} ${i}`,
    (r) => stepOf({ step: r.cell("step") }) === shown,
  );
  return (
    <>
      <Panel
        span="w5"
        name={t("cluster_links")}
        words={`${scale.unit} · ${t("cluster_links_words")}`}
        define={defined(asked.value, "links", "time")}
        csv={ranksCsv("links")}
        asked={asked}
        controls={<StepChoice rows={all} chosen={shown} onChoose={setStep} />}
      >
        <div class="pad">
          <Heat
            ranks={sources.map((n) => t("link_from", { n }))}
            columns={targets.map((n) => ({ id: String(n), group: "", lines: [t("link_to", { n })] }))}
            groupName={() => ""}
            value={(r, c) => slowest(r, c)?.time ?? null}
            speak={(r, c) => {
              const link = slowest(r, c);
              const words = link && `${short(link.time, "ns")}, ${short(link.bandwidth, "bytes_per_s")}, ${link.kind}`;
              return `${sources[r]} → ${targets[c]}: ${words ?? "–"}`;
            }}
            format={(v) => (v / scale.factor).toFixed(1)}
            worst={-1}
            label={t("cluster_links")}
            onCell={() => {}}
          />
        </div>
      </Panel>
      <TablePanel
        span="w7"
        name={t("cluster_link_table")}
        words={t("cluster_link_words")}
        define={defined(asked.value, "links", "bandwidth")}
        rows={table}
        asked={asked}
        csv={ranksCsv("links")}
        table={{ height: 260 }}
        list={[
          ["worker", { text: true, width: 90 }],
          ["source", { title: t("link_source"), width: 80 }],
          ["target", { title: t("link_target"), width: 80 }],
          ["kind", { text: true, width: 80 }],
          ["time", { title: t("time"), width: 90 }],
          ["bytes", { width: 100 }],
          ["bandwidth", { title: t("link_bandwidth"), bar: "var(--communication)" }],
        ]}
      />
    </>
  );
}

/** Collectives as the devices measured them: moving data, and waiting for others. */
function CommunicationOps() {
  const sort = param("csort") || "waiting:desc";
  const query = { ...ranksQuery(), sort };
  const s = source("distributed", "communication_ops", query, (r, i) => `${r.cell("rank")} ${r.cell("name")} ${i}`);
  if (s.total === 0) return null;
  return (
    <TablePanel
      name={t("cluster_ops")}
      words={t("cluster_ops_words")}
      define={defined(s.answer, "communication_ops", "waiting")}
      rows={s}
      table={{ height: 300, sort, onSort: (next) => go({ params: { csort: next } }) }}
      list={[
        ["name", { title: t("collective"), text: true, mono: true }],
        ["rank", { width: 70 }],
        ["step", { width: 70 }],
        ["communication", { width: 150, bar: "var(--communication)" }],
        ["waiting", { width: 150, bar: "url(#waiting)" }],
      ]}
    />
  );
}

function Resources({ asked }: Props) {
  const all = rowsOf(asked.value?.tables.resources);
  if (all.length === 0) return null;
  const rows = wholeTable(asked.value, "resources", (r) => String(r.cell("rank")));
  const wanted = [
    ["worker", { text: true }],
    ["rank", { width: 70 }],
    ["stage", { width: 70, title: t("parallel_stage") }],
    ["flops", { width: 110, unitOnly: true }],
    ["flops_share", { bar: "var(--kernel)", title: t("cluster_flops_share") }],
    ["flops_per_s", { width: 120, unitOnly: true }],
    ["flops_utilization", { width: 120, title: t("col_utilization") }],
    ["memory_peak", { width: 120, title: t("peak") }],
    ["memory_capacity", { width: 120, title: t("capacity") }],
    ["memory_share", { bar: "var(--c1)", title: t("cluster_memory_share") }],
  ] as const;
  return (
    <TablePanel
      name={t("cluster_resources")}
      define={defined(asked.value, "resources", "flops_share")}
      rows={rows}
      asked={asked}
      csv={ranksCsv("resources")}
      table={{ height: 300 }}
      list={wanted.filter(([c]) => c === "worker" || all.some((r) => isKnown(r[c])))}
    />
  );
}

/** How the network was split: stages with their ranks, operators with the parts of their inputs. */
function Strategy({ asked }: Props) {
  const stages = rowsOf(asked.value?.tables.parallel_stages);
  const query = { ...ranksQuery(), filter: param("sq") || undefined };
  const s = source("distributed", "parallel_operators", query, (r, i) => `${r.cell("stage")} ${r.cell("id")} ${i}`);
  if (stages.length === 0) return null;
  return (
    <TablePanel
      name={t("parallel_strategy")}
      words={stages
        .map((r) => t("parallel_words", { n: String(r.stage), mode: String(r.mode), ranks: String(r.ranks) }))
        .join(" · ")}
      define={defined(s.answer, "parallel_operators", "sharding")}
      rows={s}
      table={{ height: 320, empty: t("no_rows") }}
      controls={<Filter label={t("filter")} name="sq" />}
      list={[
        ["name", { title: t("operator"), text: true, mono: true }],
        ["stage", { width: 70, title: t("parallel_stage") }],
        ["type", { width: 130, text: true }],
        ["sharding", { width: 150, text: true, mono: true, title: t("parallel_sharding") }],
        ["kind", { width: 170, text: true, show: (v) => (v ? t(`parallel_${v}` as "parallel_redistribution") : "–") }],
        ["group_ranks", { width: 120, text: true, title: t("parallel_group") }],
        ["shape", { width: 140, text: true, mono: true, title: t("col_shape") }],
        ["inputs", { width: 160, text: true, soft: true, title: t("parallel_inputs") }],
      ]}
    />
  );
}
