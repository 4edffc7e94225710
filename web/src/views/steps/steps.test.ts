import assert from "node:assert/strict";
import { test } from "node:test";
import { exposedOf } from "./steps.tsx";

test("steps without communication do not make the average communication shorter", () => {
  const rows = [
    { communication: 4e6, exposed_communication: 2e6 },
    { communication: null, exposed_communication: null },
  ];
  assert.deepEqual(exposedOf(rows), { v: "2.00\u2009ms", w: "4.00\u2009ms" });
});
