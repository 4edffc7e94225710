import assert from "node:assert/strict";
import { test } from "node:test";
import { abbreviates, fuzzy } from "./fuzzy.ts";

test("letters must occur in order", () => {
  assert.equal(fuzzy("xyz", "aten::mm"), undefined);
  assert.deepEqual(fuzzy("mm", "aten::mm")?.at, [6, 7]);
});

test("a whole word is worth more than scattered letters", () => {
  const whole = fuzzy("conv", "aten::convolution")?.score ?? 0;
  const scattered = fuzzy("conv", "cudaOccupancyNumVec")?.score ?? 0;
  assert.ok(whole > scattered);
});

test("an abbreviation is of beginnings of words, not of letters from anywhere", () => {
  assert.equal(abbreviates("idle", "aten::index_select"), undefined);
  assert.equal(abbreviates("idle", "AccumulateGrad"), undefined);
  assert.deepEqual(abbreviates("convb", "aten::convolution_backward")?.at, [6, 7, 8, 9, 18]);
  assert.deepEqual(abbreviates("nllf", "aten::nll_loss_forward")?.at, [6, 7, 8, 15]);
  assert.ok(abbreviates("select", "aten::index_select"));
});
