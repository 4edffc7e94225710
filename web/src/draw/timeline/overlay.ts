// What is above the lanes: outlines of the selection and of its name, the area, flows, the hover line.
import { endX, indicesOf, startX } from "./compositor.ts";
import { fitText } from "./labels.ts";
import { itemAt, RULER, rowPlace, shownRows, stripsOf } from "./lanes.ts";
import type { RowDrawn, Scene } from "./scene.ts";
import { type Range, toX } from "./time-scale.ts";
import type { Ref } from "./tracks.ts";

export interface Marked {
  lane: number;
  row: number;
  start: number;
  duration: number;
  name: string;
}

export interface Flow {
  from: Ref;
  to: Ref;
  dashed: boolean;
}

export interface AreaMark extends Range {
  top: number; // heights of what scrolls
  bottom: number;
}

const MOST_OUTLINES = 600;

/** Place of a row on the screen; a lane that is folded away is at the header of its group. */
function rowOnScreen(s: Scene, lane: number, row: number): { y: number; height: number; hidden: boolean } | undefined {
  const item = s.layout.byLane.get(lane);
  if (item?.lane) {
    const base = item.pinned ? RULER : RULER + s.layout.pinnedHeight - s.scroll;
    const at = rowPlace(item.lane, item.open, Math.min(row, shownRows(item.lane, item.open) - 1));
    return { y: base + item.y + at.top, height: at.height, hidden: false };
  }
  const head = s.layout.items.find((i) => !i.lane && !i.open && i.members.some((m) => m.id === lane));
  if (!head) return undefined;
  const strip = stripsOf(head).find((p) => p.lane.id === lane) ?? { top: 4, height: head.height - 9 };
  return { y: RULER + s.layout.pinnedHeight - s.scroll + head.y + strip.top, height: strip.height, hidden: true };
}

function clipBody(g: CanvasRenderingContext2D, s: Scene): void {
  g.beginPath();
  g.rect(s.left, RULER, s.width, s.height - RULER);
  g.clip();
}

export function drawSameName(g: CanvasRenderingContext2D, s: Scene, rows: readonly RowDrawn[], name: string): void {
  g.save();
  clipBody(g, s);
  g.strokeStyle = s.palette.css.t1 ?? "";
  g.lineWidth = 1;
  g.beginPath();
  let n = 0;
  for (const r of rows) {
    if (r.height < 6) continue;
    const indices = r.picture.names.map((text, i) => (text === name ? i : -1)).filter((i) => i >= 0);
    for (const index of indices)
      indicesOf(r.picture.boxes, r.run, s.width * s.dpr, index, (i) => {
        if (n++ > MOST_OUTLINES) return;
        const left = Math.max(-2, startX(r.picture.boxes, r.run, i) / s.dpr);
        const right = Math.min(s.width + 2, endX(r.picture.boxes, r.run, i) / s.dpr);
        if (right - left >= 2)
          g.rect(s.left + Math.floor(left) + 0.5, r.y + 0.5, Math.max(1, Math.floor(right - left) - 1), r.height - 1);
      });
  }
  g.stroke();
  g.restore();
}

export function drawSelected(g: CanvasRenderingContext2D, s: Scene, m: Marked): void {
  const at = rowOnScreen(s, m.lane, m.row);
  if (!at) return;
  const left = toX(s.range, s.width, m.start);
  const right = toX(s.range, s.width, m.start + m.duration);
  if (right < -4 || left > s.width + 4) return;
  g.save();
  clipBody(g, s);
  g.strokeStyle = s.palette.css.t1 ?? "";
  g.lineWidth = 2;
  const x = Math.max(-3, Math.floor(left)) - 1;
  const w = Math.max(4, Math.min(s.width + 4, Math.ceil(right)) - x + 1);
  g.strokeRect(s.left + x, at.y - 1, w, at.height + 2);
  g.restore();
}

export function drawArea(g: CanvasRenderingContext2D, s: Scene, a: AreaMark): void {
  const left = Math.max(-2, toX(s.range, s.width, a.from));
  const right = Math.min(s.width + 2, toX(s.range, s.width, a.to));
  if (right < 0 || left > s.width) return;
  const base = RULER + s.layout.pinnedHeight - s.scroll;
  g.save();
  clipBody(g, s);
  g.fillStyle = s.palette.css.accent ?? "";
  g.globalAlpha = 0.08;
  const top = Math.max(RULER, base + a.top);
  const bottom = Math.min(s.height, base + a.bottom);
  g.fillRect(s.left + left, top, right - left, Math.max(0, bottom - top));
  g.globalAlpha = 1;
  g.fillRect(s.left + left, top, 1, Math.max(0, bottom - top));
  g.fillRect(s.left + right - 1, top, 1, Math.max(0, bottom - top));
  g.restore();
}

export function drawHoverLine(g: CanvasRenderingContext2D, s: Scene, x: number): void {
  g.fillStyle = s.palette.css["line-strong"] ?? "";
  g.fillRect(s.left + Math.round(x), RULER, 1, s.height - RULER);
}

// ---- flows ----

interface End {
  x: number;
  y: number;
  out: -1 | 0 | 1; // beyond the left or the right edge
  far: -1 | 0 | 1; // above or below what can be seen
}

function endOf(s: Scene, ref: Ref, time: number, other: number): End | undefined {
  const at = rowOnScreen(s, ref.lane, ref.row);
  if (!at) return undefined;
  // A box that reaches into the view is met where it can be seen.
  const [first, last] = [Math.max(ref.start, s.range.from), Math.min(ref.start + ref.duration, s.range.to)];
  const x = toX(s.range, s.width, first < last ? Math.min(last, Math.max(first, time)) : time);
  const y = other > at.y ? at.y + at.height : at.y;
  const [top, bottom] = [RULER + s.layout.pinnedHeight + 2, s.height - 2];
  const pinned = s.layout.byLane.get(ref.lane)?.pinned === true;
  const far = pinned ? 0 : y < top ? -1 : y > bottom ? 1 : 0;
  return {
    x: Math.min(s.width - 2, Math.max(2, x)),
    y: far ? Math.max(top, Math.min(bottom, y)) : y,
    out: x < 0 ? -1 : x > s.width ? 1 : 0,
    far,
  };
}

export function drawFlows(g: CanvasRenderingContext2D, s: Scene, flows: readonly Flow[], label: (ref: Ref) => string): void {
  g.save();
  clipBody(g, s);
  for (const f of flows) drawFlow(g, s, f, label);
  g.restore();
}

function drawFlow(g: CanvasRenderingContext2D, s: Scene, f: Flow, label: (ref: Ref) => string): void {
  const [toPlace, fromPlace] = [rowOnScreen(s, f.to.lane, f.to.row), rowOnScreen(s, f.from.lane, f.from.row)];
  const middle = f.from.start + Math.min(f.from.duration / 2, (f.to.start - f.from.start) / 2 || 0);
  const a = endOf(s, f.from, f.dashed ? f.from.start + f.from.duration / 2 : middle, toPlace?.y ?? 0);
  const b = endOf(s, f.to, f.to.start, fromPlace?.y ?? 0);
  if (!a || !b || (a.out !== 0 && a.out === b.out) || (a.far !== 0 && a.far === b.far)) return;
  g.strokeStyle = s.palette.css.accent ?? "";
  g.fillStyle = s.palette.css.accent ?? "";
  g.lineWidth = 1.6;
  g.setLineDash(f.dashed ? [4, 4] : []);
  g.beginPath();
  g.moveTo(s.left + a.x, a.y);
  if (f.dashed) {
    const dy = b.y - a.y;
    g.bezierCurveTo(
      s.left + a.x,
      a.y + dy * 0.75,
      s.left + b.x,
      b.y - Math.max(30, Math.abs(dy) * 0.5) * Math.sign(dy || 1),
      s.left + b.x,
      b.y,
    );
  } else g.lineTo(s.left + b.x, b.y);
  g.stroke();
  g.setLineDash([]);
  if (a.far) drawFar(g, s, a, `${f.from.name} · ${label(f.from)}`);
  else if (a.out) drawEdge(g, s, a, label(f.from));
  if (b.far) drawFar(g, s, b, `${f.to.name} · ${label(f.to)}`);
  else if (b.out) drawEdge(g, s, b, label(f.to));
  else drawHead(g, s.left + b.x, b.y, b.y < a.y ? -1 : 1);
}

/** An end above or below the screen: an arrow there that says what it is, so that the reader does not have to
 * scroll to know. */
function drawFar(g: CanvasRenderingContext2D, s: Scene, e: End, text: string): void {
  const x = s.left + e.x;
  drawHead(g, x, e.y, e.far);
  const shown = fitText(text, 260, s.widthOf);
  g.font = `11px ${s.sans}`;
  const w = s.widthOf(shown);
  const left = Math.min(s.left + s.width - w - 8, x + 8);
  const color = g.fillStyle;
  g.fillStyle = s.palette.css.surface ?? "";
  g.fillRect(left - 3, e.y - e.far * 10 - 8, w + 6, 16);
  g.fillStyle = color;
  g.textBaseline = "middle";
  g.fillText(shown, left, e.y - e.far * 10);
}

function drawHead(g: CanvasRenderingContext2D, x: number, y: number, down: number): void {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x - 4, y - down * 7);
  g.lineTo(x + 4, y - down * 7);
  g.fill();
}

/** An end outside the view: an arrow at the edge with its time. */
function drawEdge(g: CanvasRenderingContext2D, s: Scene, e: End, text: string): void {
  const x = s.left + e.x;
  g.beginPath();
  g.moveTo(x + e.out * 2, e.y);
  g.lineTo(x - e.out * 6, e.y - 4);
  g.lineTo(x - e.out * 6, e.y + 4);
  g.fill();
  g.font = `11px ${s.sans}`;
  const w = s.widthOf(text);
  const at = e.out > 0 ? x - 10 - w : x + 10;
  const color = g.fillStyle;
  g.fillStyle = s.palette.css.surface ?? "";
  g.fillRect(at - 3, e.y - 8, w + 6, 16);
  g.fillStyle = color;
  g.textBaseline = "middle";
  g.fillText(text, at, e.y);
}

/** Lanes an area touches. */
export function lanesBetween(s: Pick<Scene, "layout">, top: number, bottom: number): number[] {
  const found: number[] = [];
  for (let y = top; y < bottom; ) {
    const item = itemAt(s.layout.items, y);
    if (!item) break;
    if (item.lane) found.push(item.lane.id);
    else if (!item.open) found.push(...item.members.map((m) => m.id));
    y = item.y + item.height;
  }
  return found;
}
