// Input pipeline of a loader that recorded no queues between operators: PyTorch, Paddle, our own recordings. What
// its trace holds: the calls for the next batch, what waited for them, and queues the program counted itself.
import { isKnown, largest, mean, shareOf } from "../../base/aggregate.ts";
import { percent, short, thousands } from "../../base/format.ts";
import { Lines } from "../../draw/charts/lines.tsx";
import { Pipeline, type PipeNode } from "../../draw/charts/pipe-graph.tsx";
import { ask } from "../../model/answers.ts";
import { showCategoryOf } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { go, traceQuery, windowQuery } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, countOf, csvUrl, hasNoSteps, type Row, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { defined } from "../shared/table-source.ts";
import { Headline, ShowIt } from "../shared/verdict.tsx";
import { DataAdvice, queueLines } from "./queue-parts.tsx";
import { WaitingSteps } from "./waiting-steps.tsx";

interface Found {
  names?: { name: string; kind: string; count: number; total: number }[];
}

/** `enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__` has its own workers. */
const ownProcesses = (name: string): boolean | undefined =>
  /MultiProcessing/.test(name) ? true : /SingleProcess/.test(name) ? false : undefined;
const loaderName = (name: string): string => name.match(/#(\w+)/)?.[1]?.replace(/^_/, "") ?? name;

function useLoaders() {
  const { from, to } = windowQuery.value;
  const found = ask<Found>("pipeline-loaders", "search", { ...traceQuery.value, q: "kind:data_loading", from, to, limit: 1 });
  return (found.value?.names ?? []).filter((n) => n.kind === "data_loading");
}

/** The longest call for a batch that the step waits for. */
const showWait = () => showCategoryOf("data_loader", t("cat_data_loader"), {});

export function Loader() {
  const asked = analysis("overview");
  const rows = rowsOf(asked.value?.tables.steps);
  const loading = rowsOf(asked.value?.tables.stage_steps).filter((r) => r.stage === "data_loading");
  const step = mean(rows, (r) => r.total);
  const wait = mean(rows, (r) => r.data_loader);
  const copy = mean(rows, (r) => r.memcpy);
  const busy = mean(loading, (r) => r.host_time);
  const known = shareOf(wait, step);
  const share = known ?? 0;
  const device = (countOf("kernel") ?? 0) > 0;
  const severity = share >= 0.2 ? "critical" : share >= 0.05 ? "warning" : "good";
  const loaders = useLoaders();
  const worst = share >= 0.05;
  const only = rows.length === 1 ? rows[0] : undefined; // nothing is an average then
  const whole = hasNoSteps();
  const of = whole ? t("of_recording") : only ? t("of_step_n", { n: String(only.step) }) : t("of_each_step");
  const v = short(step, "ns");
  return (
    <>
      <Headline
        title={
          <>
            <span class={severity === "good" ? "" : severity}>{percent(known, 0)}</span>{" "}
            {t(worst ? (device ? "pipe_waits_device" : "pipe_waits") : "pipe_in_time", { of })}
          </>
        }
        facts={[
          whole ? t("fact_recording", { v }) : only ? t("fact_one_step", { n: String(only.step), v }) : t("fact_step", { v }),
          t("pipe_fact_wait", { v: short(wait, "ns") }),
          t("pipe_fact_busy", { v: short(busy, "ns") }),
          device && copy ? t("pipe_fact_copy", { v: short(copy, "ns") }) : undefined,
        ]}
        more={wait ? <ShowIt show={showWait} /> : undefined}
      />
      <div class="grid">
        <Panel
          name={t("pipeline")}
          words={t("pipe_words_loader")}
          define={defined(asked.value, "steps", "data_loader")}
          asked={asked}
          height={110}
        >
          <div class="pad">
            <Pipeline nodes={loaderNodes(loaders, { wait, copy, worst, device })} label={t("pipeline")} onQueue={showWait} />
          </div>
        </Panel>
        <WaitingSteps
          steps={rows.map((r) => ({ ...r, parts: [r.data_loader, restOf(r)] }))}
          legend={[
            { label: t("pipe_waiting"), color: "var(--data_loader)" },
            { label: t("pipe_rest"), color: "var(--kernel)" },
          ]}
          define={defined(asked.value, "steps", "total")}
          csv={csvUrl("overview", "steps")}
          asked={asked}
        />
        <LoaderCalls loaders={loaders} />
        <Counters />
        <DataAdvice />
      </div>
    </>
  );
}

/** A step without its waiting. */
const restOf = (r: Row<"overview", "steps">): number | null =>
  isKnown(r.total) ? Math.max(0, r.total - (r.data_loader ?? 0)) : null;

interface LoaderFacts {
  wait: number | null;
  copy: number | null;
  worst: boolean;
  device: boolean;
}

function loaderNodes(loaders: readonly { name: string; count: number; total: number }[], f: LoaderFacts): PipeNode[] {
  const end: PipeNode = {
    id: "step",
    into: undefined,
    title: t(f.device ? "device" : "step"),
    words: t("pipe_waits_step", { v: short(f.wait, "ns") }),
    dashed: (f.wait ?? 0) > 0,
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
      words={t("queue_counters_words")}
      define={defined(asked.value, "queue_samples", "size")}
      csv={csvUrl("pipeline", "queue_samples")}
    >
      <div class="pad">
        <Lines
          lines={queueLines(rows, names)}
          height={150}
          steps
          top={largest(rows, (r) => r.capacity, 1)}
          x={(v) => short(v, "ns")}
          label={t("queue_counters")}
        />
      </div>
    </Panel>
  );
}
