import assert from "node:assert/strict";
import { test } from "node:test";
import { apart } from "./lines.tsx";

test("labels at the ends of lines keep their distance and stay above the floor", () => {
  assert.deepEqual(apart([10, 50], 12, 100), [10, 50]);
  assert.deepEqual(apart([10, 11, 12], 12, 100), [10, 22, 34]);
  assert.deepEqual(apart([98, 99], 12, 100), [88, 100]);
  assert.deepEqual(apart([99, 20, 98], 12, 100), [100, 20, 88]);
});
