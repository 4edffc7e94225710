import assert from "node:assert/strict";
import { test } from "node:test";
import { tabbed } from "./table-keys.ts";

test("a table is copied with tabs: quotes off, nothing of a cell breaks its row", () => {
  assert.equal(tabbed('name,shapes\na,"[[1,2],""x""]"\nb,\n'), 'name\tshapes\na\t[[1,2],"x"]\nb\t\n');
  assert.equal(tabbed('a,"two\nlines"\r\n'), "a\ttwo lines\n");
  assert.equal(tabbed(""), "");
});
