import assert from "node:assert/strict";
import { test } from "node:test";
import { numberedSteps, otherSteps, parseSteps, type Tape, tapeSpan, writeSteps } from "./steps.ts";

test("open ends of a range of steps are the first and the last step", () => {
  assert.deepEqual(parseSteps("3..", [2, 3, 4]), [3, 4]);
  assert.deepEqual(parseSteps("..3", [2, 3, 4]), [2, 3]);
  assert.deepEqual(parseSteps("3", [2, 3, 4]), [3, 3]);
  assert.equal(parseSteps("", [2, 3, 4]), undefined);
});

test("a range is written low to high, one step as itself", () => {
  assert.equal(writeSteps(4, 2), "2..4");
  assert.equal(writeSteps(3, 3), "3");
});

const tapeOf = (to: number, steps: [number, number][]): Tape => ({
  from: 0,
  to,
  width: 1200,
  device: [],
  communication: [],
  data: [],
  host: [],
  numbers: steps.map((_, i) => i),
  starts: steps.map((s) => s[0]),
  ends: steps.map((s) => s[1]),
});

test("one stray event does not stretch the tape: it is cut to the steps", () => {
  const steps: [number, number][] = [
    [1000, 1500],
    [1500, 2000],
  ];
  assert.deepEqual(tapeSpan(tapeOf(453_000, steps)), { from: 970, to: 2030 });
  assert.deepEqual(tapeSpan(tapeOf(2100, [[0, 2000]])), { from: 0, to: 2100 });
  assert.deepEqual(tapeSpan(tapeOf(2100, [])), { from: 0, to: 2100 });
});

test("numbers on the tape are round and never lie over each other", () => {
  const list = Array.from({ length: 100 }, (_, i) => i + 1);
  const shown = (width: number) => [...numberedSteps(list, (i) => (i / 100) * width, 34)].map((i) => list[i]);
  assert.deepEqual(shown(1000).slice(0, 4), [5, 10, 15, 20]);
  assert.deepEqual(shown(340), [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
  assert.deepEqual(shown(10), [1]); // none of them is round: the first has room
  assert.deepEqual(shown(0), [100]);
  assert.deepEqual([...numberedSteps([41, 42, 43], (i) => i * 300, 34)], [0, 1, 2]);
  assert.deepEqual([...numberedSteps([41, 43], () => 0, 34)].length, 1);
});

test("steps that are not there are told from those that are, in part or as a whole", () => {
  const there = { n: 3, first: 2, last: 4 };
  for (const text of ["99", "5..", "..1", "7..9", "abc", "4..2"]) assert.deepEqual(otherSteps(text, [2, 3, 4]), there, text);
  for (const text of ["2", "4..9", "..2", "3.."]) assert.equal(otherSteps(text, [2, 3, 4]), undefined, text);
  assert.deepEqual(otherSteps("3", []), { n: 0, first: 0, last: 0 });
});
