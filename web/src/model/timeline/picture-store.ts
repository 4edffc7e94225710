// Viewport answers: when to ask, what to keep. A request is wider than what is seen and rounded to powers of
// two; a newer one makes an older one void; until it is there the best of the kept answers is drawn.
import { type Blocks, type Query, RequestFailed } from "../../api/transport.ts";
import type { Picture } from "../../draw/timeline/picture.ts";
import { covers, type Range, type Wanted, wantedFor } from "../../draw/timeline/time-scale.ts";
import { generation, tries } from "../answers.ts";

export interface LaneWish {
  id: number;
  coarse: boolean; // drawn as thin stripes: wider buckets will do
}

export function readPicture(b: Blocks, asked: Wanted, lanes: Set<number>, tag = ""): Picture {
  const d = b.description as { from: number; to: number; bucket_ns: number; unit_ns: number };
  const u32 = (name: string) => b.block(name) as Uint32Array;
  const rows: Picture["rows"] = new Map();
  const [lane, row, first] = [u32("row_lane"), b.block("row_row"), u32("row_first")];
  for (let i = 0; i < lane.length; i++) {
    const list = rows.get(lane[i] as number) ?? [];
    if (list.length === 0) rows.set(lane[i] as number, list);
    list.push({ row: row[i] as number, first: first[i] as number, last: first[i + 1] as number });
  }
  const counters: Picture["counters"] = new Map();
  const [counterLane, counterFirst] = [u32("counter_lane"), u32("counter_first")];
  for (let i = 0; i < counterLane.length; i++)
    counters.set(counterLane[i] as number, { first: counterFirst[i] as number, last: counterFirst[i + 1] as number });
  const [at, text] = [u32("name_at"), b.block("name_text") as Uint8Array];
  const decoder = new TextDecoder();
  const names = Array.from({ length: Math.max(0, at.length - 1) }, (_, i) => decoder.decode(text.subarray(at[i], at[i + 1])));
  return {
    from: d.from,
    to: d.to,
    bucket: d.bucket_ns,
    asked: asked.bucket,
    unit: d.unit_ns,
    boxes: {
      start: u32("start"),
      end: u32("end"),
      time: b.block("time") as Float32Array,
      count: b.block("count") as Uint16Array,
      name: b.block("name") as Uint16Array,
      slice: u32("slice"),
      flags: b.block("flags") as Uint8Array,
    },
    rows,
    counters,
    pointTime: u32("point_time"),
    pointMin: b.block("point_min") as Float32Array,
    pointMax: b.block("point_max") as Float32Array,
    pointLast: b.block("point_last") as Float32Array,
    names,
    kinds: b.block("name_kind") as Uint8Array,
    nameIds: u32("name_id"),
    tag,
    tags: u32("name_tag"),
    lanes,
    paint: undefined,
  };
}

const KEPT = 8;
const PAD = 0.5;
/** Once answers come coarser than asked for, less is asked for beyond the edges. */
const LITTLE_PAD = 0.12;

export interface Store {
  pictures: Picture[]; // newest first
  pad: number;
  pending: { wanted: Wanted; lanes: Set<number>; tag: string; abort: AbortController } | undefined;
  seq: number;
  failed: { what: string; attempt: number } | undefined; // the last request that failed
  generation: number;
}

export function newStore(): Store {
  return { pictures: [], pad: PAD, pending: undefined, seq: 0, failed: undefined, generation: 0 };
}

export function emptyStore(s: Store): void {
  s.pending?.abort.abort();
  s.pending = undefined;
  s.pictures = [];
  s.pad = PAD;
  s.failed = undefined;
  s.generation++;
}

function has(lanes: Set<number>, wish: readonly LaneWish[]): boolean {
  return wish.every((w) => lanes.has(w.id));
}

/** Whether what is there (or on its way) serves a view. */
function served(s: Store, need: Need, wanted: Wanted): boolean {
  const { view, whole, lanes: wish, tag = "" } = need;
  if (
    s.pending &&
    s.pending.tag === tag &&
    s.pending.wanted.bucket === wanted.bucket &&
    covers(s.pending.wanted, view, whole) &&
    has(s.pending.lanes, wish)
  )
    return true;
  return s.pictures.some(
    (p) => p.tag === tag && p.asked === wanted.bucket && covers(p, view, whole, s.pad * 0.25) && has(p.lanes, wish),
  );
}

interface Need {
  view: Range;
  width: number;
  whole: number;
  lanes: readonly LaneWish[];
  tag?: string;
}

export type Fetch = (route: string, query: Query, signal: AbortSignal) => Promise<Blocks>;

/** "1-4,7:2": lanes in runs, coarse ones with two halvings of their resolution. */
export function laneList(wish: readonly LaneWish[]): string {
  const fine = wish
    .filter((w) => !w.coarse)
    .map((w) => w.id)
    .sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < fine.length; ) {
    let j = i;
    while (j + 1 < fine.length && (fine[j + 1] as number) === (fine[j] as number) + 1) j++;
    parts.push(j > i ? `${fine[i]}-${fine[j]}` : `${fine[i]}`);
    i = j + 1;
  }
  for (const w of wish) if (w.coarse) parts.push(`${w.id}:2`);
  return parts.join(",");
}

/** A request that failed is sent again when everything is, or when the reader tries again; not with every frame. */
const attempts = (): number => generation.peek() + tries.peek();

/** Asks for what a view needs, unless it is there or on its way. Calls back when something came. */
export function fetchView(s: Store, need: Need, how: { fetch: Fetch; query: Query; client: string; done: () => void }): void {
  if (need.lanes.length === 0 || need.width < 1) return;
  const wanted = wantedFor(need.view, need.width, need.whole, s.pad);
  if (served(s, need, wanted)) return;
  const what = JSON.stringify([wanted, laneList(need.lanes), need.tag]);
  if (s.failed?.what === what && s.failed.attempt === attempts()) return;
  s.pending?.abort.abort();
  const lanes = new Set(need.lanes.map((w) => w.id));
  const tag = need.tag ?? "";
  const pending = { wanted, lanes, tag, abort: new AbortController() };
  s.pending = pending;
  const filled = s.generation;
  const query = {
    ...how.query,
    from: wanted.from,
    to: wanted.to,
    width: wanted.width,
    lanes: laneList(need.lanes),
    tag: tag || undefined,
    client: how.client,
    seq: ++s.seq,
  };
  how.fetch("viewport", query, pending.abort.signal).then(
    (blocks) => {
      if (s.generation !== filled) return;
      if (s.pending === pending) s.pending = undefined;
      keep(s, readPicture(blocks, wanted, lanes, tag));
      s.failed = undefined;
      how.done();
    },
    (e: unknown) => {
      if (s.pending !== pending) return;
      s.pending = undefined;
      if (!(e instanceof RequestFailed && e.error.code === "superseded")) s.failed = { what, attempt: attempts() };
      how.done();
    },
  );
}

function keep(s: Store, p: Picture): void {
  if (p.bucket > 2 * p.asked) s.pad = LITTLE_PAD;
  s.pictures.unshift(p);
  if (s.pictures.length > KEPT) s.pictures.splice(bestToDrop(s.pictures), 1);
}

/** The widest picture stays as a ground for quick zooming out; of the others the oldest goes. */
function bestToDrop(list: readonly Picture[]): number {
  let widest = 0;
  list.forEach((p, i) => {
    const w = list[widest] as Picture;
    if (p.to - p.from > w.to - w.from) widest = i;
  });
  return widest === list.length - 1 ? list.length - 2 : list.length - 1;
}
