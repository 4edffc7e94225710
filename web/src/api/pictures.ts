// Any stretch of a timeline out of the pictures a report has of it: boxes of the finest ones that are there, joined
// where one picture ends and the next begins. What comes back has the form of a /viewport answer.
import type { Blocks } from "./transport.ts";

interface Tile {
  from: number;
  to: number;
  blocks: Blocks;
}

interface Box {
  from: number; // ns from the start of the trace
  to: number;
  slice: number;
  time: number;
  count: number;
  name: number;
  flags: number;
}

const BEFORE = 1;
const BEHIND = 2;

class Names {
  private readonly at = new Map<string, number>();
  readonly ids: number[] = [];
  readonly kinds: number[] = [];
  readonly texts: Uint8Array[] = [];

  /** The numbers in this answer of a tile's names. */
  take(b: Blocks): number[] {
    const [id, kind, at, text] = [b.block("name_id"), b.block("name_kind"), b.block("name_at"), b.block("name_text")];
    return Array.from({ length: id.length }, (_, i) => {
      const key = `${id[i]} ${kind[i]}`;
      const known = this.at.get(key);
      if (known !== undefined) return known;
      this.at.set(key, this.ids.length);
      this.ids.push(id[i] as number);
      this.kinds.push(kind[i] as number);
      this.texts.push((text as Uint8Array).subarray(at[i], at[i + 1]));
      return this.ids.length - 1;
    });
  }

  blocks(): [string, ArrayLike<number> & object][] {
    const at = new Uint32Array(this.ids.length + 1);
    this.texts.forEach((t, i) => {
      at[i + 1] = (at[i] as number) + t.length;
    });
    const text = new Uint8Array(at[this.ids.length] as number);
    this.texts.forEach((t, i) => {
      text.set(t, at[i]);
    });
    return [
      ["name_id", Uint32Array.from(this.ids)],
      ["name_kind", Uint8Array.from(this.kinds)],
      ["name_at", at],
      ["name_text", text],
    ];
  }
}

const head = (b: Blocks) => b.description as { from: number; bucket_ns: number; unit_ns: number };

/** Adds the boxes of a tile that are in a range; one that the tile before has cut continues. */
function addBoxes(rows: Map<string, Box[]>, tile: Tile, names: Names, from: number, to: number): void {
  const b = tile.blocks;
  const { from: zero, unit_ns: unit } = head(b);
  const numbers = names.take(b);
  const [lane, row, first] = [b.block("row_lane"), b.block("row_row"), b.block("row_first")];
  const [start, end, slice, time] = [b.block("start"), b.block("end"), b.block("slice"), b.block("time")];
  const [count, name, flags] = [b.block("count"), b.block("name"), b.block("flags")];
  for (let r = 0; r < lane.length; r++) {
    const key = `${lane[r]} ${row[r]}`;
    const list = rows.get(key) ?? [];
    rows.set(key, list);
    for (let i = first[r] as number; i < (first[r + 1] as number); i++) {
      const box = {
        from: zero + (start[i] as number) * unit,
        to: zero + (end[i] as number) * unit,
        slice: slice[i] as number,
        time: time[i] as number,
        count: count[i] as number,
        name: numbers[name[i] as number] as number,
        flags: flags[i] as number,
      };
      if (box.to < from || box.from >= to) continue;
      const last = list[list.length - 1];
      if (last && last.slice === box.slice && last.to >= box.from - 2 * unit) {
        last.to = Math.max(last.to, box.to);
        last.flags = (last.flags & ~BEHIND) | (box.flags & ~BEFORE);
      } else if (!last || box.from >= last.from) list.push(box);
    }
  }
}

type Point = [time: number, min: number, max: number, last: number];

function addPoints(counters: Map<number, Point[]>, tile: Tile, from: number, to: number): void {
  const b = tile.blocks;
  const { from: zero, unit_ns: unit } = head(b);
  const [lane, first, time] = [b.block("counter_lane"), b.block("counter_first"), b.block("point_time")];
  const [low, high, last] = [b.block("point_min"), b.block("point_max"), b.block("point_last")];
  for (let c = 0; c < lane.length; c++) {
    const list = counters.get(lane[c] as number) ?? [];
    counters.set(lane[c] as number, list);
    for (let i = first[c] as number; i < (first[c + 1] as number); i++) {
      const point: Point = [zero + (time[i] as number) * unit, low[i] as number, high[i] as number, last[i] as number];
      if (point[0] >= to) break;
      if (point[0] < from && list.length <= 1)
        list[0] = [from, point[1], point[2], point[3]]; // what holds at the edge
      else if (point[0] >= from) list.push(point);
    }
  }
}

/** Runs of one lane and row after the other, and where each begins. */
function ends(lists: readonly (readonly unknown[])[]): Uint32Array {
  const at = new Uint32Array(lists.length + 1);
  lists.forEach((l, i) => {
    at[i + 1] = (at[i] as number) + l.length;
  });
  return at;
}

/** The stretch from…to out of tiles that lie one after the other. */
export function joinTiles(tiles: readonly Tile[], from: number, to: number): Blocks {
  const names = new Names();
  const rows = new Map<string, Box[]>();
  const counters = new Map<number, Point[]>();
  for (const tile of tiles) {
    addBoxes(rows, tile, names, Math.max(from, tile.from), Math.min(to, tile.to));
    addPoints(counters, tile, Math.max(from, tile.from), Math.min(to, tile.to));
  }
  let unit = 1;
  while ((to - from) / unit > 0xfffffffe) unit *= 2;
  const keys = [...rows]
    .filter(([, list]) => list.length)
    .map(([key, list]) => [...key.split(" ").map(Number), list] as [number, number, Box[]]);
  keys.sort(([a, x], [b, y]) => a - b || x - y);
  const boxes = keys.flatMap(([, , list]) => list);
  const offset = (t: number) => Math.max(0, Math.floor((Math.min(t, to) - from) / unit));
  const points = [...counters.values()].flat();
  const blocks = new Map<string, ArrayLike<number> & object>([
    ["row_lane", Uint32Array.from(keys, ([lane]) => lane)],
    ["row_row", Uint16Array.from(keys, ([, row]) => row)],
    ["row_first", ends(keys.map(([, , list]) => list))],
    ["start", Uint32Array.from(boxes, (b) => offset(b.from))],
    ["end", Uint32Array.from(boxes, (b) => Math.max(offset(b.to), offset(b.from) + (b.to > b.from ? 1 : 0)))],
    ["slice", Uint32Array.from(boxes, (b) => b.slice)],
    ["time", Float32Array.from(boxes, (b) => b.time)],
    ["count", Uint16Array.from(boxes, (b) => b.count)],
    ["name", Uint16Array.from(boxes, (b) => b.name)],
    ["flags", Uint8Array.from(boxes, (b) => b.flags | (b.from < from ? BEFORE : 0) | (b.to > to ? BEHIND : 0))],
    ["counter_lane", Uint32Array.from(counters.keys())],
    ["counter_first", ends([...counters.values()])],
    ["point_time", Uint32Array.from(points, (p) => offset(p[0]))],
    ["point_min", Float32Array.from(points, (p) => p[1])],
    ["point_max", Float32Array.from(points, (p) => p[2])],
    ["point_last", Float32Array.from(points, (p) => p[3])],
    ...names.blocks(),
  ]);
  const bucket = Math.min(...tiles.map((t) => head(t.blocks).bucket_ns), to - from);
  return {
    description: { from, to, bucket_ns: bucket, unit_ns: unit, boxes: boxes.length, complete: true },
    block: (name) => (blocks.get(name) ?? new Uint8Array(0)) as ReturnType<Blocks["block"]>,
  };
}

/** The tape of a stretch: shares of a finer one, averaged over its pixels. */
export function cutTape(whole: Blocks, from: number, to: number, width: number): Blocks {
  const all = whole.description as { from: number; to: number; width: number };
  const scale = all.width / Math.max(1, all.to - all.from);
  const cut = (shares: ArrayLike<number>): Uint8Array =>
    Uint8Array.from({ length: width }, (_, i) => {
      const a = Math.floor((from + ((to - from) * i) / width - all.from) * scale);
      const b = Math.max(a + 1, Math.floor((from + ((to - from) * (i + 1)) / width - all.from) * scale));
      let sum = 0;
      for (let k = a; k < b; k++) sum += shares[Math.min(k, shares.length - 1)] ?? 0;
      return Math.round(sum / (b - a));
    });
  const SHARES = ["device", "communication", "data", "host"];
  return {
    description: { ...whole.description, from, to, width },
    block: (name) => {
      const own = whole.block(name);
      return SHARES.includes(name) && own.length ? cut(own) : own;
    },
  };
}
