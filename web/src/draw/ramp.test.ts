import assert from "node:assert/strict";
import { test } from "node:test";
import { rampStop } from "./ramp.ts";

test("a change has the stop of its size and its sign; nothing changed is the middle", () => {
  assert.equal(rampStop(100, 100), 6);
  assert.equal(rampStop(-100, 100), 0);
  assert.equal(rampStop(0, 100), 3);
  assert.equal(rampStop(1, 100), 3);
  assert.equal(rampStop(25, 100), 5);
  assert.equal(rampStop(-25, 100), 1);
  assert.equal(rampStop(5, 0), 3);
});
