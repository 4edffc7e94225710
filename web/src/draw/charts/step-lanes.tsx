// A step as a trace: one lane on top for the stages, one for each stream of communication below.
import { useState } from "preact/hooks";
import { ticks } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { inkFor } from "../ink.ts";
import { useWidth } from "../width.ts";

export interface TraceBox {
  id: string;
  from: number;
  to: number;
  fill: string;
  label: string;
  card: string;
}

export interface TraceLane {
  name: string;
  strong?: boolean;
  boxes: readonly TraceBox[];
}

interface Props {
  lanes: readonly TraceLane[];
  length: number;
  border: { at: number; label: string } | undefined;
  factor: number;
  unit: string;
  label: string;
}

export function StepTrace({ lanes, length, border, factor, unit, label }: Props) {
  const [box, width] = useWidth(900);
  const left = 148;
  const top = 24;
  const first = border ? 44 : 28;
  const row = 20;
  const height = top + first + (lanes.length - 1) * row + 10;
  const x = (v: number) => left + (v / Math.max(1, length)) * (width - left - 12);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        {ticks(length / factor, 8)
          .filter((m) => m * factor <= length)
          .map((m) => (
            <g key={m}>
              <line x1={x(m * factor)} x2={x(m * factor)} y1={top - 6} y2={height} stroke="var(--line)" />
              <text x={x(m * factor)} y={11} text-anchor="middle" class="axis">
                {m === 0 ? `0 ${unit}` : m}
              </text>
            </g>
          ))}
        {lanes.map((lane, i) => {
          const y = i === 0 ? top : top + first + (i - 1) * row + 4;
          const h = i === 0 ? 20 : 14;
          return (
            <g key={lane.name}>
              <text x={0} y={y + h / 2 + 4} class={lane.strong || i === 0 ? "axis strong" : "axis"}>
                {lane.name.length > 24 ? `${lane.name.slice(0, 23)}…` : lane.name}
              </text>
              {lane.boxes.map((b) => (
                <rect
                  key={b.id}
                  x={x(b.from)}
                  y={y}
                  width={Math.max(1, x(b.to) - x(b.from) - 0.8)}
                  height={h}
                  rx="1.5"
                  fill={b.fill}
                  {...tip(b.card, 80)}
                />
              ))}
              {lane.boxes.map((b) => {
                const inside = x(b.to) - x(b.from) > b.label.length * 6.2 + 10;
                if (b.label === "" || (!inside && (i === 0 || lane.boxes.length > 3))) return null;
                return (
                  <text
                    key={b.id}
                    x={inside ? x(b.from) + 6 : x(b.to) + 5}
                    y={y + h / 2 + 4}
                    pointer-events="none"
                    {...(inside ? { fill: inkFor(b.fill), class: "strip-text" } : { class: "axis" })}
                  >
                    {b.label}
                  </text>
                );
              })}
            </g>
          );
        })}
        {border ? (
          <g>
            <line x1={x(border.at)} x2={x(border.at)} y1={top - 6} y2={height} stroke="var(--critical)" stroke-dasharray="3 3" />
            <text x={x(border.at) + 5} y={top + 37} class="axis critical-text">
              {border.label}
            </text>
          </g>
        ) : null}
      </svg>
    </div>
  );
}

interface SparklineProps {
  values: readonly number[];
  colour: string;
  height: number;
  label: string;
  mark?: number; // one that is chosen
  card?: (i: number) => string; // what is said under the pointer
  onPoint?: (i: number, shift: boolean) => void;
}

/** A line of values, one for each step; the one under the pointer is named. */
export function Sparkline({ values, colour, height, label, mark = -1, card, onPoint }: SparklineProps) {
  const [box, width] = useWidth(300);
  const [at, setAt] = useState(-1);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) => (values.length > 1 ? (i / (values.length - 1)) * (width - 4) + 2 : width / 2);
  const y = (v: number) => height - 4 - ((v - min) / Math.max(1, max - min)) * (height - 18);
  const near = (e: MouseEvent) =>
    Math.max(0, Math.min(values.length - 1, Math.round(((e.offsetX - 2) / (width - 4)) * (values.length - 1))));
  const shown = at >= 0 ? at : mark;
  const value = values[shown];
  return (
    <div class="chart" ref={box}>
      <svg
        data-chart
        width={width}
        height={height}
        role="img"
        aria-label={label}
        class={onPoint ? "part" : ""}
        onMouseMove={(e) => setAt(near(e))}
        onMouseLeave={() => setAt(-1)}
        onClick={(e) => onPoint?.(near(e), e.shiftKey)}
      >
        <rect width={width} height={height} fill="transparent" />
        <polyline points={values.map((v, i) => `${x(i)},${y(v)}`).join(" ")} fill="none" stroke={colour} stroke-width="1.4" />
        {values.length < 12 ? values.map((v, i) => <circle key={i} cx={x(i)} cy={y(v)} r="2.4" fill={colour} />) : null}
        {value === undefined ? null : (
          <g pointer-events="none">
            <line x1={x(shown)} x2={x(shown)} y1={12} y2={height} stroke="var(--line-strong)" />
            <circle cx={x(shown)} cy={y(value)} r="3" fill={colour} stroke="var(--surface)" />
            {at >= 0 && card ? (
              <text
                x={x(at) > width / 2 ? x(at) - 4 : x(at) + 4}
                y={10}
                class="axis strong"
                text-anchor={x(at) > width / 2 ? "end" : "start"}
              >
                {card(at)}
              </text>
            ) : null}
          </g>
        )}
      </svg>
    </div>
  );
}
