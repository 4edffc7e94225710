import assert from "node:assert/strict";
import { test } from "node:test";
import { exposedOf, typical } from "./steps.tsx";

test("steps without communication do not make the average communication shorter", () => {
  const rows = [
    { communication: 4e6, exposed_communication: 2e6 },
    { communication: null, exposed_communication: null },
  ];
  assert.deepEqual(exposedOf(rows), { v: "2.00\u2009ms", w: "4.00\u2009ms" });
});

test("a typical step is the one in the middle, not the slowest", () => {
  const rows = [90, 10, 12, 11, 9].map((total, step) => ({ step, total, duration: total }));
  assert.equal(typical(rows)?.total, 11);
  assert.equal(typical([]), undefined);
});
