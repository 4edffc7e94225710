import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "./en.ts";
import { zh } from "./zh.ts";

const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

test("both languages have the same keys and fill in the same values", () => {
  assert.deepEqual(Object.keys(zh).sort(), Object.keys(en).sort());
  for (const [key, text] of Object.entries(en)) assert.deepEqual(holes(zh[key as keyof typeof en]), holes(text), key);
});

test("no string is empty, and bold marks come in pairs", () => {
  for (const table of [en, zh])
    for (const [key, text] of Object.entries(table)) {
      assert.notEqual(text.trim(), "", key);
      assert.equal((text.match(/\*/g) ?? []).length % 2, 0, key);
    }
});
