// Changes as people read them: with their sign, and on the ground of the difference ramp.
import type { ComponentChildren } from "preact";
import { isKnown, largest, type Maybe } from "../../base/aggregate.ts";
import { ABSENT, exact, percent, short, THIN, type Unit } from "../../base/format.ts";
import { inkFor } from "../../draw/ink.ts";
import { rampFill, rampStop, STOPS } from "../../draw/ramp.ts";
import { c } from "../../model/compare.ts";
import { themeVersion } from "../../model/theme.ts";
import type { CellValue } from "../../widgets/table-types.ts";

/** What would be written as zero has no sign. */
const withSign = (v: number, text: string) => (/[1-9]/.test(text) ? (v > 0 ? "+" : "−") : "±") + text;

/** "+3.20 ms", "−12 MiB", "±0 ns". */
export const signed = (v: Maybe, unit: Unit): string => (isKnown(v) ? withSign(v, short(Math.abs(v), unit)) : ABSENT);

/** The change as a share of what was there; none where nothing was. */
export function shareOfChange(a: Maybe, b: Maybe): string {
  if (!isKnown(a) || !isKnown(b) || a <= 0) return ABSENT;
  const share = (b - a) / a;
  if (share >= 10) return `×${THIN}${short(b / a, "plain")}`; // as a multiple: a percentage of four digits says nothing
  return withSign(share, percent(Math.abs(share)));
}

/** The change that has the strongest color: the largest one, but at least what a reader would care about in a step. */
export const strongest = (changes: Iterable<Maybe>, step: Maybe): number =>
  largest(changes, (v) => Math.abs(v ?? 0), (step ?? 0) * 0.02);

/** A number on the color of its change; `most` is the largest change among similar numbers. */
export function RampCell({ value, most, children }: { value: CellValue; most: number; children: ComponentChildren }) {
  themeVersion.value; // the ink follows the theme
  const stop = isKnown(value) ? rampStop(value, most) : 3;
  if (stop === 3) return <span class="ramp">{children}</span>;
  const fill = rampFill(stop);
  return (
    <span class="ramp" style={{ background: fill, color: inkFor(fill) }}>
      {children}
    </span>
  );
}

/** A cell of a column of changes. */
export const changeCell = (most: number) => (v: CellValue) => (
  <RampCell value={v} most={most}>
    {isKnown(v) ? <span title={exact(v, "ns")}>{signed(v, "ns")}</span> : ABSENT}
  </RampCell>
);

/** What the colors mean. */
export function RampLegend() {
  return (
    <span class="heat-scale">
      {c("ramp_faster")}
      <svg width="70" height="10" aria-hidden="true">
        {STOPS.map((stop) => (
          <rect key={stop} x={stop * 10} width="10" height="10" fill={rampFill(stop)} />
        ))}
      </svg>
      {c("ramp_slower")}
    </span>
  );
}
