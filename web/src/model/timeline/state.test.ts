import assert from "node:assert/strict";
import { test } from "node:test";
import { enTimeline } from "../../text/en-timeline.ts";
import { zhTimeline } from "../../text/zh-timeline.ts";
import { parseNotes, writeNotes } from "./notes.ts";
import { parseRange } from "./state.ts";

test("notes written into the address come back", () => {
  const notes = [
    { time: 100, end: 200, text: "slow here" },
    { time: 5, end: 5, text: "看这里" },
  ];
  assert.deepEqual(parseNotes(writeNotes(notes)), notes);
  assert.deepEqual(parseNotes(""), []);
  assert.deepEqual(parseNotes("rubbish|7 fine"), [{ time: 7, end: 7, text: "fine" }]);
});

test("a range that is none is not taken", () => {
  assert.deepEqual(parseRange("5-9"), { from: 5, to: 9 });
  for (const bad of ["", "9-5", "x-y", "5"]) assert.equal(parseRange(bad), undefined);
});

test("both languages fill in the same places", () => {
  const places = (text: string) =>
    [...text.matchAll(/\{(\w+)\}/g)]
      .map((m) => m[1])
      .sort()
      .join();
  for (const [key, text] of Object.entries(enTimeline))
    assert.equal(places(zhTimeline[key as keyof typeof enTimeline]), places(text), key);
});
