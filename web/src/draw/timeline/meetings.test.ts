import assert from "node:assert/strict";
import { test } from "node:test";
import { drawnMeetings, type Meeting } from "./meetings.ts";

const meeting = (first: number, span: number): Meeting => ({ name: "x", step: 1, first, span, last: 1, arrivals: [] });

test("only collectives in view are drawn, of too many those whose members came most apart", () => {
  const all = Array.from({ length: 100 }, (_, i) => meeting(i * 10, i));
  const scene = { range: { from: 500, to: 1000 }, width: 1000 };
  assert.equal(drawnMeetings(all, scene).length, 54); // 50 begin there, 4 before and reach into it
  const few = drawnMeetings(all, { ...scene, width: 30 });
  assert.deepEqual(
    few.map((m) => m.span),
    [99, 98, 97],
  );
});
