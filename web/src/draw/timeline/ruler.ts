// The ruler above the lanes: times, marks of search hits, notes, the time at the pointer; and the
// lines that carry the times down through the lanes.
import { short } from "../../base/format.ts";
import { GUTTER, RULER } from "./lanes.ts";
import type { Scene } from "./scene.ts";
import { pointLabel, tickLabel, ticksOf, toX } from "./time-scale.ts";

export interface Note {
  time: number;
  end: number;
  text: string;
}

const APART = 112;

/** Lines at the ticks, halves between them. Drawn over the ground, under the boxes' words. */
export function drawGrid(g: CanvasRenderingContext2D, s: Scene): void {
  const ticks = ticksOf(s.range, s.width, APART);
  g.fillStyle = s.palette.css.line ?? "";
  const half = ticks.step / 2;
  for (let i = -1; i < ticks.count * 2 + 1; i++) {
    const x = toX(s.range, s.width, ticks.first + i * half);
    if (x >= 0 && x < s.width && ticks.first + i * half >= 0) g.fillRect(s.left + Math.round(x), RULER, 1, s.height - RULER);
  }
}

interface RulerMarks {
  hits: readonly number[];
  notes: readonly Note[];
  pointer: number | undefined; // CSS pixel of the lanes
  selected?: { start: number; duration: number } | undefined;
}

export function drawRuler(g: CanvasRenderingContext2D, s: Scene, m: RulerMarks): void {
  const { css } = s.palette;
  g.fillStyle = css.surface ?? "";
  g.fillRect(0, 0, s.left + s.width, RULER);
  g.fillStyle = css["line-strong"] ?? "";
  g.fillRect(0, RULER - 1, s.left + s.width, 1);
  g.save();
  g.beginPath();
  g.rect(s.left, 0, s.width, RULER);
  g.clip();
  g.font = `11px ${s.sans}`;
  g.textBaseline = "middle";
  drawTicks(g, s);
  drawHits(g, s, m.hits);
  drawNotes(g, s, m.notes);
  if (m.selected) drawSpan(g, s, m.selected);
  if (m.pointer !== undefined) drawPointer(g, s, m.pointer);
  g.restore();
  g.fillStyle = css.line ?? "";
  g.fillRect(GUTTER - 1, RULER, 1, s.height - RULER);
}

function drawTicks(g: CanvasRenderingContext2D, s: Scene): void {
  const ticks = ticksOf(s.range, s.width, APART);
  for (let i = 0; i < ticks.count; i++) {
    const time = ticks.first + i * ticks.step;
    const x = s.left + Math.round(toX(s.range, s.width, time));
    g.fillStyle = s.palette.css["line-strong"] ?? "";
    g.fillRect(x, RULER - 7, 1, 6);
    g.fillStyle = s.palette.css.t3 ?? "";
    g.fillText(tickLabel(time, ticks.step, s.range.to), x + 4, 11);
  }
}

function drawHits(g: CanvasRenderingContext2D, s: Scene, hits: readonly number[]): void {
  g.fillStyle = s.palette.css.critical ?? "";
  g.beginPath();
  let last = -10;
  for (const t of hits) {
    const x = toX(s.range, s.width, t);
    if (x < 0 || x > s.width || x - last < 1) continue;
    last = x;
    g.moveTo(s.left + x - 3.5, RULER - 6);
    g.lineTo(s.left + x + 3.5, RULER - 6);
    g.lineTo(s.left + x, RULER - 1);
  }
  g.fill();
}

function drawNotes(g: CanvasRenderingContext2D, s: Scene, notes: readonly Note[]): void {
  for (const n of notes) {
    const x = toX(s.range, s.width, n.time);
    const end = toX(s.range, s.width, n.end);
    if (end < 0 || x > s.width) continue;
    g.fillStyle = s.palette.css.accent ?? "";
    g.fillRect(s.left + x, RULER - 4, Math.max(2, end - x), 3);
    const w = Math.min(160, s.widthOf(n.text) + 8);
    g.fillStyle = s.palette.css.selected ?? "";
    g.fillRect(s.left + x, 1, w, RULER - 6);
    g.fillStyle = s.palette.css["accent-text"] ?? "";
    g.fillText(n.text, s.left + x + 4, 10, 152);
  }
}

/** From where to where the selected event lasts, with its length where there is room: its lane may be out of sight. */
function drawSpan(g: CanvasRenderingContext2D, s: Scene, m: { start: number; duration: number }): void {
  const left = Math.max(0, toX(s.range, s.width, m.start));
  const right = Math.min(s.width, toX(s.range, s.width, m.start + m.duration));
  if (right < 0 || left > s.width) return;
  const w = Math.max(2, right - left);
  g.fillStyle = s.palette.css.accent ?? "";
  g.fillRect(s.left + left, RULER - 4, w, 3);
  const text = short(m.duration, "ns");
  const room = s.widthOf(text) + 12;
  if (w < room + 8) return;
  const at = s.left + left + (w - room) / 2;
  g.fillStyle = s.palette.css.surface ?? "";
  g.fillRect(at, 2, room, RULER - 6);
  g.fillStyle = s.palette.css["accent-text"] ?? "";
  g.fillText(text, at + 6, 10);
}

function drawPointer(g: CanvasRenderingContext2D, s: Scene, x: number): void {
  const text = pointLabel(s.range, s.width, x);
  const w = s.widthOf(text) + 12;
  const left = Math.min(s.width - w, Math.max(0, x - w / 2));
  g.fillStyle = s.palette.css.t1 ?? "";
  g.beginPath();
  g.roundRect(s.left + left, 2, w, RULER - 6, 4);
  g.fill();
  g.fillStyle = s.palette.css.surface ?? "";
  g.fillText(text, s.left + left + 6, 11.5);
}
