import assert from "node:assert/strict";
import { test } from "node:test";
import { binsOf } from "./bins.ts";

test("every value is in one bin, borders are round and adjoin", () => {
  const values = Array.from({ length: 400 }, (_, i) => (i * 7919) % 997);
  const bins = binsOf(values);
  assert.equal(
    bins.reduce((s, b) => s + b.count, 0),
    values.length,
  );
  assert.ok(bins.length >= 10 && bins.length <= 41);
  for (const [i, b] of bins.entries()) {
    assert.equal(b.count, values.filter((v) => v >= b.from && v < b.to).length);
    if (i) assert.equal(b.from, bins[i - 1]?.to);
  }
});

test("equal values, one value and none", () => {
  assert.deepEqual(binsOf([]), []);
  assert.equal(
    binsOf([5, 5, 5]).reduce((s, b) => s + b.count, 0),
    3,
  );
  assert.equal(binsOf([0]).length, 1);
});
