// Axes: round numbers, logarithms, positions of heat.

/** The smallest of 1, 2, 5 × 10ⁿ that is at least value. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const f of [1, 2, 5, 10]) if (value <= f * power * (1 + 1e-12)) return f * power;
  return 10 * power;
}

/** Round ticks from zero that cover max, about `count` of them. */
export function ticks(max: number, count = 4): number[] {
  if (!(max > 0)) return [0, 1];
  const rough = max / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough) ?? rough;
  const list: number[] = [];
  for (let i = 0; i * step < max + step * 0.999; i++) list.push(Number((i * step).toPrecision(12)));
  return list;
}

const LEAST_SPREAD = 0.25;

/**
 * What a line without an axis spans: its values, but never less than a quarter of the largest. So a change of one
 * percent looks like one percent, and a doubling like a doubling.
 */
export function fairRange(least: number, most: number): [number, number] {
  const want = Math.max(Math.abs(most), Math.abs(least)) * LEAST_SPREAD;
  const more = want - (most - least);
  if (!(more > 0)) return [least, most];
  const low = least - more / 2;
  return least >= 0 && low < 0 ? [0, want] : [low, low + want];
}

/** Powers of ten between min and max. */
export function logTicks(min: number, max: number): number[] {
  const list: number[] = [];
  for (let p = Math.ceil(Math.log10(min)); p <= Math.floor(Math.log10(max)); p++) list.push(10 ** p);
  return list;
}

/** The position of a value on the heat ramp, 0 to 1: the root makes small lateness visible. */
export const heatPosition = (value: number, max: number): number =>
  max > 0 ? Math.sqrt(Math.min(1, Math.max(0, value / max))) : 0;

const channel = (c: number) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

/** Relative luminance of #RRGGBB, as WCAG defines it. */
export function luminance(hex: string): number {
  const n = Number.parseInt(hex.slice(1, 7), 16);
  const [r, g, b] = [(n >> 16) & 255, (n >> 8) & 255, n & 255].map((v) => channel(v / 255)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Near-black or white, whichever reads better on the fill. */
export const inkOn = (hex: string): string => (contrast(hex, "#0B0D11") >= contrast(hex, "#FFFFFF") ? "#0B0D11" : "#FFFFFF");
