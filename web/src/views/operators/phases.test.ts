import assert from "node:assert/strict";
import { test } from "node:test";
import { byOperator, nested } from "./phases.tsx";
import { secondsOf } from "./single-calls.tsx";

test("phases stand below their operator, the longest first", () => {
  const rows = [
    { op: "relu", name: "relu compute", parent: "relu", host_total: 10 },
    { op: "conv", name: "conv infer_meta", parent: "conv", host_total: 5 },
    { op: "conv", name: "conv compute", parent: "conv", host_total: 20 },
  ];
  assert.deepEqual(
    byOperator(rows).map((g) => g.map((r) => r.name)),
    [["conv compute", "conv infer_meta"], ["relu compute"]],
  );
});

test("a phase inside another stands below it and adds nothing to the operator", () => {
  const rows = [
    { op: "add_grad", name: "node", parent: "add_grad", host_total: 98 },
    { op: "add_grad", name: "infer_meta", parent: "node", host_total: 1 },
    { op: "add_grad", name: "compute", parent: "node", host_total: 93 },
    { op: "relu", name: "relu compute", parent: "relu", host_total: 120 },
  ];
  const groups = byOperator(rows);
  assert.deepEqual(
    groups.map((g) => g[0]?.op),
    ["relu", "add_grad"], // 120 against 98, not 192
  );
  assert.deepEqual(
    nested(groups[1] ?? []).map(({ row, depth }) => [row.name, depth]),
    [
      ["node", 1],
      ["compute", 2],
      ["infer_meta", 2],
    ],
  );
});

test("a time is read with its unit, a bare number as seconds, as profile_analyze takes it", () => {
  assert.equal(secondsOf("5ms"), "0.005");
  assert.equal(secondsOf("20 us"), "0.00002");
  assert.equal(secondsOf("0.5"), "0.5");
  assert.equal(secondsOf(""), undefined);
  assert.equal(secondsOf("soon"), "soon"); // the server says what is wrong with it
});
