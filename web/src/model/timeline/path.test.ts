import assert from "node:assert/strict";
import { test } from "node:test";
import { firstAfter } from "../../draw/timeline/path.ts";
import type { Lane, LaneKind } from "../../draw/timeline/tracks.ts";
import { laneOf, marksOf } from "./path.ts";

const lane = (id: number, kind: LaneKind, track: number): Lane => ({
  id,
  kind,
  group: 1,
  track,
  name: "",
  rows: 1,
  slices: 1,
  closed: false,
});
const LANES = [lane(1, "stream", 7), lane(2, "work", 3), lane(3, "calls", 3), lane(4, "python", 3), lane(5, "work", 8)];

test("a piece stands on the lane of its kind", () => {
  assert.equal(laneOf(LANES, 7, "device"), 1);
  assert.equal(laneOf(LANES, 3, "operator"), 2);
  assert.equal(laneOf(LANES, 3, "launch_call"), 3);
  assert.equal(laneOf(LANES, 8, "launch_call"), 5, "without a lane for calls, that of the operators");
  assert.equal(laneOf(LANES, 99, "operator"), 0);
});

test("time without an event is where the host was before", () => {
  const piece = (kind: string, track: number | null, start: number, duration: number) => ({
    step: 1,
    kind,
    name: null,
    track,
    start,
    duration,
    slice: null,
    rank: null,
  });
  const marks = marksOf([piece("operator", 3, 0, 5), piece("device", 7, 5, 10), piece("between", null, 15, 5)], LANES);
  assert.deepEqual(marks, [
    { start: 0, end: 5, lane: 2 },
    { start: 5, end: 15, lane: 1 },
    { start: 15, end: 20, lane: 2 },
  ]);
  assert.deepEqual(
    [-1, 0, 5, 14, 15, 20].map((at) => firstAfter(marks, at)),
    [0, 0, 1, 1, 2, 3],
  );
});
