import assert from "node:assert/strict";
import { test } from "node:test";
import { type PipeNode, placePipe, planOf } from "./pipe-graph.tsx";

const node = (id: string, into?: string): PipeNode => ({ id, into, title: id, words: "" });
const places = (nodes: PipeNode[]) =>
  Object.fromEntries(placePipe(nodes).map((p) => [p.node.id, [p.level, p.row] as [number, number]]));

test("operators stand left of what they feed, two readers around it", () => {
  const at = places([node("batch"), node("shuffle", "batch"), node("a", "shuffle"), node("b", "shuffle")]);
  assert.deepEqual(at, { batch: [0, 0.5], shuffle: [1, 0.5], a: [2, 0], b: [2, 1] });
});

test("a circle of operators is drawn once and ends", () => {
  assert.equal(placePipe([node("a", "b"), node("b", "a")]).length, 0);
  assert.equal(placePipe([node("end"), node("a", "end"), node("a2", "a")]).length, 3);
});

test("five operators go from left to right where there is room, else from top to bottom, never beyond the width", () => {
  const wide = planOf(4, 1, 1200);
  assert.ok(wide.x({ level: 0, row: 0 }) + wide.w <= 1200 && wide.y({ level: 0, row: 0 }) === wide.y({ level: 4, row: 0 }));
  const narrow = planOf(4, 1, 620);
  assert.ok(narrow.wide === 620 && narrow.x({ level: 0, row: 0 }) === narrow.x({ level: 4, row: 0 }));
  assert.ok(narrow.y({ level: 4, row: 0 }) < narrow.y({ level: 3, row: 0 }));
});
