import assert from "node:assert/strict";
import { test } from "node:test";
import { firstAfter } from "../../draw/timeline/path.ts";
import { laneIn } from "../../draw/timeline/together.ts";
import type { Lane, LaneKind } from "../../draw/timeline/tracks.ts";
import { laneOf, marksOf, onRanks } from "./path.ts";

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

test("the path of a job is on the lanes of each rank; of a rank that is not shown it has no place", () => {
  const piece = (rank: number, kind: string, track: number | null, start: number) => ({
    step: 1,
    kind,
    name: null,
    track,
    start,
    duration: 10,
    slice: 1,
    rank,
  });
  const places = new Map([
    [0, 1],
    [2, 3],
  ]);
  const pieces = onRanks(
    [piece(0, "operator", 3, 5), piece(2, "operator", 3, 7), piece(1, "operator", 3, 9), piece(0, "between", null, 11)],
    (rank) => places.get(rank),
  );
  assert.deepEqual(
    pieces.map((p) => p.track),
    [laneIn(1, 3), laneIn(3, 3), null, null],
  );
  const lanes = [1, 3].flatMap((place) => LANES.map((l) => ({ ...l, id: laneIn(place, l.id), track: laneIn(place, l.track) })));
  assert.deepEqual(
    marksOf(pieces, lanes).map((m) => m.lane),
    [laneIn(1, 2), laneIn(3, 2), 0, laneIn(1, 2)],
  );
});
