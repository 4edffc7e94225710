// A heat map of many ranks: rows of 4 px, fewer when there are thousands, on a canvas, the worst ten named at the right, a crosshair under
// the pointer. One tab stop; arrow keys move the crosshair, Enter chooses.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawnAs } from "../../base/save.ts";
import { heatPosition, roundUp } from "../../base/scale.ts";
import { useWidth } from "../width.ts";
import { cellKeys, type HeatProps } from "./heat.tsx";

const MOST = 2048; // px: rows become thinner from here on
const RIGHT = 120;
const NAMED = 10;

interface ManyProps extends HeatProps {
  version: number; // of the theme
}

const clamp = (v: number, most: number) => Math.max(0, Math.min(most, v));

/** The worst rows by their sum, at most ten, in order of place, far enough apart to be read. */
function namedRows(sums: readonly number[], gap: number, row = 4): number[] {
  const worst = sums.map((_, i) => i).sort((a, b) => (sums[b] as number) - (sums[a] as number));
  const kept: number[] = [];
  for (const i of worst) {
    if (kept.length === NAMED) break;
    if ((sums[i] as number) > 0 && kept.every((k) => Math.abs(k - i) * row >= gap)) kept.push(i);
  }
  return kept.sort((a, b) => a - b);
}

export function HeatMany(props: ManyProps) {
  const [box, width] = useWidth(900);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [at, setAt] = useState<[number, number] | undefined>(undefined);
  const n = props.columns.length;
  const wide = width - RIGHT;
  const ROW = Math.max(1, Math.min(4, Math.floor(MOST / Math.max(1, props.ranks.length))));
  const height = props.ranks.length * ROW;
  const value = (r: number, c: number) => props.value(r, c);
  // Under the pointer only the crosshair moves: the sums of a thousand rows stay.
  const sums = useMemo(
    () => props.ranks.map((_, r) => props.columns.reduce((s, _c, c) => s + (value(r, c) ?? 0), 0)),
    [props.value, props.ranks.length, n],
  );
  const named = useMemo(() => namedRows(sums, 13, ROW), [sums, ROW]);
  useEffect(() => {
    const g = canvas.current?.getContext("2d");
    if (!canvas.current || !g) return;
    const style = getComputedStyle(document.documentElement);
    const ramp = Array.from({ length: 7 }, (_, i) => style.getPropertyValue(`--h${i}`).trim());
    const stops = Array.from({ length: 64 }, (_, i) => mix(ramp, i / 63));
    canvas.current.width = wide;
    canvas.current.height = height;
    const max = roundUp(
      props.ranks.reduce((m, _r, r) => props.columns.reduce((k, _c, c) => Math.max(k, value(r, c) ?? 0), m), 0),
    );
    const draw = (put: (x: number, y: number, w: number, fill: string) => void) => {
      for (let r = 0; r < props.ranks.length; r++)
        for (let c = 0; c < n; c++) {
          const v = value(r, c);
          const fill =
            v === null ? style.getPropertyValue("--sunken").trim() : (stops[Math.round(heatPosition(v, max) * 63)] as string);
          const x = Math.floor((c * wide) / n);
          put(x, r * ROW, Math.max(1, Math.floor(((c + 1) * wide) / n) - x), fill);
        }
    };
    draw((x, y, w, fill) => {
      g.fillStyle = fill;
      g.fillRect(x, y, w, ROW);
    });
    drawnAs.set(canvas.current, () => {
      const cells: string[] = [];
      draw((x, y, w, fill) => cells.push(`<rect x="${x}" y="${y}" width="${w}" height="${ROW}" fill="${fill}"/>`));
      return cells.join("");
    });
  }, [props.value, wide, height, props.version]);
  const find = (e: MouseEvent): [number, number] => [
    clamp(Math.floor(e.offsetY / ROW), props.ranks.length - 1),
    clamp(Math.floor((e.offsetX / wide) * n), n - 1),
  ];
  const keys = cellKeys(props, at ?? [0, 0], setAt);
  const spoken = at ? props.speak(at[0], at[1]) : props.label;
  return (
    <div
      class="chart heat-many"
      ref={box}
      tabIndex={0}
      role="application"
      aria-label={`${props.label}. ${spoken}`}
      onKeyDown={keys}
    >
      <canvas
        ref={canvas}
        style={{ width: `${wide}px`, height: `${height}px` }}
        aria-hidden="true"
        onMouseMove={(e) => setAt(find(e))}
        onMouseLeave={() => setAt(undefined)}
        onClick={(e) => props.onCell(...find(e), e.shiftKey)}
      />
      <svg class="heat-over" width={width} height={height} aria-hidden="true">
        {at ? (
          <>
            <rect x="0" y={at[0] * ROW} width={wide} height={ROW} fill="none" stroke="var(--t1)" />
            <rect x={(at[1] * wide) / n} y="0" width={Math.max(1, wide / n)} height={height} fill="none" stroke="var(--t1)" />
          </>
        ) : null}
        {named.map((r) => (
          <text key={r} x={wide + 8} y={r * ROW + 6} class={r === props.worst ? "axis strong" : "axis"}>
            {props.ranks[r]} {props.format((sums[r] as number) / n)}
          </text>
        ))}
      </svg>
      <p class="map-line t3" aria-live="polite">
        {spoken}
      </p>
    </div>
  );
}

/** The color at a position of the ramp. */
function mix(ramp: readonly string[], p: number): string {
  const at = Math.min(5.999, p * 6);
  const [low, part] = [Math.floor(at), at % 1];
  const rgb = (hex: string) => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
  const [a, b] = [rgb(ramp[low] as string), rgb(ramp[low + 1] as string)];
  return `rgb(${a.map((v, i) => Math.round(v + ((b[i] as number) - v) * part)).join(" ")})`;
}
