// What a stage of lanes draws with: the memory of its frames, its colors and its font; and the box under a pixel.
import { type Palette, readPalette } from "./colors.ts";
import { boxAt } from "./compositor.ts";
import { RULER } from "./lanes.ts";
import type { Easel, RowDrawn } from "./scene.ts";

export const SANS = 'Inter, "Segoe UI", system-ui, -apple-system, Roboto, "Noto Sans", "Noto Sans CJK SC", sans-serif';

export function newEasel(canvas: HTMLCanvasElement): Easel | undefined {
  const g = canvas.getContext("2d", { alpha: false });
  const rows = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (!g || !rows) return undefined;
  const wide = { least: 30, index: new Uint32Array(4096), n: 0 };
  return { g, rows, image: undefined, pixels: new Uint32Array(0), wide, hatch: { key: "", pattern: null } };
}

export function readColors(): Palette {
  const style = getComputedStyle(document.documentElement);
  return readPalette((name) => style.getPropertyValue(`--${name}`));
}

export interface Hit {
  row: RowDrawn;
  index: number;
}

/** The box at a place of the stage. */
export function hitAt(rows: readonly RowDrawn[], x: number, y: number): Hit | undefined {
  const dpr = devicePixelRatio || 1;
  if (y < RULER) return undefined;
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i] as RowDrawn;
    if (y < row.y || y >= row.y + row.height + 1) continue;
    const index = boxAt(row.picture.boxes, row.run, x * dpr, 2 * dpr);
    if (index >= 0) return { row, index };
  }
  return undefined;
}
