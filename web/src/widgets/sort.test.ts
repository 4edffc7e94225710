import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSort, sortKeys } from "./sort.ts";

test("a click sorts falling, again rising; Shift adds a second key and keeps the first", () => {
  assert.equal(nextSort(undefined, "a", false), "a:desc");
  assert.equal(nextSort("a:desc", "a", false), "a:asc");
  assert.equal(nextSort("a:desc", "b", false), "b:desc");
  assert.equal(nextSort("a:desc", "b", true), "a:desc,b:desc");
  assert.equal(nextSort("a:desc,b:desc", "b", true), "a:desc,b:asc");
  assert.equal(nextSort("a:desc,b:desc", "a", true), "a:asc,b:desc");
  assert.deepEqual(sortKeys("a:asc,b"), [
    { name: "a", order: "asc" },
    { name: "b", order: "desc" },
  ]);
});
