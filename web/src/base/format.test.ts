import assert from "node:assert/strict";
import { test } from "node:test";
import { chartScale, exact, inScale, parseTime, percent, scaleOf, short, thousands, tick } from "./format.ts";

test("sentences have three significant digits and a unit", () => {
  assert.equal(short(67_312_345, "ns"), "67.3\u2009ms");
  assert.equal(short(812, "ns"), "812\u2009ns");
  assert.equal(short(1_234_567_890, "ns"), "1.23\u2009s");
  assert.equal(short(150_109_880_320, "bytes"), "140\u2009GiB");
  assert.equal(short(0.904, "share"), "90\u2009%");
  assert.equal(short(0.024, "share"), "2.4\u2009%");
  assert.equal(short(151630, "count"), "151,630");
});

test("a column has one unit, that of its largest value", () => {
  const s = scaleOf("ns", 67_312_345);
  assert.equal(s.unit, "ms");
  assert.equal(inScale(67_312_345, s), "67.31");
  assert.equal(inScale(16_000, s), "0.02");
  assert.equal(inScale(16, s), "<0.01");
  assert.equal(inScale(0, s), "0.00");
  // The unit changes at one: no column of 5,863.9 µs or 4,210.0 MiB.
  const ms = scaleOf("ns", 5_863_900);
  assert.deepEqual([ms.unit, inScale(5_863_900, ms), inScale(4_100, ms)], ["ms", "5.864", "0.004"]);
  const gib = scaleOf("bytes", 4210 * 2 ** 20);
  assert.deepEqual([gib.unit, inScale(4210 * 2 ** 20, gib)], ["GiB", "4.111"]);
});

test("a chart speaks of its largest value as a person would", () => {
  assert.deepEqual(chartScale("ns", 2_860_000), { factor: 1e6, unit: "ms", digits: 2 });
  assert.deepEqual(chartScale("ns", 93_000_000), { factor: 1e6, unit: "ms", digits: 1 });
});

test("exact values keep every digit", () => {
  assert.equal(exact(67_312_345, "ns"), "67,312,345\u2009ns");
  assert.equal(thousands(1_234_567), "1,234,567");
});

test("times are read with any unit, and what is no time is none", () => {
  assert.equal(parseTime("12.5 ms"), 12_500_000);
  assert.equal(parseTime("12.5"), 12_500_000);
  assert.equal(parseTime("800us"), 800_000);
  assert.equal(parseTime("1,200 µs"), 1_200_000);
  assert.equal(parseTime(".5s"), 500_000_000);
  for (const bad of ["", "ms", "5 kg", "-3 ms", "1.2.3"]) assert.equal(parseTime(bad), undefined, bad);
});

test("what is absent is a dash, never a zero", () => {
  for (const absent of [null, undefined]) {
    assert.equal(short(absent, "ns"), "–");
    assert.equal(short(absent, "share"), "–");
    assert.equal(exact(absent, "bytes"), "–");
    assert.equal(thousands(absent), "–");
    assert.equal(percent(absent), "–");
    assert.equal(inScale(absent, scaleOf("ns", 5e6)), "–");
  }
  assert.equal(short(0, "ns"), "0\u2009ns");
});

test("an axis has no zeros at the end of its numbers", () => {
  const s = scaleOf("bytes", 1.5 * 2 ** 30);
  assert.deepEqual(
    [0, 0.5, 1, 1.5].map((v) => tick(v * 2 ** 30, s)),
    ["0", "0.5", "1", "1.5"],
  );
});
