// Time and pixels. A range of nanoseconds is laid over a number of pixels; requests are rounded to powers
// of two and wider than what is seen, so that a small pan or zoom needs no new one.

export interface Range {
  from: number; // ns from the start of the trace
  to: number;
}

/** Shortest range that can be seen: below it a pixel would be far less than a nanosecond. */
export const SHORTEST = 100;
/** Widest answer the server draws. */
const WIDEST = 8192;

function perPixel(r: Range, width: number): number {
  return (r.to - r.from) / width;
}

export function toX(r: Range, width: number, time: number): number {
  return ((time - r.from) / (r.to - r.from)) * width;
}

export function toTime(r: Range, width: number, x: number): number {
  return r.from + (x / width) * (r.to - r.from);
}

/** The same length, moved so that it stays inside the trace (with a little room at both ends). */
export function clampRange(r: Range, whole: number): Range {
  const longest = whole * 1.04;
  const length = Math.min(Math.max(r.to - r.from, SHORTEST), longest);
  const room = whole * 0.02;
  const middle = (r.from + r.to) / 2;
  let from = middle - length / 2;
  if (from < -room) from = -room;
  if (from + length > whole + room) from = whole + room - length;
  return { from, to: from + length };
}

/** Longer (factor > 1) or shorter, `at` stays where it is on the screen. */
export function zoomAround(r: Range, at: number, factor: number, whole: number): Range {
  const length = r.to - r.from;
  const limited = Math.min(Math.max(length * factor, SHORTEST), whole * 1.04);
  const f = limited / length;
  return clampRange({ from: at - (at - r.from) * f, to: at + (r.to - at) * f }, whole);
}

export function panBy(r: Range, time: number, whole: number): Range {
  return clampRange({ from: r.from + time, to: r.to + time }, whole);
}

/** Shows a stretch with some air around it. */
export function fitRange(from: number, to: number, whole: number, air = 0.15): Range {
  const length = Math.max(to - from, SHORTEST / 2);
  return clampRange({ from: from - length * air, to: from + length * (1 + air) }, whole);
}

/** Moves as little as needed to make an interval visible; a longer one is centered on its
 * start. */
export function reveal(r: Range, from: number, to: number, whole: number): Range {
  const length = r.to - r.from;
  if (from >= r.from && to <= r.to) return r;
  if (to - from > length) return to > r.from && from < r.to ? r : panBy(r, from - r.from - length * 0.1, whole);
  return panBy(r, (from + to) / 2 - (r.from + r.to) / 2, whole);
}

// ---- the ruler ----

interface Ticks {
  step: number;
  first: number;
  count: number;
}

/** Steps of 1, 2, 5 × 10ⁿ, at least `apart` pixels from each other. */
export function ticksOf(r: Range, width: number, apart: number): Ticks {
  const least = perPixel(r, width) * apart;
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((m) => m * ten).find((s) => s >= least * 0.999) ?? ten * 10;
  const first = Math.max(0, Math.ceil(r.from / step)) * step;
  return { step, first, count: Math.max(0, Math.floor((r.to - first) / step) + 1) };
}

const UNITS: readonly [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];

/** A time on the ruler: the unit of the whole view, as many digits as the step needs. */
export function tickLabel(time: number, step: number, largest: number): string {
  const [factor, unit] = UNITS.find(([f]) => largest >= f) ?? [1, "ns"];
  const digits = Math.max(0, Math.round(Math.log10(factor)) - Math.floor(Math.log10(step) + 1e-9));
  return `${(time / factor).toFixed(Math.min(digits, 9)).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",")} ${unit}`;
}

/** The time at a place of the view, to the digit that a pixel tells apart. */
export const pointLabel = (r: Range, width: number, x: number): string =>
  tickLabel(Math.max(0, toTime(r, width, x)), Math.max(1, perPixel(r, width)), r.to);

// ---- requests ----

export interface Wanted extends Range {
  width: number;
  bucket: number; // ns of a pixel that is asked for
}

/** What to ask for to show a range: `pad` times its length more on each side, rounded to a grid. */
export function wantedFor(r: Range, width: number, whole: number, pad: number): Wanted {
  const bucket = 2 ** Math.max(0, Math.round(Math.log2(perPixel(r, width))));
  const length = r.to - r.from;
  const grid = 2 ** Math.max(0, Math.ceil(Math.log2(length / 8)));
  const from = Math.max(0, Math.floor((r.from - pad * length) / grid) * grid);
  const to = Math.min(Math.ceil(whole), Math.ceil((r.to + pad * length) / grid) * grid);
  const end = Math.max(to, from + 1);
  return { from, to: end, width: Math.min(WIDEST, Math.max(1, Math.ceil((end - from) / bucket))), bucket };
}

/** Whether an answer shows a range; `margin` of its length must be there beyond the edges, too. */
export function covers(have: Range, r: Range, whole: number, margin = 0): boolean {
  const more = (r.to - r.from) * margin;
  return have.from <= Math.max(0, r.from - more) && have.to >= Math.min(Math.floor(whole), r.to + more);
}
