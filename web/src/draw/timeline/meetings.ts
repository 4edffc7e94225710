// Collectives across ranks: a line through the arrivals of all members that are in view. Where it slopes, some came
// later than others.
import { RULER } from "./lanes.ts";
import type { Scene } from "./scene.ts";
import { toX } from "./time-scale.ts";
import { rankGroup } from "./together.ts";

export interface Meeting {
  name: string;
  step: number;
  first: number; // first arrival, ns on the stage
  span: number; // from the first to the last arrival
  last: number; // rank that arrived last
  arrivals: { rank: number; start: number; end: number }[];
}

interface Spot {
  rank: number;
  y: number; // middle of its head
}

const APART = 10; // px for each line; with less room only those that differ most are drawn

/** Heads of the ranks on the stage, from top to bottom. */
function spotsOf(s: Scene, places: ReadonlyMap<number, number>): Spot[] {
  const base = RULER + s.layout.pinnedHeight - s.scroll;
  const ranks = new Map([...places].map(([rank, place]) => [rankGroup(place), rank]));
  return s.layout.items.flatMap((i) => {
    const rank = i.lane || !i.group ? undefined : ranks.get(i.group.id);
    return rank === undefined ? [] : [{ rank, y: base + i.y + i.height / 2 }];
  });
}

/** The meetings to draw: those in view; of too many the ones whose members came most apart. */
export function drawnMeetings(all: readonly Meeting[], s: Pick<Scene, "range" | "width">): Meeting[] {
  const seen = all.filter((m) => m.first < s.range.to && m.first + m.span > s.range.from);
  const most = Math.max(1, Math.floor(s.width / APART));
  return seen.length <= most ? seen : [...seen].sort((a, b) => b.span - a.span).slice(0, most);
}

/** Draws the lines; the chosen one strong, with the words of `label` at the rank that arrived
 * last. */
export function drawMeetings(
  g: CanvasRenderingContext2D,
  s: Scene,
  all: readonly Meeting[],
  places: ReadonlyMap<number, number>,
  chosen: { meeting: Meeting; label: string } | undefined,
): void {
  const spots = spotsOf(s, places);
  if (spots.length < 2) return;
  g.save();
  g.beginPath();
  g.rect(s.left, RULER + s.layout.pinnedHeight, s.width, s.height - RULER - s.layout.pinnedHeight);
  g.clip();
  g.strokeStyle = s.palette.css.communication ?? "";
  g.lineWidth = 1;
  g.globalAlpha = chosen ? 0.3 : 0.6;
  g.beginPath();
  for (const m of drawnMeetings(all, s)) if (m !== chosen?.meeting) trace(g, s, m, spots, "start");
  g.stroke();
  g.globalAlpha = 1;
  if (chosen) drawChosen(g, s, chosen.meeting, spots, chosen.label);
  g.restore();
}

/** A line through one edge of all members in view, from rank to rank. */
function trace(g: CanvasRenderingContext2D, s: Scene, m: Meeting, spots: readonly Spot[], edge: "start" | "end"): void {
  let begun = false;
  for (const { rank, y } of spots) {
    const a = m.arrivals.find((x) => x.rank === rank);
    if (!a) continue;
    const x = s.left + Math.max(-1e4, Math.min(1e4, toX(s.range, s.width, a[edge])));
    if (begun) g.lineTo(x, y);
    else g.moveTo(x, y);
    begun = true;
  }
}

function drawChosen(g: CanvasRenderingContext2D, s: Scene, m: Meeting, spots: readonly Spot[], label: string): void {
  g.strokeStyle = s.palette.css.accent ?? "";
  g.lineWidth = 1.8;
  g.beginPath();
  trace(g, s, m, spots, "start");
  g.stroke();
  g.setLineDash([4, 4]);
  g.beginPath();
  trace(g, s, m, spots, "end");
  g.stroke();
  g.setLineDash([]);
  const last = m.arrivals.find((a) => a.rank === m.last);
  const at = spots.find((p) => p.rank === m.last);
  if (!last || !at) return;
  const x = s.left + toX(s.range, s.width, last.start);
  g.font = `11px ${s.sans}`;
  g.textBaseline = "middle";
  const w = s.widthOf(label) + 8;
  g.fillStyle = s.palette.css.accent ?? "";
  g.beginPath();
  g.arc(x, at.y, 3.5, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = s.palette.css.surface ?? "";
  g.fillRect(x + 6, at.y - 8, w, 16);
  g.fillStyle = s.palette.css["accent-text"] ?? "";
  g.fillText(label, x + 10, at.y + 0.5);
}
