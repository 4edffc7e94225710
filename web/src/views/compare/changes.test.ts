import assert from "node:assert/strict";
import { test } from "node:test";
import type { DiffRow } from "../../model/compare.ts";
import { shareOfChange, signed } from "./change.tsx";
import { lineOf } from "./memory-change.tsx";
import { cellOf, joinModules } from "./module-changes.tsx";
import { inOrder } from "./name-changes.tsx";
import { tellingLanes } from "./pair-stage.ts";

const row = (name: string, change: number, status: string): DiffRow =>
  ({ name, change, status, calls_a: 1, calls_b: 1, device_a: 10, device_b: 10 + change, host_a: null, host_b: null }) as DiffRow;

test("changes have their sign, and nothing has none", () => {
  assert.equal(signed(3_200_000, "ns"), "+3.20\u2009ms");
  assert.equal(signed(-1500, "ns"), "−1.50\u2009µs");
  assert.equal(signed(0, "ns"), "±0\u2009ns");
  assert.equal(signed(null, "ns"), "–");
  assert.equal(shareOfChange(100, 118), "+18.0\u2009%");
  assert.equal(shareOfChange(2_556_620, 2_556_478), "±0.0\u2009%");
  assert.equal(shareOfChange(0, 5), "–");
});

test("rows come by the largest change either way, unless sorted; filters keep what only one run has", () => {
  const rows = [row("a", 1, "same"), row("b", -9, "changed"), row("c", 5, "added"), row("d", -2, "removed")];
  const names = (...given: Parameters<typeof inOrder>) =>
    inOrder(...given)
      .map((r) => r.name)
      .join("");
  assert.equal(names(rows, "all", "", ""), "bcda");
  assert.equal(names(rows, "all", "", "change:desc"), "cadb");
  assert.equal(names(rows, "all", "", "change:asc"), "bdac");
  assert.equal(names(rows, "all", "", "name:asc"), "abcd");
  assert.equal(names(rows, "a", "", ""), "d");
  assert.equal(names(rows, "b", "", ""), "c");
  assert.equal(names(rows, "changed", "", ""), "b");
  assert.equal(names(rows, "all", "c", ""), "c");
});

test("modules are joined by path and counted per step; the second of a name is another module", () => {
  const module = (name: string, depth: number, device: number) => ({
    module: name,
    parent: null,
    depth,
    calls: 6,
    host_total: 0,
    host_self: 0,
    device_total: device,
    device_self: 0,
    backward_host: null,
    backward_device: null,
  });
  const a = [module("net", 0, 60), module("conv", 1, 30), module("conv", 1, 12)];
  const b = [module("net", 0, 30), module("conv", 1, 15), module("conv", 1, 12), module("norm", 1, 3)];
  const [net] = joinModules(a as never, b as never, [6, 3]);
  assert.deepEqual([net?.a?.device, net?.b?.device, net?.b?.calls], [10, 10, 2]);
  assert.deepEqual(
    net?.kids.map((k) => cellOf(k, "device", "change")),
    [0, 2, 1],
  );
  assert.equal(net && cellOf(net.kids[2] as never, "device", "a"), null);
});

test("memory begins with the first step, at what was allocated before", () => {
  const at = (time: number, allocated: number, device = "GPU0") => ({ time, allocated, device, reserved: null });
  const rows = [at(1, 5), at(2, 9, "CPU"), at(4, 7), at(10, 8), at(12, 3)];
  assert.deepEqual(lineOf(rows as never, "GPU0", 6), [
    [0, 7],
    [4, 8],
    [6, 3],
  ]);
});

test("both timelines have busy streams and the threads that train", () => {
  const lane = (id: number, kind: string, role: string, busy: number, rows = 1) => ({
    id,
    kind,
    role,
    busy,
    rows,
    slices: 1,
    closed: true,
  });
  const lanes = [
    lane(1, "steps", "", 1),
    lane(2, "stream", "compute", 0.5),
    lane(3, "stream", "copy", 0.001),
    lane(4, "work", "training", 0.9, 40),
    lane(5, "work", "other", 0.9),
  ];
  assert.deepEqual(
    tellingLanes(lanes as never).map((l) => [l.id, l.rows, l.closed]),
    [
      [2, 1, false],
      [4, 6, false],
    ],
  );
});
