// From one value to another by the changes between them: a row for each, its bar begins where the one above ends.
// What is certain is solid; what is not is striped; what is left over is gray.
import { largest, self, smallest } from "../../base/aggregate.ts";
import { cutEnd } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

export interface Fall {
  id: string;
  label: string;
  detail?: string | undefined; // a name, below the label
  change: number;
  text: string; // next to the bar
  kind: "certain" | "uncertain" | "rest";
}

interface WaterfallProps {
  from: { label: string; value: number; text: string };
  to: { label: string; value: number; text: string };
  falls: readonly Fall[];
  label: string;
  onFall?: ((id: string) => void) | undefined;
}

const BAR = 18;
/** Few rows have more room. */
const rowOf = (n: number): number => (n <= 3 ? 46 : n <= 5 ? 40 : 34);
const TEXT = 84; // px for the number next to a bar

/** Where the scale begins: at zero, unless the changes would then be too short to be
 * visible. */
export function lowOf(values: readonly number[]): number {
  const [low, high] = [smallest(values, self), largest(values, self, 0)];
  const span = high - low;
  return span >= high * 0.3 ? 0 : Math.max(0, low - Math.max(span, high * 0.02) * 0.7);
}

/** The values between the changes, from the first to the last. */
export function levelsOf(from: number, falls: readonly Pick<Fall, "change">[]): number[] {
  const levels = [from];
  for (const f of falls) levels.push((levels[levels.length - 1] as number) + f.change);
  return levels;
}

const fillOf = (f: Fall): string =>
  f.kind === "rest"
    ? "url(#hatch)"
    : f.kind === "certain"
      ? `var(--d${f.change > 0 ? 5 : 1})`
      : `url(#fall-${f.change > 0 ? "slower" : "faster"})`;

export function Waterfall({ from, to, falls, label, onFall }: WaterfallProps) {
  const [box, width] = useWidth(480);
  const levels = levelsOf(from.value, falls);
  const low = lowOf(levels);
  const high = largest(levels, self, 1);
  const left = Math.min(210, Math.max(116, width * 0.34));
  const wide = width - left - TEXT;
  const x = (v: number) => left + ((v - low) / (high - low || 1)) * wide;
  const room = left - 12;
  const row = rowOf(falls.length);
  const height = (falls.length + 2) * row;
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={height} role="img" aria-label={label}>
        <defs>
          <Pale id="fall-slower" line="var(--d5)" />
          <Pale id="fall-faster" line="var(--d1)" />
        </defs>
        <End row={row} y={0} end={from} x={x} left={left} torn={low > 0} room={room} />
        {falls.map((f, i) => {
          const [a, b] = [levels[i] as number, levels[i + 1] as number];
          const y = (i + 1) * row;
          return (
            <g
              key={f.id}
              class={onFall ? "part" : ""}
              onClick={() => onFall?.(f.id)}
              {...tip(
                <>
                  <b>{f.label}</b>
                  <p>{f.text}</p>
                  {f.detail ? <code>{f.detail}</code> : null}
                </>,
                120,
              )}
            >
              <rect x="0" y={y} width={width} height={row} fill="transparent" />
              <Name row={row} text={f.label} detail={f.detail} y={y} left={left} room={room} />
              <line x1={x(a)} x2={x(a)} y1={y - (row - BAR) / 2} y2={y + (row - BAR) / 2} stroke="var(--line-strong)" />
              <rect
                x={Math.min(x(a), x(b))}
                y={y + (row - BAR) / 2}
                width={Math.max(1.5, Math.abs(x(b) - x(a)))}
                height={BAR}
                rx="1.5"
                fill={fillOf(f)}
                stroke={f.kind === "uncertain" ? `var(--d${f.change > 0 ? 5 : 1})` : "none"}
              />
              <text x={Math.max(x(a), x(b)) + 6} y={y + row / 2 + 4} class="axis strong">
                {f.text}
              </text>
            </g>
          );
        })}
        <line
          x1={x(to.value)}
          x2={x(to.value)}
          y1={height - row - (row - BAR) / 2}
          y2={height - row + (row - BAR) / 2}
          stroke="var(--line-strong)"
        />
        <End row={row} y={height - row} end={to} x={x} left={left} torn={low > 0} room={room} />
      </svg>
    </div>
  );
}

/** Stripes of a color on the surface: it could also be chance. */
const Pale = ({ id, line }: { id: string; line: string }) => (
  <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect width="5" height="5" fill="var(--surface)" />
    <rect width="1.6" height="5" fill={line} />
  </pattern>
);

function Name(props: { row: number; text: string; detail?: string | undefined; y: number; left: number; room: number }) {
  const { row, text, detail, y, left, room } = props;
  return (
    <>
      <text x={left - 10} y={y + row / 2 + (detail ? -2 : 4)} text-anchor="end" class="axis strong">
        {cutEnd(text, room, 6.6)}
      </text>
      {detail ? (
        <text x={left - 10} y={y + row / 2 + 12} text-anchor="end" class="axis">
          {cutEnd(detail, room)}
        </text>
      ) : null}
    </>
  );
}

interface EndProps {
  row: number; // its height
  y: number;
  end: WaterfallProps["from"];
  x: (v: number) => number;
  left: number;
  torn: boolean; // the scale does not begin at zero
  room: number;
}

function End({ row, y, end, x, left, torn, room }: EndProps) {
  const top = y + (row - BAR) / 2;
  return (
    <>
      <Name row={row} text={end.label} y={y} left={left} room={room} />
      <rect x={left} y={top} width={Math.max(1, x(end.value) - left)} height={BAR} rx="1.5" fill="var(--other)" />
      {torn ? (
        <path
          d={`M${left + 8} ${top - 2}l4 ${BAR / 3}l-4 ${BAR / 3}l4 ${BAR / 3 + 4}`}
          fill="none"
          stroke="var(--surface)"
          stroke-width="3"
        />
      ) : null}
      <text x={x(end.value) + 6} y={y + row / 2 + 4} class="axis strong">
        {end.text}
      </text>
    </>
  );
}
