import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, fairRange, heatPosition, inkOn, roundUp, ticks } from "./scale.ts";

test("maxima are rounded up to 1, 2, 5", () => {
  assert.equal(roundUp(9.7), 10);
  assert.equal(roundUp(1.2), 2);
  assert.equal(roundUp(0.03), 0.05);
  assert.equal(roundUp(20), 20);
});

test("ticks are round and cover the maximum", () => {
  assert.deepEqual(ticks(95.7), [0, 25, 50, 75, 100]);
  assert.deepEqual(ticks(0), [0, 1]);
});

test("heat grows with the root of the value", () => {
  assert.equal(heatPosition(2.5, 10), 0.5);
  assert.equal(heatPosition(1, 0), 0);
});

test("text on a fill takes the stronger contrast", () => {
  assert.equal(Math.round(contrast("#000000", "#FFFFFF")), 21);
  assert.equal(inkOn("#2373D2"), "#FFFFFF");
  assert.equal(inkOn("#EFBE42"), "#0B0D11");
});

test("a line without an axis spans at least a quarter of its largest value", () => {
  const [low, high] = fairRange(29.4, 29.5);
  assert.ok(Math.abs(high - low - 29.5 / 4) < 1e-9 && low < 29.4 && high > 29.5);
  assert.deepEqual(fairRange(10, 40), [10, 40]);
  assert.deepEqual(fairRange(0, 0), [0, 0]);
  assert.deepEqual(fairRange(0.9, 1.0)[0] > 0, true);
});
