import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzy } from "./fuzzy.ts";

test("letters must occur in order", () => {
  assert.equal(fuzzy("xyz", "aten::mm"), undefined);
  assert.deepEqual(fuzzy("mm", "aten::mm")?.at, [6, 7]);
});

test("a whole word is worth more than scattered letters", () => {
  const whole = fuzzy("conv", "aten::convolution")?.score ?? 0;
  const scattered = fuzzy("conv", "cudaOccupancyNumVec")?.score ?? 0;
  assert.ok(whole > scattered);
});
