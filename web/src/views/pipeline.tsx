// Input pipeline: who is late: reading, processing, transfer or the device. Queues where they were recorded;
// of PyTorch's loader what its trace holds: the calls for the next batch and what waited for them.
import { chartScale, percent, short, thousands } from "../base/format.ts";
import { type ColumnBar, Columns } from "../draw/columns.tsx";
import { Pipeline, type PipeNode } from "../draw/pipeline.tsx";
import { Sparkline } from "../draw/trace.tsx";
import { ask } from "../model/data.ts";
import { go, param, traceQuery, windowQuery } from "../model/place.ts";
import { setSteps } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, countOf, hasQueues, num, type Row, rowsOf } from "../model/trace.ts";
import { t, wordOr } from "../model/words.ts";
import { Legend, Rich, WithCode } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table } from "../widgets/table.tsx";
import { AdviceRow } from "./advice.tsx";
import { csvOf } from "./overview.tsx";
import { columns, defined, source } from "./rows.ts";
import { Card } from "./stepbars.tsx";
import { Verdict } from "./verdict.tsx";

export function InputPipeline() {
  return hasQueues() ? <Queues /> : <Loader />;
}

// ---- a loader without queues: PyTorch ----

interface Found {
  names?: { name: string; kind: string; count: number; total: number }[];
}

/** `enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__` has workers of its own. */
const ownProcesses = (name: string): boolean | undefined =>
  /MultiProcessing/.test(name) ? true : /SingleProcess/.test(name) ? false : undefined;
const loaderName = (name: string): string => name.match(/#(\w+)/)?.[1]?.replace(/^_/, "") ?? name;

function useLoaders() {
  const { from, to } = windowQuery.value;
  const found = ask<Found>("pipeline-loaders", "search", { ...traceQuery.value, q: "kind:data_loading", from, to, limit: 1 });
  return (found.value?.names ?? []).filter((n) => n.kind === "data_loading");
}

function Loader() {
  const asked = analysis("overview");
  const rows = rowsOf(asked.value?.tables.steps);
  const loading = rowsOf(asked.value?.tables.stage_steps).filter((r) => r.stage === "data_loading");
  const mean = (list: readonly Row[], c: string) => (list.length ? list.reduce((s, r) => s + num(r[c]), 0) / list.length : 0);
  const [step, wait, copy, busy] = [
    mean(rows, "total"),
    mean(rows, "data_loader"),
    mean(rows, "memcpy"),
    mean(loading, "host_time"),
  ];
  const share = step ? wait / step : 0;
  const device = (countOf("kernel") ?? 0) > 0;
  const severity = share >= 0.2 ? "critical" : share >= 0.05 ? "warning" : "good";
  const loaders = useLoaders();
  const worst = share >= 0.05;
  return (
    <>
      <div class="verdict">
        <div>
          <h1>
            <span class={severity === "good" ? "" : severity}>{percent(share, 0)}</span>{" "}
            {t(worst ? (device ? "pipe_waits_device" : "pipe_waits") : "pipe_in_time")}
          </h1>
          <p class="facts">
            {[
              t("fact_step", { v: short(step, "ns") }),
              t("pipe_fact_wait", { v: short(wait, "ns") }),
              t("pipe_fact_busy", { v: short(busy, "ns") }),
              device && copy > 0 ? t("pipe_fact_copy", { v: short(copy, "ns") }) : "",
            ]
              .filter(Boolean)
              .map((f, i) => (
                <span key={i}>
                  <Rich text={f} />
                </span>
              ))}
          </p>
        </div>
      </div>
      <div class="grid">
        <Panel
          name={t("pipeline")}
          title={t("pipeline")}
          words={t("pipe_words_loader")}
          define={defined(asked.value, "steps", "data_loader")}
          old={asked.old}
          error={asked.error}
          busy={!asked.value}
          height={110}
        >
          <div class="pad">
            <Pipeline
              nodes={loaderNodes(loaders, { wait, copy, worst, device })}
              label={t("pipeline")}
              onQueue={() => go({ view: "timeline", params: { find: "DataLoader" } })}
            />
          </div>
        </Panel>
        <WaitBars rows={rows} asked={asked} />
        <LoaderCalls loaders={loaders} />
        <DataAdvice />
      </div>
    </>
  );
}

interface LoaderFacts {
  wait: number;
  copy: number;
  worst: boolean;
  device: boolean;
}

function loaderNodes(loaders: readonly { name: string; count: number; total: number }[], f: LoaderFacts): PipeNode[] {
  const end: PipeNode = {
    id: "step",
    into: undefined,
    title: t(f.device ? "device" : "step"),
    words: t("pipe_waits_step", { v: short(f.wait, "ns") }),
    dashed: f.wait > 0,
  };
  const copy: PipeNode[] = f.device
    ? [{ id: "copy", into: "step", title: t("pipe_copy"), words: t("pipe_per_step", { v: short(f.copy, "ns") }) }]
    : [];
  const first = f.device ? "copy" : "step";
  const made = loaders.map((l): PipeNode => {
    const own = ownProcesses(l.name);
    return {
      id: l.name,
      into: first,
      title: loaderName(l.name),
      words: own === undefined ? t("n_calls", { n: l.count }) : t(own ? "pipe_processes" : "pipe_inside"),
      late: f.worst ? t("bottleneck") : undefined,
      card: `${l.name} · × ${thousands(l.count)} · ${short(l.total, "ns")}`,
      queue: own ? { fill: null, label: t("queue"), below: t("not_recorded") } : undefined,
    };
  });
  return [end, ...copy, ...made];
}

function WaitBars({ rows, asked }: { rows: readonly Row[]; asked: ReturnType<typeof analysis> }) {
  const scale = chartScale("ns", Math.max(...rows.map((r) => num(r.total)), 1));
  const bars = rows.map((r): ColumnBar => {
    const wait = num(r.data_loader);
    const rest = Math.max(0, num(r.total) - wait);
    return {
      id: String(r.step),
      total: num(r.total),
      parts: [
        { id: "wait", value: wait, fill: "var(--data_loader)" },
        { id: "rest", value: rest, fill: "var(--kernel)" },
      ],
      card: (
        <Card
          title={t("step_n", { n: String(r.step) })}
          parts={[
            [t("pipe_waiting"), wait],
            [t("pipe_rest"), rest],
          ]}
          total={num(r.total)}
        />
      ),
    };
  });
  return (
    <Panel
      span="w7"
      name={t("steps_title")}
      title={t("steps_title")}
      words={`${scale.unit} · ${t("click_bar")}`}
      define={defined(asked.value, "steps", "total")}
      csv={csvOf("overview", "steps")}
      busy={!asked.value}
      height={190}
      controls={
        <Legend
          items={[
            { label: t("pipe_waiting"), colour: "var(--data_loader)" },
            { label: t("pipe_rest"), colour: "var(--kernel)" },
          ]}
        />
      }
    >
      <div class="pad">
        <Columns
          bars={bars}
          height={190}
          factor={scale.factor}
          format={(v) => Number(v.toPrecision(3)).toString()}
          label={t("steps_title")}
          onBar={(id) => setSteps(Number(id), Number(id))}
        />
      </div>
    </Panel>
  );
}

function LoaderCalls({ loaders }: { loaders: readonly { name: string; count: number; total: number }[] }) {
  const panel = { name: t("pipe_calls"), title: t("pipe_calls"), define: { help: t("pipe_calls_words") } };
  return (
    <Panel {...panel} span="w5" words={panel.define.help}>
      <Table
        name={t("pipe_calls")}
        total={loaders.length}
        row={(i) => {
          const l = loaders[i];
          return { key: l?.name ?? "", cell: (c) => (c === "name" ? l?.name : c === "calls" ? l?.count : l?.total) };
        }}
        onRow={(r) => go({ view: "timeline", params: { find: r.key } })}
        empty={t("not_recorded")}
        columns={[
          { name: "name", title: t("col_name"), text: true, mono: true },
          { name: "calls", title: t("col_calls"), unit: "count", width: 70 },
          { name: "total", title: t("col_host_total"), unit: "ns", width: 120 },
        ]}
      />
    </Panel>
  );
}

function DataAdvice() {
  const answer = analysis("advise").value;
  const rows = rowsOf(answer?.tables.advice).filter((r) => /^data_|pageable|pipeline/.test(String(r.id)));
  if (rows.length === 0) return null;
  return (
    <Panel
      span="w12 advice-panel"
      name={t("advice")}
      title={t("advice")}
      define={defined(answer, "advice", "saves")}
      csv={csvOf("advise", "advice")}
    >
      {rows.map((r) => (
        <AdviceRow key={String(r.id)} row={r} />
      ))}
    </Panel>
  );
}

// ---- recorded queues: MindSpore ----

function Queues() {
  const asked = analysis("pipeline");
  const ops = rowsOf(asked.value?.tables.operators);
  const late = ops.find((r) => r.bottleneck === "behind_child") ?? ops.find((r) => r.bottleneck);
  const chosen = param("queue") || String(late?.operator ?? ops[0]?.operator ?? "");
  return (
    <>
      <Verdict answer={asked.value} otherwise={t("pipeline")} facts={[t("pipe_fact_ops", { n: ops.length })]} />
      <div class="grid">
        <Panel
          name={t("pipeline")}
          title={t("pipeline")}
          words={t("pipe_words")}
          define={defined(asked.value, "operators", "usage")}
          csv={csvOf("pipeline", "operators")}
          old={asked.old}
          error={asked.error}
          busy={!asked.value}
          height={150}
        >
          <div class="pad">
            <Pipeline
              nodes={ops.map((r) => queueNode(r, r === late, chosen))}
              label={t("pipeline")}
              onQueue={(id) => go({ params: { queue: id } })}
            />
          </div>
        </Panel>
        <QueueHistory chosen={chosen} />
        <PipeTable />
        <Suggestions />
        <DataAdvice />
      </div>
    </>
  );
}

function queueNode(r: Row, late: boolean, chosen: string): PipeNode {
  const id = String(r.operator);
  const usage = typeof r.usage === "number" ? r.usage : null;
  return {
    id,
    into: r.parent === null ? undefined : String(r.parent),
    title: id,
    words: r.workers === null ? "" : r.workers === 1 ? t("one_worker") : t("n_workers", { n: num(r.workers) }),
    late: late ? t("bottleneck") : undefined,
    queue:
      r.queue_capacity === null
        ? undefined
        : {
            fill: usage,
            label: usage === null ? t("not_recorded") : percent(usage),
            below:
              typeof r.queue_mean !== "number" ? "" : t("n_of_m", { n: Math.round(num(r.queue_mean)), m: num(r.queue_capacity) }),
            chosen: id === chosen,
          },
  };
}

function QueueHistory({ chosen }: { chosen: string }) {
  themeVersion.value;
  const asked = analysis("pipeline", { table: "queue_samples", limit: 0 }, "pipeline-samples");
  const own = rowsOf(asked.value?.tables.queue_samples).filter((r) => r.operator === chosen);
  if (asked.value && own.length === 0) return null;
  return (
    <Panel
      name={t("queue_history")}
      title={t("queue_of", { n: chosen })}
      words={t("queue_words", { m: num(own[0]?.capacity) })}
      define={defined(asked.value, "queue_samples", "size")}
      csv={csvOf("pipeline", "queue_samples")}
      busy={!asked.value}
      height={90}
    >
      <div class="pad">
        <Sparkline
          values={own.map((r) => num(r.size))}
          colour="var(--c6)"
          height={90}
          label={t("queue_of", { n: chosen })}
          whole={Math.max(1, num(own[0]?.capacity))}
        />
      </div>
    </Panel>
  );
}

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
  const asked = analysis("pipeline", { table: "suggestions", limit: 0 }, "pipeline-suggestions");
  const rows = rowsOf(asked.value?.tables.suggestions);
  if (rows.length === 0) return null;
  return (
    <Panel
      name={t("pipe_suggestions")}
      title={t("pipe_suggestions")}
      define={defined(asked.value, "suggestions", "suggestion")}
      csv={csvOf("pipeline", "suggestions")}
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

function PipeTable() {
  const sort = param("sort") || "usage:asc";
  const s = source("pipeline", "operators", { sort }, (r) => String(r.cell("operator")));
  const panel = { name: t("operators"), title: t("operators"), csv: s.csv, old: s.old, error: s.error, busy: !s.table };
  return (
    <Panel {...panel} define={defined(s.answer, "operators", "bottleneck")} height={160}>
      <Table
        name={t("operators")}
        total={s.total}
        row={s.row}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        onRow={(r) => go({ params: { queue: r.key } })}
        empty={t("no_rows")}
        columns={columns(s, "pipeline.operators", [
          ["operator", { title: t("operator"), text: true, mono: true }],
          ["parent", { title: t("pipe_feeds"), text: true, mono: true, soft: true, width: 130 }],
          ["workers", { title: t("pipe_workers"), width: 90 }],
          ["queue_mean", { title: t("pipe_mean"), width: 100 }],
          ["queue_capacity", { title: t("pipe_capacity"), width: 100 }],
          ["usage", { title: t("pipe_usage"), bar: "var(--c6)", width: 200 }],
          ["bottleneck", { title: t("pipe_verdict"), text: true, width: 400, show: reason }],
        ])}
      />
    </Panel>
  );
}
