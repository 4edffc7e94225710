import assert from "node:assert/strict";
import { test } from "node:test";
import { FOUND_STEPS, foundPicture, withFoundSteps } from "./found-steps.ts";
import type { Tracks } from "./tracks.ts";

const tracks = (kind: "steps" | "work", steps: Tracks["steps"]): Tracks => ({
  trace: { run: "", worker: "", span: "", format: "kineto", duration_ns: 100, events: 1 },
  lanes: [{ id: 1, kind, group: 0, track: 1, name: "", rows: 1, slices: 2, closed: false }],
  groups: [],
  steps,
});
const TWO = { total: 2, number: [3, 4], start: [10, 40], end: [40, 90] };

test("steps without marks get a lane of their own, on top", () => {
  const made = withFoundSteps(tracks("work", TWO));
  assert.deepEqual(
    made.lanes.map((l) => [l.id, l.kind]),
    [
      [FOUND_STEPS, "steps"],
      [1, "work"],
    ],
  );
  const p = foundPicture(made, (n) => `Step ${n}`);
  assert.deepEqual(p?.names, ["Step 3", "Step 4"]);
  assert.deepEqual([...(p?.boxes.start ?? [])], [10, 40]);
  assert.deepEqual([...(p?.boxes.end ?? [])], [40, 90]);
  assert.deepEqual([...(p?.boxes.slice ?? [])], [3, 4]);
});

test("marked steps and traces without any are left as they are", () => {
  const marked = tracks("steps", TWO);
  assert.equal(withFoundSteps(marked), marked);
  assert.equal(foundPicture(marked, String), undefined);
  const none = tracks("work", { total: 0, number: [], start: [], end: [] });
  assert.equal(withFoundSteps(none), none);
});

test("a trace of hours fits the boxes", () => {
  const hour = 3.6e12;
  const long = withFoundSteps(tracks("work", { total: 1, number: [1], start: [hour], end: [3 * hour] }));
  const p = foundPicture(long, String);
  assert.equal((p?.boxes.end[0] ?? 0) * (p?.unit ?? 0), 3 * hour);
});
