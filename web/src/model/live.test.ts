import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunInfo, SpanInfo } from "../api/types.ts";
import { liveOf } from "./live.ts";

const span = (growing: boolean, steps?: number): SpanInfo => ({
  number: 1,
  stamp: null,
  bytes: 1,
  date: "0",
  state: growing ? "growing" : "ready",
  growing,
  share: 1,
  error: null,
  facts:
    steps === undefined
      ? null
      : { format: "", events: 1, duration: 1, start_unix_ns: null, steps, mean_step: 1, damaged: false, verdict: null },
});
const run = (recording: RunInfo["recording"], ...spans: SpanInfo[]): RunInfo => ({
  name: "a",
  path: "",
  date: "0",
  ranks: 0,
  recording,
  workers: [{ name: "w", rank: null, role: "trace", owner: null, spans }],
});

test("a run is not finished while it is recorded, or while one of its files is written", () => {
  assert.equal(liveOf(undefined), undefined);
  assert.equal(liveOf(run(null, span(false, 5))), undefined);
  assert.deepEqual(liveOf(run(null, span(false, 5), span(true))), { recorded: false, steps: 5 });
  assert.deepEqual(liveOf(run(null, span(true))), { recorded: false, steps: undefined });
  assert.deepEqual(liveOf(run({ processes: 1, steps: 0 }, span(false))), { recorded: true, steps: 0 });
});

test("the steps of a recording are the most that are known", () => {
  assert.equal(liveOf(run({ processes: 1, steps: 90 }, span(true, 40)))?.steps, 90);
  assert.equal(liveOf(run({ processes: 1, steps: 30 }, span(true, 40)))?.steps, 40);
});
