import assert from "node:assert/strict";
import { test } from "node:test";
import { colorPlaces } from "./memory-colors.ts";

test("a name has the same color in every picture, and no two of the first twelve share one", () => {
  const alive = colorPlaces(["conv", "relu"], ["relu", "add"]);
  const map = colorPlaces(["conv", "relu"], ["add", "conv"]);
  for (const name of ["conv", "relu", "add"]) assert.equal(alive.get(name), map.get(name), name);
  assert.equal(new Set(alive.values()).size, 3);
});
