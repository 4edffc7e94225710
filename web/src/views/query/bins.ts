// The bins of a histogram: round borders, about as many as the root of the number of values.
import { largest, self, smallest } from "../../base/aggregate.ts";

export interface Bin {
  from: number;
  to: number;
  count: number;
}

const MOST = 40;

export function binsOf(values: readonly number[]): Bin[] {
  if (values.length === 0) return [];
  const [least, most] = [smallest(values, self), largest(values, self)];
  const wanted = Math.min(MOST, Math.max(5, Math.ceil(Math.sqrt(values.length))));
  const rough = (most - least) / wanted || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999) ?? rough;
  const first = Math.floor(least / step);
  const n = Math.floor(most / step) - first + 1;
  const bins = Array.from({ length: n }, (_, i) => ({
    from: Number(((first + i) * step).toPrecision(12)),
    to: Number(((first + i + 1) * step).toPrecision(12)),
    count: 0,
  }));
  for (const v of values) {
    const bin = bins[Math.min(n - 1, Math.max(0, Math.floor(v / step) - first))];
    if (bin) bin.count++;
  }
  return bins;
}
