import assert from "node:assert/strict";
import { test } from "node:test";
import { en } from "./en.ts";
import { fill, plural } from "./fill.ts";

test("one thing is singular, everything else is plural", () => {
  assert.equal(plural(1, "step", "steps"), "step");
  assert.equal(plural("1", "step", "steps"), "step");
  for (const n of [0, 2, 21, "1,001", "≥ 65,535", "…", undefined]) assert.equal(plural(n, "step", "steps"), "steps");
});

test("each word follows its own count", () => {
  const launches = (n: number, m: number) => fill(en.fact_launches, { n, m, v: "3 ms" });
  assert.equal(launches(1, 1), "*1* launch of *1* kernel, *3 ms*");
  assert.equal(launches(16, 1), "*16* launches of *1* kernel, *3 ms*");
  assert.equal(fill(en.window_steps, { n: 1 }), "1 step");
  assert.equal(fill(en.runs_title, { n: 37 }), "37 runs");
  assert.equal(fill(en.fact_brief, { n: 1 }), "*1* launch is shorter than 5 µs");
});

test("what has no value stays as it is, and values are not filled in again", () => {
  assert.equal(fill("{a} {b}", { a: "{b}" }), "{b} {b}");
});

test("no English sentence puts a bare plural after a count", () => {
  const counted =
    /\{(?:n|m|all)\}\*? (?:\w+ )?(steps|rows|ranks|runs|calls|events|kernels|workers|tracks|hits|launches|collectives)\b/;
  const always = ["kernel_mean_words", "kernel_top_words", "late_words_worst", "tl_first_hits"]; // charts of many
  for (const [key, text] of Object.entries(en)) if (!always.includes(key)) assert.doesNotMatch(text, counted, key);
});
