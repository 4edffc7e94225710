// Bands for more steps than a screen has room for: from the tenth to the ninetieth percentile of each group
// of neighbors, with the median as a line.
import type { ComponentChildren } from "preact";
import { largest } from "../../base/aggregate.ts";
import { ticks } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";
import { Rules } from "./axis.tsx";

export interface Band {
  first: number;
  last: number;
  low: number;
  middle: number;
  high: number;
  card: ComponentChildren;
  chosen: boolean;
}

interface BandsProps {
  bands: readonly Band[];
  height: number;
  factor: number;
  label: string;
  onBand: (first: number, last: number) => void;
}

export function Bands({ bands, height, factor, label, onBand }: BandsProps) {
  const [box, width] = useWidth(900);
  const [left, top, bottom] = [34, 12, 22];
  const marks = ticks(largest(bands, (b) => b.high, 1) / factor);
  const most = (marks[marks.length - 1] as number) * factor;
  const y = (v: number) => top + (height - top - bottom) * (1 - v / most);
  const slot = (width - left - 6) / Math.max(1, bands.length);
  const x = (i: number) => left + i * slot;
  const every = Math.max(1, Math.ceil(60 / slot));
  const middle = bands.map((b, i) => `${x(i) + slot / 2},${y(b.middle)}`).join(" ");
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        <Rules marks={marks} at={(m) => y(m * factor)} left={left} right={width} />
        {bands.map((b, i) => (
          <g key={b.first} class="part" onClick={() => onBand(b.first, b.last)} {...tip(b.card, 120)}>
            <rect x={x(i)} y={top} width={slot} height={height - top - bottom} fill="transparent" />
            <rect
              x={x(i)}
              y={y(b.high)}
              width={Math.max(0.8, slot - 0.4)}
              height={Math.max(1, y(b.low) - y(b.high))}
              fill="var(--kernel)"
              opacity={b.chosen ? 0.75 : 0.35}
            />
            {i % every === 0 ? (
              <text x={x(i)} y={height - 6} class="axis">
                {b.first}
              </text>
            ) : null}
          </g>
        ))}
        <polyline points={middle} fill="none" stroke="var(--kernel)" stroke-width="1.4" pointer-events="none" />
      </svg>
    </div>
  );
}
