import assert from "node:assert/strict";
import { test } from "node:test";
import { pieceAt, runsOf } from "./path-strip.tsx";

const chain = (...parts: readonly (readonly [number, string])[]) => {
  let start = 0;
  return parts.map(([duration, fill]) => {
    const piece = { start, duration, fill };
    start += duration;
    return piece;
  });
};

test("pieces are drawn where they are and fill the strip", () => {
  const runs = runsOf(chain([50, "a"], [25, "b"], [25, "a"]), 100, 20);
  assert.deepEqual(
    runs.map((r) => [r.x, r.width, r.fill]),
    [
      [0, 10, "a"],
      [10, 5, "b"],
      [15, 5, "a"],
    ],
  );
});

test("of pieces that share a pixel the one with the most of it is drawn", () => {
  const many = Array.from({ length: 100 }, (_, i) => [i % 2 ? 3 : 7, i % 2 ? "b" : "a"] as const);
  const runs = runsOf(chain(...many), 500, 10);
  assert.deepEqual(runs, [{ x: 0, width: 10, fill: "a" }]);
});

test("every piece is found by its time", () => {
  const pieces = chain([50, "a"], [25, "b"], [25, "a"]);
  assert.deepEqual(
    [-5, 0, 49, 50, 74, 75, 1000].map((t) => pieceAt(pieces, t)),
    [0, 0, 0, 1, 1, 2, 2],
  );
});
