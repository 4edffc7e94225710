import assert from "node:assert/strict";
import { test } from "node:test";
import { type Branch, type Module, siblings } from "./module-order.ts";

const branch = (module: string, host_total: number): Branch => ({ row: { module, host_total } as Module, kids: [] });
const kids = [branch("Block_0", 17), branch("Block_10", 19), branch("Norm_0", 30), branch("Block_2", 18), branch("Block_1", 16)];
const names = (sort?: string) => siblings(kids, (m) => m.host_total, sort).map((b) => b.row.module);

test("blocks of one class are in the order of their numbers, classes by what they take together", () => {
  assert.deepEqual(names(), ["Block_0", "Block_1", "Block_2", "Block_10", "Norm_0"]);
});

test("a sorted column orders them by its values", () => {
  assert.deepEqual(names("host_total:desc"), ["Norm_0", "Block_10", "Block_2", "Block_0", "Block_1"]);
  assert.deepEqual(names("module:desc"), ["Norm_0", "Block_10", "Block_2", "Block_1", "Block_0"]);
});
