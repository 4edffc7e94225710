// Where every lane is: heights, folding, pins, and which row is under a pixel. Pure: tracks and the
// choices of the reader in, positions out.
import { foldsOf, gathered, isCounter, isFaint } from "./folds.ts";
import type { Group, Lane, Tracks } from "./tracks.ts";

export const GUTTER = 196;
export const RULER = 24;

/** What the reader changed. Sets hold ids. */
export interface Choices {
  folded: ReadonlySet<number>; // groups that are closed against the server's proposal, or open
  toggled: ReadonlySet<number>; // lanes that are open when proposed closed, and the reverse
  pinned: readonly number[];
  hidden: ReadonlySet<number>;
  frames: boolean; // Python frames are shown
  filter: string;
}

export interface Item {
  key: string;
  lane: Lane | undefined;
  group: Group | undefined; // the header of a group when there is no lane
  members: Lane[]; // of a closed group: what its strip sums up
  y: number;
  height: number;
  open: boolean;
  pinned: boolean;
}

export interface Layout {
  items: Item[];
  pinned: Item[];
  height: number; // of what scrolls
  pinnedHeight: number;
  byLane: Map<number, Item>;
}

interface Shape {
  top: number;
  first: number; // height of row 0
  rest: number; // of the others
  gap: number;
  bottom: number;
  least: number;
}

const STRIPE = { rest: 2, gap: 1 };
const OPEN: Record<string, Shape> = {
  steps: { top: 2, first: 16, rest: 16, gap: 1, bottom: 2, least: 20 },
  stream: { top: 2, first: 22, rest: 22, gap: 0, bottom: 2, least: 26 },
  work: { top: 1, first: 17, rest: 17, gap: 1, bottom: 2, least: 20 },
  calls: { top: 2, first: 8, rest: 8, gap: 1, bottom: 3, least: 13 },
  instants: { top: 2, first: 8, rest: 8, gap: 1, bottom: 3, least: 13 },
};
/** Sub-rows of a stream whose kernels overlap. */
const SUB: Shape = { top: 2, first: 18, rest: 8, gap: 1, bottom: 2, least: 26 };
export const MOST_SUB_ROWS = 4;
const HEADER = 21;
/** A closed rank: two strips, higher where there are few. */
const RANK = { few: 49, many: 33 };
const FEW_RANKS = 8;
const COUNTER = 34;

function shapeOf(lane: Lane, open: boolean): Shape {
  if (lane.kind === "stream" && !open) return OPEN.calls as Shape;
  if (lane.kind === "stream" && lane.rows > 1) return SUB;
  const shape = OPEN[lane.kind] ?? (OPEN.work as Shape);
  if (open || lane.kind === "steps" || lane.kind === "stream") return shape;
  if (lane.kind === "python") return { ...shape, top: 2, first: 2, ...STRIPE, least: 18 };
  if (lane.kind === "calls") return shape;
  return { ...shape, ...STRIPE };
}

/** Rows that are drawn: runtime calls closed show one, streams at most four. */
export function shownRows(lane: Lane, open: boolean): number {
  if (isCounter(lane.kind)) return 0;
  if (lane.kind === "stream") return open ? Math.min(lane.rows, MOST_SUB_ROWS) : 1;
  if (lane.kind === "calls" || lane.kind === "instants") return open ? Math.max(1, lane.rows) : 1;
  return Math.max(1, lane.rows);
}

export function heightOf(lane: Lane, open: boolean): number {
  if (isCounter(lane.kind)) return COUNTER;
  const s = shapeOf(lane, open);
  const rows = shownRows(lane, open);
  return Math.max(s.least, s.top + s.first + (rows - 1) * (s.rest + s.gap) + s.bottom);
}

/** Top and height of a row inside its lane. */
export function rowPlace(lane: Lane, open: boolean, row: number): { top: number; height: number } {
  const s = shapeOf(lane, open);
  if (row === 0) return { top: s.top, height: s.first };
  return { top: s.top + s.first + s.gap + (row - 1) * (s.rest + s.gap), height: s.rest };
}

export function isOpen(lane: Lane, choices: Choices): boolean {
  const proposed = !(lane.closed || isFaint(lane) || lane.kind === "python" || lane.kind === "calls" || lane.kind === "instants");
  return choices.toggled.has(lane.id) ? !proposed : proposed;
}

function matches(lane: Lane, group: Group | undefined, filter: string): boolean {
  if (!filter) return true;
  const number = lane.stream ?? lane.tid ?? "";
  const device = lane.device === undefined ? "" : `gpu ${lane.device}`;
  const text =
    `${lane.name} ${lane.kind} ${lane.role ?? ""} ${number} ${device} ${lane.series ?? ""} ${group?.name ?? ""}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Whether a lane is among the chosen ones; counters proposed as closed only when asked for. */
export function isShown(lane: Lane, choices: Choices): boolean {
  if (choices.hidden.has(lane.id) || (lane.kind === "python" && !choices.frames)) return false;
  const waits = isCounter(lane.kind) ? lane.closed : lane.kind === "ranges" && isFaint(lane);
  return !waits || choices.toggled.has(lane.id);
}

/** User ranges are below the stream they belong to. */
function besideTheirStream(lanes: readonly Lane[]): Lane[] {
  const ranges = new Map(lanes.filter((l) => l.kind === "ranges").map((l) => [l.track, l]));
  const streams = new Set(lanes.filter((l) => l.kind === "stream").map((l) => l.track));
  return lanes.flatMap((l) => {
    if (l.kind === "ranges" && streams.has(l.track)) return [];
    const own = l.kind === "stream" ? ranges.get(l.track) : undefined;
    return own ? [l, own] : [l];
  });
}

/** All lanes the reader wants to see, from top to bottom. */
export function layoutOf(tracks: Tracks, choices: Choices): Layout {
  const groups = new Map(tracks.groups.map((g) => [g.id, g]));
  const wanted = besideTheirStream(tracks.lanes).filter(
    (l) => isShown(l, choices) && matches(l, groups.get(l.group), choices.filter),
  );
  const pinned: Item[] = [];
  let y = 0;
  for (const id of choices.pinned) {
    const lane = tracks.lanes.find((l) => l.id === id);
    if (!lane) continue;
    const open = isOpen(lane, choices);
    const height = heightOf(lane, open);
    pinned.push({ key: `p${id}`, lane, group: undefined, members: [], y, height, open, pinned: true });
    y += height;
  }
  const pinnedHeight = y;
  const items = stack(
    wanted.filter((l) => !choices.pinned.includes(l.id)),
    groups,
    choices,
  );
  const last = items[items.length - 1];
  const byLane = new Map<number, Item>();
  for (const i of [...items, ...pinned]) if (i.lane) byLane.set(i.lane.id, i);
  return { items, pinned, height: last ? last.y + last.height : 0, pinnedHeight, byLane };
}

function stack(lanes: Lane[], groups: Map<number, Group>, choices: Choices): Item[] {
  const items: Item[] = [];
  const headers = new Map<number, Item>();
  const folds = foldsOf(lanes, groups);
  let y = 0;
  const headOf = (group: Group): Item => {
    const known = headers.get(group.id);
    if (known) return known;
    const open = choices.folded.has(group.id) ? group.closed : !group.closed;
    const height = group.kind === "rank" && !open ? (groups.size > FEW_RANKS ? RANK.many : RANK.few) : HEADER;
    const head: Item = { key: `g${group.id}`, lane: undefined, group, members: [], y, height, open, pinned: false };
    headers.set(group.id, head);
    items.push(head);
    y += height;
    return head;
  };
  for (const lane of gathered(lanes, folds)) {
    const fold = folds.get(lane.id);
    const group = fold?.kind === "nameless" ? undefined : groups.get(lane.group);
    const heads = [group, fold].filter((g) => g !== undefined);
    if (!heads.every((g) => belongs(headOf(g), lane))) continue;
    const open = isOpen(lane, choices);
    const height = heightOf(lane, open);
    items.push({ key: `l${lane.id}`, lane, group: group ?? fold, members: [], y, height, open, pinned: false });
    y += height;
  }
  return items;
}

/** Puts a lane under a head; whether it can be seen there. */
function belongs(head: Item, lane: Lane): boolean {
  head.members.push(lane);
  return head.open;
}

// ---- the strip of a closed group ----

interface Strip {
  lane: Lane;
  row: number;
  top: number;
  height: number;
}

/** The strips of a rank of a height: three fifths for the upper one. */
function rankStrips(height: number): { upper: { top: number; height: number }; lower: { top: number; height: number } } {
  const upper = Math.round((height - 8) * 0.6);
  return { upper: { top: 3, height: upper }, lower: { top: upper + 5, height: height - 9 - upper } };
}

/** What a closed group shows of its lanes. A rank has two strips: what its device computes, and communication. */
export function stripsOf(item: Item): Strip[] {
  const kinds: readonly string[] = ["stream", "work"];
  const all = item.members.filter((m) => kinds.includes(m.kind));
  if (item.group?.kind !== "rank") return all.map((lane) => ({ lane, row: 0, top: 4, height: item.height - 9 }));
  const [upper, lower] = summaryOf(all);
  const places = rankStrips(item.height);
  return [
    ...upper.map((lane) => ({ lane, row: 0, ...places.upper })),
    ...lower.map((lane) => ({ lane, row: 0, ...places.lower })),
  ];
}

/** Where no track is marked as communication, the threads other than the training thread carry
 * it. */
function summaryOf(lanes: readonly Lane[]): [Lane[], Lane[]] {
  const streams = lanes.filter((l) => l.kind === "stream");
  const threads = lanes.filter((l) => l.kind === "work");
  const training = threads.filter((l) => l.role === "training");
  const computing = streams.filter((l) => l.role !== "communication");
  const communication = streams.filter((l) => l.role === "communication");
  const others = threads.filter((l) => l.role === "other" && !l.closed);
  const upper = computing.length ? computing : training;
  if (communication.length) return [upper, communication];
  return [upper, others.length ? others : computing.length ? training : []];
}

/** The item at a height of what scrolls; items ascend, so a search by halves. */
export function itemAt(items: readonly Item[], y: number): Item | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle] as Item;
    if (item.y + item.height > y) high = middle;
    else low = middle + 1;
  }
  const item = items[low];
  return item && item.y <= y ? item : undefined;
}

/** Items that touch a stretch of heights. */
export function itemsBetween(items: readonly Item[], top: number, bottom: number): Item[] {
  return items.filter((i) => i.y < bottom && i.y + i.height > top);
}
