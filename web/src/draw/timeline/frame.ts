// One frame of the timeline: ground, rows through the compositor, counters, words. What is above
// (selection, area, flows, ruler) is drawn by overlay.ts and ruler.ts.
import { mix, pack } from "./colors.ts";
import { endX, gapAround, paintRow, paintSeveral, startX } from "./compositor.ts";
import { drawCounter } from "./counters.ts";
import { isCounter } from "./folds.ts";
import { fitText, LABEL, shortName } from "./labels.ts";
import { type Item, MOST_SUB_ROWS, RULER, rowPlace, shownRows, stripsOf } from "./lanes.ts";
import { paintOf } from "./paint.ts";
import { pictureFor, runOf } from "./picture.ts";
import { type Easel, type RowDrawn, type Scene, visibleItems } from "./scene.ts";
import { toX } from "./time-scale.ts";
import type { Lane } from "./tracks.ts";

const MOST_WORDS_MOVING = 250;
const MOST_WORDS = 800;
const IDLE_WORDS = 130;

/** Paints everything below the overlays; returns the rows for hit tests and outlines. */
export function drawLanes(e: Easel, s: Scene, grid: () => void): RowDrawn[] {
  const { g } = e;
  g.setTransform(s.dpr, 0, 0, s.dpr, 0, 0);
  g.fillStyle = s.palette.css.surface ?? "#fff";
  g.fillRect(0, 0, s.left + s.width, s.height);
  const items = visibleItems(s);
  const body = items.filter((i) => !i.item.pinned);
  const rows: RowDrawn[] = [];
  e.wide.n = 0;
  e.wide.least = LABEL.least * s.dpr;
  const list = [body, items.filter((i) => i.item.pinned)];
  for (const part of list) {
    if (part.length === 0) continue;
    const pinned = part[0]?.item.pinned === true;
    g.save();
    g.beginPath();
    const top = RULER + (pinned ? 0 : s.layout.pinnedHeight);
    g.rect(0, top, s.left + s.width, pinned ? s.layout.pinnedHeight : s.height - top);
    g.clip();
    g.fillRect(0, top, s.left + s.width, pinned ? s.layout.pinnedHeight : 0);
    const found = rowsOf(e, s, part);
    for (const i of part) drawGround(e, s, i.item, i.y);
    grid();
    stretch(e, s, found);
    for (const r of found) rows.push(r);
    for (const i of part) drawAfter(e, s, i.item, i.y, found);
    drawWords(e, s, found);
    g.restore();
  }
  return rows;
}

function drawGround(e: Easel, s: Scene, item: Item, y: number): void {
  const { g } = e;
  if (!item.lane) {
    g.fillStyle = s.palette.css.page ?? "";
    g.fillRect(s.left, y, s.width, item.height);
  } else if (item.lane.kind === "stream") {
    const [from, to] = edgesOf(s, item.lane);
    g.fillStyle = hatchOf(e, s) ?? "";
    g.fillRect(s.left + from, y + 2, Math.max(0, to - from), item.height - 4);
  }
  g.fillStyle = s.palette.css.line ?? "";
  g.fillRect(s.left, y + item.height - 1, s.width, 1);
}

/** Where the trace of a lane begins and ends on the screen. */
function edgesOf(s: Scene, lane: Lane): [number, number] {
  const own = s.spanOf(lane.id);
  return [Math.max(0, toX(s.range, s.width, own.from)), Math.min(s.width, toX(s.range, s.width, own.to))];
}

function hatchOf(e: Easel, s: Scene): CanvasPattern | null {
  const key = `${s.version} ${s.dpr}`;
  if (e.hatch.key === key) return e.hatch.pattern;
  const tile = document.createElement("canvas");
  tile.width = tile.height = 7;
  const t = tile.getContext("2d");
  if (t) {
    t.strokeStyle = s.palette.css["line-strong"] ?? "";
    t.lineWidth = 1;
    t.beginPath();
    for (const d of [-7, 0, 7]) {
      t.moveTo(d - 1, 8);
      t.lineTo(d + 8, -1);
    }
    t.stroke();
  }
  e.hatch = { key, pattern: e.g.createPattern(tile, "repeat") };
  return e.hatch.pattern;
}

interface RowPlan {
  lane: Lane;
  row: number;
  y: number;
  height: number;
  mute: boolean; // without words: others lie in the same place
}

function planOf(items: readonly { item: Item; y: number }[]): RowPlan[] {
  const plan: RowPlan[] = [];
  for (const { item, y } of items) {
    if (item.lane && !isCounter(item.lane.kind)) {
      const n = shownRows(item.lane, item.open);
      for (let row = 0; row < n; row++) {
        const at = rowPlace(item.lane, item.open, row);
        plan.push({ lane: item.lane, row, y: y + at.top, height: at.height, mute: at.height < 13 });
      }
    } else if (!item.lane && !item.open) {
      const strips = stripsOf(item);
      for (const p of strips) {
        const mute = p.height < 13 || strips.some((o) => o !== p && o.top === p.top);
        plan.push({ lane: p.lane, row: p.row, y: y + p.top, height: p.height, mute });
      }
    }
  }
  return plan;
}

/** Paints one pixel line for each row; rows of a closed group share the place of its strip. */
function rowsOf(e: Easel, s: Scene, items: readonly { item: Item; y: number }[]): RowDrawn[] {
  const plan = planOf(items);
  const width = Math.max(1, Math.round(s.width * s.dpr));
  ensureImage(e, width, Math.max(1, plan.length * 2));
  const rows: RowDrawn[] = [];
  e.pixels.fill(0, 0, width * plan.length * 2);
  const dot = pack(mix(s.palette.surface, s.palette.dark, 0.45));
  plan.forEach((p, line) => {
    const picture = pictureFor(s.picturesOf(p.lane.id), p.lane.id, s.range, s.width, s.whole);
    const part = picture?.rows.get(p.lane.id)?.find((r) => r.row === p.row);
    if (!picture || !part) return;
    const paint = paintOf(picture, s.palette, s.by, s.only, s.version, s.own?.(p.lane.id));
    const run = runOf(picture, part, s.range, width);
    const target = { pixels: e.pixels, at: line * 2 * width, width, gap: Math.max(1, Math.round(s.dpr)) };
    const wideFrom = e.wide.n;
    paintRow(target, paint.boxes, run, p.lane.kind === "steps" ? paint.quiet : paint.shades, p.mute ? undefined : e.wide);
    if (p.height >= 12) paintSeveral({ ...target, at: target.at + width }, paint.boxes, run, dot, 3 * target.gap);
    rows.push({ ...p, picture, paint, run, wideFrom, wideTo: e.wide.n });
    places.set(rows[rows.length - 1] as RowDrawn, line * 2);
  });
  return rows;
}

/** Line of the image that holds a row. */
const places = new WeakMap<RowDrawn, number>();

function ensureImage(e: Easel, width: number, lines: number): void {
  if (e.image && e.image.width === width && e.image.height >= lines) return;
  const height = Math.max(64, 2 ** Math.ceil(Math.log2(lines)));
  e.image = new ImageData(width, height);
  e.pixels = new Uint32Array(e.image.data.buffer);
  e.rows.canvas.width = width;
  e.rows.canvas.height = height;
}

function stretch(e: Easel, s: Scene, rows: readonly RowDrawn[]): void {
  if (!e.image || rows.length === 0) return;
  if (e.vector) {
    for (const r of rows) drawBoxes(e.g, s, r);
    return;
  }
  const width = e.image.width;
  const last = rows.reduce((m, r) => Math.max(m, places.get(r) ?? 0), 0) + 2;
  e.rows.putImageData(e.image, 0, 0, 0, 0, width, last);
  e.g.imageSmoothingEnabled = false;
  for (const r of rows) {
    const line = places.get(r) as number;
    e.g.drawImage(e.rows.canvas, 0, line, width, 1, s.left, r.y, s.width, r.height);
    if (r.height >= 12) e.g.drawImage(e.rows.canvas, 0, line + 1, width, 1, s.left, r.y + r.height - 1, s.width, 1);
  }
}

/** The boxes of a row as rectangles, several in one pixel as the longest of them. */
function drawBoxes(g: CanvasRenderingContext2D, s: Scene, r: RowDrawn): void {
  const { boxes } = r.paint;
  const track = s.palette.css.track ?? "";
  let taken = -1;
  for (let i = r.run.first; i < r.run.last; i++) {
    const left = Math.max(0, startX(boxes, r.run, i));
    const right = Math.min(s.width, endX(boxes, r.run, i));
    if (left >= s.width) break;
    if (right <= 0 || right <= taken) continue;
    const wide = Math.max(right - left, 1);
    const share =
      (boxes.count[i] as number) > 1 ? Math.min(1, (boxes.time[i] as number) / ((wide / r.run.scale) * r.run.unit)) : 1;
    g.globalAlpha = 0.35 + 0.65 * share;
    g.fillStyle = r.lane.kind === "steps" ? track : (r.paint.css[boxes.name[i] as number] ?? "");
    g.fillRect(s.left + left, r.y, wide > 3 ? wide - 1 : wide, r.height);
    taken = left + Math.min(wide, 1);
  }
  g.globalAlpha = 1;
}

function drawAfter(e: Easel, s: Scene, item: Item, y: number, rows: readonly RowDrawn[]): void {
  const lane = item.lane;
  if (!lane) return;
  if (isCounter(lane.kind)) drawCounter(e.g, s, lane, y, item.height);
  else if (lane.kind === "stream" && item.open) {
    drawIdleWords(
      e,
      s,
      rows.filter((r) => r.lane === lane),
      y,
      item.height,
    );
    if (lane.rows > MOST_SUB_ROWS) {
      e.g.fillStyle = s.palette.css.t3 ?? "";
      e.g.font = `11px ${s.sans}`;
      e.g.textAlign = "right";
      e.g.fillText(`+${lane.rows - MOST_SUB_ROWS}`, s.left + s.width - 4, y + item.height - 6);
      e.g.textAlign = "left";
    }
  }
}

/** "idle 3.4 ms" where nothing ran on a stream for long enough to be read. */
function drawIdleWords(e: Easel, s: Scene, rows: readonly RowDrawn[], y: number, height: number): void {
  if (rows.length === 0) return;
  const least = IDLE_WORDS * s.dpr;
  const all = rows.map((r) => ({ boxes: r.picture.boxes, run: r.run }));
  const [start, end] = edgesOf(s, (rows[0] as RowDrawn).lane).map((x) => x * s.dpr) as [number, number];
  const { g } = e;
  g.font = `11px ${s.sans}`;
  g.textBaseline = "middle";
  let x = start + least / 2;
  while (x < end) {
    const gap = gapAround(all, x);
    if (!gap) {
      x += least / 2;
      continue;
    }
    const left = Math.max(gap.left, start);
    const right = Math.min(gap.right, end);
    if (right - left >= least && Number.isFinite(gap.left) && Number.isFinite(gap.right)) {
      const ns = ((gap.right - gap.left) / s.dpr / s.width) * (s.range.to - s.range.from);
      const text = s.idle(ns);
      const w = s.widthOf(text) + 10;
      const mid = s.left + (left + right) / 2 / s.dpr;
      g.fillStyle = s.palette.css.surface ?? "";
      g.fillRect(mid - w / 2, y + height / 2 - 8, w, 16);
      g.fillStyle = s.palette.css.t3 ?? "";
      g.fillText(text, mid - w / 2 + 5, y + height / 2 + 0.5);
    }
    x = Math.max(right, x) + least / 2;
  }
}

function drawWords(e: Easel, s: Scene, rows: readonly RowDrawn[]): void {
  const { g } = e;
  g.font = `450 11px ${s.sans}`;
  g.textBaseline = "middle";
  const words: { text: string; x: number; y: number; dark: boolean }[] = [];
  const most = s.moving ? MOST_WORDS_MOVING : MOST_WORDS;
  for (const r of rows) {
    for (let k = r.wideFrom; k < r.wideTo && words.length < most; k++) {
      const i = e.wide.index[k] as number;
      const left = Math.max(0, startX(r.picture.boxes, r.run, i) / s.dpr);
      const right = Math.min(s.width, endX(r.picture.boxes, r.run, i) / s.dpr - 1);
      const room = right - left - 2 * LABEL.inside;
      if (room < LABEL.least - 2 * LABEL.inside) continue;
      const text = wordsOf(s, r, i, room);
      if (text)
        words.push({
          text,
          x: s.left + left + LABEL.inside,
          y: r.y + r.height / 2 + 0.5,
          dark: r.lane.kind === "steps" ? r.paint.quietDark : r.paint.darkText[r.paint.boxes.name[i] as number] === true,
        });
    }
  }
  for (const dark of [true, false]) {
    g.fillStyle = dark ? "#0b0d11" : "#fff";
    for (const w of words) if (w.dark === dark) g.fillText(w.text, w.x, w.y);
  }
}

function wordsOf(s: Scene, r: RowDrawn, i: number, room: number): string {
  const full = r.picture.names[r.picture.boxes.name[i] as number] as string;
  const name = r.lane.kind === "steps" ? s.step(full) : shortName(full);
  const long = room + 2 * LABEL.inside >= LABEL.withTime && r.picture.boxes.count[i] === 1;
  if (long) {
    const whole = `${name}   ${s.format(r.picture.boxes.time[i] as number)}`;
    if (s.widthOf(whole) <= room) return whole;
  }
  return fitText(name, room, s.widthOf);
}
