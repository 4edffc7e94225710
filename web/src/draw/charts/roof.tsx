// A roofline: operations per second over operations per byte, both logarithmic. A line for each data type rises with
// the memory's bandwidth up to its peak; a point is an operator, its area its time.
import type { ComponentChildren } from "preact";
import { largest, self, smallest, sum } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { logTicks } from "../../base/scale.ts";
import { textWidth } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

export interface RoofPoint {
  id: string;
  x: number; // operations per byte
  y: number; // operations per second
  area: number;
  fill: string;
  label: string;
  card: ComponentChildren;
  chosen?: boolean;
}

export interface Ridge {
  id: string;
  peak: number; // operations per second
  bandwidth: number | null; // bytes per second
  stroke: string;
  label: string;
}

interface Axis {
  min: number;
  max: number;
  marks: number[];
}

/** Whole decades around the values, the highest ones where there are too many, one above `least` where there are none;
 * at most about eight marks. */
export function axisOf(values: readonly number[], least: number, decades = 12): Axis {
  const known = values.filter((v) => v > 0 && Number.isFinite(v));
  const max = 10 ** Math.ceil(Math.log10(largest(known, self, known.length ? 0 : least * 10) * 1.0001));
  const min = Math.max(10 ** Math.floor(Math.log10(known.length ? smallest(known, self) : least)), max / 10 ** decades);
  const all = logTicks(min * 0.999, max * 1.001);
  const every = Math.ceil(all.length / 8);
  return { min, max, marks: all.filter((_, i) => i % every === 0) };
}

interface Box {
  x: number;
  y: number; // of the line below the words
  w: number;
  r?: number; // of a circle; words are half a line high
}

const LINE = 13;

const apart = (a: Box, b: Box) =>
  Math.abs(a.y - b.y) > (a.r ?? LINE / 2) + (b.r ?? LINE / 2) || a.x > b.x + b.w || b.x > a.x + a.w;

type Label = Box & { label: string; end?: number }; // of one to the left of its point: where it ends

/** Labels of the largest points, wherever around their point they cover no other point and no other label. */
export function placeLabels(
  list: readonly { x: number; y: number; r: number; label: string }[],
  taken: readonly Box[],
  [left, right]: readonly [number, number],
  most: number,
): Label[] {
  const placed: Label[] = [];
  const points = list.map((p) => ({ x: p.x - p.r, y: p.y + 4, w: 2 * p.r, r: p.r }));
  list.forEach((p, i) => {
    const w = textWidth(p.label);
    const rest = points.filter((_, k) => k !== i);
    const fits = (b: Box) => b.x > left && b.x + w < right && [...taken, ...placed, ...rest].every((o) => apart(o, b));
    const [y, label] = [p.y + 4, p.label];
    const [after, before] = [p.x + p.r + 4, p.x - p.r - 4];
    const places: Label[] = [
      { x: after, y, w, label },
      { x: before - w, y, w: w + 4, label, end: before }, // up to its point: no other is between
      { x: p.x - w / 2, y: p.y + p.r + 14, w, label },
      { x: p.x - w / 2, y: p.y - p.r - 5, w, label },
      { x: p.x + p.r / 2, y: p.y + p.r + 14, w, label },
      { x: p.x - p.r / 2 - w, y: p.y - p.r - 5, w, label, end: p.x - p.r / 2 },
    ];
    const place = places.find(fits);
    if (placed.length < most && place) placed.push(place);
  });
  return placed;
}

const [LEFT, RIGHT, TOP, BOTTOM] = [86, 16, 18, 38];
const LABELS = 8;
const DECADES = 6; // of rates: what is slower is at the lower edge, hollow
const WORTH = 0.002; // of all time: what takes less does not stretch the axes

export function Roof({
  points,
  ridges,
  height,
  label,
  xTitle,
  onPoint,
  onShow,
}: {
  points: readonly RoofPoint[];
  ridges: readonly Ridge[];
  height: number;
  label: string;
  xTitle: string;
  onPoint: (id: string) => void;
  onShow: (id: string) => void; // a double click
}) {
  const [box, width] = useWidth(900);
  const corners = ridges.flatMap((r) => (r.bandwidth ? [r.peak / r.bandwidth] : []));
  const all = sum(points, (p) => p.area);
  const worth = points.filter((p) => p.area >= all * WORTH);
  const xs = axisOf([...worth.map((p) => p.x), ...corners.map((c) => c * 3)], 1);
  const ys = axisOf([...worth.map((p) => p.y), ...ridges.map((r) => r.peak)], 1e9, DECADES);
  const within = (v: number, a: Axis) => Math.min(a.max, Math.max(a.min, v));
  const at = (v: number, a: Axis, from: number, to: number) =>
    from + ((Math.log10(v) - Math.log10(a.min)) / (Math.log10(a.max) - Math.log10(a.min))) * (to - from);
  const x = (v: number) => at(v, xs, LEFT, width - RIGHT);
  const y = (v: number) => at(v, ys, height - BOTTOM, TOP);
  const most = largest(points, (p) => p.area, 1);
  const radius = (area: number) => Math.max(2.5, Math.sqrt(area / most) * 16);
  const shown = [...points]
    .sort((a, b) => b.area - a.area)
    .map((p) => ({ ...p, cx: x(within(p.x, xs)), cy: y(within(p.y, ys)), r: radius(p.area) }))
    .map((p) => ({ ...p, outside: within(p.x, xs) !== p.x || within(p.y, ys) !== p.y }));
  const top = largest(ridges, (r) => r.peak, 0);
  const roofs = ridges.map((r) => ({
    ...r,
    ...ridgeLabel(r, x(r.bandwidth ? r.peak / r.bandwidth : xs.min), y(r.peak) + (r.peak < top ? 14 : -5), width),
  }));
  const dots = shown.map((p) => ({ x: p.cx, y: p.cy, r: p.r, label: p.label }));
  const slope = slopeLabel(ridges, xs, ys, x, y);
  const axis = { x: 0, y: height - BOTTOM + 15, w: width };
  const labels = placeLabels(dots, slope ? [...roofs, slope, axis] : [...roofs, axis], [LEFT, width - RIGHT], LABELS);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        {ys.marks.map((m) => (
          <g key={m}>
            <line x1={LEFT} x2={width - RIGHT} y1={y(m)} y2={y(m)} stroke="var(--line)" />
            <text x={LEFT - 8} y={y(m) + 4} text-anchor="end" class="axis">
              {short(m, "flops_per_s").replace(/\.0+/, "")}
            </text>
          </g>
        ))}
        {xs.marks.map((m) => (
          <g key={m}>
            <line x1={x(m)} x2={x(m)} y1={TOP} y2={height - BOTTOM} stroke="var(--line)" />
            <text x={x(m)} y={height - BOTTOM + 15} text-anchor="middle" class="axis">
              {m >= 1 ? m.toLocaleString("en") : String(Number(m.toPrecision(1)))}
            </text>
          </g>
        ))}
        <text x={width - RIGHT} y={height - 5} text-anchor="end" class="axis">
          {xTitle}
        </text>
        <Ridges slope={slope} ridges={roofs} x={x} y={y} xs={xs} ys={ys} right={width - RIGHT} />
        {shown.map((p) => (
          <circle
            key={p.id}
            cx={p.cx}
            cy={p.cy}
            r={p.r}
            fill={p.outside ? "none" : p.fill}
            fill-opacity={0.6}
            stroke={p.chosen ? "var(--t1)" : p.fill}
            stroke-width={p.chosen ? 2 : 1}
            class="part"
            pointer-events="all"
            onClick={() => onPoint(p.id)}
            onDblClick={() => onShow(p.id)}
            {...tip(p.card, 80)}
          />
        ))}
        {labels.map((l) => (
          <text
            key={`${l.x} ${l.y}`}
            x={l.end ?? l.x}
            y={l.y}
            text-anchor={l.end === undefined ? "start" : "end"}
            class="axis roof-label"
            pointer-events="none"
          >
            {l.label}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** At the left end of its line, clear of the slope: above the highest, below the others. A short line ends before its text. */
function ridgeLabel(r: Ridge, left: number, at: number, right: number): Box & { text: string } {
  const text = `${r.label} ${short(r.peak, "flops_per_s")}`;
  const w = textWidth(text);
  return { x: Math.min(left + 6, right - w - 2), y: at, w, text };
}

/** What the slope is: the bandwidth, below its left end. */
function slopeLabel(
  ridges: readonly Ridge[],
  xs: Axis,
  ys: Axis,
  x: (v: number) => number,
  y: (v: number) => number,
): (Box & { text: string }) | null {
  const bandwidth = [...ridges].sort((a, b) => b.peak - a.peak)[0]?.bandwidth;
  if (!bandwidth) return null;
  const start = Math.max(xs.min, ys.min / bandwidth);
  const text = short(bandwidth, "bandwidth");
  return { x: x(start) + 10, y: y(start * bandwidth) + 14, w: textWidth(text), text };
}

interface RidgesProps {
  slope: (Box & { text: string }) | null;
  ridges: readonly (Ridge & Box & { text: string })[];
  x: (v: number) => number;
  y: (v: number) => number;
  xs: Axis;
  ys: Axis;
  right: number;
}

/** The slope is the same for all types, so it is drawn once, up to the highest peak. */
function Ridges({ slope, ridges, x, y, xs, ys, right }: RidgesProps) {
  const high = [...ridges].sort((a, b) => b.peak - a.peak)[0];
  const bandwidth = high?.bandwidth ?? null;
  const start = bandwidth ? Math.max(xs.min, ys.min / bandwidth) : xs.min;
  return (
    <g class="roofs">
      {high && bandwidth ? (
        <>
          <line
            x1={x(start)}
            y1={y(start * bandwidth)}
            x2={x(high.peak / bandwidth)}
            y2={y(high.peak)}
            stroke="var(--t3)"
            stroke-width="1.5"
          />
          <text x={slope?.x} y={slope?.y} class="axis">
            {slope?.text}
          </text>
        </>
      ) : null}
      {ridges.map((r) => (
        <g key={r.id}>
          <line
            x1={x(r.bandwidth ? r.peak / r.bandwidth : xs.min)}
            x2={right}
            y1={y(r.peak)}
            y2={y(r.peak)}
            stroke={r.stroke}
            stroke-width="1.5"
          />
          <text x={r.x} y={r.y} class="axis">
            {r.text}
          </text>
        </g>
      ))}
    </g>
  );
}
