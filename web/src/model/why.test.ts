import assert from "node:assert/strict";
import { test } from "node:test";
import { candidatesOf, parseScales, replayedOf, typicalStep, writeScales } from "./why.ts";

const row = (kind: string, name: string | null, time: number) => ({
  kind,
  name,
  time,
  share: 0,
  pieces: 1,
  slice: null,
  rank: null,
});

test("a scenario survives the address, and what is not changed is not in it", () => {
  const scales = parseScales("op:aten::mm=0.5\nkernel:k<a=b>=0\nop:x=1\nbroken\nop:y=-1\nop:z=");
  assert.deepEqual(
    [...scales],
    [
      ["op:aten::mm", 0.5],
      ["kernel:k<a=b>", 0],
      ["op:x", 1],
    ],
  );
  assert.equal(writeScales(scales), "op:aten::mm=0.5\nkernel:k<a=b>=0");
  assert.equal(writeScales(new Map()), "");
});

test("candidates are what can be scaled, with what is scaled already", () => {
  const rows = [
    row("between", "aten::to", 9),
    row("operator", "aten::mm", 8),
    row("device", "gemm", 7),
    row("launch_call", "c", 6),
  ];
  const found = candidatesOf(rows, new Map([["kernel:other", 0.5]]));
  assert.deepEqual(
    found.map((c) => [c.id, c.ns]),
    [
      ["op:aten::mm", 8],
      ["kernel:gemm", 7],
      ["kernel:other", 0],
    ],
  );
});

test("the typical step is the lower median", () => {
  const steps = [4, 1, 3, 2].map((recorded, step) => ({ step, recorded, replayed: recorded, whatif: null }));
  assert.equal(typicalStep(steps)?.recorded, 2);
  assert.equal(typicalStep([]), undefined);
});

test("a single change is all of them; the replay as recorded is none", () => {
  const change = (name: string, after: number) => ({
    change: name,
    step_before: 10,
    step_after: after,
    saves: 10 - after,
    share: 0,
    speedup: 1,
    least: null,
    most: null,
    calls: null,
    kernels: null,
    host_time: null,
    device_time: null,
  });
  assert.equal(replayedOf([change("replay", 10)]).together, null);
  assert.equal(replayedOf([change("replay", 10), change("no_sync", 8)]).together, 8);
  const both = replayedOf([change("replay", 10), change("no_sync", 8), change("op:x=0", 9), change("all", 7)]);
  assert.equal(both.together, 7);
  assert.equal(both.alone.get("op:x=0")?.step_after, 9);
  assert.equal(both.alone.has("all"), false);
  assert.deepEqual([both.least, both.most], [null, null], "only an estimate has a range");
  const estimate = replayedOf([change("replay", 10), { ...change("unprofiled", 8), least: 7, most: 9 }]);
  assert.deepEqual([estimate.least, estimate.most], [7, 9]);
});
