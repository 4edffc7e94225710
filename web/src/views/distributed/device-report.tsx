// What MindSpore writes about the devices of a cluster: the step trace of each, links and collectives as the devices
// measured them, operations and memory, how the network was split. Shown where such files are there.
import type { Answer } from "../../api/types.ts";
import { chartScale, scaleOf, short } from "../../base/format.ts";
import { roundUp } from "../../base/scale.ts";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { Heat } from "../../draw/charts/heat.tsx";
import type { Asked } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { isSelected } from "../../model/selection.ts";
import { num, type Row, rowsOf } from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { Card } from "../shared/step-bars.tsx";
import { FILL } from "../shared/step-trace.tsx";
import { columns, defined, type Source, source, wholeTable } from "../shared/table-source.ts";
import { ranksCsv, ranksQuery } from "./rank-tables.tsx";

interface Props {
  asked: Asked<Answer>;
}

type PanelProps = Omit<Parameters<typeof Panel>[0], "children" | "title">;
type TableProps = Omit<Parameters<typeof Table>[0], "name" | "total" | "row" | "columns">;

/** A panel that is a table. */
function TablePanel({
  rows,
  path,
  list,
  table,
  ...panel
}: PanelProps & {
  rows: Pick<Source, "total" | "row" | "help">;
  path: string;
  list: readonly (readonly [string, Partial<TableColumn>?])[];
  table: TableProps;
}) {
  return (
    <Panel {...panel} title={panel.name}>
      <Table {...table} name={panel.name} total={rows.total} row={rows.row} columns={columns(rows, path, list)} />
    </Panel>
  );
}

export function Cluster({ asked }: Props) {
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

function partsOf(rows: readonly Row[]): readonly (readonly [string, string])[] {
  const known = (c: string) => rows.some((r) => r[c] !== null);
  return known("receive_alone") ? SPLIT : known("communication_alone") ? ALONE : PLAIN;
}

const COLUMN_WORD = (c: string): string => t(`cluster_${c}` as "cluster_interval");

/** Steps that can be chosen: the average, as the producer made it, and each. */
function StepChoice({ rows, chosen, onChoose }: { rows: readonly Row[]; chosen: string; onChoose: (id: string) => void }) {
  const numbers = [...new Set(rows.map((r) => (r.step === null ? "" : String(r.step))))];
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
  const known = all.some((r) => (r.step === null ? "" : String(r.step)) === step);
  const shown = known ? step : String(all[0]?.step ?? "");
  const rows = all.filter((r) => (r.step === null ? "" : String(r.step)) === shown);
  const parts = partsOf(rows);
  const scale = chartScale("ns", Math.max(...rows.map((r) => parts.reduce((s, [c]) => s + num(r[c]), 0)), 1));
  const bars = rows.map((r): ColumnBar => {
    const total = parts.reduce((s, [c]) => s + num(r[c]), 0);
    return {
      id: String(r.rank),
      total,
      parts: parts.map(([c, fill]) => ({ id: c, value: num(r[c]), fill })),
      chosen: isSelected("rank", String(r.rank)),
      card: (
        <Card
          title={t("rank_n", { n: String(r.rank) })}
          parts={[...parts.map(([c]) => [COLUMN_WORD(c), num(r[c])] as const)]}
          total={total}
        />
      ),
    };
  });
  return (
    <Panel
      name={t("cluster_steps")}
      title={t("cluster_steps")}
      words={`${scale.unit} · ${t("cluster_steps_words")}`}
      define={defined(asked.value, "cluster_steps", parts[0]?.[0] ?? "interval")}
      csv={ranksCsv("cluster_steps")}
      old={asked.old}
      controls={
        <>
          <Legend items={parts.map(([c, colour]) => ({ label: COLUMN_WORD(c), colour }))} />
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

/** The links of a step: who sends to whom, and how long it takes. */
function Links({ asked }: Props) {
  const all = rowsOf(asked.value?.tables.links);
  const [step, setStep] = choice("lstep", "");
  if (all.length === 0) return null;
  const at = (r: Row) => (r.step === null ? "" : String(r.step));
  const shown = all.some((r) => at(r) === step) ? step : at(all[0] as Row);
  const rows = all.filter((r) => at(r) === shown);
  const sources = [...new Set(rows.map((r) => num(r.source)))].sort((a, b) => a - b);
  const targets = [...new Set(rows.map((r) => num(r.target)))].sort((a, b) => a - b);
  const of = (s: number, d: number) => rows.filter((r) => r.source === s && r.target === d);
  const slowest = (s: number, d: number) =>
    of(s, d).reduce<Row | undefined>((m, r) => (num(r.time) > num(m?.time) ? r : m), undefined);
  const most = roundUp(Math.max(...rows.map((r) => num(r.time)), 0));
  const scale = scaleOf("ns", most);
  const table = wholeTable(
    asked.value?.tables.links && {
      ...asked.value.tables.links,
      rows: asked.value.tables.links.rows.filter((_, i) => at(all[i] as Row) === shown),
    },
    (r, i) => `${r.cell("rank")} ${r.cell("source")} ${r.cell("target")} ${i}`,
  );
  return (
    <>
      <Panel
        span="w5"
        name={t("cluster_links")}
        title={t("cluster_links")}
        words={`${scale.unit} · ${t("cluster_links_words")}`}
        define={defined(asked.value, "links", "time")}
        csv={ranksCsv("links")}
        old={asked.old}
        controls={<StepChoice rows={all} chosen={shown} onChoose={setStep} />}
      >
        <div class="pad">
          <Heat
            ranks={sources.map((n) => t("link_from", { n }))}
            columns={targets.map((n) => ({ id: String(n), group: "", lines: [t("link_to", { n })] }))}
            groupName={() => ""}
            value={(r, c) => slowest(sources[r] as number, targets[c] as number)?.time as number | null}
            speak={(r, c) => {
              const link = slowest(sources[r] as number, targets[c] as number);
              const words = link && `${short(num(link.time), "ns")}, ${short(num(link.bandwidth), "bytes_per_s")}, ${link.kind}`;
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
        old={asked.old}
        csv={ranksCsv("links")}
        table={{ height: 260 }}
        path="distributed.links"
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
      csv={s.csv}
      old={s.old}
      error={s.error}
      table={{ height: 300, sort, onSort: (next) => go({ params: { csort: next } }) }}
      path="distributed.communication_ops"
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
  const table = asked.value?.tables.resources;
  if (!table?.rows.length) return null;
  const rows = wholeTable(table, (r) => String(r.cell("rank")));
  const known = (c: string) => rowsOf(table).some((r) => r[c] !== null);
  const wanted = [
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
      old={asked.old}
      csv={ranksCsv("resources")}
      table={{ height: 300 }}
      path="distributed.resources"
      list={[["worker", { text: true }] as const, ...wanted].filter(([c]) => c === "worker" || known(c))}
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
      csv={s.csv}
      old={s.old}
      error={s.error}
      table={{ height: 320, empty: t("no_rows") }}
      controls={<Filter label={t("filter")} name="sq" />}
      path="distributed.parallel_operators"
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
