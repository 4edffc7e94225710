// One step of each run on one axis: both begin at zero. The lanes, the boxes and the ruler are those of the timeline;
// here is which lanes are taken along, what lies outside of a step, and the colors of changes.
import { rampStop } from "../../draw/ramp.ts";
import type { Rgb } from "../../draw/timeline/colors.ts";
import { isCounter, isFaint } from "../../draw/timeline/folds.ts";
import { drawLanes } from "../../draw/timeline/frame.ts";
import { drawGutter } from "../../draw/timeline/gutter.ts";
import { fitText } from "../../draw/timeline/labels.ts";
import { type Layout, layoutOf, RULER } from "../../draw/timeline/lanes.ts";
import { drawHoverLine } from "../../draw/timeline/overlay.ts";
import type { OwnFills } from "../../draw/timeline/paint.ts";
import { drawGrid, drawRuler } from "../../draw/timeline/ruler.ts";
import type { Easel, RowDrawn, Scene } from "../../draw/timeline/scene.ts";
import { type Range, toX } from "../../draw/timeline/time-scale.ts";
import { joined, ownLane, pictureOnClock, placeOf, type Rank, rangeToOwn } from "../../draw/timeline/together.ts";
import type { Group, Lane, Tracks } from "../../draw/timeline/tracks.ts";
import { server } from "../../model/answers.ts";
import type { DiffRow, Side } from "../../model/compare.ts";
import { groupFact, laneName, laneRole } from "../../model/timeline/lane-names.ts";
import { fetchView, newStore, type Store } from "../../model/timeline/picture-store.ts";
import { strongest } from "./change.tsx";

export interface Step {
  number: number;
  start: number;
  end: number;
}

/** Pictures of one trace, and the name under which they are asked for: the numbers of requests belong to both. */
export interface Kept {
  store: Store;
  client: string;
}

export const newKept = (): Kept => ({ store: newStore(), client: Math.random().toString(36).slice(2, 10) });

export interface PairSide extends Rank {
  side: Side;
  step: Step;
  kept: Kept;
}

export interface PairStage {
  members: readonly [PairSide, PairSide];
  layout: Layout;
  whole: number; // ns of the longer step
}

const ROWS = 6; // of a thread: deeper calls are in the timeline
const STREAMS = 3;
const THREADS = 2;

const busiest = (lanes: readonly Lane[], n: number): Lane[] => {
  const first = [...lanes].sort((x, y) => (y.busy ?? y.slices) - (x.busy ?? x.slices)).slice(0, n);
  return lanes.filter((l) => first.includes(l));
};

/** The lanes that tell most: busy streams, and the threads that train. */
export function tellingLanes(lanes: readonly Lane[]): Lane[] {
  const streams = lanes.filter((l) => l.kind === "stream" && !isFaint(l));
  const threads = lanes.filter((l) => l.kind === "work" && !isCounter(l.kind));
  const training = threads.filter((l) => l.role === "training" || l.role === "autograd");
  const chosen = [...busiest(streams, STREAMS), ...busiest(training.length ? training : threads, THREADS)];
  return chosen.map((l) => ({ ...l, rows: l.kind === "work" ? Math.min(l.rows, ROWS) : l.rows, closed: false, busy: 1 }));
}

/** A side of the stage: its own time goes over to that of the step. */
export function pairSide(side: Side, tracks: Tracks, step: Step, kept: Kept, detail: string): PairSide {
  const slim = { ...tracks, lanes: tellingLanes(tracks.lanes) };
  const place = side.id === "A" ? 1 : 2;
  return { side, step, kept, place, start: -step.start, rate: 1, name: `${side.id}  ${side.name}`, detail, tracks: slim };
}

const CHOICES = {
  folded: new Set<number>(),
  toggled: new Set<number>(),
  pinned: [],
  hidden: new Set<number>(),
  frames: false,
  filter: "",
};

export function pairStage(members: readonly [PairSide, PairSide]): PairStage {
  const all = joined(members, members[0]);
  const tracks = { ...all, groups: all.groups.map((g) => ({ ...g, closed: false })) };
  const length = (m: PairSide) => m.step.end - m.step.start;
  return { members, layout: layoutOf(tracks, CHOICES), whole: Math.max(length(members[0]), length(members[1]), 1) };
}

const memberOf = (stage: PairStage, lane: number): PairSide => stage.members[placeOf(lane) === 1 ? 0 : 1];

/** Where the pictures of a lane are, and how long its step is. */
export const sourcesOf = (stage: PairStage): Pick<Scene, "picturesOf" | "spanOf"> => ({
  picturesOf: (lane) => {
    const m = memberOf(stage, lane);
    return m.kept.store.pictures.map((p) => pictureOnClock(p, m));
  },
  spanOf: (lane) => {
    const { step } = memberOf(stage, lane);
    return { from: 0, to: step.end - step.start };
  },
});

/** Asks for what both sides need to show a stretch of the axis. */
export function fetchPair(stage: PairStage, range: Range, width: number, done: () => void): void {
  for (const m of stage.members) {
    const lanes = m.tracks.lanes.map((l) => ({ id: l.id, coarse: false }));
    const need = { view: rangeToOwn(m, range), width, whole: m.tracks.trace.duration_ns, lanes };
    const query = { run: m.side.run, worker: m.side.worker };
    fetchView(m.kept.store, need, { fetch: server().blocks, query, client: m.kept.client, done });
  }
}

// ---- colors of changes ----

/** Changes of names; B has the color of its change, A only what B has no longer. */
export function changeFills(rows: readonly DiffRow[], step: number): (lane: number) => OwnFills {
  const changes = new Map(rows.map((r) => [String(r.name), r]));
  const most = strongest(
    rows.map((r) => r.change),
    step,
  );
  const fills = (id: "A" | "B"): OwnFills => ({
    key: `change ${id} ${rows.length} ${most}`,
    fillOf: (name, palette) => {
      const row = changes.get(name);
      const shown = row && (id === "B" || row.status === "removed") ? rampStop(row.change ?? 0, most) : 3;
      return palette.change[shown] as Rgb;
    },
  });
  const [a, b] = [fills("A"), fills("B")];
  return (lane) => (placeOf(lane) === 1 ? a : b);
}

// ---- a frame ----

/** What is before or after the step of a side belongs to its neighbors: it is drawn faint. */
function drawOutside(g: CanvasRenderingContext2D, s: Scene, stage: PairStage): void {
  for (const m of stage.members) {
    const items = s.layout.items.filter((i) => i.lane && placeOf(i.lane.id) === m.place);
    const [first, last] = [items[0], items[items.length - 1]];
    if (!first || !last) continue;
    const [top, height] = [RULER + first.y, last.y + last.height - first.y];
    const at = (time: number) => Math.min(s.width, Math.max(0, toX(s.range, s.width, time)));
    const [from, to] = [at(0), at(m.step.end - m.step.start)];
    g.fillStyle = s.palette.css.surface ?? "";
    g.globalAlpha = 0.75;
    g.fillRect(s.left, top, from, height);
    g.fillRect(s.left + to, top, s.width - to, height);
    g.globalAlpha = 1;
    g.fillStyle = s.palette.css.t3 ?? "";
    for (const x of [from, to]) if (x > 0 && x < s.width) g.fillRect(s.left + Math.round(x), top, 1, height);
  }
}

/** The head of a side: its name has the room that the step leaves. */
function headOf(s: Scene, group: Group | undefined) {
  const fact = group ? groupFact(group) : "";
  const room = s.left - s.widthOf(fact) - 36;
  return { name: fitText(group?.name ?? "", room, s.widthOf), fact, strong: true, indent: 0 };
}

export function drawPair(e: Easel, s: Scene, stage: PairStage, pointer: number | undefined): RowDrawn[] {
  const rows = drawLanes(e, s, () => drawGrid(e.g, s));
  drawOutside(e.g, s, stage);
  if (pointer !== undefined) drawHoverLine(e.g, s, pointer);
  drawRuler(e.g, s, { hits: [], notes: [], pointer });
  drawGutter(e.g, s, ({ lane, group }) =>
    lane ? { name: `${laneName(lane)} ${laneRole(lane)}`.trim(), fact: "", strong: false, indent: 12 } : headOf(s, group),
  );
  return rows;
}

/** The side a box belongs to, and the lane as its own trace numbers it. */
export const sideAt = (stage: PairStage, row: RowDrawn): { side: Side; lane: number } => ({
  side: memberOf(stage, row.lane.id).side,
  lane: ownLane(row.lane.id),
});
