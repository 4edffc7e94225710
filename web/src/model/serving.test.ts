import assert from "node:assert/strict";
import { test } from "node:test";
import { barsOf, binsOf, type Iteration, isHeldUp, overTime, type Request, rateOf } from "./serving.ts";

const iteration = (start: number, duration: number, phase: string, more: Partial<Iteration> = {}): Iteration =>
  ({ step: start, start, duration, phase, gap_before: 0, launch: 0, idle: 0, ...more }) as Iteration;
const request = (latency: number, waiting: number | null): Request =>
  ({ id: `r${latency}`, latency, waiting, ttft: latency, per_token: null }) as Request;

test("a bar for each iteration, or the mean of some that follow each other", () => {
  const rows = [iteration(0, 100, "prefill", { idle: 10 }), iteration(120, 40, "decode", { gap_before: 20 })];
  const each = barsOf(rows, 10);
  assert.deepEqual(
    each.map((b) => [b.n, b.work, b.wait]),
    [
      [1, { prefill: 90 }, 10],
      [1, { decode: 40 }, 20],
    ],
  );
  const [both] = barsOf(rows, 1);
  assert.deepEqual([both?.n, both?.work, both?.wait], [2, { prefill: 45, decode: 20 }, 15]);
});

test("a row counts in the stretches of time that it runs in", () => {
  const rows = [iteration(0, 10, "decode"), iteration(10, 20, "decode"), iteration(30, 10, "decode")];
  const series = overTime(rows, 4, (i) => [1, 2, 4][i]);
  assert.deepEqual(series, [
    [5, 1],
    [15, 2],
    [25, 2],
    [35, 4],
  ]);
  assert.deepEqual(
    overTime([], 4, () => 1),
    [],
  );
});

test("tokens per second add up to the tokens", () => {
  const rows = [iteration(0, 3e8, "decode"), iteration(5e8, 5e8, "decode")];
  const series = rateOf(rows, 7, () => 21);
  const tokens = series.reduce((sum, [, v]) => sum + (v ?? 0) / 7, 0);
  assert.ok(Math.abs(tokens - 42) < 1e-6, String(tokens));
});

test("every request is in one bin, and what is not known in none", () => {
  const rows = [request(100, 10), request(1000, 900), request(10000, null)];
  const bins = binsOf(rows, "latency", 8);
  assert.equal(
    bins.reduce((n, b) => n + b.requests.length, 0),
    3,
  );
  assert.equal(bins[0]?.requests[0]?.id, "r100");
  assert.equal(bins[7]?.requests[0]?.id, "r10000");
  assert.deepEqual(binsOf(rows, "per_token", 8), []);
  assert.equal(binsOf([request(5, 0), request(5, 0)], "ttft", 4)[0]?.requests.length, 2);
});

test("a request is held up when it waits for others most of its time", () => {
  assert.deepEqual([request(100, 51), request(100, 50), request(100, null)].map(isHeldUp), [true, false, false]);
});
