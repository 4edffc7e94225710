// A step as a step trace: interval, forward + backward and tail on the main stream, below it a lane for
// each stream of collectives. Of one step, or of the average.
import type { ComponentChildren } from "preact";
import { isKnown, sum } from "../../base/aggregate.ts";
import { chartScale, short } from "../../base/format.ts";
import { StepTrace, type TraceBox, type TraceLane } from "../../draw/charts/step-lanes.tsx";
import { t } from "../../model/language.ts";
import type { Row } from "../../model/trace.ts";
import { stageFill, stageName } from "./step-bars.tsx";

export const PARTS = ["interval", "forward_backward", "tail"] as const;
export type StepPart = (typeof PARTS)[number];

export const FILL: Record<StepPart, string> = {
  interval: "var(--data_loader)",
  forward_backward: "var(--kernel)",
  tail: "var(--communication)",
};

export type Step = Row<"steps", "steps">;
type Lengths = Pick<Step, "total" | "duration" | "forward_backward" | "tail"> & { gap?: number | null | undefined };

/** How long a step is, with the device work it launched: the same in every view. */
export const lengthOf = (r: Pick<Step, "total" | "duration"> | undefined): number | null => r?.total ?? r?.duration ?? null;

/** The three parts of a step; what comes before forward is the interval, inside of the step or, where its marks begin with
 * forward, before it. Absent is never zero. */
export function partsOf(r: Lengths): Record<StepPart, number | null> {
  const { tail, forward_backward, gap } = r;
  const length = lengthOf(r);
  const inside = isKnown(length) && isKnown(forward_backward) ? Math.max(0, length - forward_backward - (tail ?? 0)) : null;
  return { interval: inside === 0 && gap !== undefined ? gap : inside, forward_backward, tail };
}

/** The parts as they are stacked in a bar: a step of which none is known is one piece. */
export const stackOf = (r: Lengths): { id: StepPart; value: number; fill: string }[] => {
  const inside = partsOf({ ...r, gap: undefined }); // a bar is as long as the step
  const parts = r.forward_backward === null ? { ...inside, forward_backward: lengthOf(r) } : inside;
  return PARTS.map((id) => ({ id, value: parts[id] ?? 0, fill: FILL[id] }));
};

type Segment = Pick<Row<"steps", "segments">, "stage" | "start" | "duration"> & Partial<Row<"steps", "segments">>;
type AveragePart = Pick<Row<"steps", "average">, "stage" | "duration"> & Partial<Row<"steps", "average">>;

/** A collective is solid where it is exposed; the stretches that computation hides lie over it, striped. */
function boxOf(r: Segment, i: number, start: number): TraceBox {
  const from = (r.start ?? start) - start;
  const words = short(r.duration, "ns");
  const comm = r.stage === "communication";
  const hidden = r.stage === "hidden";
  const stage = String(r.stage);
  const part = PARTS.find((p) => p === stage);
  const name = comm || hidden ? String(r.name ?? t("stage_communication")) : part ? t(`part_${part}`) : stageName(stage);
  const exposed = comm && isKnown(r.exposed) ? ` · ${t("exposed_part", { v: short(r.exposed, "ns") })}` : "";
  return {
    id: String(i),
    from,
    to: from + (r.duration ?? 0),
    fill: hidden ? "url(#overlap)" : comm ? "var(--communication)" : part ? FILL[part] : stageFill(stage),
    label: hidden ? "" : comm ? words : `${name} ${words}`,
    card: `${name} · ${words}${hidden ? ` · ${t("hidden_part")}` : exposed}`,
  };
}

/** The segments of one step that begins at `start`. */
export function lanesOf(segments: readonly Segment[], start: number): TraceLane[] {
  const box = (r: Segment, i: number) => boxOf(r, i, start);
  // The stages on the host, or the parts of the step where they were recorded.
  const main = segments.some((r) => r.track === "step") ? "step" : "host";
  const host = segments.filter((r) => r.track === main);
  const others = [...new Set(segments.filter((r) => r.track !== main).map((r) => String(r.track)))];
  // Labels are on the solid boxes, so those come last where an interval would cover them.
  const order = (r: Segment) => (r.stage === "hidden" ? 1 : 0);
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

/** The table `average`: the parts one after the other, and every collective whose place the producer averaged. */
function averageLanes(rows: readonly AveragePart[]): TraceLane[] {
  let at = 0;
  const main = PARTS.flatMap((p, i): TraceBox[] => {
    const own = durationOf(rows, p) ?? 0;
    const box = boxOf({ stage: p, start: at, duration: own }, i, 0);
    at += own;
    return own > 0 ? [box] : [];
  });
  const placed = rows.filter((r) => r.stage === "communication" && isKnown(r.start));
  return [
    { name: t("main_stream"), strong: true, boxes: main },
    ...placed.map((r, i) => ({
      name: t("all_reduce_of", { n: String(r.track ?? r.name ?? i) }),
      boxes: [boxOf({ ...r, start: r.start ?? 0 }, i, 0)],
    })),
  ];
}

/** How long a stage of the average takes. */
export const durationOf = (rows: readonly AveragePart[], stage: string): number | null =>
  rows.find((r) => r.stage === stage)?.duration ?? null;

export const averageLength = (rows: readonly AveragePart[]): number =>
  Math.max(
    durationOf(rows, "total") ?? 0,
    sum(PARTS, (p) => durationOf(rows, p)),
  );

/** The picture of the average step out of the table `average` of the steps, or `step_trace` of the overview. */
export function AverageTrace({ rows, label }: { rows: readonly AveragePart[]; label: string }): ComponentChildren {
  const length = averageLength(rows);
  const scale = chartScale("ns", length);
  const backward = sum(["interval", "forward_backward"], (stage) => durationOf(rows, stage));
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
