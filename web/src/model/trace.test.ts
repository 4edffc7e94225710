import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer, Cell, Table } from "../api/types.ts";
import { countIn, factIn, hasRows, rowsOf } from "./trace.ts";

const table = (names: string[], ...rows: Cell[][]): Table => ({
  columns: names.map((name) => ({ name, type: "int" })),
  rows,
  total_rows: rows.length,
});
const asked = (tables: Record<string, Table>) => ({
  value: { tables } as unknown as Answer<"overview">,
  old: false,
  error: undefined,
});
const facts = (tables: Record<string, Table>) => ({ tables }) as unknown as Answer<"info">;

test("rows have the names of their columns, and absent stays absent", () => {
  const breakdown = table(["category", "time", "share"], ["kernel", null, 0]) as Table<{ time: number | null }>;
  assert.deepEqual(rowsOf(breakdown), [{ category: "kernel", time: null, share: 0 }]);
  assert.deepEqual(rowsOf(undefined), []);
});

test("what is recorded is told by its rows; without an answer nothing is known, and of a refusal nothing is there", () => {
  const steps = table(["stage"], ["total"]);
  assert.equal(hasRows(asked({ step_trace: steps }), "step_trace", "data_flow"), true);
  assert.equal(hasRows(asked({ step_trace: table(["stage"]) }), "step_trace", "data_flow"), false);
  assert.equal(hasRows<"overview">({ value: undefined, old: false, error: undefined }, "step_trace"), undefined);
  const error = { code: "bad", msg: "", id: "", values: {}, offset: null };
  assert.equal(hasRows<"overview">({ value: undefined, old: false, error }, "step_trace"), false);
});

test("facts and counts of a trace: an unknown one is not zero", () => {
  const info = facts({
    trace: table(["key", "value"], ["steps", "3"], ["rank", null]),
    events: table(["kind", "count"], ["op", 5], ["kernel", 2], ["memory", null]),
  });
  assert.equal(factIn(info, "steps"), "3");
  assert.equal(factIn(info, "rank"), undefined);
  assert.equal(countIn(info, ["op", "kernel", "memory"]), 7);
  assert.equal(countIn(undefined, ["op"]), undefined);
});
