import assert from "node:assert/strict";
import { test } from "node:test";
import type { Runs } from "../api/types.ts";
import { enCompare } from "../text/en-compare.ts";
import { runs } from "./answers.ts";
import { candidates, isSameTrace, sides, windowOf } from "./compare.ts";
import { parsePlace, place } from "./route.ts";

const worker = (name: string, role: string, rank: number | null = null) => ({ name, role, rank, owner: null, spans: [] });
const run = (name: string, ranks: number, ...workers: ReturnType<typeof worker>[]) => ({
  name,
  path: "",
  date: "0",
  ranks,
  workers,
});

runs.value = {
  runs: [
    run("old", 0, worker("w0", "trace")),
    run("new", 0, worker("w1", "trace")),
    run("folder", 0, worker("x", "trace"), worker("y", "trace")),
    run("job", 2, worker("rank0", "rank", 0), worker("rank1", "rank", 1)),
  ],
} as unknown as Runs;

/** Run, worker and name of both sides of an address. */
function said(address: string): string[] | undefined {
  place.value = parsePlace(address);
  return sides.value?.flatMap((s) => [s.run, s.worker, s.name]);
}

test("two runs are named by their runs, traces of one folder by themselves, one trace by its steps", () => {
  assert.deepEqual(said("#/compare?run=old&other=new"), ["old", "w0", "old", "new", "w1", "new"]);
  assert.deepEqual(said("#/compare?run=folder&worker=y&other_worker=x"), ["folder", "y", "y", "folder", "x", "x"]);
  assert.deepEqual(said("#/compare?run=old&other=old&step=1..2&other_step=7"), [
    "old",
    "w0",
    "steps 1..2",
    "old",
    "w0",
    "step 7",
  ]);
});

test("the second side has the worker of the first, where its run has one of that name", () => {
  assert.deepEqual(said("#/compare?run=job&worker=rank1&other=job&step=1&other_step=2")?.[4], "rank1");
  assert.deepEqual(said("#/compare?run=old&other=job")?.[4], "rank0");
});

test("without a second run there are no sides; a trace is not compared with itself, but for other steps", () => {
  assert.equal(said("#/compare?run=old"), undefined);
  assert.equal(said("#/compare?run=old&other=gone"), undefined);
  said("#/compare?run=old&other=old");
  assert.ok(sides.value && isSameTrace(sides.value));
  said("#/compare?run=old&other=old&step=1&other_step=2");
  assert.ok(sides.value && !isSameTrace(sides.value));
  assert.deepEqual([windowOf("A"), windowOf("B")], ["1", "2"]);
});

test("a job is one candidate, traces of a folder are one each", () => {
  assert.deepEqual(
    candidates().map((x) => x.label),
    ["old", "new", "x", "y", "job"],
  );
});

test("every cause of the program has a word", () => {
  const ids =
    "work_added work_removed work_replaced shapes_changed other_kernels kernel_time graph_launch communication synchronization";
  for (const id of `${ids} data_wait memory host_gap host_call host_speed unexplained`.split(" "))
    assert.ok(`cause_${id}` in enCompare, id);
});
