import assert from "node:assert/strict";
import { test } from "node:test";
import { knownPlace, parsePlace, writePlace } from "./route.ts";

test("an address read and written again is the same", () => {
  const hash = "#/operators?run=resnet&step=3..4&sort=device_self:desc&q=conv";
  assert.equal(writePlace(parsePlace(hash)), hash);
});

test("an empty address is the overview", () => {
  assert.equal(parsePlace("").view, "overview");
  assert.equal(writePlace(parsePlace("")), "#/overview");
});

test("pluses, blanks, percent signs and names in any script survive", () => {
  for (const value of ["name+shape", "a b", "100 %", "aten::mm", "a&b=c#d?e", "看这里 1-2|x", "%zz", "x/y,z"]) {
    const text = writePlace({ view: "operators", params: new Map([["q", value]]) });
    assert.equal(parsePlace(text).params.get("q"), value, text);
  }
});

test("an address with a broken escape is read as it stands", () => {
  assert.equal(parsePlace("#/operators?q=50%&run=a").params.get("q"), "50%");
});

test("a view that does not exist becomes the overview, with all else of the address", () => {
  assert.equal(writePlace(knownPlace(parsePlace("#/bogus?run=a&step=3"))), "#/overview?run=a&step=3");
  const there = parsePlace("#/memory?run=a");
  assert.equal(knownPlace(there), there);
});
