import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "./en.ts";
import { enCode } from "./en-code.ts";
import { enCompare } from "./en-compare.ts";
import { enHistory } from "./en-history.ts";
import { enServing } from "./en-serving.ts";
import { enWhy } from "./en-why.ts";
import { zh } from "./zh.ts";
import { zhCode } from "./zh-code.ts";
import { zhCompare } from "./zh-compare.ts";
import { zhHistory } from "./zh-history.ts";
import { zhServing } from "./zh-serving.ts";
import { zhWhy } from "./zh-why.ts";

const TABLES: readonly [Record<string, string>, Record<string, string>][] = [
  [en, zh],
  [enCode, zhCode],
  [enCompare, zhCompare],
  [enHistory, zhHistory],
  [enServing, zhServing],
  [enWhy, zhWhy],
];

const holes = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).sort();

test("both languages have the same keys and fill in the same values", () => {
  for (const [english, chinese] of TABLES) {
    assert.deepEqual(Object.keys(chinese).sort(), Object.keys(english).sort());
    for (const [key, text] of Object.entries(english)) assert.deepEqual(holes(chinese[key] ?? ""), holes(text), key);
  }
});

test("no string is empty, and bold marks come in pairs", () => {
  for (const table of TABLES.flat())
    for (const [key, text] of Object.entries(table)) {
      assert.notEqual(text.trim(), "", key);
      assert.equal((text.match(/\*/g) ?? []).length % 2, 0, key);
    }
});
