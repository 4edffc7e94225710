// A pipeline that was recorded as one: operators and the queues between them, queues to the device by batch, which
// operator is late and what to change, processors.
import type { TableName } from "../../api/types.ts";
import { isKnown, largestFirst, mean, sum } from "../../base/aggregate.ts";
import { percent, short, thousands } from "../../base/format.ts";
import { Lines } from "../../draw/charts/lines.tsx";
import { Pipeline, type PipeNode } from "../../draw/charts/pipe-graph.tsx";
import { showStretch } from "../../model/evidence.ts";
import { t, wordOr } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Rich, WithCode } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { DataFlow } from "../shared/data-flow.tsx";
import { FILL, PARTS, partsOf } from "../shared/step-trace.tsx";
import { columns, defined, panelFor, source } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { DataStages } from "./data-stages.tsx";
import { Processors } from "./processors.tsx";
import { DataAdvice, queueLines } from "./queue-parts.tsx";
import { WaitingSteps } from "./waiting-steps.tsx";

const table = (name: TableName<"pipeline">) => analysis("pipeline", { table: name, limit: 0 }, `pipeline-${name}`);

type Operator = Row<"pipeline", "operators">;

export function Queues() {
  const asked = analysis("pipeline");
  const ops = rowsOf(table("operators").value?.tables.operators);
  // Operators with the same numbers get the same word: only one that cannot keep up with its input is the bottleneck.
  const late = ops.find((r) => r.bottleneck === "behind_child");
  const first = late ?? ops.find((r) => r.bottleneck) ?? ops[0];
  const chosen = param("queue") || String(first?.operator ?? "");
  const empty = sum(rowsOf(asked.value?.tables.flow), (r) => r.empty);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("pipeline")}
        facts={[
          ops.length ? t("pipe_fact_ops", { n: ops.length }) : undefined,
          empty ? t("pipe_fact_late", { n: empty }) : undefined,
        ]}
        show={longestWait()}
      />
      <div class="grid">
        <Flow />
        {ops.length ? <Graph ops={ops} late={late} chosen={chosen} /> : null}
        <TracedSteps />
        <QueueHistory ops={ops} chosen={chosen} />
        <BatchQueue queue="host queue" />
        <BatchQueue queue="data queue" />
        {ops.length ? <PipeTable /> : null}
        <Suggestions />
        <DataStages asked={asked} />
        <Processors />
        <DataAdvice />
      </div>
    </>
  );
}

function Flow() {
  const asked = table("flow");
  const rows = rowsOf(asked.value?.tables.flow);
  if (rows.length === 0) return null;
  return (
    <Panel
      name={t("data_preparation")}
      words={t("data_preparation_words")}
      define={defined(asked.value, "flow", "steps")}
      csv={csvUrl("pipeline", "flow")}
    >
      <div class="pad">
        <DataFlow rows={rows} help={defined(asked.value, "flow", "status").help} />
      </div>
    </Panel>
  );
}

function Graph({ ops, late, chosen }: { ops: readonly Operator[]; late: Operator | undefined; chosen: string }) {
  const asked = table("operators");
  const loading = rowsOf(table("loading").value?.tables.loading);
  const wait = mean(loading, (r) => r.time);
  const end: PipeNode[] =
    wait === null
      ? []
      : [
          {
            id: "device",
            into: undefined,
            title: t("device"),
            words: t("pipe_end_waits", { v: short(wait, "ns") }),
            dashed: true,
          },
        ];
  const nodes = ops.map((r) => queueNode(r, r === late, chosen, end.length > 0));
  return (
    <Panel name={t("pipeline")} words={t("pipe_words")} {...panelFor(asked, "pipeline", "operators", "usage")} height={150}>
      <div class="pad">
        <Pipeline nodes={[...end, ...nodes]} label={t("pipeline")} onQueue={(id) => go({ params: { queue: id } })} />
      </div>
    </Panel>
  );
}

function queueNode(r: Operator, late: boolean, chosen: string, toDevice: boolean): PipeNode {
  const id = String(r.operator);
  return {
    id,
    into: r.parent === null ? (toDevice ? "device" : undefined) : String(r.parent),
    title: id,
    words: r.workers === null ? "" : t("n_workers", { n: r.workers }),
    late: late ? t("bottleneck") : undefined,
    suspect: !late && r.bottleneck ? t("pipe_suspect") : undefined,
    queue:
      r.queue_capacity === null
        ? undefined
        : {
            fill: r.usage,
            label: r.usage === null ? t("not_recorded") : percent(r.usage),
            below: r.queue_mean === null ? "" : t("n_of_m", { n: rounded(r.queue_mean), m: r.queue_capacity }),
            chosen: id === chosen,
          },
  };
}

/** The steps whose parts were recorded. */
const tracedSteps = () => {
  const asked = analysis("steps", { ...WHOLE_TRACE, limit: 0, table: "steps" }, "steps-all");
  return { asked, rows: rowsOf(asked.value?.tables.steps).filter((r) => r.forward_backward !== null) };
};

/** The way to the longest wait for data, with which a step begins; none where steps or waits were not recorded. */
function longestWait(): (() => void) | undefined {
  const [wait] = [...rowsOf(table("loading").value?.tables.loading)].sort(largestFirst((r) => r.time));
  const start = tracedSteps().rows.find((r) => r.step === wait?.step)?.start;
  if (!wait?.time || !isKnown(start)) return undefined;
  const [end, claim] = [start + wait.time, `${t("step_n", { n: String(wait.step) })}, ${t("pipe_waiting")}`];
  return () => showStretch(start, end, claim);
}

/** The steps, each with the time it waits for data: what a step trace calls its interval. */
function TracedSteps() {
  const { asked, rows } = tracedSteps();
  if (rows.length === 0) return null;
  return (
    <WaitingSteps
      steps={rows.map((r) => ({ step: r.step, total: r.duration, parts: PARTS.map((p) => partsOf(r)[p]) }))}
      legend={PARTS.map((p) => ({ label: p === "interval" ? t("pipe_waiting") : t(`part_${p}`), color: FILL[p] }))}
      define={defined(asked.value, "steps", "duration")}
      csv={csvUrl("steps", "steps")}
      asked={asked}
    />
  );
}

/** The queue after an operator and those before it, over time. */
function QueueHistory({ ops, chosen }: { ops: readonly Operator[]; chosen: string }) {
  themeVersion.value;
  const asked = table("queue_samples");
  const rows = rowsOf(asked.value?.tables.queue_samples);
  const near = [chosen, ...ops.filter((o) => o.parent === chosen).map((o) => String(o.operator))];
  const known = near.filter((n) => rows.some((r) => r.operator === n));
  if (known.length === 0) return null;
  const order = ops.map((o) => String(o.operator));
  const lines = queueLines(rows, known, order).map((l) => ({ ...l, strong: l.id === chosen }));
  const capacity = rows.find((r) => r.operator === known[0])?.capacity ?? 0;
  const every = ops.find((o) => o.operator === chosen)?.interval;
  return (
    <Panel
      span={tracedSteps().rows.length ? "w5" : "w12"}
      name={t("queue_history")}
      title={t("queues_around", { n: chosen })}
      words={isKnown(every) ? t("queue_every_ms", { m: capacity, v: short(every, "ns") }) : t("queue_every", { m: capacity })}
      define={defined(asked.value, "queue_samples", "size")}
      csv={csvUrl("pipeline", "queue_samples")}
      asked={asked}
      height={190}
    >
      <div class="pad">
        <Lines
          lines={lines}
          height={190}
          top={Math.max(1, capacity)}
          capacity={capacity > 0}
          x={(v) => short(v, "ns")}
          label={t("queues_around", { n: chosen })}
        />
      </div>
    </Panel>
  );
}

/** A queue to the device: how full each batch found it; where it was empty, the device
 * waited. */
function BatchQueue({ queue }: { queue: "host queue" | "data queue" }) {
  themeVersion.value;
  const asked = table("queues");
  const both = rowsOf(asked.value?.tables.queues).filter((r) => isKnown(r.size));
  const rows = both.filter((r) => r.queue === queue);
  if (rows.length === 0) return null;
  const empty = rows.filter((r) => r.size === 0);
  const title = t(queue === "host queue" ? "queue_host" : "queue_data");
  const capacity = rows[0]?.capacity ?? 0;
  return (
    <Panel
      span={rows.length === both.length ? "w12" : "w6"}
      name={title}
      words={t("queue_batches")}
      {...panelFor(asked, "pipeline", "queues", "size")}
      controls={
        <span class={empty.length ? "critical" : "t3"}>
          <Rich text={t("queue_empty_of", { n: thousands(empty.length), m: thousands(rows.length) })} />
        </span>
      }
    >
      <div class="pad">
        <Lines
          lines={[{ id: queue, label: title, color: "var(--c6)", points: rows.map((r) => [r.step ?? 0, r.size] as const) }]}
          height={130}
          top={Math.max(1, capacity)}
          capacity={capacity > 0}
          steps={rows.length >= 24}
          marks={empty.map((r) => r.step ?? 0)}
          x={(v) => (Number.isInteger(v) ? t("queue_batch", { n: v }) : "")}
          card={(v) => timesOf(rows.find((r) => r.step === v))}
          label={title}
        />
      </div>
    </Panel>
  );
}

/** Times of a batch: to get it, to hand it on, in all. */
const timesOf = (r: Row<"pipeline", "queues"> | undefined): string =>
  isKnown(r?.total) ? `${t("col_total").toLowerCase()} ${short(r.total, "ns")}` : "";

/** Why an operator is suspected, in words. */
const reason = (v: unknown) =>
  v ? (
    <span title={wordOr(`pipe_why_${v}`, String(v))}>
      <b class={v === "behind_child" ? "critical" : "warning"}>{t(v === "behind_child" ? "bottleneck" : "pipe_suspect")}</b>
      {" · "}
      {wordOr(`pipe_why_${v}`, String(v))}
    </span>
  ) : (
    "–"
  );

/** What to change, a sentence for each suspect. */
function Suggestions() {
  const asked = table("suggestions");
  const rows = rowsOf(asked.value?.tables.suggestions);
  if (rows.length === 0) return null;
  return (
    <Panel
      name={t("pipe_suggestions")}
      define={defined(asked.value, "suggestions", "suggestion")}
      csv={csvUrl("pipeline", "suggestions")}
    >
      <ul class="suggestions">
        {rows.map((r, i) => (
          <li key={i}>
            <WithCode text={String(r.suggestion ?? r.operator)} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** "0.11 of 8" */
const fill = (v: unknown, row: TableRow) =>
  typeof v === "number" ? t("n_of_m", { n: rounded(v), m: String(row.cell("queue_capacity") ?? "–") }) : t("not_recorded");

const rounded = (v: number): number => (v >= 10 ? Math.round(v) : Number(v.toPrecision(2)));

const percentOfOne = (v: unknown) => (typeof v === "number" ? `${Number(v.toPrecision(3))} %` : "–");

function PipeTable() {
  const sort = param("sort") || "usage:asc";
  const s = source("pipeline", "operators", { sort }, (r) => String(r.cell("operator")));
  const panel = { name: t("operators"), title: t("operators"), csv: s.csv, asked: s.asked };
  return (
    <Panel {...panel} define={defined(s.answer, "operators", "bottleneck")} height={160}>
      <Table
        name={t("operators")}
        total={s.total}
        row={(i) => {
          const r = s.row(i);
          return { ...r, tinted: r.key === param("queue") };
        }}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        onRow={(r) => go({ params: { queue: r.key } })}
        empty={t("no_rows")}
        columns={columns(s, [
          ["operator", { title: t("operator"), text: true, mono: true, width: 150 }],
          ["parent", { title: t("pipe_feeds"), text: true, mono: true, soft: true, width: 130 }],
          ["workers", { title: t("pipe_workers"), width: 76 }],
          ["queue_mean", { title: t("pipe_mean"), width: 100, show: fill }],
          ["usage", { title: t("pipe_usage"), bar: "var(--c6)", width: 150 }],
          ["empty_share", { title: t("pipe_empty_share"), width: 100 }],
          ["cpu_per_worker", { title: t("pipe_cpu_worker"), width: 104, show: percentOfOne }],
          ["bottleneck", { title: t("pipe_verdict"), text: true, show: reason, stays: true, least: 280 }],
        ])}
      />
    </Panel>
  );
}
