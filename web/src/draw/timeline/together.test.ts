import assert from "node:assert/strict";
import { test } from "node:test";
import type { Picture } from "./picture.ts";
import {
  joined,
  laneIn,
  ownLane,
  pictureOnClock,
  placeOf,
  type Rank,
  rankGroup,
  refOnClock,
  toCommon,
  toOwn,
} from "./together.ts";
import type { Lane, Tracks } from "./tracks.ts";

const lane = (id: number): Lane => ({ id, kind: "stream", group: 1, track: id, name: "", rows: 1, slices: 1, closed: false });
const tracks = (duration: number): Tracks => ({
  trace: { run: "r", worker: "w", span: "1", format: "kineto", duration_ns: duration, events: 7 },
  lanes: [lane(1), lane(2)],
  groups: [],
  steps: { total: 1, number: [5], start: [10], end: [90] },
});
const rank = (place: number, start: number, rate = 1): Rank => ({
  place,
  start,
  rate,
  name: `rank${place - 1}`,
  detail: "",
  tracks: tracks(1000),
});

test("lanes of several traces have numbers of their own, a trace alone keeps its numbers", () => {
  for (const place of [0, 1, 64]) assert.deepEqual([placeOf(laneIn(place, 17)), ownLane(laneIn(place, 17))], [place, 17]);
  assert.equal(laneIn(0, 17), 17);
});

test("a time goes to the common clock and back, with an offset and a drift", () => {
  const c = { place: 2, start: -500, rate: 1 - 20e-6 };
  for (const t of [0, 1, 1e9]) assert.ok(Math.abs(toOwn(c, toCommon(c, t)) - t) < 1e-3);
  assert.equal(toCommon(c, 1e9), -500 + 1e9 - 20_000);
});

test("a picture and a slice of a rank stand where its clock says, and stay the same while nothing changes", () => {
  const p = {
    from: 100,
    to: 300,
    unit: 1,
    rows: new Map([[4, []]]),
    counters: new Map(),
    lanes: new Set([4]),
  } as unknown as Picture;
  const c = { place: 3, start: 50, rate: 2 };
  const q = pictureOnClock(p, c);
  assert.deepEqual([q.from, q.to, q.unit, [...q.rows.keys()], [...q.lanes]], [250, 650, 2, [laneIn(3, 4)], [laneIn(3, 4)]]);
  assert.equal(pictureOnClock(p, { ...c }), q);
  assert.notEqual(pictureOnClock(p, { ...c, start: 51 }), q);
  assert.deepEqual(refOnClock({ lane: 4, start: 10 }, c), { lane: laneIn(3, 4), start: 70 });
});

test("the lanes of all ranks are one group for each, up to the end of the last", () => {
  const [a, b] = [rank(1, 0), rank(4, 300)];
  const all = joined([a, b], b);
  assert.deepEqual(
    all.groups.map((g) => [g.id, g.kind, g.name]),
    [
      [rankGroup(1), "rank", "rank0"],
      [rankGroup(4), "rank", "rank3"],
    ],
  );
  assert.equal(new Set(all.lanes.map((l) => l.id)).size, 4);
  assert.ok(all.lanes.every((l) => l.group === rankGroup(placeOf(l.id))));
  assert.deepEqual([all.trace.duration_ns, all.trace.events], [1300, 14]);
  assert.deepEqual([all.steps.start, all.steps.end], [[310], [390]]);
});
