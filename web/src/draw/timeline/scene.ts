// What a frame of the timeline is drawn from, and the rows it gives back for hit tests and outlines.
import type { ColorBy, Palette } from "./colors.ts";
import type { Run, Wide } from "./compositor.ts";
import { type Item, itemsBetween, type Layout, RULER } from "./lanes.ts";
import type { OwnFills, Paint } from "./paint.ts";
import type { Picture } from "./picture.ts";
import type { Range } from "./time-scale.ts";
import type { Lane } from "./tracks.ts";

export interface Scene {
  layout: Layout;
  picturesOf: (lane: number) => readonly Picture[]; // newest first
  spanOf: (lane: number) => Range; // of the trace a lane is from
  range: Range;
  whole: number; // ns of the trace
  left: number; // of the lanes, CSS pixels
  width: number;
  height: number;
  scroll: number;
  dpr: number;
  palette: Palette;
  version: number; // of the palette
  by: ColorBy;
  own?: ((lane: number) => OwnFills | undefined) | undefined; // colors that a view gives names instead
  only: string; // the name that is emphasized
  moving: boolean; // fewer words while things move
  sans: string;
  widthOf: (text: string) => number;
  format: (ns: number) => string;
  idle: (ns: number) => string;
  step: (name: string) => string; // in the lane of steps
}

/** Memory that stays from frame to frame. */
export interface Easel {
  g: CanvasRenderingContext2D;
  rows: CanvasRenderingContext2D; // the rows before they are stretched
  image: ImageData | undefined;
  pixels: Uint32Array;
  wide: Wide;
  hatch: { key: string; pattern: CanvasPattern | null };
  vector?: boolean; // boxes are drawn one by one: the picture is kept as SVG
}

export interface RowDrawn {
  lane: Lane;
  row: number;
  y: number;
  height: number;
  picture: Picture;
  paint: Paint;
  run: Run; // in device pixels
  wideFrom: number;
  wideTo: number;
}

/** Items on the screen with their height there. */
export function visibleItems(s: Scene): { item: Item; y: number }[] {
  const top = RULER + s.layout.pinnedHeight;
  const body = itemsBetween(s.layout.items, s.scroll, s.scroll + s.height - top);
  return [
    ...body.map((item) => ({ item, y: top + item.y - s.scroll })),
    ...s.layout.pinned.map((item) => ({ item, y: RULER + item.y })),
  ];
}
