// Two bars of the same parts on one scale, one above the other; what a part of the first becomes in the second is the
// pale shape between them.
import type { ComponentChildren } from "preact";
import { largest, sum } from "../../base/aggregate.ts";
import { textWidth } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { inkFor } from "../ink.ts";
import { useWidth } from "../width.ts";

export interface MirroredPart {
  id: string;
  label: string;
  fill: string;
  a: number;
  b: number;
  card?: ComponentChildren;
}

interface MirroredProps {
  parts: readonly MirroredPart[];
  names: readonly [string, string]; // above the first bar, below the second
  label: string;
  onPart?: ((id: string) => void) | undefined;
}

const BAR = 34;
const BETWEEN = 30;
const WORDS = 20;
/** About how wide a text is: Chinese letters are nearly twice as wide as others. */
const labelWidth = (s: string) => textWidth(s) + 11;

interface Placed {
  part: MirroredPart;
  a: [number, number];
  b: [number, number];
}

/** Where each part begins and ends in both bars. */
export function placeParts(parts: readonly MirroredPart[], width: number): Placed[] {
  const whole = Math.max(
    sum(parts, (p) => p.a),
    sum(parts, (p) => p.b),
  );
  const scale = whole > 0 ? width / whole : 0;
  let [a, b] = [0, 0];
  return parts.map((part) => {
    const placed: Placed = { part, a: [a, a + part.a * scale], b: [b, b + part.b * scale] };
    a = placed.a[1];
    b = placed.b[1];
    return placed;
  });
}

export function Mirrored({ parts, names, label, onPart }: MirroredProps) {
  const [box, width] = useWidth(700);
  const placed = placeParts(parts, width);
  const top = WORDS;
  const lower = top + BAR + BETWEEN;
  const end = (side: "a" | "b") => largest(placed, (p) => p[side][1], 0);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={lower + BAR + WORDS} role="img" aria-label={label}>
        <text x="1" y="12" class="axis strong">
          {names[0]}
        </text>
        {placed.map(({ part: p, a, b }) => (
          <g key={p.id} {...(p.card ? tip(p.card, 120) : {})} class={onPart ? "part" : ""} onClick={() => onPart?.(p.id)}>
            {p.a > 0 || p.b > 0 ? (
              <path
                d={`M${a[0]} ${top + BAR}L${a[1]} ${top + BAR}L${b[1]} ${lower}L${b[0]} ${lower}Z`}
                fill={p.fill.startsWith("url") ? "var(--other)" : p.fill}
                opacity="0.16"
              />
            ) : null}
            <Segment part={p} from={a[0]} to={a[1]} y={top} />
            <Segment part={p} from={b[0]} to={b[1]} y={lower} />
          </g>
        ))}
        <line
          x1={Math.min(end("a"), end("b"))}
          x2={Math.min(end("a"), end("b"))}
          y1={top - 3}
          y2={lower + BAR + 3}
          stroke="var(--t3)"
          stroke-dasharray="2 3"
        />
        <text x="1" y={lower + BAR + 14} class="axis strong">
          {names[1]}
        </text>
      </svg>
    </div>
  );
}

function Segment({ part, from, to, y }: { part: MirroredPart; from: number; to: number; y: number }) {
  if (to <= from) return null;
  const hatched = part.fill.startsWith("url");
  const fits = labelWidth(part.label) < to - from;
  return (
    <>
      <rect x={from} y={y} width={Math.max(0.6, to - from - 1)} height={BAR} rx="1.5" fill={part.fill} />
      {fits && hatched ? (
        <rect x={from + 3} y={y + BAR / 2 - 8} width={labelWidth(part.label) - 4} height={16} rx="2" fill="var(--surface)" />
      ) : null}
      {fits ? (
        <text x={from + 7} y={y + BAR / 2 + 4} fill={hatched ? "var(--t2)" : inkFor(part.fill)} class="strip-text">
          {part.label}
        </text>
      ) : null}
    </>
  );
}
