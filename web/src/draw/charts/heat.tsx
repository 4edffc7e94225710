// A heat map of ranks × columns: one tab stop, arrow keys, numbers where there is room.
import { useRef, useState } from "preact/hooks";
import { largest, self } from "../../base/aggregate.ts";
import { heatPosition, roundUp } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

export interface HeatColumn {
  id: string;
  lines: readonly string[]; // words below
  group: string; // columns of one group are together
}

export interface HeatProps {
  ranks: readonly string[];
  columns: readonly HeatColumn[];
  groupName: (group: string) => string;
  value: (rank: number, column: number) => number | null;
  speak: (rank: number, column: number) => string;
  format: (v: number) => string;
  worst: number; // rank to mark, -1 = none
  label: string;
  onCell: (rank: number, column: number, shift: boolean) => void;
}

/** The color of a position on the ramp, between two of its seven stops. */
function heatColor(p: number): string {
  const at = Math.min(5.999, p * 6);
  const low = Math.floor(at);
  return `color-mix(in srgb, var(--h${low + 1}) ${Math.round((at - low) * 100)}%, var(--h${low}))`;
}

const clamp = (v: number, most: number) => Math.max(0, Math.min(most, v));

/** Arrows go from cell to cell, Enter chooses the one they are at. */
export const cellKeys =
  (props: HeatProps, [r, c]: readonly [number, number], go: (at: [number, number]) => void) =>
  (e: KeyboardEvent) => {
    if (e.key === "Enter") return props.onCell(r, c, e.shiftKey);
    const by = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[e.key];
    if (!by) return;
    e.preventDefault();
    go([clamp(r + (by[0] ?? 0), props.ranks.length - 1), clamp(c + (by[1] ?? 0), props.columns.length - 1)]);
  };

export function Heat(props: HeatProps) {
  const [box, width] = useWidth(900);
  const [at, setAt] = useState<[number, number]>([0, 0]);
  const grid = useRef<SVGSVGElement>(null);
  const left = 66;
  const groups = [...new Set(props.columns.map((c) => c.group))];
  const gap = 10;
  const cell = Math.max(2, (width - left - (groups.length - 1) * gap) / Math.max(1, props.columns.length));
  const many = props.ranks.length > 64;
  const row = many ? 4 : 26;
  const xs: number[] = [];
  props.columns.reduce((x, c, i) => {
    const next = i > 0 && props.columns[i - 1]?.group !== c.group ? x + gap : x;
    xs.push(next);
    return next + cell;
  }, left);
  const values = props.ranks.flatMap((_, r) => props.columns.map((_c, c) => props.value(r, c)));
  const max = roundUp(largest(values, self, 0));
  const words = cell >= 30 && !many;
  const height = 20 + props.ranks.length * row + (words ? 34 : 6);
  const keys = cellKeys(props, at, setAt);
  return (
    <div class="chart" ref={box}>
      <svg
        data-chart
        ref={grid}
        width={width}
        height={height}
        role="application"
        tabIndex={0}
        aria-label={`${props.label}. ${props.speak(at[0], at[1])}`}
        class="heat"
        onKeyDown={keys}
      >
        {groups.map((g) => (
          <text key={g} x={xs[props.columns.findIndex((c) => c.group === g)]} y={12} class="axis">
            {props.groupName(g)}
          </text>
        ))}
        {props.ranks.map((name, r) => (
          <g key={name}>
            {many ? null : (
              <text x={0} y={20 + r * row + 17} class={r === props.worst ? "axis strong" : "axis"}>
                {name}
                {r === props.worst ? " ◂" : ""}
              </text>
            )}
            {props.columns.map((c, i) => {
              const v = props.value(r, i);
              const p = v === null ? 0 : heatPosition(v, max);
              const on = at[0] === r && at[1] === i;
              return (
                <g key={c.id} onClick={(e) => props.onCell(r, i, e.shiftKey)} class="part" {...tip(props.speak(r, i), 60)}>
                  <rect
                    x={xs[i]}
                    y={20 + r * row}
                    width={Math.max(1, cell - 1.5)}
                    height={row - (many ? 0 : 1.5)}
                    rx={many ? 0 : 2}
                    fill={v === null ? "var(--sunken)" : heatColor(p)}
                    class={on ? "heat-cell heat-on" : "heat-cell"}
                  />
                  {!many && cell >= 34 && v !== null && p > 0.2 ? (
                    <text
                      x={(xs[i] ?? 0) + cell / 2 - 0.7}
                      y={20 + r * row + 16.5}
                      text-anchor="middle"
                      class={p > 0.62 ? "heat-high" : "heat-low"}
                    >
                      {props.format(v)}
                    </text>
                  ) : null}
                </g>
              );
            })}
          </g>
        ))}
        {words
          ? props.columns.map((c, i) =>
              c.lines.map((line, k) => (
                <text
                  key={`${c.id}${k}`}
                  x={(xs[i] ?? 0) + cell / 2}
                  y={34 + props.ranks.length * row + k * 13}
                  text-anchor="middle"
                  class="axis"
                >
                  {line}
                </text>
              )),
            )
          : null}
      </svg>
    </div>
  );
}

/** The ramp with its ends, for the head of the panel. */
export function HeatScale({ low, high }: { low: string; high: string }) {
  return (
    <span class="heat-scale">
      {low}
      <svg width="150" height="9" aria-hidden="true">
        {Array.from({ length: 15 }, (_, i) => (
          <rect key={i} x={i * 10} width="10.5" height="9" fill={heatColor((i + 0.5) / 15)} />
        ))}
      </svg>
      {high}
    </span>
  );
}
