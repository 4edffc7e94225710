import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf, wantedUrls } from "./opened.ts";

test("a file is called after the last part of its address", () => {
  assert.equal(nameOf("https://host/runs/a%20b/trace.json.gz?token=1#x"), "trace.json.gz");
  assert.equal(nameOf("https://host/a%20b.json"), "a b.json");
  assert.equal(nameOf("https://host/"), "trace");
  assert.equal(nameOf("data/run.tacho"), "run.tacho");
});

test("an address may ask for several traces", () => {
  assert.deepEqual(wantedUrls("?url=https%3A%2F%2Fh%2Fa.json&url=b.json&other=1"), ["https://h/a.json", "b.json"]);
  assert.deepEqual(wantedUrls(""), []);
});
