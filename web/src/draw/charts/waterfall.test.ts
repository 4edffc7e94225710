import assert from "node:assert/strict";
import { test } from "node:test";
import { placeParts } from "./mirrored.tsx";
import { levelsOf, lowOf } from "./waterfall.tsx";

test("changes lead from the first value to the last without a gap", () => {
  assert.deepEqual(levelsOf(10, [{ change: 5 }, { change: -3 }, { change: 0 }]), [10, 15, 12, 12]);
});

test("the scale begins at zero when the changes are large, else near the smallest value", () => {
  assert.equal(lowOf([10, 20]), 0);
  const low = lowOf([100, 103, 101]);
  assert.ok(low > 90 && low < 100, String(low));
  assert.ok(lowOf([100, 100]) < 100);
});

test("both bars have one scale, that of the longer one", () => {
  const part = (id: string, a: number, b: number) => ({ id, label: id, fill: "", a, b });
  const [x, y] = placeParts([part("x", 10, 20), part("y", 10, 30)], 100);
  assert.deepEqual(
    [x?.a, x?.b],
    [
      [0, 20],
      [0, 40],
    ],
  );
  assert.deepEqual(
    [y?.a, y?.b],
    [
      [20, 40],
      [40, 100],
    ],
  );
});
