// Numbers as people read them. One unit for a column, three significant digits in a sentence. What is absent is a dash.
import { isKnown, type Maybe } from "./aggregate.ts";

export type Unit = "ns" | "bytes" | "share" | "count" | "flops" | "flops_per_s" | "bytes_per_s" | "bandwidth" | "plain";

/** The thin space between a number and its unit. */
export const THIN = "\u2009";
const TIME: readonly [number, string][] = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
const SIZE: readonly [number, string][] = [
  [2 ** 40, "TiB"],
  [2 ** 30, "GiB"],
  [2 ** 20, "MiB"],
  [1024, "KiB"],
  [1, "B"],
];
const METRIC: readonly [number, string][] = [
  [1e15, "P"],
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
  [1, ""],
];

export interface Scale {
  factor: number; // divide by it
  unit: string;
  digits: number; // after the point
}

export const ABSENT = "–";

export function thousands(n: Maybe): string {
  if (!isKnown(n)) return ABSENT;
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

function step(table: readonly [number, string][], value: number): readonly [number, string] {
  const size = Math.abs(value);
  return table.find(([limit]) => size >= limit) ?? (table[table.length - 1] as readonly [number, string]);
}

function tableOf(unit: Unit): readonly [number, string][] {
  if (unit === "ns") return TIME;
  if (unit === "bytes" || unit === "bytes_per_s") return SIZE;
  return METRIC;
}

// bandwidth: as data sheets write it, in powers of ten.
const SUFFIX: Partial<Record<Unit, string>> = { bytes_per_s: "/s", bandwidth: "B/s", flops: "FLOP", flops_per_s: "FLOP/s" };

/** The scale of a column: the unit of its largest value, with so many digits that small ones keep theirs. */
export function scaleOf(unit: Unit, max: number): Scale {
  if (unit === "share") return { factor: 0.01, unit: "%", digits: 1 };
  if (unit === "count" || unit === "plain") return { factor: 1, unit: "", digits: 0 };
  const [factor, name] = step(tableOf(unit), max);
  const shown = Math.abs(max) / factor;
  const most = unit === "ns" || unit === "bytes" ? 3 : 2;
  return { factor, unit: name + (SUFFIX[unit] ?? ""), digits: factor === 1 ? 0 : shown >= 100 ? 1 : shown >= 10 ? 2 : most };
}

/** The scale of a chart: the unit a person would say its largest value in. */
export function chartScale(unit: "ns" | "bytes", max: number): Scale {
  const [factor, name] = step(tableOf(unit), max);
  const shown = Math.abs(max) / factor;
  return { factor, unit: name, digits: factor === 1 ? 0 : shown >= 10 ? 1 : 2 };
}

/** A value in a column's scale, without the unit. What is not zero is not written as zero. */
export function inScale(value: Maybe, s: Scale): string {
  if (!isKnown(value)) return ABSENT;
  if (value > 0 && s.digits > 1 && value / s.factor < 0.5 * 10 ** -s.digits) return `<${(10 ** -s.digits).toFixed(s.digits)}`;
  return s.digits === 0 ? thousands(value / s.factor) : withThousands((value / s.factor).toFixed(s.digits));
}

/** The same at an axis: without the zeros that the scale's digits put at its end. */
export const tick = (value: number, s: Scale): string =>
  inScale(value, s)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");

function withThousands(text: string): string {
  const [whole, rest] = text.split(".");
  return (whole ?? "").replace(/\B(?=(\d{3})+(?!\d))/g, ",") + (rest === undefined ? "" : `.${rest}`);
}

/** Three significant digits with its unit: for sentences and labels. */
export function short(value: Maybe, unit: Unit): string {
  if (!isKnown(value)) return ABSENT;
  if (unit === "count") return thousands(value);
  if (unit === "share") return percent(value, Math.abs(value) < 0.0995 ? 1 : 0);
  if (unit === "plain") return Number(value.toPrecision(3)).toString();
  const [factor, name] = step(tableOf(unit), value);
  const scaled = value / factor;
  const digits = factor === 1 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(scaled) || 1)));
  return `${withThousands(scaled.toFixed(digits))}${THIN}${name}${SUFFIX[unit] ?? ""}`;
}

/** A share with so many decimals, always with its sign. */
export const percent = (share: Maybe, digits = 1): string =>
  isKnown(share) ? `${(share * 100).toFixed(digits)}${THIN}%` : ABSENT;

/** Exact, for hover and copy. */
export function exact(value: Maybe, unit: Unit): string {
  if (!isKnown(value)) return ABSENT;
  if (unit === "ns") return `${thousands(value)}${THIN}ns`;
  if (unit === "bytes") return `${thousands(value)}${THIN}B`;
  return short(value, unit);
}

const UNITS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, μs: 1e3, ms: 1e6, s: 1e9 };

/** "12.5 ms" as nanoseconds; without a unit it is milliseconds. Nothing when it is no time. */
export function parseTime(text: string): number | undefined {
  const found = /^\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zµμ]*)\s*$/i.exec(text.replace(/,/g, ""));
  const factor = found && UNITS[(found[2] || "ms").toLowerCase()];
  return factor ? Math.round(Number(found[1]) * factor) : undefined;
}
