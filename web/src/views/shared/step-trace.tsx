// A step as MindSpore draws it: interval, forward + backward and tail on the main stream, below it a lane for
// each stream of collectives. Of one step, or of the average.
import type { ComponentChildren } from "preact";
import { chartScale, short } from "../../base/format.ts";
import { StepTrace, type TraceBox, type TraceLane } from "../../draw/charts/step-lanes.tsx";
import { t } from "../../model/language.ts";
import { num, type Row } from "../../model/trace.ts";
import { stageFill, stageName } from "./step-bars.tsx";

export const PARTS = ["interval", "forward_backward", "tail"] as const;
export type StepPart = (typeof PARTS)[number];

export const FILL: Record<StepPart, string> = {
  interval: "var(--data_loader)",
  forward_backward: "var(--kernel)",
  tail: "var(--communication)",
};

/** Whether a part is known of any step: absent is never zero. */
export const isKnown = (rows: readonly Row[], part: StepPart): boolean =>
  rows.some((r) => (part === "tail" ? r.tail : r.forward_backward) !== null);

/** How long a step is, with the device work it launched: the same in every view. */
export const lengthOf = (r: Row | undefined): number => num(r?.total ?? r?.duration);

/** The three parts of a step; what comes before forward is the interval. */
export function partsOf(r: Row): Record<StepPart, number> {
  const tail = num(r.tail);
  const forward = num(r.forward_backward);
  const known = r.forward_backward !== null;
  return {
    interval: known ? Math.max(0, lengthOf(r) - forward - tail) : 0,
    forward_backward: known ? forward : lengthOf(r),
    tail,
  };
}

/** A collective is solid where it is exposed; the stretches that computation hides lie over it, striped. */
function boxOf(r: Row, i: number, start: number): TraceBox {
  const from = num(r.start) - start;
  const words = short(num(r.duration), "ns");
  const comm = r.stage === "communication";
  const hidden = r.stage === "hidden";
  const stage = String(r.stage);
  const part = PARTS.find((p) => p === stage);
  const name = comm || hidden ? String(r.name ?? t("stage_communication")) : part ? t(`part_${part}`) : stageName(stage);
  const exposed = comm && typeof r.exposed === "number" ? ` · ${t("exposed_part", { v: short(r.exposed, "ns") })}` : "";
  return {
    id: String(i),
    from,
    to: from + num(r.duration),
    fill: hidden ? "url(#overlap)" : comm ? "var(--communication)" : part ? FILL[part] : stageFill(stage),
    label: hidden ? "" : comm ? words : `${name} ${words}`,
    card: `${name} · ${words}${hidden ? ` · ${t("hidden_part")}` : exposed}`,
  };
}

/** The segments of one step that begins at `start`. */
export function lanesOf(segments: readonly Row[], start: number): TraceLane[] {
  const box = (r: Row, i: number) => boxOf(r, i, start);
  // The stages on the host, or the parts of the step as MindSpore gives them.
  const main = segments.some((r) => r.track === "step") ? "step" : "host";
  const host = segments.filter((r) => r.track === main);
  const others = [...new Set(segments.filter((r) => r.track !== main).map((r) => String(r.track)))];
  // Labels stand on the solid boxes, so those come last where a stretch would cover them.
  const order = (r: Row) => (r.stage === "hidden" ? 1 : 0);
  return [
    { name: t(main === "step" ? "main_stream" : "host_stages"), strong: true, boxes: host.map(box) },
    ...others.map((track) => ({
      name: track,
      boxes: segments
        .filter((r) => r.track === track)
        .sort((a, b) => order(a) - order(b))
        .map(box),
    })),
  ];
}

/** The table `average`: the parts one behind the other, and every collective whose place the producer averaged. */
function averageLanes(rows: readonly Row[]): TraceLane[] {
  let at = 0;
  const main = PARTS.flatMap((p, i): TraceBox[] => {
    const own = num(rows.find((r) => r.stage === p)?.duration);
    const box = boxOf({ stage: p, start: at, duration: own }, i, 0);
    at += own;
    return own > 0 ? [box] : [];
  });
  const placed = rows.filter((r) => r.stage === "communication" && typeof r.start === "number");
  return [
    { name: t("main_stream"), strong: true, boxes: main },
    ...placed.map((r, i) => ({ name: t("all_reduce_of", { n: String(r.track ?? r.name ?? i) }), boxes: [boxOf(r, i, 0)] })),
  ];
}

export const averageLength = (rows: readonly Row[]): number =>
  Math.max(
    num(rows.find((r) => r.stage === "total")?.duration),
    PARTS.reduce((s, p) => s + num(rows.find((r) => r.stage === p)?.duration), 0),
  );

/** The picture of the average step out of the table `average` of the steps, or `step_trace` of the overview. */
export function AverageTrace({ rows, label }: { rows: readonly Row[]; label: string }): ComponentChildren {
  const length = averageLength(rows);
  const scale = chartScale("ns", length);
  const before = num(rows.find((r) => r.stage === "interval")?.duration);
  const backward = before + num(rows.find((r) => r.stage === "forward_backward")?.duration);
  const lanes = averageLanes(rows);
  return (
    <StepTrace
      lanes={lanes}
      length={length}
      factor={scale.factor}
      unit={scale.unit}
      border={backward > 0 && backward < length && lanes.length > 1 ? { at: backward, label: t("backward_ends") } : undefined}
      label={label}
    />
  );
}
