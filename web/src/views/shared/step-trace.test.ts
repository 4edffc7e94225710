import assert from "node:assert/strict";
import { test } from "node:test";
import { durationOf, lengthOf, partsOf, stackOf } from "./step-trace.tsx";

const step = (total: number | null, forward_backward: number | null, tail: number | null) => ({
  total,
  duration: 90,
  forward_backward,
  tail,
});

test("what comes before forward is the interval; a part that is not known is none", () => {
  assert.deepEqual(partsOf(step(100, 60, 10)), { interval: 30, forward_backward: 60, tail: 10 });
  assert.deepEqual(partsOf(step(100, 60, null)), { interval: 40, forward_backward: 60, tail: null });
  assert.deepEqual(partsOf({ ...step(70, 60, 10), gap: 30 }), { interval: 30, forward_backward: 60, tail: 10 });
  assert.deepEqual(partsOf({ ...step(70, 60, 10), gap: null }), { interval: null, forward_backward: 60, tail: 10 });
  assert.deepEqual(partsOf(step(100, null, null)), { interval: null, forward_backward: null, tail: null });
});

test("a step of which no part is known is one piece as long as it is", () => {
  assert.deepEqual(
    stackOf(step(100, null, null)).map((p) => p.value),
    [0, 100, 0],
  );
});

test("a step is as long as its device work, else as it is on the host, else not known", () => {
  assert.equal(lengthOf(step(100, null, null)), 100);
  assert.equal(lengthOf(step(null, null, null)), 90);
  assert.equal(lengthOf(undefined), null);
  assert.equal(durationOf([{ stage: "tail", duration: null }], "tail"), null);
});
