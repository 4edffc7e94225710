// One viewport answer as typed arrays, and how its units become pixels.
import type { Boxes, Run } from "./compositor.ts";
import type { Range } from "./time-scale.ts";

interface Points {
  first: number;
  last: number;
}

/** One answer, as typed arrays. */
export interface Picture extends Range {
  bucket: number;
  asked: number; // bucket that was asked for
  unit: number;
  boxes: Boxes;
  rows: Map<number, { row: number; first: number; last: number }[]>; // by lane
  counters: Map<number, Points>;
  pointTime: Uint32Array;
  pointMin: Float32Array;
  pointMax: Float32Array;
  pointLast: Float32Array;
  names: string[];
  kinds: Uint8Array;
  nameIds: Uint32Array;
  tag: string; // what the names were asked to carry besides
  tags: Uint32Array; // of the names; empty without
  lanes: Set<number>;
  paint: unknown; // colors of the names, kept by the drawing code
}

/** How the boxes of a picture become pixels of a view. */
export function runOf(p: Picture, part: { first: number; last: number }, view: Range, width: number): Run {
  const perNs = width / (view.to - view.from);
  return { first: part.first, last: part.last, scale: p.unit * perNs, shift: (p.from - view.from) * perNs, unit: p.unit };
}

/** The picture to draw a lane from: the one that covers the view with the finest suitable buckets. */
export function pictureFor(
  pictures: readonly Picture[],
  lane: number,
  view: Range,
  width: number,
  whole: number,
): Picture | undefined {
  const pixel = (view.to - view.from) / width;
  let best: Picture | undefined;
  let score = Number.NEGATIVE_INFINITY;
  for (const p of pictures) {
    if (!p.lanes.has(lane)) continue;
    const overlap = (Math.min(p.to, view.to) - Math.max(p.from, view.from)) / (Math.min(view.to, whole) - Math.max(0, view.from));
    if (overlap <= 0) continue;
    const coarse = Math.abs(Math.log2(p.bucket / pixel)) * (p.bucket > pixel ? 1 : 0.3);
    const rated = Math.min(1, overlap) * 40 - coarse;
    if (rated > score) {
      score = rated;
      best = p;
    }
  }
  return best;
}
