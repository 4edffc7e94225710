import assert from "node:assert/strict";
import { test } from "node:test";
import { bottomUp, type FlameNode, flameBoxes, mergeOf } from "./flame.ts";
import type { Picture } from "./picture.ts";

// main ├ a (0–40) └ c (5–15)   ├ a (50–70) └ c (55–65)   └ b (80–90)
const ROWS: [number, number, number][][] = [
  [[0, 100, 0]],
  [
    [0, 40, 1],
    [50, 70, 1],
    [80, 90, 2],
  ],
  [
    [5, 15, 3],
    [55, 65, 3],
  ],
];

function pictureOf(): Picture {
  const flat = ROWS.flat();
  let at = 0;
  const rows = ROWS.map((r, row) => {
    const first = at;
    at += r.length;
    return { row, first, last: at };
  });
  const boxes = {
    start: Uint32Array.from(flat, (b) => b[0]),
    end: Uint32Array.from(flat, (b) => b[1]),
    name: Uint16Array.from(flat, (b) => b[2]),
    time: Float32Array.from(flat, (b) => b[1] - b[0]),
    count: new Uint16Array(flat.length).fill(1),
    slice: new Uint32Array(flat.length),
    flags: new Uint8Array(flat.length),
  };
  return { from: 0, to: 100, unit: 1, boxes, rows: new Map([[7, rows]]), names: ["main", "a", "b", "c"] } as unknown as Picture;
}

const text = (n: FlameNode, names: string[]): string =>
  [...n.children.values()]
    .map((c) => `${names[c.name]}:${c.total}/${c.self}×${c.count}${c.children.size ? `(${text(c, names)})` : ""}`)
    .join(" ");

test("boxes nest by time and merge by path", () => {
  const p = pictureOf();
  assert.equal(text(mergeOf(p, [7]), p.names), "main:100/30×1(a:60/40×2(c:20/20×2) b:10/10×1)");
});

test("bottom-up sums own times and keeps the whole", () => {
  const p = pictureOf();
  const up = bottomUp(mergeOf(p, [7]));
  assert.equal(up.total, 100);
  assert.equal(text(up, p.names), "main:30/30×1 a:40/40×2(main:40/0×2) c:20/20×2(a:20/0×2(main:20/0×2)) b:10/10×1(main:10/0×1)");
});

test("boxes of a tree lie inside those above, the widest first", () => {
  const f = flameBoxes(mergeOf(pictureOf(), [7]));
  assert.equal(f.rows.length, 3);
  assert.deepEqual([...f.boxes.start], [0, 0, 60, 0]);
  assert.deepEqual([...f.boxes.end], [100, 60, 70, 20]);
});
