import assert from "node:assert/strict";
import { test } from "node:test";
import type { Table } from "../../api/types.ts";
import { rowsOf } from "../trace.ts";
import { mergedAreas } from "./area.ts";
import type { AreaAnswer, AreaTables } from "./types.ts";

function answer(rows: unknown[][]): AreaAnswer {
  const names = ["name", "kind", "count", "total", "self", "mean", "min", "max", "share"];
  const columns = names.map((name) => ({ name }));
  return { tables: { area: { columns, rows } as unknown as Table<AreaTables["area"]> } };
}

test("names of several ranks are added up and sorted again", () => {
  const merged = mergedAreas(
    [
      answer([
        ["a", "op", 2, 20, 10, 10, 5, 15, 0.5],
        ["b", "op", 1, 12, 12, 12, 12, 12, 0.5],
      ]),
      answer([["a", "op", 1, 40, 30, 40, 40, 40, 1]]),
    ],
    "self:desc",
  );
  const rows = rowsOf(merged?.tables.area);
  assert.deepEqual(
    rows.map((r) => [r.name, r.count, r.total, r.self, r.mean, r.min, r.max]),
    [
      ["a", 3, 60, 40, 20, 5, 40],
      ["b", 1, 12, 12, 12, 12, 12],
    ],
  );
});

test("idle time is added up, its share is that of the mean rank", () => {
  const idle = (time: number, share: number): AreaAnswer => ({
    tables: {
      idle: {
        columns: ["cause", "time", "share"].map((name) => ({ name })),
        rows: [["host_late", time, share]],
      } as unknown as Table<AreaTables["idle"]>,
    },
  });
  const merged = mergedAreas([idle(10, 0.1), idle(30, 0.3)], "self:desc");
  assert.deepEqual(rowsOf(merged?.tables.idle), [{ cause: "host_late", time: 40, share: 0.2 }]);
});
