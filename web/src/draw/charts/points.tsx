// Points over two axes of numbers, both from round number to round number.
import { largest, self, smallest } from "../../base/aggregate.ts";
import { ticks } from "../../base/scale.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";
import { Rules } from "./axis.tsx";

interface Props {
  points: readonly (readonly [x: number, y: number])[];
  height: number;
  label: string;
  x: (v: number) => string;
  y: (v: number) => string;
}

const [RIGHT, TOP, BOTTOM] = [16, 12, 22];
const MOST = 5000; // points that are drawn

export function Points({ points, height, label, x: sayX, y: sayY }: Props) {
  const [box, width] = useWidth(900);
  const most = largest(points, (p) => p[1], 1);
  const marks = ticks(most, 4);
  const left = 9 + 6.2 * largest(marks, (m) => sayY(m).length, 4);
  const [from, to] = [
    smallest(
      points.map((p) => p[0]),
      self,
    ),
    largest(
      points.map((p) => p[0]),
      self,
    ),
  ];
  const range = to - from || 1;
  const x = (v: number) => left + ((v - from) / range) * (width - left - RIGHT);
  const high = marks[marks.length - 1] ?? most;
  const y = (v: number) => TOP + (height - TOP - BOTTOM) * (1 - v / high);
  const step = ticks(range, Math.max(2, Math.floor((width - left) / 140)))[1] ?? range;
  const first = Math.ceil(from / step);
  const across = Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  );
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        <Rules marks={marks} at={y} left={left} right={width - RIGHT} format={sayY} />
        {across.map((m) => (
          <text
            key={m}
            x={x(m)}
            y={height - 6}
            text-anchor={x(m) < left + 20 ? "start" : x(m) > width - 40 ? "end" : "middle"}
            class="axis"
          >
            {sayX(m)}
          </text>
        ))}
        {points.slice(0, MOST).map(([px, py], i) => (
          <circle
            key={i}
            cx={x(px)}
            cy={y(Math.max(0, py))}
            r="3"
            fill="var(--accent)"
            fill-opacity="0.55"
            {...tip(`${sayX(px)} · ${sayY(py)}`, 80)}
          />
        ))}
      </svg>
    </div>
  );
}
