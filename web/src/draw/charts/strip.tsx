// A horizontal bar of parts: strips of shares, the average step, overlap of ranks.
import type { ComponentChildren } from "preact";
import { textWidth } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { inkFor } from "../ink.ts";
import { useWidth } from "../width.ts";

export interface Part {
  id: string;
  value: number;
  fill: string;
  label?: string | undefined; // inside, when there is room
  short?: string | undefined; // when there is little
  card?: ComponentChildren;
  plain?: boolean; // text in t2: a part without its own color
}

interface StripProps {
  parts: readonly Part[];
  total: number; // the whole width
  height: number;
  label: string;
  above?: boolean; // short labels are above the bar
  onPart?: (id: string) => void;
  chosen?: string | undefined;
}

const labelWidth = (s: string) => textWidth(s) + 11;

export function Strip({ parts, total, height, label, above, onPart, chosen }: StripProps) {
  const [box, width] = useWidth(600);
  const top = above ? 18 : 0;
  let x = 0;
  const drawn = parts.map((p) => {
    const w = total > 0 ? (p.value / total) * width : 0;
    const at = x;
    x += w;
    const room = (s: string | undefined) => (s && labelWidth(s) < w ? s : undefined);
    return { p, at, w: Math.max(0, w - 1), text: room(p.label) ?? (above ? undefined : room(p.short)) };
  });
  return (
    <div class="strip" ref={box}>
      <svg data-chart width={width} height={height + top} role="img" aria-label={label}>
        {drawn.map(({ p, at, w, text }) => (
          <g key={p.id} {...(p.card ? tip(p.card, 120) : {})} onClick={() => onPart?.(p.id)} class={onPart ? "part" : ""}>
            <rect
              x={at}
              y={top}
              width={Math.max(w, p.value > 0 ? 0.6 : 0)}
              height={height}
              rx="1.5"
              fill={p.fill}
              {...(chosen === p.id ? { stroke: "var(--t1)", "stroke-width": 2 } : {})}
            />
            {text && p.plain && p.fill.startsWith("url") ? (
              <rect x={at + 3} y={top + height / 2 - 8} width={labelWidth(text) - 4} height={16} rx="2" fill="var(--surface)" />
            ) : null}
            {text ? (
              <text x={at + 7} y={top + height / 2 + 4} fill={p.plain ? "var(--t2)" : inkFor(p.fill)} class="strip-text">
                {text}
              </text>
            ) : null}
            {above && p.short && w > 34 ? (
              <text x={at + 1} y={11} fill="var(--t1)" class="strip-text">
                {p.short}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
    </div>
  );
}

interface DonutProps {
  parts: readonly Part[];
  middle: string;
  below: string;
  radius?: number;
  label: string;
  onPart?: (id: string) => void;
}

/** A donut of R 92, r 64 with the total inside. */
export function Donut({ parts, middle, below, radius = 92, label, onPart }: DonutProps) {
  const inner = (radius * 64) / 92;
  const size = radius * 2 + 4;
  const total = parts.reduce((s, p) => s + p.value, 0) || 1;
  const point = (a: number, r: number) => `${size / 2 + r * Math.sin(a)} ${size / 2 - r * Math.cos(a)}`;
  let angle = 0;
  return (
    <svg data-chart width={size} height={size} role="img" aria-label={label} class="donut">
      {parts.map((p) => {
        const from = angle;
        angle += (p.value / total) * Math.PI * 2;
        const to = Math.min(angle, from + Math.PI * 2 - 0.0001);
        if (p.value <= 0) return null;
        const big = to - from > Math.PI ? 1 : 0;
        const d = `M${point(from, radius)}A${radius} ${radius} 0 ${big} 1 ${point(to, radius)}L${point(to, inner)}A${inner} ${inner} 0 ${big} 0 ${point(from, inner)}Z`;
        return (
          <path
            key={p.id}
            d={d}
            fill={p.fill}
            stroke="var(--surface)"
            stroke-width="1"
            class={onPart ? "part" : ""}
            onClick={() => onPart?.(p.id)}
            {...(p.card ? tip(p.card, 120) : {})}
          />
        );
      })}
      <text x={size / 2} y={size / 2 + 2} text-anchor="middle" class="donut-middle">
        {middle}
      </text>
      <text x={size / 2} y={size / 2 + 20} text-anchor="middle" class="donut-below">
        {below}
      </text>
    </svg>
  );
}
