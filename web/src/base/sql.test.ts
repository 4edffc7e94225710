import assert from "node:assert/strict";
import { test } from "node:test";
import { completions, type SchemaColumn, sqlTokens } from "./sql.ts";

const schema: SchemaColumn[] = [
  { table: "kernel", column: "dur", what: "integer" },
  { table: "kernel", column: "op_name", what: "text" },
  { table: "slice", column: "depth", what: "integer" },
  { table: "slice", column: "name", what: "text" },
];
const offered = (text: string, at = text.length) => completions(text, at, schema).list.map((c) => c.text);

test("the parts of a text are the text, whatever it is", () => {
  for (const text of ["SELECT 'it''s' -- why\nFROM kernel", "'open", "/* open", 'a.b + 1.5e3 <> "x"', "算子 = 1"])
    assert.equal(
      sqlTokens(text)
        .map((p) => p.text)
        .join(""),
      text,
    );
});

test("keywords, texts, numbers, comments, functions and known tables have their colors", () => {
  const inks = sqlTokens("select sum(dur), 'x' from kernel -- all", new Set(["kernel"])).filter((p) => p.ink !== "plain");
  assert.deepEqual(
    inks.map((p) => `${p.ink} ${p.text}`),
    ["keyword select", "definition sum", "string 'x'", "keyword from", "definition kernel", "comment -- all"],
  );
});

test("after FROM tables are offered, after a table's name or its short name its columns", () => {
  assert.deepEqual(offered("SELECT * FROM k"), ["kernel"]);
  assert.deepEqual(offered("SELECT kernel.d FROM kernel", 15), ["dur"]);
  assert.deepEqual(offered("SELECT s. FROM slice AS s", 9), ["depth", "name"]);
});

test("elsewhere the columns of the named tables come first, then functions and words of SQL", () => {
  assert.deepEqual(offered("SELECT d FROM kernel", 8), ["dur", "DISTINCT", "DESC"]);
  assert.ok(offered("SELECT d", 8).includes("depth"));
  assert.deepEqual(offered("SELECT "), []);
  assert.ok(offered("SELECT per").includes("percentile("));
});
