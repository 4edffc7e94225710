// A step as a trace: one lane on top for the stages, one for each stream of communication below.
import { ticks } from "../../base/scale.ts";
import { cutEnd, textWidth } from "../../base/text-width.ts";
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
  const left = width >= 1000 ? 230 : 148;
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
                {cutEnd(lane.name, left - 12)}
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
              {placeLabels(
                lane.boxes.map((b) => ({ left: x(b.from), right: x(b.to), label: b.label })),
                [left, width],
                i > 0 && lane.boxes.length <= 3,
              ).map(({ at, inside, of }) => (
                <text
                  key={lane.boxes[of]?.id}
                  x={at}
                  y={y + h / 2 + 4}
                  pointer-events="none"
                  {...(inside ? { fill: inkFor(lane.boxes[of]?.fill ?? ""), class: "strip-text" } : { class: "axis" })}
                >
                  {lane.boxes[of]?.label}
                </text>
              ))}
            </g>
          );
        })}
        {border ? (
          <g>
            <line x1={x(border.at)} x2={x(border.at)} y1={top - 6} y2={height} stroke="var(--critical)" stroke-dasharray="3 3" />
            <BorderLabel x={x(border.at)} y={top + 37} right={width} text={border.label} />
          </g>
        ) : null}
      </svg>
    </div>
  );
}

interface Spot {
  left: number;
  right: number;
  label: string;
}

/** Where the labels of a lane are: in their box, otherwise after or before it where there is room; otherwise
 * nowhere. */
export function placeLabels(
  spots: readonly Spot[],
  [low, high]: readonly [number, number],
  beside: boolean,
): { of: number; at: number; inside: boolean }[] {
  const placed: { of: number; at: number; inside: boolean }[] = [];
  const taken: [number, number][] = spots.map((s) => [s.left, s.right]);
  const isFree = (from: number, to: number, own: number) =>
    from >= low && to <= high && taken.every(([a, b], i) => i === own || to < a || from > b);
  spots.forEach((s, of) => {
    const w = textWidth(s.label);
    if (s.label === "") return;
    if (s.right - s.left > w + 10) placed.push({ of, at: s.left + 6, inside: true });
    else if (beside) {
      const at = [s.right + 5, s.left - 5 - w].find((from) => isFree(from, from + w, of));
      if (at === undefined) return;
      taken.push([at, at + w]);
      placed.push({ of, at, inside: false });
    }
  });
  return placed;
}

/** After its line, or before it where the picture ends. */
function BorderLabel({ x, y, right, text }: { x: number; y: number; right: number; text: string }) {
  const before = x + 5 + textWidth(text) > right;
  return (
    <text x={before ? x - 5 : x + 5} y={y} text-anchor={before ? "end" : "start"} class="axis critical-text">
      {text}
    </text>
  );
}
