import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged } from "./arrange.ts";
import type { Table } from "./types.ts";

const table: Table = {
  columns: [
    { name: "name", type: "string" },
    { name: "device", type: "string" },
    { name: "total", type: "int", unit: "ns" },
    { name: "calls", type: "int", unit: "count" },
    { name: "share", type: "real", unit: "share" },
    { name: "tensor_core", type: "bool" },
  ],
  rows: [
    ["aten::mm", "GPU0", 9_000_000, 3, 0.6, true],
    ["aten::add", "GPU1", 2_000_000, 40, 0.3, false],
    ["aten::addmm", "GPU0", null, 5, 0.1, null],
  ],
  total_rows: 3,
};
const names = (how: Parameters<typeof arranged>[1]) => arranged(table, how).rows.map((r) => r[0]);

test("rows are sorted as the server sorts them: numbers largest first, texts from A, what is not known last", () => {
  assert.deepEqual(names({ sort: "total:asc" }), ["aten::add", "aten::mm", "aten::addmm"]);
  assert.deepEqual(names({ sort: "total:desc" }), ["aten::mm", "aten::add", "aten::addmm"]);
  assert.deepEqual(names({ sort: "calls" }), ["aten::add", "aten::addmm", "aten::mm"]);
  assert.deepEqual(names({ sort: "name" }), ["aten::add", "aten::addmm", "aten::mm"]);
  assert.deepEqual(names({ sort: "device:desc,calls:asc" }), ["aten::add", "aten::mm", "aten::addmm"]);
});

test("a filter takes words, negated words, columns, whole cells and conditions", () => {
  assert.deepEqual(names({ filter: "mm" }), ["aten::mm", "aten::addmm"]);
  assert.deepEqual(names({ filter: "-addmm" }), ["aten::mm", "aten::add"]);
  assert.deepEqual(names({ filter: 'device:"GPU0"' }), ["aten::mm", "aten::addmm"]);
  assert.deepEqual(names({ filter: 'name="aten::add"' }), ["aten::add"]);
  assert.deepEqual(names({ filter: '-name="aten::add" -device="GPU1"' }), ["aten::mm", "aten::addmm"]);
  assert.deepEqual(names({ filter: ">5ms" }), ["aten::mm"]);
  assert.deepEqual(names({ filter: "calls>4" }), ["aten::add", "aten::addmm"]);
  assert.deepEqual(names({ filter: "share>=30%" }), ["aten::mm", "aten::add"]);
  assert.deepEqual(names({ filter: "tensor_core:yes" }), ["aten::mm"]);
});

test("a page of rows says how many there are", () => {
  const page = arranged(table, { sort: "calls:desc", offset: 1, limit: 1 });
  assert.deepEqual([page.rows.map((r) => r[0]), page.total_rows], [["aten::addmm"], 3]);
});
