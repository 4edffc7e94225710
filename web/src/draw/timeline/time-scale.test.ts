import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clampRange,
  covers,
  fitRange,
  pointLabel,
  reveal,
  SHORTEST,
  tickLabel,
  ticksOf,
  toTime,
  toX,
  wantedFor,
  zoomAround,
} from "./time-scale.ts";

const WHOLE = 279_600_000;

test("a time goes to a pixel and back", () => {
  const r = { from: 1_000_000, to: 9_000_000 };
  for (const x of [0, 1, 400.5, 1070]) assert.ok(Math.abs(toX(r, 1070, toTime(r, 1070, x)) - x) < 1e-9);
});

test("zooming keeps the time under the pointer where it is", () => {
  const r = { from: 100e6, to: 110e6 };
  for (const factor of [0.5, 0.9, 1.7]) {
    const at = 103e6;
    const z = zoomAround(r, at, factor, WHOLE);
    assert.ok(Math.abs(toX(z, 1000, at) - toX(r, 1000, at)) < 1e-6);
  }
});

test("zooming ends at the shortest range and at the whole trace", () => {
  assert.equal(
    Math.round(
      zoomAround({ from: 1000, to: 1200 }, 1100, 0.001, WHOLE).to - zoomAround({ from: 1000, to: 1200 }, 1100, 0.001, WHOLE).from,
    ),
    SHORTEST,
  );
  const all = zoomAround({ from: 0, to: WHOLE }, 5e6, 100, WHOLE);
  assert.ok(all.from <= 0 && all.to >= WHOLE && all.to - all.from <= WHOLE * 1.05);
});

test("a range never leaves the trace by more than its margin", () => {
  assert.ok(clampRange({ from: -1e9, to: -0.9e9 }, WHOLE).from >= -0.02 * WHOLE - 1);
  assert.ok(clampRange({ from: 1e12, to: 1e12 + 1e6 }, WHOLE).to <= 1.02 * WHOLE + 1);
});

test("revealing what is seen moves nothing, what is not seen comes to the middle", () => {
  const r = { from: 10e6, to: 20e6 };
  assert.equal(reveal(r, 12e6, 13e6, WHOLE), r);
  const moved = reveal(r, 50e6, 51e6, WHOLE);
  assert.ok(Math.abs((moved.from + moved.to) / 2 - 50.5e6) < 1);
  assert.equal(moved.to - moved.from, 10e6);
});

test("ticks are 1, 2 or 5 times a power of ten and far enough apart", () => {
  for (const length of [137, 4_321, 98_765, 7_600_000, 93_900_000, 5e10]) {
    const r = { from: 0, to: length };
    const { step, count } = ticksOf(r, 1070, 112);
    assert.ok((step / length) * 1070 >= 111.8);
    assert.ok(count >= 2 && count <= 10);
    assert.match((step / 10 ** Math.floor(Math.log10(step) + 1e-9)).toFixed(3), /^[125]\.000$/);
  }
});

test("the time at the pointer has the digits a pixel tells apart", () => {
  assert.equal(pointLabel({ from: 277e6, to: 288e6 }, 1000, 500), "282.50 ms"); // 11 µs a pixel
  assert.equal(pointLabel({ from: 0, to: 6e8 }, 1000, 500), "300.0 ms");
  assert.equal(pointLabel({ from: 1e9, to: 1e9 + 1000 }, 1000, 500), "1.000000500 s");
});

test("a label has the unit of the view and the digits of the step", () => {
  assert.equal(tickLabel(102e6, 1e6, 108e6), "102 ms");
  assert.equal(tickLabel(105_750_000, 50_000, 106e6), "105.75 ms");
  assert.equal(tickLabel(1_234_500_000_000, 1e8, 1.3e12), "1,234.5 s");
  assert.equal(tickLabel(700, 100, 900), "700 ns");
});

test("small pans ask for the same, so nothing is asked again", () => {
  const length = 7_600_000;
  const first = wantedFor({ from: 101e6, to: 101e6 + length }, 1070, WHOLE, 0.5);
  for (const shift of [0.01, 0.1, 0.2]) {
    const r = { from: 101e6 + shift * length, to: 101e6 + length + shift * length };
    assert.ok(covers(first, r, WHOLE, 0.125));
    assert.equal(wantedFor(r, 1070, WHOLE, 0.5).bucket, first.bucket);
  }
  assert.ok(!covers(first, { from: 101e6 + length, to: 101e6 + 2 * length }, WHOLE));
});

test("requests lie on a grid of powers of two and stay within the server's width", () => {
  for (let length = 200; length < WHOLE; length *= 1.7) {
    const w = wantedFor({ from: 3e6, to: 3e6 + length }, 1900, WHOLE, 0.5);
    assert.ok(w.width >= 1 && w.width <= 8192);
    assert.ok(Number.isInteger(Math.log2(w.bucket)));
    const grid = 2 ** Math.max(0, Math.ceil(Math.log2(length / 8)));
    assert.equal(w.from % grid, 0);
    assert.ok(w.to === WHOLE || w.to % grid === 0);
    assert.ok(w.from <= 3e6 && w.to >= Math.min(WHOLE, 3e6 + length));
  }
});

test("fitting leaves air at both sides", () => {
  const r = fitRange(100e6, 101e6, WHOLE);
  assert.ok(r.from < 100e6 && r.to > 101e6);
});
