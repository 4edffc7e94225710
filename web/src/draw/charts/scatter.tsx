// Mean duration × occupancy: logarithmic x, area = total time. What has no occupancy is on a separate
// line below the axis, hollow, never at zero.
import type { ComponentChildren } from "preact";
import { largest, self, smallest } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { logTicks } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

interface Dot {
  id: string;
  x: number; // ns
  y: number | null; // share
  area: number;
  fill: string;
  card: ComponentChildren;
  chosen?: boolean;
}

export function Scatter({
  dots,
  height,
  label,
  onDot,
  onShow,
}: {
  dots: readonly Dot[];
  height: number;
  label: string;
  onDot: (id: string) => void;
  onShow: (id: string) => void; // a double click
}) {
  const [box, width] = useWidth(480);
  const [left, right, top, bottom] = [36, 12, 10, 44];
  const xs = dots.map((d) => Math.max(1, d.x));
  const [min, max] = [smallest(xs, self, 1e6) / 1.4, largest(xs, self, 10) * 1.4];
  const marks = logTicks(min, max);
  const [lo, hi] = [Math.log10(min), Math.log10(max)];
  const x = (v: number) => left + ((Math.log10(Math.max(1, v)) - lo) / Math.max(0.001, hi - lo)) * (width - left - right);
  const y = (v: number) => top + (1 - v) * (height - top - bottom);
  const most = largest(dots, (d) => d.area, 1);
  const radius = (area: number) => Math.max(2.5, Math.sqrt(area / most) * 11);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        {[0, 0.5, 1].map((m) => (
          <g key={m}>
            <line x1={left} x2={width - right} y1={y(m)} y2={y(m)} stroke="var(--line)" />
            <text x={left - 7} y={y(m) + 4} text-anchor="end" class="axis">
              {m * 100}
            </text>
          </g>
        ))}
        {marks.map((m) => (
          <g key={m}>
            <line x1={x(m)} x2={x(m)} y1={top} y2={height - bottom} stroke="var(--line)" />
            <text x={x(m)} y={height - 6} text-anchor="middle" class="axis">
              {short(m, "ns").replace(/\.0+/, "")}
            </text>
          </g>
        ))}
        <text x={left - 7} y={height - 22} text-anchor="end" class="axis">
          ?
        </text>
        {[...dots]
          .sort((a, b) => b.area - a.area)
          .map((d) => (
            <circle
              key={d.id}
              cx={x(d.x)}
              cy={d.y === null ? height - 26 : y(d.y)}
              r={d.y === null ? 3 : radius(d.area)}
              fill={d.y === null ? "none" : d.fill}
              fill-opacity={0.55}
              stroke={d.chosen ? "var(--t1)" : d.y === null ? d.fill : "none"}
              stroke-width={d.chosen ? 2 : 1.3}
              class="part"
              pointer-events="all"
              onClick={() => onDot(d.id)}
              onDblClick={() => onShow(d.id)}
              {...tip(d.card, 80)}
            />
          ))}
      </svg>
    </div>
  );
}
