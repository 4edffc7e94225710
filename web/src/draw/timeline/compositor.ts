// The lane compositor. A row of a lane has one color down its height, so it is painted as one line of
// pixels; the lines of all rows form an image that goes to the canvas at once and is stretched row by row.
// No object per box: typed arrays of the answer in, 32-bit pixels out.
import { LEVELS } from "./colors.ts";

/** Columns of a viewport answer (docs/SERVER.md), views into its bytes. */
export interface Boxes {
  start: Uint32Array;
  end: Uint32Array;
  time: Float32Array;
  count: Uint16Array;
  name: Uint16Array;
  slice: Uint32Array;
  flags: Uint8Array;
}

const FLAG = { before: 1, behind: 2, unfinished: 4, overlaps: 8, suspect: 16, synthetic: 32 } as const;

/** Boxes first … last of an answer, and how its units become pixels: x = unit · scale + shift. */
export interface Run {
  first: number;
  last: number;
  scale: number;
  shift: number;
  unit: number; // ns
}

interface Target {
  pixels: Uint32Array;
  at: number; // where the row begins
  width: number;
  gap: number; // pixels between boxes that are wider than three
}

/** Boxes that are wide enough for words, found while painting. */
export interface Wide {
  least: number; // pixels
  index: Uint32Array;
  n: number;
}

/** First box of a run that ends after a position. Boxes of a row do not overlap, so ends ascend as well. */
export function firstEndingAfter(boxes: Boxes, run: Run, x: number): number {
  let low = run.first;
  let high = run.last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const right = Math.max((boxes.end[middle] as number) * run.scale + run.shift, Math.floor(startX(boxes, run, middle)) + 1);
    if (right > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function startX(boxes: Boxes, run: Run, i: number): number {
  return (boxes.start[i] as number) * run.scale + run.shift;
}

export function endX(boxes: Boxes, run: Run, i: number): number {
  return (boxes.end[i] as number) * run.scale + run.shift;
}

/** Share of a pixel (or of a box of several slices) that is busy, as a level of the shades. */
function levelOf(time: number, length: number, count: number, run: Run): number {
  const pixel = run.unit / run.scale;
  if (count <= 1 && length >= pixel) return LEVELS - 1;
  const share = time / Math.max(length, pixel);
  return share >= 1 ? LEVELS - 1 : Math.max(0, Math.round(share * (LEVELS - 1)));
}

/**
 * Paints one row. Where several boxes meet in a pixel the longest wins; a wide box leaves a gap at its
 * right. `shades` has LEVELS pixels a name.
 */
export function paintRow(target: Target, boxes: Boxes, run: Run, shades: Uint32Array, wide?: Wide): void {
  const { pixels, at, width, gap } = target;
  const { start, end, time, count, name, flags } = boxes;
  let taken = -1; // last pixel painted
  let longest = 0; // time of the box that painted it
  for (let i = firstEndingAfter(boxes, run, 0); i < run.last; i++) {
    const left = (start[i] as number) * run.scale + run.shift;
    if (left >= width) break;
    const right = (end[i] as number) * run.scale + run.shift;
    const own = time[i] as number;
    let x0 = Math.floor(left);
    let x1 = Math.max(Math.floor(right), x0 + 1);
    if (x1 - x0 > 3 * gap) {
      if (wide && right - left >= wide.least && wide.n < wide.index.length) wide.index[wide.n++] = i;
      x1 -= gap;
    }
    if (x0 <= taken) {
      if (x1 - 1 <= taken && own <= longest) continue;
      if (own <= longest) x0 = taken + 1;
    }
    const level = levelOf(own, ((end[i] as number) - (start[i] as number)) * run.unit, count[i] as number, run);
    const color = shades[(name[i] as number) * LEVELS + level] as number;
    pixels.fill(color, at + Math.max(0, x0), at + Math.min(width, x1));
    if ((flags[i] as number) & FLAG.unfinished) fadeOut(target, x0, x1, (name[i] as number) * LEVELS, shades);
    taken = x1 - 1;
    longest = own;
  }
}

/** An event without an end fades to the right: its last half goes down through the shades. */
function fadeOut(target: Target, x0: number, x1: number, base: number, shades: Uint32Array): void {
  const half = (x1 - x0) / 2;
  for (let x = Math.max(0, Math.ceil(x0 + half)); x < Math.min(target.width, x1); x++) {
    const level = Math.floor(((x1 - x) / half) * (LEVELS - 1));
    target.pixels[target.at + x] = shades[base + level] as number;
  }
}

/** Marks the pixels under boxes of several slices with dots, `every` pixels apart. */
export function paintSeveral(target: Target, boxes: Boxes, run: Run, color: number, every: number): void {
  const { pixels, at, width } = target;
  for (let i = firstEndingAfter(boxes, run, 0); i < run.last; i++) {
    const x0 = Math.max(0, Math.floor(startX(boxes, run, i)));
    if (x0 >= width) break;
    if ((boxes.count[i] as number) < 2) continue;
    const x1 = Math.min(width, Math.max(x0 + 1, Math.floor(endX(boxes, run, i))));
    for (let x = Math.ceil(x0 / every) * every; x < x1; x += every) pixels[at + x] = color;
  }
}

/** Boxes of one name get an outline of their own elsewhere; this finds them. */
export function indicesOf(boxes: Boxes, run: Run, width: number, name: number, found: (i: number) => void): void {
  for (let i = firstEndingAfter(boxes, run, 0); i < run.last; i++) {
    if (startX(boxes, run, i) >= width) break;
    if (boxes.name[i] === name) found(i);
  }
}

/** The box under a pixel, the nearest within `reach`, or -1. */
export function boxAt(boxes: Boxes, run: Run, x: number, reach: number): number {
  const i = firstEndingAfter(boxes, run, x);
  let best = -1;
  let distance = reach;
  for (let j = Math.max(run.first, i - 1); j < Math.min(run.last, i + 2); j++) {
    const left = startX(boxes, run, j);
    const right = Math.max(endX(boxes, run, j), left + 1);
    const away = x < left ? left - x : x >= right ? x - right : 0;
    if (away <= distance && (best < 0 || away < distance)) {
      best = j;
      distance = away;
    }
  }
  return best;
}

/** The stretch without any box around a pixel over several rows, in pixels; undefined when there is one. */
export function gapAround(rows: readonly { boxes: Boxes; run: Run }[], x: number): { left: number; right: number } | undefined {
  let left = Number.NEGATIVE_INFINITY;
  let right = Number.POSITIVE_INFINITY;
  for (const { boxes, run } of rows) {
    const i = firstEndingAfter(boxes, run, x);
    if (i > run.first) left = Math.max(left, endX(boxes, run, i - 1));
    if (i < run.last) right = Math.min(right, startX(boxes, run, i));
  }
  return left <= x && right >= x ? { left, right } : undefined;
}
