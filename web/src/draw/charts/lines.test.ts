import assert from "node:assert/strict";
import { test } from "node:test";
import { apart, pathOf } from "./lines.tsx";

test("labels at the ends of lines keep their distance and stay above the floor", () => {
  assert.deepEqual(apart([10, 50], 12, 100), [10, 50]);
  assert.deepEqual(apart([10, 11, 12], 12, 100), [10, 22, 34]);
  assert.deepEqual(apart([98, 99], 12, 100), [88, 100]);
  assert.deepEqual(apart([99, 20, 98], 12, 100), [100, 20, 88]);
});

test("a value that is absent is a gap in the line, not a zero", () => {
  const same = (v: number) => v;
  const points = [
    [0, 5],
    [1, null],
    [2, 7],
    [3, 8],
  ] as const;
  assert.equal(pathOf(points, same, same, false), "M0 5M2 7L3 8");
  assert.equal(pathOf(points, same, same, true), "M0 5M2 7H3V8");
  assert.equal(pathOf([[0, null]], same, same, false), "");
});
