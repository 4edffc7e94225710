import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileRow, framesOf, heatIn, hotLines, type Line, linesOfFile, neighborsOf, type StackRow, treeOf } from "./code.ts";

const line = (file: string | null, number: number | null, more: Partial<Line> = {}): Line =>
  ({ file, line: number, owner: file ? "own" : "unknown", ...more }) as Line;
const fileRow = (file: string | null, critical_ns: number | null, more: Partial<FileRow> = {}): FileRow =>
  ({ file, critical_ns, owner: "own", ...more }) as FileRow;
const frame = (id: number, parent: number | null, file: string | null, number: number, cpu_ns: number, owner = "own"): StackRow =>
  ({ id, parent, file, line: number, function: `f${id}`, owner, cpu_ns, gpu_ns: 0, samples: null }) as StackRow;

test("heat is the critical path, and without one what is known", () => {
  assert.equal(heatIn([fileRow("a.py", 5)]), "critical_ns");
  assert.equal(heatIn([fileRow("a.py", 0, { cpu_self_ns: 3 }), fileRow(null, 9)]), "cpu_self_ns");
  assert.equal(heatIn([fileRow("a.py", null, { peak_bytes: 3 })]), "peak_bytes");
});

test("hot lines are the program's, worth a look, the hottest first", () => {
  const lines = [
    line("a.py", 1, { critical_ns: 20 }),
    line("a.py", 2, { critical_ns: 70 }),
    line("a.py", 3, { critical_ns: 1 }),
    line("b.py", 4, { critical_ns: 40, owner: "package" }),
    line(null, null, { critical_ns: 50 }),
  ];
  assert.deepEqual(
    hotLines(lines, "critical_ns").map((l) => l.line),
    [2, 1],
  );
  assert.deepEqual(hotLines([line("a.py", 1, { critical_ns: 0 })], "critical_ns"), []);
});

test("files are a tree without what all have in common, the hottest first", () => {
  const tree = treeOf(
    [fileRow("/w/job/train.py", 3), fileRow("/w/job/lib/a.py", 4), fileRow("/w/job/lib/b.py", 5), fileRow("/w/job/one/c.py", 1)],
    "critical_ns",
  );
  assert.deepEqual(
    tree.map((b) => [b.name, b.heat, b.file]),
    [
      ["lib", 9, undefined],
      ["train.py", 3, "/w/job/train.py"],
      ["one/c.py", 1, "/w/job/one/c.py"],
    ],
  );
  assert.deepEqual(
    tree[0]?.kids.map((b) => b.name),
    ["b.py", "a.py"],
  );
  assert.deepEqual(
    treeOf([fileRow("/w/job/train.py", 3)], "critical_ns").map((b) => b.name),
    ["train.py"],
  );
});

test("two functions of one line are one row of it, and what is not known stays so", () => {
  const found = linesOfFile(
    [line("a.py", 1, { cpu_ns: 2, calls: 1 }), line("a.py", 1, { cpu_ns: 3, calls: null }), line("b.py", 1)],
    "a.py",
  );
  assert.equal(found.size, 1);
  assert.equal(found.get(1)?.cpu_ns, 5);
  assert.equal(found.get(1)?.calls, 1);
  assert.equal(found.get(1)?.syncs, null);
});

test("callers and callees are the nearest lines of the program, whatever is between", () => {
  const rows = [
    frame(1, null, "main.py", 1, 100),
    frame(2, 1, "torch.py", 9, 90, "package"),
    frame(3, 2, "a.py", 5, 60),
    frame(4, 3, "torch.py", 8, 50, "package"),
    frame(5, 4, "b.py", 7, 30),
    frame(6, 5, "c.py", 2, 20),
    frame(7, 1, "a.py", 5, 10),
  ];
  const roots = framesOf(rows);
  assert.equal(roots.length, 1);
  const { callers, callees } = neighborsOf(roots, "a.py", 5, "cpu_ns");
  assert.deepEqual(
    callers.map((n) => [n.file, n.line, n.value]),
    [["main.py", 1, 70]],
  );
  assert.deepEqual(
    callees.map((n) => [n.file, n.line, n.value]),
    [["b.py", 7, 30]],
  );
});

test("a frame whose caller is not in the table stands at the top", () => {
  assert.equal(framesOf([frame(3, 2, "a.py", 1, 5), frame(4, 3, "b.py", 1, 5)]).length, 1);
});
