// A chain of adjacent pieces as one strip over a scale of time. Pieces that share a pixel are drawn as the one that
// takes the most of it; the pointer and the keys find every one.
import { useState } from "preact/hooks";
import { chartScale, THIN, tick } from "../../base/format.ts";
import { ticks } from "../../base/scale.ts";
import { useWidth } from "../width.ts";

export interface StripPiece {
  start: number; // ns from the start of the strip
  duration: number;
  fill: string;
}

export interface Run {
  x: number;
  width: number;
  fill: string;
}

/** What is drawn: for each pixel the fill that takes the most of it, equal neighbors joined. */
export function runsOf(pieces: readonly StripPiece[], total: number, width: number): Run[] {
  const runs: Run[] = [];
  const add = (x: number, to: number, fill: string) => {
    const last = runs[runs.length - 1];
    if (last && last.fill === fill && last.x + last.width >= x - 1e-6) last.width = to - last.x;
    else runs.push({ x, width: to - x, fill });
  };
  const scale = width / (total || 1);
  let i = 0;
  for (let x = 0; x < width; x++) {
    const share = new Map<string, number>();
    for (; i < pieces.length; i++) {
      const p = pieces[i] as StripPiece;
      const [from, to] = [Math.max(x, p.start * scale), Math.min(x + 1, (p.start + p.duration) * scale)];
      if (to > from) share.set(p.fill, (share.get(p.fill) ?? 0) + to - from);
      if ((p.start + p.duration) * scale > x + 1) break;
    }
    const most = [...share].sort((a, b) => b[1] - a[1])[0];
    if (most) add(x, x + 1, most[0]);
  }
  return runs;
}

/** The piece at a time: the last one that begins by then. */
export function pieceAt(pieces: readonly StripPiece[], time: number): number {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pieces[middle] as StripPiece).start <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** Round times along the strip; the unit is at the first. */
function timeTicks(total: number, width: number): { value: number; label: string }[] {
  const s = chartScale("ns", total);
  const room = width - 20; // a label at the very end would be cut
  return ticks(total / s.factor, Math.max(2, Math.floor(width / 110)))
    .map((v) => v * s.factor)
    .filter((v) => v <= (total * room) / width)
    .map((v, i) => ({ value: v, label: i === 0 ? `0${THIN}${s.unit}` : tick(v, s) }));
}

interface Props {
  pieces: readonly StripPiece[];
  total: number;
  height: number;
  label: string;
  hint: string; // below, while nothing is pointed at
  describe: (i: number) => string;
  onPiece: (i: number) => void;
}

const AXIS = 18;

export function PathStrip({ pieces, total, height, label, hint, describe, onPiece }: Props) {
  const [box, width] = useWidth(600);
  const [at, setAt] = useState<number | undefined>(undefined);
  const scale = width / (total || 1);
  const shown = at !== undefined && at < pieces.length ? pieces[at] : undefined;
  const move = (by: number) =>
    setAt(Math.min(pieces.length - 1, Math.max(0, at === undefined ? (by > 0 ? 0 : pieces.length - 1) : at + by)));
  const keys = (e: KeyboardEvent) => {
    if (e.key === "ArrowRight" || e.key === "ArrowLeft") move(e.key === "ArrowRight" ? 1 : -1);
    else if (e.key === "Home") setAt(0);
    else if (e.key === "End") setAt(pieces.length - 1);
    else if (e.key === "Enter" && at !== undefined) onPiece(at);
    else return;
    e.preventDefault();
  };
  const under = (e: MouseEvent) => {
    const left = (e.currentTarget as Element).getBoundingClientRect().left;
    return pieceAt(pieces, (e.clientX - left) / scale);
  };
  return (
    <div class="path-strip" ref={box}>
      <div
        class="path-pieces"
        role="slider"
        aria-label={label}
        aria-valuemin={1}
        aria-valuemax={Math.max(1, pieces.length)}
        aria-valuenow={(at ?? 0) + 1}
        aria-valuetext={describe(at ?? 0)}
        tabIndex={0}
        onKeyDown={keys}
        onMouseMove={(e) => setAt(under(e))}
        onMouseLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
        onClick={(e) => onPiece(under(e))}
      >
        <svg data-chart width={width} height={height + AXIS} aria-hidden="true">
          {runsOf(pieces, total, width).map((r) => (
            <rect key={r.x} x={r.x} width={r.width} y={0} height={height} fill={r.fill} />
          ))}
          {shown ? (
            <rect
              x={Math.min(width - 2, shown.start * scale)}
              y={1}
              width={Math.max(2, shown.duration * scale)}
              height={height - 2}
              fill="none"
              stroke="var(--t1)"
              stroke-width="2"
            />
          ) : null}
          {timeTicks(total, width).map((mark) => (
            <g key={mark.value}>
              <line x1={mark.value * scale} x2={mark.value * scale} y1={height} y2={height + 4} stroke="var(--line-strong)" />
              <text
                x={mark.value * scale}
                y={height + 15}
                class="axis"
                text-anchor={mark.value === 0 ? "start" : "middle"}
                fill="var(--t3)"
              >
                {mark.label}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <p class={shown ? "path-now" : "path-now t3"}>{shown && at !== undefined ? describe(at) : hint}</p>
    </div>
  );
}
