import assert from "node:assert/strict";
import { test } from "node:test";
import type { Query } from "../../api/transport.ts";
import { type Blocks, readBlocks } from "../../api/transport.ts";
import { pictureFor } from "../../draw/timeline/picture.ts";
import { tryAgain } from "../answers.ts";
import { emptyStore, type Fetch, fetchView, laneList, newStore, readPicture } from "./picture-store.ts";

const TYPE = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array } as const;

/** An answer as docs/SERVER.md lays it out. */
function answer(description: object, columns: Record<string, [keyof typeof TYPE, number[]]>): Blocks {
  let at = 0;
  const blocks: Record<string, object> = {};
  const parts: { at: number; bytes: Uint8Array }[] = [];
  for (const [name, [type, list]] of Object.entries(columns)) {
    const bytes = new Uint8Array(TYPE[type].from(list).buffer);
    blocks[name] = { type, at, n: list.length };
    parts.push({ at, bytes });
    at += Math.ceil(bytes.length / 8) * 8;
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...description, blocks }));
  const h = Math.ceil(text.length / 8) * 8;
  const out = new Uint8Array(16 + h + at).fill(32);
  new DataView(out.buffer).setUint32(12, h, true);
  out.set(text, 16);
  for (const p of parts) out.set(p.bytes, 16 + h + p.at);
  return readBlocks(out.buffer);
}

const one = (from: number, to: number, bucket: number) =>
  answer(
    { from, to, bucket_ns: bucket, unit_ns: 1 },
    {
      row_lane: ["u32", [4, 4]],
      row_row: ["u16", [0, 2]],
      row_first: ["u32", [0, 2, 3]],
      start: ["u32", [1, 5, 2]],
      end: ["u32", [3, 9, 3]],
      time: ["f32", [2, 4, 1]],
      count: ["u16", [1, 1, 7]],
      name: ["u16", [0, 1, 0]],
      slice: ["u32", [10, 11, 12]],
      flags: ["u8", [0, 0, 0]],
      name_at: ["u32", [0, 2, 5]],
      name_text: ["u8", [...new TextEncoder().encode("mm中")]],
      name_kind: ["u8", [11, 17]],
      name_id: ["u32", [3, 4]],
      counter_lane: ["u32", []],
      counter_first: ["u32", [0]],
      point_time: ["u32", []],
      point_min: ["f32", []],
      point_max: ["f32", []],
      point_last: ["f32", []],
    },
  );

const WHOLE = 1 << 24;

test("an answer becomes rows and names without copying its columns", () => {
  const p = readPicture(one(0, 16, 1), { from: 0, to: 16, width: 16, bucket: 1 }, new Set([4]));
  assert.deepEqual(p.rows.get(4), [
    { row: 0, first: 0, last: 2 },
    { row: 2, first: 2, last: 3 },
  ]);
  assert.deepEqual(p.names, ["mm", "中"]);
  assert.deepEqual([...p.boxes.slice], [10, 11, 12]);
});

test("lanes are written in runs, coarse ones with their level", () => {
  assert.equal(laneList([1, 2, 3, 7].map((id) => ({ id, coarse: false }))), "1-3,7");
  assert.equal(
    laneList([
      { id: 2, coarse: true },
      { id: 1, coarse: false },
    ]),
    "1,2:2",
  );
});

function harness() {
  const store = newStore();
  const asked: Query[] = [];
  const aborted: number[] = [];
  const waiting: ((b: Blocks) => void)[] = [];
  const refusing: ((e: Error) => void)[] = [];
  const fetch: Fetch = (_route, query, signal) => {
    const seq = Number(query.seq);
    asked.push(query);
    signal.addEventListener("abort", () => aborted.push(seq));
    return new Promise((done, fail) => {
      waiting.push(done);
      refusing.push(fail);
    });
  };
  const look = (from: number, to: number, ids = [4]) =>
    fetchView(
      store,
      { view: { from, to }, width: 1000, whole: WHOLE, lanes: ids.map((id) => ({ id, coarse: false })) },
      { fetch, query: {}, client: "c", done: () => {} },
    );
  const reply = async () => {
    const q = asked[asked.length - 1] as Query;
    waiting[waiting.length - 1]?.(
      one(Number(q.from), Number(q.to), 2 ** Math.round(Math.log2((Number(q.to) - Number(q.from)) / Number(q.width)))),
    );
    await new Promise((r) => setTimeout(r, 0));
  };
  const refuse = async () => {
    refusing[refusing.length - 1]?.(new Error("no"));
    await new Promise((r) => setTimeout(r, 0));
  };
  return { store, asked, aborted, look, reply, refuse };
}

test("a small pan asks for nothing, a large one does", async () => {
  const h = harness();
  h.look(1e6, 1.5e6);
  await h.reply();
  h.look(1.05e6, 1.55e6);
  h.look(0.98e6, 1.48e6);
  assert.equal(h.asked.length, 1);
  h.look(3e6, 3.5e6);
  assert.equal(h.asked.length, 2);
});

test("zooming within a power of two asks for nothing", async () => {
  const h = harness();
  h.look(1e6, 1.5e6);
  await h.reply();
  h.look(1.01e6, 1.49e6);
  assert.equal(h.asked.length, 1);
  h.look(1.2e6, 1.3e6);
  assert.equal(h.asked.length, 2);
});

test("a newer view cancels the older, and its number is larger", () => {
  const h = harness();
  h.look(1e6, 1.5e6);
  h.look(9e6, 9.5e6);
  assert.deepEqual(h.aborted, [1]);
  assert.deepEqual(
    h.asked.map((q) => q.seq),
    [1, 2],
  );
});

test("a request that failed is not sent again with every frame, but when the reader tries again or looks elsewhere", async () => {
  const h = harness();
  h.look(1e6, 1.5e6);
  await h.refuse();
  h.look(1e6, 1.5e6);
  assert.equal(h.asked.length, 1);
  h.look(9e6, 9.5e6);
  assert.equal(h.asked.length, 2);
  await h.refuse();
  tryAgain();
  h.look(9e6, 9.5e6);
  assert.equal(h.asked.length, 3);
});

test("a lane that was not asked for is", async () => {
  const h = harness();
  h.look(1e6, 1.5e6, [4]);
  await h.reply();
  h.look(1e6, 1.5e6, [4, 5]);
  assert.equal(h.asked[1]?.lanes, "4-5");
});

test("the picture that covers the view with the finest buckets is drawn", async () => {
  const h = harness();
  h.look(0, WHOLE);
  await h.reply();
  h.look(1e6, 1.5e6);
  await h.reply();
  const [fine, coarse] = h.store.pictures;
  assert.equal(pictureFor(h.store.pictures, 4, { from: 1e6, to: 1.5e6 }, 1000, WHOLE), fine);
  assert.equal(pictureFor(h.store.pictures, 4, { from: 9e6, to: 9.5e6 }, 1000, WHOLE), coarse);
  assert.equal(pictureFor(h.store.pictures, 99, { from: 0, to: 1 }, 1000, WHOLE), undefined);
});

test("another trace forgets the pictures of the first", async () => {
  const h = harness();
  h.look(0, WHOLE);
  await h.reply();
  emptyStore(h.store);
  assert.equal(h.store.pictures.length, 0);
});

test("what comes after the trace was changed is not kept", async () => {
  const h = harness();
  h.look(0, WHOLE);
  emptyStore(h.store);
  await h.reply();
  assert.equal(h.store.pictures.length, 0);
});
