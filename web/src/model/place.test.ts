import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePlace, writePlace } from "./place.ts";

test("an address read and written again is the same", () => {
  const hash = "#/operators?run=resnet&step=3..4&sort=device_self:desc&q=conv";
  assert.equal(writePlace(parsePlace(hash)), hash);
});

test("an empty address is the overview", () => {
  assert.equal(parsePlace("").view, "overview");
  assert.equal(writePlace(parsePlace("")), "#/overview");
});
