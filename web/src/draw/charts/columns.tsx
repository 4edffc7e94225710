// Stacked vertical bars: steps by category or stage. Wide enough for words, or 3 px each for hundreds.
import type { ComponentChildren } from "preact";
import { largest } from "../../base/aggregate.ts";
import { ticks } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";
import { Rules } from "./axis.tsx";

export interface ColumnBar {
  id: string;
  parts: readonly { id: string; value: number; fill: string }[];
  total: number;
  card?: ComponentChildren;
  faded?: boolean;
  chosen?: boolean;
}

interface ColumnsProps {
  bars: readonly ColumnBar[];
  height: number;
  label: string;
  format: (value: number) => string; // of axis and labels, without a unit
  factor: number; // value of one unit
  onBar?: (id: string, shift: boolean) => void;
  onShow?: (id: string) => void; // a double click, or Ctrl Enter
}

/** 1, 2, 5, 10, 20, …: every so manieth bar has its number. */
function roundUp(least: number): number {
  const ten = 10 ** Math.max(0, Math.floor(Math.log10(least)));
  return [1, 2, 5, 10].map((m) => m * ten).find((m) => m >= least) ?? 1;
}

export function Columns({ bars, height, label, format, factor, onBar, onShow }: ColumnsProps) {
  const [box, width] = useWidth(380);
  const left = 34;
  const bottom = 22;
  const top = 18;
  const max = largest(bars, (b) => b.total, 1) / factor;
  const marks = ticks(max);
  const high = (marks[marks.length - 1] as number) * factor;
  const y = (v: number) => top + (height - top - bottom) * (1 - v / high);
  const slot = (width - left - 6) / Math.max(1, bars.length);
  const bar = Math.min(64, slot > 12 ? slot * 0.54 + 4 : Math.max(1, slot - 0.6));
  const every = roundUp((largest(bars, (b) => b.id.length, 1) * 7 + 8) / slot);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        <Rules marks={marks} at={(m) => y(m * factor)} left={left} right={width} format={format} />
        {bars.map((b, i) => {
          const x = left + i * slot + (slot - bar) / 2;
          let up = 0;
          return (
            <g
              key={b.id}
              class={onBar ? "part" : ""}
              opacity={b.faded ? 0.35 : 1}
              {...(onBar ? { tabIndex: 0, role: "button", "aria-label": b.id } : {})}
              {...(b.card ? tip(b.card, 120) : {})}
              onClick={(e) => onBar?.(b.id, e.shiftKey)}
              onDblClick={() => onShow?.(b.id)}
              onKeyDown={(e) => {
                if (e.key === "Enter" && e.ctrlKey) onShow?.(b.id);
                else if (e.key === "Enter") onBar?.(b.id, e.shiftKey);
              }}
            >
              <rect x={left + i * slot} y={top} width={slot} height={height - top - bottom} fill="transparent" />
              {b.parts.map((p) => {
                const from = up;
                up += p.value;
                const h = y(from) - y(up);
                return p.value > 0 ? (
                  <rect key={p.id} x={x} y={y(up)} width={bar} height={Math.max(0.4, h - (bar > 8 ? 0.8 : 0))} fill={p.fill} />
                ) : null;
              })}
              {b.chosen ? (
                <rect
                  x={x - 1.5}
                  y={y(b.total) - 1.5}
                  width={bar + 3}
                  height={y(0) - y(b.total) + 3}
                  rx="1.5"
                  fill="none"
                  stroke="var(--t1)"
                  stroke-width="1.5"
                />
              ) : null}
              {slot > 34 ? (
                <text x={x + bar / 2} y={y(b.total) - 5} text-anchor="middle" class="axis strong" aria-hidden="true">
                  {format(b.total / factor)}
                </text>
              ) : null}
              {(Number(b.id) || i) % every === 0 ? (
                <text
                  x={Math.min(x + bar / 2, width - b.id.length * 3.5 - 1)}
                  y={height - 6}
                  text-anchor="middle"
                  class="axis"
                  aria-hidden="true"
                >
                  {b.id}
                </text>
              ) : null}
            </g>
          );
        })}
      </svg>
    </div>
  );
}
