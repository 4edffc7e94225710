import assert from "node:assert/strict";
import { test } from "node:test";
import { typical } from "./steps.tsx";
import { exposedOf, grownPart, largestPart } from "./steps-verdict.tsx";

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

test("the largest part is that of the steps in view, without those whose work is not known", () => {
  const steps = [
    { step: 1, total: 10, kernel: 2, data_loader: 8 },
    { step: 2, total: 10, kernel: 6, data_loader: 4 },
    { step: 3, total: 100, kernel: null, data_loader: 100 },
  ];
  assert.deepEqual(largestPart(steps), { category: "data_loader", share: 0.6 });
  assert.deepEqual(largestPart(steps.slice(1, 2)), { category: "kernel", share: 0.6 });
  assert.deepEqual(largestPart(steps.slice(2)), { category: "data_loader", share: 1 });
  assert.equal(largestPart([]), undefined);
});
