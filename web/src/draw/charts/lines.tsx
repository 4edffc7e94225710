// Lines over an axis with numbers: the fill of queues over time or by batch, the use of processors. The name of each
// line is at its end; moments that matter (an empty queue) are ticks on the ground line. A sparkline is the same
// without axes, from its smallest value to its largest. Where a value is absent, the line has a gap.
import { useState } from "preact/hooks";
import { largest } from "../../base/aggregate.ts";
import { fairRange, ticks } from "../../base/scale.ts";
import { cutEnd, textWidth } from "../../base/text-width.ts";
import { useWidth } from "../width.ts";
import { Rules } from "./axis.tsx";

export type Point = readonly [x: number, y: number | null];

export interface Line {
  id: string;
  label: string;
  color: string;
  points: readonly Point[]; // x rising
  strong?: boolean;
}

interface LinesProps {
  lines: readonly Line[];
  height: number;
  label: string;
  top: number; // of the scale, which also holds every value
  low?: number; // where the scale begins, else at zero
  capacity?: boolean; // the top is one that cannot be passed: the scale ends there
  x: (v: number) => string; // of the axis and of the pointer
  y?: (v: number) => string;
  unit?: number; // of the scale: round numbers are round in it
  marks?: readonly number[]; // places on the ground line
  steps?: boolean; // a value holds until the next one
  card?: (x: number) => string; // of a place: where the values come from
  onPlace?: (x: number, shift: boolean) => void;
  spark?: boolean; // without axes
  chosen?: number | undefined; // a place of a sparkline that is marked
}

interface Look {
  left: number;
  top: number;
  bottom: number;
  stroke: number;
  dots: number; // fewer points than this are drawn as dots too
  first: number; // width before it is measured
}

const CHART: Look = { left: 34, top: 14, bottom: 20, stroke: 1.3, dots: 24, first: 500 };
const SPARK: Look = { left: 2, top: 14, bottom: 4, stroke: 1.4, dots: 12, first: 300 };

/** Labels at the ends of lines, pushed apart so that each can be read. */
export function apart(places: readonly number[], least: number, floor: number): number[] {
  const order = places.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  let last = Number.NEGATIVE_INFINITY;
  for (const o of order) {
    o.y = Math.max(o.y, last + least);
    last = o.y;
  }
  let next = floor;
  for (const o of [...order].reverse()) {
    o.y = Math.min(o.y, next);
    next = o.y - least;
  }
  const out: number[] = [];
  for (const o of order) out[o.i] = o.y;
  return out;
}

export function pathOf(points: readonly Point[], x: (v: number) => number, y: (v: number) => number, steps: boolean): string {
  let path = "";
  let down = false; // the pen
  for (const [px, py] of points) {
    if (py !== null) path += !down ? `M${x(px)} ${y(py)}` : steps ? `H${x(px)}V${y(py)}` : `L${x(px)} ${y(py)}`;
    down = py !== null;
  }
  return path;
}

/** Words at the ends of the axis stay inside. */
const anchorOf = (v: number, range: number) => (v === 0 ? "start" : v > range * 0.96 ? "end" : "middle");

export function Lines(props: LinesProps) {
  const { lines, height, low = 0, marks = [], steps = false, spark = false, unit = 1 } = props;
  const look = spark ? SPARK : CHART;
  const most = largest(
    lines.flatMap((l) => l.points),
    (p) => p[1],
    props.top,
  );
  const [box, width] = useWidth(look.first);
  const [at, setAt] = useState<number | undefined>(undefined);
  const named = lines.length > 1;
  const right = named ? Math.min(120, largest(lines, (l) => textWidth(l.label)) + 14) : spark ? 2 : 8;
  const places = [...new Set(lines.flatMap((l) => l.points.map((p) => p[0])))].sort((a, b) => a - b);
  const [from = 0, to = 0] = [places[0], places[places.length - 1]];
  const range = Math.max(to - from, 1e-9);
  const scale = props.capacity ? [0, ...(most % 2 === 0 ? [most / 2] : []), most] : ticks(most / unit, 4).map((v) => v * unit);
  const letters = largest(scale, (v) => (props.y ?? String)(v).length, 0);
  const left = spark ? look.left : Math.max(look.left, letters * 6.2 + 9); // room for the longest number
  const wide = width - left - right;
  const x = (v: number) => (spark && to === from ? width / 2 : left + ((v - from) / range) * wide);
  const [base, high] = spark ? fairRange(low, most) : [low, Math.max(scale[scale.length - 1] ?? most, most) || 1];
  const y = (v: number) => look.top + (height - look.top - look.bottom) * (1 - (v - base) / (high - base || 1));
  const nearest = (e: MouseEvent) => {
    const v = from + ((e.offsetX - left) / wide) * range;
    return places.reduce((best, p) => (Math.abs(p - v) < Math.abs(best - v) ? p : best), places[0] ?? 0);
  };
  const placed = { x, y, width, height, left, right };
  return (
    <div class="chart" ref={box}>
      <svg
        data-chart
        width={width}
        height={height}
        role="img"
        aria-label={props.label}
        class={props.onPlace ? "part" : ""}
        onMouseMove={(e) => setAt(nearest(e))}
        onMouseLeave={() => setAt(undefined)}
        onClick={(e) => props.onPlace?.(nearest(e), e.shiftKey)}
      >
        <rect width={width} height={height} fill="transparent" />
        {spark ? null : <Axes scale={scale} from={from} range={range} placed={placed} props={props} />}
        {lines.map((l) => (
          <g key={l.id}>
            <path d={pathOf(l.points, x, y, steps)} fill="none" stroke={l.color} stroke-width={l.strong ? 1.8 : look.stroke} />
            {l.points.length < look.dots ? <Dots line={l} x={x} y={y} hollow={!spark} /> : null}
          </g>
        ))}
        {named ? <Names lines={lines} placed={placed} /> : null}
        {marks.map((m) => (
          <rect key={m} x={x(m) - 1} y={y(0) - 5} width="2" height="6" fill="var(--critical)" class="empty-mark" />
        ))}
        <Pointer at={at} placed={placed} props={props} />
      </svg>
    </div>
  );
}

interface Placed {
  x: (v: number) => number;
  y: (v: number) => number;
  width: number;
  height: number;
  left: number; // room for numbers
  right: number; // room for names
}

function Axes({
  scale,
  from,
  range,
  placed: p,
  props,
}: {
  scale: readonly number[];
  from: number;
  range: number;
  placed: Placed;
  props: LinesProps;
}) {
  const wide = p.width - p.left - p.right;
  const across = ticks(range, Math.max(2, Math.floor(wide / 110))).filter((v) => v <= range * 1.0001);
  return (
    <>
      <Rules marks={scale} at={p.y} left={p.left} right={p.width - p.right} format={props.y ?? String} />
      {across.map((m) => (
        <text key={m} x={p.x(from + m)} y={p.height - 5} text-anchor={anchorOf(m, range)} class="axis">
          {props.x(from + m)}
        </text>
      ))}
    </>
  );
}

function Dots({ line, x, y, hollow }: { line: Line; x: (v: number) => number; y: (v: number) => number; hollow: boolean }) {
  const look = hollow
    ? { r: "2.6", fill: "var(--surface)", stroke: line.color, "stroke-width": "1.3" }
    : { r: "2.4", fill: line.color };
  return <>{line.points.map(([px, py], k) => (py === null ? null : <circle key={k} cx={x(px)} cy={y(py)} {...look} />))}</>;
}

function Names({ lines, placed: p }: { lines: readonly Line[]; placed: Placed }) {
  const last = (l: Line) => l.points[l.points.length - 1]?.[1] ?? 0;
  const ends = apart(
    lines.map((l) => p.y(last(l)) + 4),
    12,
    p.height - CHART.bottom + 4,
  );
  return (
    <>
      {lines.map((l, i) => (
        <text
          key={l.id}
          x={p.width - p.right + 6}
          y={ends[i]}
          class={l.strong ? "axis strong" : "axis"}
          style={{ fill: l.color }}
        >
          {cutEnd(l.label, p.right - 8)}
        </text>
      ))}
    </>
  );
}

/** A line at the pointer and what is there in words; on a sparkline also at the chosen place. */
function Pointer({ at, placed: p, props }: { at: number | undefined; placed: Placed; props: LinesProps }) {
  const shown = at ?? props.chosen;
  if (shown === undefined) return null;
  const side =
    p.x(shown) > p.width / 2 ? { x: p.x(shown) - 5, "text-anchor": "end" } : { x: p.x(shown) + 5, "text-anchor": "start" };
  const line = props.spark ? props.lines[0] : undefined;
  const value = line?.points.find(([px]) => px === shown)?.[1];
  return (
    <g pointer-events="none">
      <line x1={p.x(shown)} x2={p.x(shown)} y1={12} y2={props.spark ? p.height : p.y(0)} stroke="var(--line-strong)" />
      {line && typeof value === "number" ? (
        <circle cx={p.x(shown)} cy={p.y(value)} r="3" fill={line.color} stroke="var(--surface)" />
      ) : null}
      {at === undefined ? null : (
        <text {...side} y={10} class="axis strong">
          {said(props, at)}
        </text>
      )}
    </g>
  );
}

/** The values at a place, in words. */
function said(props: LinesProps, at: number): string {
  const { lines, y: show = String } = props;
  const values = lines.flatMap((l) => {
    const value = l.points.filter(([px]) => px <= at).pop()?.[1];
    if (typeof value !== "number") return [];
    return lines.length > 1 ? [`${l.label} ${show(value)}`] : [show(value)];
  });
  return [props.x(at), ...values, props.card?.(at)].filter(Boolean).join(" · ");
}
