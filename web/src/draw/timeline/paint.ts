// The colors of one answer: a fill for every name (or lane, or slowness), made once per answer, theme and
// choice of coloring, so that a frame only looks them up.
import {
  type ColorBy,
  cssOf,
  darkTextOn,
  fillOf,
  hashOf,
  heatOf,
  LEVELS,
  type Palette,
  pack,
  parseColor,
  type Rgb,
  shadesOf,
  tagFill,
  tagFor,
} from "./colors.ts";
import type { Boxes } from "./compositor.ts";
import type { Picture } from "./picture.ts";

export interface Paint {
  key: string;
  boxes: Boxes; // its names are indices of fills
  shades: Uint32Array<ArrayBuffer>;
  fills: Rgb[];
  css: string[];
  darkText: boolean[];
  quiet: Uint32Array<ArrayBuffer>; // the lane of steps: all in the color of an empty bar
  quietDark: boolean;
}

/** Steps of slowness: up to four times the median. */
const SLOW_STEPS = 32;

function byLane(p: Picture, palette: Palette): { index: Uint16Array<ArrayBuffer>; fills: Rgb[] } {
  const index = new Uint16Array(p.boxes.name.length);
  for (const [lane, rows] of p.rows) for (const r of rows) index.fill(hashOf(`lane ${lane}`) % 12, r.first, r.last);
  return { index, fills: palette.categorical };
}

/** Median duration of every name, of boxes that are one slice; 0 where there is none. */
function mediansOf(b: Boxes, names: number): Float64Array {
  const times: number[][] = Array.from({ length: names }, () => []);
  for (let i = 0; i < b.name.length; i++) if (b.count[i] === 1) times[b.name[i] as number]?.push(b.time[i] as number);
  return Float64Array.from(times, (t) => (t.length ? (t.sort((x, y) => x - y)[t.length >> 1] as number) : 0));
}

function bySlowness(p: Picture, palette: Palette): { index: Uint16Array<ArrayBuffer>; fills: Rgb[] } {
  const medians = mediansOf(p.boxes, p.names.length);
  const index = new Uint16Array(p.boxes.name.length);
  for (let i = 0; i < index.length; i++) {
    const median = medians[p.boxes.name[i] as number] as number;
    const over = median > 0 && p.boxes.count[i] === 1 ? (p.boxes.time[i] as number) / median - 1 : 0;
    index[i] = Math.round(Math.min(1, Math.max(0, over / 3)) * (SLOW_STEPS - 1));
  }
  const fills = Array.from({ length: SLOW_STEPS }, (_, i) => heatOf(palette, 0.04 + (0.96 * i) / (SLOW_STEPS - 1)));
  return { index, fills };
}

/** Colors a view gives to names itself; the same key gives the same colors. */
export interface OwnFills {
  key: string;
  fillOf: (name: string, palette: Palette) => Rgb;
}

/** Colors of an answer; kept with it until theme, coloring or the emphasized name change. */
export function paintOf(p: Picture, palette: Palette, by: ColorBy, only: string, version: number, own?: OwnFills): Paint {
  const key = `${version} ${own?.key ?? by} ${only}`;
  const kept = p.paint as Paint | undefined;
  if (kept?.key === key) return kept;
  let index = p.boxes.name;
  let fills: Rgb[];
  if (own) fills = p.names.map((n) => own.fillOf(n, palette));
  else if (by === "stream") ({ index, fills } = byLane(p, palette) as { index: typeof index; fills: Rgb[] });
  else if (by === "slow") ({ index, fills } = bySlowness(p, palette) as { index: typeof index; fills: Rgb[] });
  else if (tagFor(by) && p.tag === by) fills = p.names.map((_, i) => tagFill(palette, by, p.tags[i] ?? 0));
  else fills = p.names.map((n, i) => fillOf(palette, by, n, p.kinds[i] as number));
  const dim = only && index === p.boxes.name ? (i: number) => p.names[i] !== only : undefined;
  const track = parseColor(palette.css.track ?? "");
  const paint: Paint = {
    key,
    boxes: { ...p.boxes, name: index },
    shades: shadesOf(fills, palette.surface, dim),
    fills,
    css: fills.map(cssOf),
    darkText: fills.map(darkTextOn),
    quiet: new Uint32Array(fills.length * LEVELS).fill(pack(track)),
    quietDark: darkTextOn(track),
  };
  p.paint = paint;
  return paint;
}
