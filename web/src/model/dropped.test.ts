import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalOf } from "./dropped.ts";

test("files are refused before a byte is sent: by a server that takes none, and beyond what is left", () => {
  assert.equal(refusalOf([1], null), "off");
  assert.equal(refusalOf([1], undefined), "off");
  assert.equal(refusalOf([60, 41], { used: 0, limit: 100 }), "large");
  assert.equal(refusalOf([60], { used: 41, limit: 100 }), "large");
  assert.equal(refusalOf([60, 40], { used: 0, limit: 100 }), undefined);
});
