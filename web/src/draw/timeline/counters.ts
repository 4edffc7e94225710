// Counters on the time axis: step line zoomed in, smallest to largest zoomed out, scale from zero.
import { type Picture, pictureFor } from "./picture.ts";
import type { Scene } from "./scene.ts";
import type { Lane } from "./tracks.ts";

const STYLE: Record<string, { token: string; fill: number; line: number }> = {
  utilization: { token: "kernel", fill: 0.55, line: 0 },
  memory: { token: "c1", fill: 0.13, line: 1.3 },
  counter: { token: "c6", fill: 0.13, line: 1.3 },
};

/** Largest value a lane is scaled to. */
function topOf(lane: Lane, p: Picture | undefined): number {
  if (lane.kind === "utilization") return 1;
  if (lane.max !== undefined && lane.max > 0) return lane.max;
  const part = p?.counters.get(lane.id);
  let most = 0;
  if (p && part) for (let i = part.first; i < part.last; i++) most = Math.max(most, p.pointMax[i] as number);
  return most || 1;
}

/** Value at a time: the last point at or before it. */
export function valueAt(p: Picture, lane: number, time: number): number | undefined {
  const part = p.counters.get(lane);
  if (!part) return undefined;
  let low = part.first;
  let high = part.last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (p.from + (p.pointTime[middle] as number) * p.unit <= time) low = middle + 1;
    else high = middle;
  }
  return low > part.first ? p.pointLast[low - 1] : undefined;
}

export function drawCounter(g: CanvasRenderingContext2D, s: Scene, lane: Lane, y: number, height: number): void {
  const p = pictureFor(s.picturesOf(lane.id), lane.id, s.range, s.width, s.whole);
  const part = p?.counters.get(lane.id);
  if (!p || !part || part.last <= part.first) return;
  const style =
    (lane.unit === "share" ? STYLE.utilization : STYLE[lane.kind]) ??
    (STYLE.counter as { token: string; fill: number; line: number });
  const color = s.palette.css[style.token] ?? "";
  const top = topOf(lane, p);
  const floor = y + height - 2;
  const room = height - 8;
  const scale = s.width / (s.range.to - s.range.from);
  const yOf = (v: number) => floor - Math.max(0, Math.min(1.05, v / top)) * room;
  const end = Math.min(s.width, (Math.min(p.to, s.spanOf(lane.id).to) - s.range.from) * scale);
  const points = pointsOf(p, part, s, scale, yOf, end);
  if (points.length < 4) return;
  g.save();
  g.beginPath();
  g.rect(s.left, y, s.width, height);
  g.clip();
  g.fillStyle = color;
  g.globalAlpha = style.fill;
  trace(g, points);
  g.lineTo(s.left + end, floor);
  g.lineTo(points[0] as number, floor);
  g.fill();
  g.globalAlpha = 1;
  if (style.line) {
    g.strokeStyle = color;
    g.lineWidth = style.line;
    trace(g, points);
    g.stroke();
  }
  g.restore();
}

type YOf = (v: number) => number;

function trace(g: CanvasRenderingContext2D, points: readonly number[]): void {
  g.beginPath();
  g.moveTo(points[0] as number, points[1] as number);
  for (let i = 2; i < points.length; i += 2) g.lineTo(points[i] as number, points[i + 1] as number);
}

/** The line as x, y, x, y …: steps, and at a bucket of several points its smallest and largest value. */
function pointsOf(p: Picture, part: { first: number; last: number }, s: Scene, scale: number, yOf: YOf, end: number): number[] {
  const points: number[] = [];
  const xOf = (i: number) => (p.from + (p.pointTime[i] as number) * p.unit - s.range.from) * scale;
  let i = part.first;
  while (i + 1 < part.last && xOf(i + 1) < 0) i++;
  if (xOf(i) > s.width) return points;
  points.push(s.left + Math.max(-2, xOf(i)), yOf(p.pointLast[i] as number));
  let last = yOf(p.pointLast[i] as number);
  for (i++; i < part.last; i++) {
    const x = xOf(i);
    if (x > s.width + 2) break;
    points.push(s.left + x, last);
    const [low, high] = [p.pointMin[i] as number, p.pointMax[i] as number];
    last = yOf(p.pointLast[i] as number);
    if (low !== high) {
      points.push(s.left + x, yOf(low), s.left + x, yOf(high));
    }
    points.push(s.left + x, last);
  }
  points.push(s.left + Math.max(end, 0), last);
  return points;
}
