// The critical path over the lanes: its pieces stay as they are, the rest fades, lines lead from lane to lane.
import { RULER } from "./lanes.ts";
import { type Scene, visibleItems } from "./scene.ts";
import { toX } from "./time-scale.ts";

export interface PathMark {
  start: number;
  end: number;
  lane: number; // 0: it has no place
}

interface Band {
  left: number;
  right: number;
}

const FADED = 0.68;
const APART = 3; // px between lines from lane to lane

/** The first mark that ends after a time; marks are adjacent and ascend. */
export function firstAfter(marks: readonly PathMark[], time: number): number {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as PathMark).end <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Which lanes are at each height; those of a closed group are at its header. */
function placesOf(s: Scene): { of: Map<number, number>; at: { y: number; height: number }[] } {
  const of = new Map<number, number>();
  const at = visibleItems(s).map(({ item, y }, i) => {
    if (item.lane) of.set(item.lane.id, i);
    else if (!item.open) for (const m of item.members) of.set(m.id, i);
    return { y, height: item.height };
  });
  return { of, at };
}

function drawFaded(g: CanvasRenderingContext2D, s: Scene, place: { y: number; height: number }, bands: readonly Band[]): void {
  let x = 0;
  for (const b of [...bands, { left: s.width, right: s.width }]) {
    if (b.left > x) g.fillRect(s.left + x, place.y, b.left - x, place.height);
    x = Math.max(x, b.right);
  }
}

/** `current` is the mark that is followed. */
export function drawPath(g: CanvasRenderingContext2D, s: Scene, marks: readonly PathMark[], current: PathMark | undefined): void {
  const { of, at } = placesOf(s);
  const bands: Band[][] = at.map(() => []);
  const lines: { x: number; from: number; to: number }[] = [];
  let before: number | undefined;
  for (let i = firstAfter(marks, s.range.from); i < marks.length; i++) {
    const m = marks[i] as PathMark;
    if (m.start >= s.range.to) break;
    const left = Math.max(0, Math.floor(toX(s.range, s.width, m.start)));
    const right = Math.min(s.width, Math.max(left + 1, Math.ceil(toX(s.range, s.width, m.end))));
    const place = of.get(m.lane);
    if (place === undefined) continue;
    const own = bands[place] as Band[];
    const last = own[own.length - 1];
    if (last && last.right >= left) last.right = Math.max(last.right, right);
    else own.push({ left, right });
    if (before !== undefined && before !== place && left - (lines.at(-1)?.x ?? -APART) >= APART)
      lines.push({ x: left, from: before, to: place });
    before = place;
  }
  g.save();
  g.beginPath();
  g.rect(s.left, RULER, s.width, s.height - RULER);
  g.clip();
  g.fillStyle = s.palette.css.surface ?? "";
  g.globalAlpha = FADED;
  at.forEach((place, i) => {
    drawFaded(g, s, place, bands[i] as Band[]);
  });
  g.globalAlpha = 1;
  g.fillStyle = s.palette.css.accent ?? "";
  at.forEach((place, i) => {
    for (const b of bands[i] as Band[]) g.fillRect(s.left + b.left, place.y + place.height - 2, b.right - b.left, 2);
  });
  for (const l of lines) {
    const [a, b] = [at[l.from], at[l.to]];
    if (!a || !b) continue;
    const [top, bottom] = [Math.min(a.y + a.height, b.y + b.height), Math.max(a.y + a.height, b.y + b.height)];
    g.fillRect(s.left + l.x, top - 1, 1, bottom - top);
  }
  const place = current && at[of.get(current.lane) ?? -1];
  if (place && current) {
    const left = toX(s.range, s.width, current.start);
    const width = Math.max(3, toX(s.range, s.width, current.end) - left);
    g.strokeStyle = s.palette.css.accent ?? "";
    g.lineWidth = 2;
    g.strokeRect(s.left + left, place.y + 1, width, place.height - 2);
  }
  g.restore();
}
