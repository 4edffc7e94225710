import assert from "node:assert/strict";
import { test } from "node:test";
import { placeLabels } from "./step-lanes.tsx";

const spot = (left: number, right: number, label = "40.0 µs") => ({ left, right, label });

test("a label stands in its box, else after it, else before it, never beyond the picture", () => {
  assert.deepEqual(placeLabels([spot(100, 200)], [0, 400], true), [{ of: 0, at: 106, inside: true }]);
  assert.deepEqual(placeLabels([spot(100, 110)], [0, 400], true), [{ of: 0, at: 115, inside: false }]);
  const [last] = placeLabels([spot(380, 399)], [0, 400], true);
  assert.ok(last && last.at < 380 && !last.inside);
});

test("labels of neighbors do not lie on each other, nor on boxes; one that has no room is left out", () => {
  const found = placeLabels([spot(100, 110), spot(130, 140)], [0, 400], true);
  assert.deepEqual(
    found.map((f) => f.at < 100 || f.at > 140),
    [true, true],
  );
  assert.deepEqual(placeLabels([spot(0, 10), spot(14, 24), spot(28, 400)], [0, 400], true), [{ of: 2, at: 34, inside: true }]);
  assert.deepEqual(placeLabels([spot(100, 110)], [0, 400], false), []);
});
