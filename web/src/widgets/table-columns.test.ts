import assert from "node:assert/strict";
import { test } from "node:test";
import { arranged, fitting, forNumber, headKey, leastWidth, moved } from "./table-columns.ts";
import type { TableColumn } from "./table-types.ts";

const column = (name: string, width?: number, extra: Partial<TableColumn> = {}): TableColumn =>
  width === undefined ? { name, title: name, ...extra } : { name, title: name, width, ...extra };
const names = (list: readonly TableColumn[]) => list.map((c) => c.name).join(" ");

test("columns stand where the reader put them; the first stays first, new ones keep their place", () => {
  const all = [column("name"), column("a", 80), column("b", 80), column("c", 80)];
  assert.equal(names(arranged(all, { order: ["c", "a", "b"] })), "name c a b");
  assert.equal(names(arranged(all, { order: ["c", "a"] })), "name c b a");
  assert.equal(names(arranged(all, { order: ["gone", "b", "a"] })), "name b a c");
  assert.equal(arranged(all, { widths: { a: 200 } })[1]?.width, 200);
  assert.equal(names(arranged([], {})), "");
});

test("a column goes where it is dropped, never before the first", () => {
  const all = [column("name"), column("a", 80), column("b", 80), column("c", 80)];
  assert.deepEqual(moved(all, "c", 1), ["c", "a", "b"]);
  assert.deepEqual(moved(all, "a", 3), ["b", "c", "a"]);
  assert.deepEqual(moved(all, "a", 0), ["a", "b", "c"]);
  assert.deepEqual(moved(all, "name", 2), ["a", "b", "c"]);
});

test("where there is no room the columns that may go first do, then the last; what stays, stays", () => {
  const all = [column("name", 100), column("a", 100, { leaves: 1 }), column("b", 100), column("c", 100, { stays: true })];
  assert.equal(leastWidth(all), 400);
  assert.equal(names(fitting(all, 400)), "name a b c");
  assert.equal(names(fitting(all, 399)), "name b c");
  assert.equal(names(fitting(all, 210)), "name c");
  assert.equal(names(fitting(all, 10)), "name c");
});

test("a column is as wide as its longest number; what takes the rest of the width still does", () => {
  assert.equal(forNumber({ name: "a", title: "a", width: 74 }, "42").width, 74);
  assert.equal(forNumber({ name: "a", title: "a", width: 74 }, "253,742").width, 78);
  assert.equal(forNumber({ name: "a", title: "a" }, "253,742").width, undefined);
});

test("keys on a head: Shift widens, Alt Shift moves, the equals sign fits; plain arrows are the table's", () => {
  const key = (name: string, held: Partial<KeyboardEvent> = {}) => headKey({ key: name, ...held } as KeyboardEvent);
  assert.deepEqual(key("ArrowRight", { shiftKey: true }), { wider: 16 });
  assert.deepEqual(key("ArrowLeft", { shiftKey: true, altKey: true }), { move: -1 });
  assert.deepEqual(key("="), { fit: true });
  assert.equal(key("ArrowRight"), undefined);
});
