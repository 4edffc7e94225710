import assert from "node:assert/strict";
import { test } from "node:test";
import { typical } from "./steps.tsx";
import { exposedOf, grownPart } from "./steps-verdict.tsx";

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

test("a slow step is slow in the part that grew most over its median", () => {
  const rows = [1, 2, 3, 4].map((step) => ({ step, kernel: 10, runtime: step === 4 ? 9 : 2, cpu_exec: step === 4 ? 22 : 20 }));
  assert.deepEqual(grownPart(rows, 4), { category: "runtime", by: 7 });
  assert.equal(grownPart(rows, 1), undefined);
  assert.equal(grownPart(rows, 9), undefined);
});
