import assert from "node:assert/strict";
import { test } from "node:test";
import { embedded, keyOf } from "./embedded.ts";
import { cutTape, joinTiles } from "./pictures.ts";
import type { Report } from "./report.ts";
import { type Blocks, RequestFailed } from "./transport.ts";

test("a question is known by what makes another answer of it, in any order", () => {
  assert.equal(
    keyOf("operators", { lang: "zh", worker: "w", sort: "calls", "group-by": "type", limit: 5 }),
    "operators?group-by=type",
  );
  assert.equal(keyOf("steps", { table: "segments", step: 3 }), "steps?step=3&table=segments");
  assert.equal(keyOf("steps", { table: "segments", step: undefined }, ["table"]), "steps");
});

const parts: Record<string, unknown> = {
  "0": {
    tables: {
      a: { columns: [{ name: "n", type: "int" }], rows: [[1], [3], [2]], total_rows: 3 },
      b: { columns: [], rows: [], total_rows: 0 },
    },
  },
  "1": { error: { code: "bad_request", msg: "no device", id: "", values: {}, offset: null } },
  "2": [{ slice: { id: 7, name: "</script><b>" } }, { slice: { id: 9, name: "x" } }],
};
const report: Report = {
  index: {
    tacho: "1",
    run: "r",
    other: "",
    workers: { r: ["w"] },
    not_inside: { en: "not inside", zh: "不在" },
    answers: { "r\nw\noverview\nen": 0, "r\nw\nmemory\nen": 1 },
    tiles: [],
    slices: [{ run: "r", worker: "w", first: 7, last: 9, part: 2 }],
  },
  unpack: async (part) => new TextEncoder().encode(JSON.stringify(parts[part])).buffer as ArrayBuffer,
};

const refused = (code: string, msg: string) => (e: unknown) =>
  e instanceof RequestFailed && e.error.code === code && e.error.msg === msg;

test("an answer comes with the tables and rows that were asked for; an error of the server is one here, too", async () => {
  const t = embedded(report);
  const got = await t.json<{ tables: Record<string, { rows: number[][] }> }>("overview", {
    lang: "en",
    table: "a",
    sort: "n:desc",
    limit: 2,
  });
  assert.deepEqual(Object.keys(got.tables), ["a"]);
  assert.deepEqual(got.tables.a?.rows, [[3], [2]]);
  await assert.rejects(t.json("memory", { lang: "en" }), refused("bad_request", "no device"));
});

test("what is not inside is refused at once, in the reader's language", async () => {
  const t = embedded(report);
  await assert.rejects(t.json("overview", { lang: "en", step: 3 }), refused("not_in_report", "not inside"));
  await assert.rejects(t.json("query", { lang: "zh", sql: "x" }), refused("not_in_report", "不在"));
  await assert.rejects(t.json("slice", { lang: "en", id: 8 }), refused("not_in_report", "not inside"));
  const found = await t.json<{ slice: { name: string } }>("slice", { lang: "en", id: 7 });
  assert.equal(found.slice.name, "</script><b>");
});

/** A tile of one lane and row: boxes [from, to, slice] in ns, on names by their slice. */
function tile(from: number, to: number, boxes: [number, number, number][]): { from: number; to: number; blocks: Blocks } {
  const text = new TextEncoder().encode(boxes.map(([, , id]) => `n${id}`).join(""));
  const all: Record<string, ArrayLike<number>> = {
    row_lane: [4],
    row_row: [0],
    row_first: [0, boxes.length],
    start: boxes.map(([a]) => a - from),
    end: boxes.map(([, b]) => b - from),
    slice: boxes.map(([, , id]) => id),
    time: boxes.map(([a, b]) => b - a),
    count: boxes.map(() => 1),
    name: boxes.map((_, i) => i),
    flags: boxes.map(() => 0),
    name_id: boxes.map(([, , id]) => id),
    name_kind: boxes.map(() => 11),
    name_at: [...boxes.map((_, i) => i * 2), text.length],
    name_text: text,
  };
  return {
    from,
    to,
    blocks: { description: { from, to, bucket_ns: 1, unit_ns: 1 }, block: (n) => Uint32Array.from(all[n] ?? []) as never },
  };
}

test("pictures are joined: a box that the edge of one cuts is one box, and nothing outside comes along", () => {
  const joined = joinTiles(
    [
      tile(0, 100, [
        [10, 20, 1],
        [90, 100, 2],
      ]),
      tile(100, 200, [
        [100, 130, 2],
        [150, 160, 3],
      ]),
    ],
    15,
    140,
  );
  assert.deepEqual([...joined.block("slice")], [1, 2]);
  assert.deepEqual([...joined.block("start")], [0, 75]);
  assert.deepEqual([...joined.block("end")], [5, 115]);
  assert.deepEqual([...joined.block("flags")], [1, 0]);
  assert.deepEqual([...joined.block("row_first")], [0, 2]);
});

test("a part of the tape is the mean of its pixels", () => {
  const whole: Blocks = {
    description: { from: 0, to: 8, width: 8 },
    block: (n) => (n === "host" ? Uint8Array.of(0, 0, 100, 200, 50, 50, 0, 0) : new Uint8Array(0)),
  };
  assert.deepEqual([...cutTape(whole, 2, 6, 2).block("host")], [150, 50]);
  assert.equal(cutTape(whole, 2, 6, 2).block("device").length, 0);
});
