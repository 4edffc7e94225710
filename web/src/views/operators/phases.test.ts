import assert from "node:assert/strict";
import { test } from "node:test";
import { byOperator } from "./phases.tsx";
import { secondsOf } from "./single-calls.tsx";

test("phases stand below their operator, the longest first", () => {
  const rows = [
    { op: "relu", name: "relu compute", host_total: 10 },
    { op: "conv", name: "conv infer_meta", host_total: 5 },
    { op: "conv", name: "conv compute", host_total: 20 },
  ];
  assert.deepEqual(
    byOperator(rows).map((g) => g.map((r) => r.name)),
    [["conv compute", "conv infer_meta"], ["relu compute"]],
  );
});

test("a time is read with its unit, a bare number as seconds, as profile_analyze takes it", () => {
  assert.equal(secondsOf("5ms"), "0.005");
  assert.equal(secondsOf("20 us"), "0.00002");
  assert.equal(secondsOf("0.5"), "0.5");
  assert.equal(secondsOf(""), undefined);
  assert.equal(secondsOf("soon"), "soon"); // the server says what is wrong with it
});
