import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cell, parseCells, writeCells } from "./notebook.ts";

const one: Cell = { sql: "SELECT 1" };

test("one question has an address in words, a notebook is read back as it was", () => {
  assert.deepEqual(writeCells([one]), { sql: "SELECT 1", form: undefined, x: undefined, y: undefined, cells: undefined });
  const cells: Cell[] = [
    { sql: "SELECT 1", note: "Why?", form: "bars", x: "0", y: "1" },
    { sql: "SELECT 2", note: undefined, form: undefined, x: undefined, y: undefined },
  ];
  assert.deepEqual(parseCells(writeCells(cells).cells ?? "", one), cells);
});

test("an address that holds something else is the question alone", () => {
  for (const text of ["", "{", "7", "[]", "[3]"]) assert.deepEqual(parseCells(text, one), [one]);
});
