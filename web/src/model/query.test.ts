import assert from "node:assert/strict";
import { test } from "node:test";
import { placeOf } from "./query.ts";

test("a byte of a text is found in its line", () => {
  assert.deepEqual(placeOf("SELECT x", 7), { line: "SELECT x", column: 7 });
  assert.deepEqual(placeOf("SELECT\n  x,\n  y", 9), { line: "  x,", column: 2 });
  assert.deepEqual(placeOf("SELECT '中文', x", 17), { line: "SELECT '中文', x", column: 13 });
  assert.deepEqual(placeOf("SELECT", 99), { line: "SELECT", column: 6 });
});
