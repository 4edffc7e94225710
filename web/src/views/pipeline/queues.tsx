// The recorded pipeline of MindSpore: operators and the queues between them, queues to the device by batch, which
// operator is late and what to change, processors.
import { chartScale, percent, short, thousands } from "../../base/format.ts";
import type { ColumnBar } from "../../draw/charts/columns.tsx";
import { type Line, Lines } from "../../draw/charts/lines.tsx";
import { Pipeline, type PipeNode } from "../../draw/charts/pipe-graph.tsx";
import { nth } from "../../draw/patterns.tsx";
import { t, wordOr } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Rich, WithCode } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { AdviceRow } from "../shared/advice.tsx";
import { DataFlow } from "../shared/data-flow.tsx";
import { Card, StepColumns } from "../shared/step-bars.tsx";
import { FILL, PARTS, partsOf } from "../shared/step-trace.tsx";
import { columns, defined, source } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { DataStages } from "./data-stages.tsx";
import { Processors } from "./processors.tsx";

const table = (name: string) => analysis("pipeline", { table: name, limit: 0 }, `pipeline-${name}`);

export function Queues() {
  const asked = analysis("pipeline");
  const ops = rowsOf(table("operators").value?.tables.operators);
  const late = ops.find((r) => r.bottleneck === "behind_child") ?? ops.find((r) => r.bottleneck);
  const chosen = param("queue") || String(late?.operator ?? ops[0]?.operator ?? "");
  const empty = rowsOf(asked.value?.tables.flow).reduce((s, r) => s + num(r.empty), 0);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("pipeline")}
        facts={[
          ops.length ? t("pipe_fact_ops", { n: ops.length }) : undefined,
          empty ? t("pipe_fact_late", { n: empty }) : undefined,
        ]}
      />
      <div class="grid">
        <Flow />
        {ops.length ? <Graph ops={ops} late={late} chosen={chosen} /> : null}
        <WaitingSteps />
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
      title={t("data_preparation")}
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

function Graph({ ops, late, chosen }: { ops: readonly Row[]; late: Row | undefined; chosen: string }) {
  const asked = table("operators");
  const loading = rowsOf(table("loading").value?.tables.loading);
  const wait = loading.length ? loading.reduce((s, r) => s + num(r.time), 0) / loading.length : undefined;
  const end: PipeNode[] =
    wait === undefined
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
    <Panel
      name={t("pipeline")}
      title={t("pipeline")}
      words={t("pipe_words")}
      define={defined(asked.value, "operators", "usage")}
      csv={csvUrl("pipeline", "operators")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={150}
    >
      <div class="pad">
        <Pipeline nodes={[...end, ...nodes]} label={t("pipeline")} onQueue={(id) => go({ params: { queue: id } })} />
      </div>
    </Panel>
  );
}

function queueNode(r: Row, late: boolean, chosen: string, toDevice: boolean): PipeNode {
  const id = String(r.operator);
  const usage = typeof r.usage === "number" ? r.usage : null;
  const mean = typeof r.queue_mean === "number" ? r.queue_mean : undefined;
  return {
    id,
    into: r.parent === null ? (toDevice ? "device" : undefined) : String(r.parent),
    title: id,
    words: r.workers === null ? "" : t("n_workers", { n: num(r.workers) }),
    late: late ? t("bottleneck") : undefined,
    suspect: !late && r.bottleneck ? t("pipe_suspect") : undefined,
    queue:
      r.queue_capacity === null
        ? undefined
        : {
            fill: usage,
            label: usage === null ? t("not_recorded") : percent(usage),
            below: mean === undefined ? "" : t("n_of_m", { n: rounded(mean), m: num(r.queue_capacity) }),
            chosen: id === chosen,
          },
  };
}

/** The steps, each with the time it waits for data: what a step trace calls its interval. */
function WaitingSteps() {
  const asked = analysis("steps", { ...WHOLE_TRACE, limit: 0, table: "steps" }, "steps-all");
  const rows = rowsOf(asked.value?.tables.steps).filter((r) => r.forward_backward !== null);
  if (rows.length === 0) return null;
  const scale = chartScale("ns", Math.max(...rows.map((r) => num(r.duration)), 1));
  const name = (p: (typeof PARTS)[number]) => (p === "interval" ? t("pipe_waiting") : t(`part_${p}`));
  const bars = rows.map((r): ColumnBar => {
    const parts = partsOf(r);
    return {
      id: String(r.step),
      total: num(r.duration),
      parts: PARTS.map((p) => ({ id: p, value: parts[p], fill: FILL[p] })),
      chosen: String(r.step) === param("step"),
      card: (
        <Card title={t("step_n", { n: String(r.step) })} parts={PARTS.map((p) => [name(p), parts[p]])} total={num(r.duration)} />
      ),
    };
  });
  return (
    <Panel
      span="w7"
      name={t("steps_title")}
      title={t("steps_title")}
      words={`${scale.unit} · ${t("click_bar")}`}
      define={defined(asked.value, "steps", "duration")}
      csv={csvUrl("steps", "steps")}
      controls={<Legend items={PARTS.map((p) => ({ label: name(p), colour: FILL[p] }))} />}
    >
      <div class="pad">
        <StepColumns bars={bars} factor={scale.factor} />
      </div>
    </Panel>
  );
}

/** The queue behind an operator and those before it, over time. */
function QueueHistory({ ops, chosen }: { ops: readonly Row[]; chosen: string }) {
  themeVersion.value;
  const asked = table("queue_samples");
  const rows = rowsOf(asked.value?.tables.queue_samples);
  const near = [chosen, ...ops.filter((o) => o.parent === chosen).map((o) => String(o.operator))];
  const known = near.filter((n) => rows.some((r) => r.operator === n));
  if (known.length === 0) return null;
  const of = (n: string) => rows.filter((r) => r.operator === n);
  const order = ops.map((o) => String(o.operator));
  const lines = known.map(
    (n): Line => ({
      id: n,
      label: n,
      colour: nth(Math.max(0, order.indexOf(n))),
      strong: n === chosen,
      points: of(n).map((r) => [num(r.time), num(r.size)] as const),
    }),
  );
  const capacity = num(of(known[0] as string)[0]?.capacity);
  const every = ops.find((o) => o.operator === chosen)?.interval;
  return (
    <Panel
      span={rowsOf(analysisSteps()).some((r) => r.forward_backward !== null) ? "w5" : "w12"}
      name={t("queue_history")}
      title={t("queues_around", { n: chosen })}
      words={
        typeof every === "number"
          ? t("queue_every_ms", { m: capacity, v: short(every, "ns") })
          : t("queue_every", { m: capacity })
      }
      define={defined(asked.value, "queue_samples", "size")}
      csv={csvUrl("pipeline", "queue_samples")}
      busy={!asked.value}
      height={190}
    >
      <div class="pad">
        <Lines
          lines={lines}
          height={190}
          top={Math.max(1, capacity, ...lines.flatMap((l) => l.points.map((p) => p[1])))}
          capacity={capacity > 0}
          x={(v) => short(v, "ns")}
          label={t("queues_around", { n: chosen })}
        />
      </div>
    </Panel>
  );
}

const analysisSteps = () => analysis("steps", { ...WHOLE_TRACE, limit: 0, table: "steps" }, "steps-all").value?.tables.steps;

/** A queue to the device: how full each batch found it; where it was empty, somebody waited. */
function BatchQueue({ queue }: { queue: "host queue" | "data queue" }) {
  themeVersion.value;
  const asked = table("queues");
  const both = rowsOf(asked.value?.tables.queues).filter((r) => typeof r.size === "number");
  const rows = both.filter((r) => r.queue === queue);
  if (rows.length === 0) return null;
  const empty = rows.filter((r) => r.size === 0);
  const title = t(queue === "host queue" ? "queue_host" : "queue_data");
  const capacity = num(rows[0]?.capacity);
  return (
    <Panel
      span={rows.length === both.length ? "w12" : "w6"}
      name={title}
      title={title}
      words={t("queue_batches")}
      define={defined(asked.value, "queues", "size")}
      csv={csvUrl("pipeline", "queues")}
      old={asked.old}
      controls={
        <span class={empty.length ? "critical" : "t3"}>
          <Rich text={t("queue_empty_of", { n: thousands(empty.length), m: thousands(rows.length) })} />
        </span>
      }
    >
      <div class="pad">
        <Lines
          lines={[{ id: queue, label: title, colour: "var(--c6)", points: rows.map((r) => [num(r.step), num(r.size)] as const) }]}
          height={130}
          top={Math.max(1, capacity, ...rows.map((r) => num(r.size)))}
          capacity={capacity > 0}
          steps={rows.length >= 24}
          marks={empty.map((r) => num(r.step))}
          x={(v) => (Number.isInteger(v) ? t("queue_batch", { n: v }) : "")}
          card={(v) => timesOf(rows.find((r) => num(r.step) === v))}
          label={title}
        />
      </div>
    </Panel>
  );
}

/** Times of a batch: to get it, to hand it on, in all. */
const timesOf = (r: Row | undefined): string =>
  typeof r?.total === "number" ? `${t("col_total").toLowerCase()} ${short(r.total, "ns")}` : "";

/** Why an operator is suspected, in words. */
const reason = (v: unknown) =>
  v ? (
    <span>
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
      title={t("pipe_suggestions")}
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
  const panel = { name: t("operators"), title: t("operators"), csv: s.csv, old: s.old, error: s.error, busy: !s.table };
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
        columns={columns(s, "pipeline.operators", [
          ["operator", { title: t("operator"), text: true, mono: true, width: 150 }],
          ["parent", { title: t("pipe_feeds"), text: true, mono: true, soft: true, width: 130 }],
          ["workers", { title: t("pipe_workers"), width: 76 }],
          ["queue_mean", { title: t("pipe_mean"), width: 100, show: fill }],
          ["usage", { title: t("pipe_usage"), bar: "var(--c6)", width: 150 }],
          ["empty_share", { title: t("pipe_empty_share"), width: 100 }],
          ["cpu_per_worker", { title: t("pipe_cpu_worker"), width: 104, show: percentOfOne }],
          ["bottleneck", { title: t("pipe_verdict"), text: true, show: reason }],
        ])}
      />
    </Panel>
  );
}

export function DataAdvice() {
  const answer = analysis("advise").value;
  const all = rowsOf(answer?.tables.advice);
  const rows = all.filter((r) => /^data_|pageable|pipeline/.test(String(r.id)));
  if (rows.length === 0) return null;
  return (
    <Panel
      span="w12 advice-panel"
      name={t("advice")}
      title={t("advice")}
      define={defined(answer, "advice", "saves")}
      csv={csvUrl("advise", "advice")}
    >
      {rows.map((r) => (
        <AdviceRow key={String(r.id)} row={r} rows={all} />
      ))}
    </Panel>
  );
}
