// One chart for each measure: the mean of every run, and marks where the level changes.
import { isKnown, largest } from "../../base/aggregate.ts";
import { chartScale, short, tick, type Unit } from "../../base/format.ts";
import { type Line, Lines, type Point } from "../../draw/charts/lines.tsx";
import { h } from "../../model/history.ts";
import type { AskedFor, Row } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";

export type HistoryPoint = Row<"history", "points">;
export type HistoryChange = Row<"history", "changes">;

export const METRICS = ["step", "device", "host", "memory", "kernels", "mfu"] as const;
export type Metric = (typeof METRICS)[number];

export const UNIT_OF: Record<Metric, Unit> = {
  step: "ns",
  device: "ns",
  host: "ns",
  memory: "bytes",
  kernels: "plain",
  mfu: "share",
};

/** A hash as people write it; what is hardly longer stays whole. */
export const shortCommit = (commit: string | null | undefined): string =>
  (commit ?? "").length > 14 ? (commit ?? "").slice(0, 10) : (commit ?? "");

/** What a run is called: its commit, shortened, else its file. */
export const nameOf = (p: HistoryPoint | undefined): string => shortCommit(p?.commit) || (p?.name ?? "");

/** The runs that measured it, by their numbers. */
export const seriesOf = (points: readonly HistoryPoint[], metric: Metric): Point[] =>
  points.filter((p) => isKnown(p[metric])).map((p): Point => [p.point ?? 0, p[metric]]);

interface Props {
  asked: AskedFor<"history">;
  points: readonly HistoryPoint[];
  changes: readonly HistoryChange[];
}

export function MetricCharts(props: Props) {
  const known = METRICS.filter((m) => seriesOf(props.points, m).length > 0);
  return (
    <>
      {known.map((m, i) => (
        <MetricChart key={m} {...props} metric={m} alone={i === known.length - 1 && i % 2 === 0} />
      ))}
    </>
  );
}

function MetricChart({ asked, points, changes, metric, alone }: Props & { metric: Metric; alone: boolean }) {
  const series = seriesOf(points, metric);
  const unit = UNIT_OF[metric];
  const scaled =
    unit === "ns" || unit === "bytes"
      ? chartScale(
          unit,
          largest(series, (p) => p[1], 1),
        )
      : undefined;
  const name = h(`metric_${metric}`);
  const label = h("label", { metric: name, first: short(series[0]?.[1], unit), last: short(series.at(-1)?.[1], unit) });
  const line: Line = { id: metric, label: name, color: "var(--c1)", points: series, strong: true };
  return (
    <Panel
      name={name}
      span={alone ? "w12" : "w6"}
      asked={asked}
      words={h("metric_words", { unit: scaled ? `, ${scaled.unit}` : "" })}
      figure={label}
      height={170}
    >
      <div class="pad">
        <Lines
          lines={[line]}
          height={160}
          label={label}
          top={0}
          x={(v) => nameOf(points[Math.round(v)])}
          y={(v) => (scaled ? tick(v, scaled) : short(v, unit))}
          unit={scaled?.factor ?? 1}
          marks={changes.filter((c) => c.metric === metric && isKnown(c.at)).map((c) => c.at ?? 0)}
        />
      </div>
    </Panel>
  );
}
