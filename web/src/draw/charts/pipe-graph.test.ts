import assert from "node:assert/strict";
import { test } from "node:test";
import { type PipeNode, placePipe } from "./pipe-graph.tsx";

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
