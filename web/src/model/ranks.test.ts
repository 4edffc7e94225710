import assert from "node:assert/strict";
import { test } from "node:test";
import { callsOf, measureOf, stepCells, timesLast, worstAndMedian } from "./ranks.ts";

const row = (name: string, rank: number, step: number, start: number, late_by: number) => ({
  group: null,
  sequence: null,
  name,
  rank,
  step,
  start,
  late_by,
  duration: 100 - late_by,
  worker: `w${rank}`,
});

const arrivals = [
  row("all_reduce", 0, 3, 50, 0),
  row("broadcast", 1, 2, 17, 7),
  row("broadcast", 0, 2, 10, 0),
  row("all_reduce", 1, 3, 51, 1),
  row("broadcast", 1, 2, 20, 0),
  row("broadcast", 0, 2, 25, 5),
];

test("arrivals with the same first moment are one call, calls are numbered in their step", () => {
  const calls = callsOf(arrivals);
  assert.deepEqual(
    calls.map((c) => [c.name, c.step, c.place, c.members.size, c.last, c.span]),
    [
      ["broadcast", 2, 1, 2, 1, 7],
      ["broadcast", 2, 2, 2, 0, 5],
      ["all_reduce", 3, 1, 2, 1, 1],
    ],
  );
});

test("who is early waits for the last; a rank that was not there has no value", () => {
  const [first] = callsOf(arrivals);
  assert.ok(first);
  assert.equal(measureOf(first, 0, "waiting"), 7);
  assert.equal(measureOf(first, 1, "waiting"), 0);
  assert.equal(measureOf(first, 1, "late_by"), 7);
  assert.equal(measureOf(first, 0, "duration"), 100);
  assert.equal(measureOf(first, 9, "late_by"), null);
});

test("the last to arrive is counted by name", () => {
  const calls = callsOf(arrivals);
  assert.deepEqual(timesLast(calls, 1, "broadcast"), { last: 1, of: 2 });
  assert.deepEqual(timesLast(calls, 1, "all_reduce"), { last: 1, of: 1 });
});

test("of many rows the worst and the median are kept", () => {
  const rows = Array.from({ length: 40 }, (_, i) => ({ rank: i, waiting: i }));
  const kept = worstAndMedian(rows, (r) => Number(r.waiting));
  assert.equal(kept.length, 17);
  assert.equal(kept[0]?.row.rank, 39);
  assert.deepEqual(kept[16], { row: { rank: 19, waiting: 19 }, median: true });
  const named = worstAndMedian(rows, (r) => Number(r.waiting), 3);
  assert.deepEqual([named.length, named[0]?.row.rank, named[1]?.row.rank], [17, 3, 39]);
  assert.equal(worstAndMedian(rows.slice(0, 17), (r) => Number(r.waiting)).length, 17);
});

test("what is absent is neither late by zero nor a cell of zero", () => {
  const [first] = callsOf([
    { ...row("all_reduce", 0, 1, 10, 0), duration: null },
    { ...row("all_reduce", 1, 1, 10, 0), late_by: null },
  ]);
  assert.equal(first?.members.size, 1);
  assert.equal(first && measureOf(first, 0, "duration"), null);
  const columns = ["worker", "rank", "step", "late"].map((name) => ({ name, type: "int" as const }));
  const map = stepCells({ columns, rows: [["a", 0, 1, null]], total_rows: 1 }, "late", false);
  assert.deepEqual([...map.cells], [Number.NaN]);
});

test("cells of ranks and steps: missing ones are none, the worst first when asked", () => {
  const column = (name: string) => ({ name, type: "int" as const });
  const table = {
    columns: [column("worker"), column("rank"), column("step"), column("late"), column("cause")],
    rows: [
      ["a", 0, 1, 0, null],
      ["a", 0, 2, 5, "data"],
      ["b", 1, 2, 70, "host"],
    ],
    total_rows: 3,
  };
  const map = stepCells(table as never, "late", false);
  assert.deepEqual(map.ranks, [0, 1]);
  assert.deepEqual(map.steps, [1, 2]);
  assert.deepEqual([...map.cells], [0, 5, Number.NaN, 70]);
  assert.equal(map.max, 70);
  assert.equal(map.causes.get("1 1"), "host");
  assert.deepEqual(stepCells(table as never, "late", true).ranks, [1, 0]);
  assert.deepEqual(stepCells(undefined, "late", true).ranks, []);
});
