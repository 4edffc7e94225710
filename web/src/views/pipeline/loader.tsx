// Input pipeline of a loader that recorded no queues between operators: PyTorch, Paddle, our own recordings. What
// its trace holds: the calls for the next batch, what waited for them, and queues the program counted itself.
import { chartScale, percent, short, thousands } from "../../base/format.ts";
import type { ColumnBar } from "../../draw/charts/columns.tsx";
import { Lines } from "../../draw/charts/lines.tsx";
import { Pipeline, type PipeNode } from "../../draw/charts/pipe-graph.tsx";
import { nth } from "../../draw/patterns.tsx";
import { ask } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, traceQuery, windowQuery } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, countOf, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Rich } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { Card, StepColumns } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";
import { DataAdvice } from "./queues.tsx";

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

export function Loader() {
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
        <Counters />
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
      csv={csvUrl("overview", "steps")}
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
        <StepColumns bars={bars} factor={scale.factor} />
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

/** Queues that the program counted itself, over time. */
function Counters() {
  themeVersion.value;
  const asked = analysis("pipeline", { table: "queue_samples", limit: 0 }, "pipeline-samples");
  const rows = rowsOf(asked.value?.tables.queue_samples);
  if (rows.length === 0) return null;
  const names = [...new Set(rows.map((r) => String(r.operator)))];
  return (
    <Panel
      name={t("queue_counters")}
      title={t("queue_counters")}
      words={t("queue_counters_words")}
      define={defined(asked.value, "queue_samples", "size")}
      csv={csvUrl("pipeline", "queue_samples")}
    >
      <div class="pad">
        <Lines
          lines={names.map((n, i) => ({
            id: n,
            label: n,
            colour: nth(i),
            points: rows.filter((r) => r.operator === n).map((r) => [num(r.time), num(r.size)] as const),
          }))}
          height={150}
          steps
          top={Math.max(1, ...rows.map((r) => Math.max(num(r.size), num(r.capacity))))}
          x={(v) => short(v, "ns")}
          label={t("queue_counters")}
        />
      </div>
    </Panel>
  );
}
