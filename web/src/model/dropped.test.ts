import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalOf, waysOf } from "./dropped.ts";

test("files are refused before a byte is sent: by a server that takes none, and beyond what is left", () => {
  assert.equal(refusalOf([1], null), "off");
  assert.equal(refusalOf([1], undefined), "off");
  assert.equal(refusalOf([60, 41], { used: 0, limit: 100 }), "large");
  assert.equal(refusalOf([60], { used: 41, limit: 100 }), "large");
  assert.equal(refusalOf([60, 40], { used: 0, limit: 100 }), undefined);
});

test("a folder is the run; several folders get one around them", () => {
  assert.deepEqual(waysOf(["a.json", "b.json"]), ["a.json", "b.json"]);
  assert.deepEqual(waysOf(["job/rank0/t.json", "job/rank1/t.json"]), ["job/rank0/t.json", "job/rank1/t.json"]);
  assert.deepEqual(waysOf(["rank0/t.json", "rank1/t.json"]), ["dropped/rank0/t.json", "dropped/rank1/t.json"]);
  assert.deepEqual(waysOf(["rank0/t.json", "t.json"]), ["dropped/rank0/t.json", "dropped/t.json"]);
});
