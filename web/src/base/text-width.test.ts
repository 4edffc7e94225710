import assert from "node:assert/strict";
import { test } from "node:test";
import { cutEnd, textWidth } from "./text-width.ts";

test("a text that fits stays whole, one that does not ends in dots and fits", () => {
  assert.equal(cutEnd("Device", 60), "Device");
  const cut = cutEnd("SingleProcessDataLoaderIter", 90);
  assert.match(cut, /^SingleProc.*…$/);
  assert.ok(textWidth(cut) <= 90);
});

test("Chinese letters take the room of two", () => {
  assert.ok(Math.abs(textWidth("显存") - 2 * textWidth("ab")) < 1);
  assert.equal(cutEnd("显存分配曲线", 60), "显存分配…");
});

test("where less than two letters fit, nothing is said", () => {
  assert.equal(cutEnd("convolution", 14), "");
});
