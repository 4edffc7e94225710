// Horizontal bars: the name at the left, the value after the bar. For the first N of a list.
import type { ComponentChildren } from "preact";
import { largest } from "../../base/aggregate.ts";
import { cutEnd } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

interface BarItem {
  id: string;
  label: string;
  value: number;
  text: string; // after the bar
  fill: string;
  card?: ComponentChildren;
}

interface BarsProps {
  items: readonly BarItem[];
  label: string;
  onBar?: (id: string) => void;
  chosen?: string | undefined;
}

const ROW = 22;

export function Bars({ items, label, onBar, chosen }: BarsProps) {
  const [box, width] = useWidth(900);
  const left = Math.min(320, Math.max(120, width * 0.3));
  const right = 130;
  const max = largest(items, (i) => i.value, 1);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={items.length * ROW + 4} role="img" aria-label={label}>
        {items.map((item, i) => {
          const w = Math.max(item.value > 0 ? 1 : 0, (item.value / max) * (width - left - right));
          return (
            <g
              key={item.id}
              class={onBar ? "part" : ""}
              onClick={() => onBar?.(item.id)}
              {...(item.card ? tip(item.card, 120) : {})}
            >
              <rect x="0" y={i * ROW} width={width} height={ROW} fill="transparent" />
              <text x={left - 8} y={i * ROW + 15} text-anchor="end" class="bar-name">
                {cutEnd(item.label, left - 10, 7.1)}
              </text>
              <rect
                x={left}
                y={i * ROW + 4}
                width={w}
                height={ROW - 8}
                rx="1.5"
                fill={item.fill}
                {...(item.id && chosen === item.id ? { stroke: "var(--t1)", "stroke-width": 2 } : {})}
              />
              <text x={left + w + 7} y={i * ROW + 15} class="axis">
                {item.text}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
