// Lines over an axis with numbers: the fill of queues over time or by batch, the use of processors. The name of
// each line stands at its end; moments that matter (an empty queue) are ticks on the ground line.
import { useState } from "preact/hooks";
import { ticks } from "../../base/scale.ts";
import { useWidth } from "../width.ts";
import { Rules } from "./axis.tsx";

export interface Line {
  id: string;
  label: string;
  colour: string;
  points: readonly (readonly [number, number])[]; // x rising
  strong?: boolean;
}

interface LinesProps {
  lines: readonly Line[];
  height: number;
  label: string;
  top: number; // of the scale, which begins at zero
  capacity?: boolean; // the top is one that cannot be passed: the scale ends there
  x: (v: number) => string; // of the axis and of the pointer
  y?: (v: number) => string;
  marks?: readonly number[]; // places on the ground line
  steps?: boolean; // a value holds until the next one
  card?: (x: number) => string; // of a place: what is behind the values
  onPlace?: (x: number) => void;
}

const LEFT = 34;
const BOTTOM = 20;
const TOP = 14;

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

function pathOf(line: Line, x: (v: number) => number, y: (v: number) => number, steps: boolean): string {
  return line.points
    .map(([px, py], i) => (i === 0 ? `M${x(px)} ${y(py)}` : steps ? `H${x(px)}V${y(py)}` : `L${x(px)} ${y(py)}`))
    .join("");
}

/** Words at the ends of the axis stay inside. */
const anchorOf = (v: number, range: number) => (v === 0 ? "start" : v > range * 0.96 ? "end" : "middle");

export function Lines(props: LinesProps) {
  const { lines, height, top: most, marks = [], steps = false } = props;
  const [box, width] = useWidth(500);
  const [at, setAt] = useState<number | undefined>(undefined);
  const named = lines.length > 1;
  const right = named ? Math.min(120, Math.max(...lines.map((l) => l.label.length)) * 6.2 + 14) : 8;
  const all = lines.flatMap((l) => l.points.map((p) => p[0]));
  const [from, to] = [Math.min(...all), Math.max(...all)];
  const range = Math.max(to - from, 1e-9);
  const wide = width - LEFT - right;
  const x = (v: number) => LEFT + ((v - from) / range) * wide;
  const scale = props.capacity ? [0, ...(most % 2 === 0 ? [most / 2] : []), most] : ticks(most, 4);
  const high = Math.max(scale[scale.length - 1] ?? most, most) || 1;
  const y = (v: number) => TOP + (height - TOP - BOTTOM) * (1 - v / high);
  const across = ticks(range, Math.max(2, Math.floor(wide / 110))).filter((v) => v <= range * 1.0001);
  const ends = apart(
    lines.map((l) => y(l.points[l.points.length - 1]?.[1] ?? 0) + 4),
    12,
    height - BOTTOM + 4,
  );
  const places = [...new Set(all)].sort((a, b) => a - b);
  const nearest = (e: MouseEvent) => {
    const v = from + ((e.offsetX - LEFT) / wide) * range;
    return places.reduce((best, p) => (Math.abs(p - v) < Math.abs(best - v) ? p : best), places[0] ?? 0);
  };
  const words = at === undefined ? "" : said(lines, at, props);
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
        onClick={(e) => props.onPlace?.(nearest(e))}
      >
        <rect width={width} height={height} fill="transparent" />
        <Rules marks={scale} at={y} left={LEFT} right={width - right} format={props.y ?? String} />
        {across.map((m) => (
          <text key={m} x={x(from + m)} y={height - 5} text-anchor={anchorOf(m, range)} class="axis">
            {props.x(from + m)}
          </text>
        ))}
        {lines.map((l, i) => (
          <g key={l.id}>
            <path d={pathOf(l, x, y, steps)} fill="none" stroke={l.colour} stroke-width={l.strong ? 1.8 : 1.3} />
            {l.points.length < 24
              ? l.points.map(([px, py], k) => (
                  <circle key={k} cx={x(px)} cy={y(py)} r="2.6" fill="var(--surface)" stroke={l.colour} stroke-width="1.3" />
                ))
              : null}
            {named ? (
              <text x={width - right + 6} y={ends[i]} class={l.strong ? "axis strong" : "axis"} style={{ fill: l.colour }}>
                {l.label.length > 17 ? `${l.label.slice(0, 16)}…` : l.label}
              </text>
            ) : null}
          </g>
        ))}
        {marks.map((m) => (
          <rect key={m} x={x(m) - 1} y={y(0) - 5} width="2" height="6" fill="var(--critical)" class="empty-mark" />
        ))}
        {at === undefined ? null : (
          <g pointer-events="none">
            <line x1={x(at)} x2={x(at)} y1={TOP - 2} y2={y(0)} stroke="var(--line-strong)" />
            <text
              x={x(at) > width / 2 ? x(at) - 5 : x(at) + 5}
              y={10}
              class="axis strong"
              text-anchor={x(at) > width / 2 ? "end" : "start"}
            >
              {words}
            </text>
          </g>
        )}
      </svg>
    </div>
  );
}

/** The values at a place, in words. */
function said(lines: readonly Line[], at: number, props: LinesProps): string {
  const show = props.y ?? String;
  const values = lines.flatMap((l) => {
    const p = l.points.filter(([px]) => px <= at).pop();
    if (!p) return [];
    return lines.length > 1 ? [`${l.label} ${show(p[1])}`] : [show(p[1])];
  });
  return [props.x(at), ...values, props.card?.(at)].filter(Boolean).join(" · ");
}
