import assert from "node:assert/strict";
import { test } from "node:test";
import { slowestRanks, tellingRanks } from "./together.ts";

const row = (rank: number, waiting: number, caused: number) => ({
  worker: `rank${rank}`,
  rank,
  transfer: 0,
  waiting,
  last: 0,
  caused,
});
const waiting = [row(0, 5, 1), row(1, 9, 0), row(2, 1, 80), row(3, 4, 20)];

test("of many ranks the first, the one that waits most and the one that is waited for are shown", () => {
  assert.deepEqual(tellingRanks([0, 1, 2, 3], waiting), [0, 1, 2]);
  assert.deepEqual(tellingRanks([0, 1, 2, 3], []), [0]);
});

test("the slowest are those the others wait for", () => {
  assert.deepEqual(slowestRanks(waiting, 2), [2, 3]);
});
