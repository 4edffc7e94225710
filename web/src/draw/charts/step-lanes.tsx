// A step as a trace: one lane on top for the stages, one for each stream of communication below.
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
