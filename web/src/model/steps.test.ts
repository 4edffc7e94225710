import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSteps, writeSteps } from "./steps.ts";

test("open ends of a range of steps are the first and the last step", () => {
  assert.deepEqual(parseSteps("3..", [2, 3, 4]), [3, 4]);
  assert.deepEqual(parseSteps("..3", [2, 3, 4]), [2, 3]);
  assert.deepEqual(parseSteps("3", [2, 3, 4]), [3, 3]);
  assert.equal(parseSteps("", [2, 3, 4]), undefined);
});

test("a range is written low to high, one step as itself", () => {
  assert.equal(writeSteps(4, 2), "2..4");
  assert.equal(writeSteps(3, 3), "3");
});
