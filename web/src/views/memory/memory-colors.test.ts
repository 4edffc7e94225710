import assert from "node:assert/strict";
import { test } from "node:test";
import { colorPlaces } from "./memory-colors.ts";

test("a name has the same color in every picture, and no two of the first twelve share one", () => {
  const alive = colorPlaces(["conv", "relu"], ["relu", "add"]);
  const map = colorPlaces(["conv", "relu"], ["add", "conv"]);
  for (const name of ["conv", "relu", "add"]) assert.equal(alive.get(name), map.get(name), name);
  assert.equal(new Set(alive.values()).size, 3);
});

test("a picture of twelve names has twelve colors, however many hold memory at the peak", () => {
  const held = Array.from({ length: 15 }, (_, i) => `held ${i}`);
  const shown = ["held 1", "held 3", "held 13", "held 14", ...Array.from({ length: 8 }, (_, i) => `other ${i}`)];
  const places = colorPlaces(held, shown);
  assert.deepEqual([places.get("held 1"), places.get("held 3")], [1, 3]);
  assert.equal(new Set(shown.map((name) => (places.get(name) ?? 0) % 12)).size, 12);
});
