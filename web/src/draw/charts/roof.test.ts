import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf, placeLabels } from "./roof.tsx";

test("an axis has whole decades around all values, the highest where there are too many", () => {
  const a = axisOf([0.02, 793, 206 * 3], 1);
  assert.deepEqual([a.min, a.max], [0.01, 1000]);
  assert.deepEqual(
    a.marks.map((m) => Math.round(Math.log10(m))),
    [-2, -1, 0, 1, 2, 3],
  );
  const b = axisOf([878e3, 989e12], 1e9, 6);
  assert.deepEqual([b.min, b.max], [1e9, 1e15]);
  const none = axisOf([0, Number.NaN], 1);
  assert.ok(none.min > 0 && none.max > none.min && Number.isFinite(none.max));
});

test("labels keep off each other, off larger points, off the roofs' and inside", () => {
  const at = (x: number, y: number, label: string, r = 3) => ({ x, y, r, label });
  const list = [at(10, 50, "mm", 10), at(12, 52, "add"), at(200, 50, "sum"), at(400, 50, "layer_norm"), at(10, 200, "pow")];
  const placed = placeLabels(list, [{ x: 190, y: 54, w: 80 }], [0, 440], 8).map((l) => l.label);
  assert.deepEqual(placed, ["mm", "layer_norm", "pow"]);
  assert.deepEqual(placeLabels(list, [], [0, 1000], 1).length, 1);
});

test("no label is drawn over a circle, however large and in whatever order", () => {
  const list = Array.from({ length: 30 }, (_, i) => ({
    x: 60 + ((i * 37) % 300),
    y: 60 + ((i * 53) % 120),
    r: 16 - i / 2,
    label: `operator_${i}`,
  }));
  const placed = placeLabels(list, [], [0, 500], 8);
  assert.ok(placed.length >= 3);
  for (const l of placed)
    for (const p of list.filter((o) => o.label !== l.label)) {
      const [x, y] = [Math.min(l.x + l.w, Math.max(l.x, p.x)), Math.min(l.y, Math.max(l.y - 9, p.y))];
      assert.ok(Math.hypot(x - p.x, y - p.y) >= Math.min(p.r, 12) - 3, `${l.label} lies on ${p.label}`);
    }
});
