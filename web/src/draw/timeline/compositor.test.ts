import assert from "node:assert/strict";
import { test } from "node:test";
import { LEVELS } from "./colors.ts";
import { type Boxes, boxAt, firstEndingAfter, gapAround, paintRow, paintSeveral, type Run } from "./compositor.ts";

type Row = [start: number, end: number, name: number, count?: number, time?: number][];

function boxesOf(rows: Row): Boxes {
  return {
    start: Uint32Array.from(rows, (r) => r[0]),
    end: Uint32Array.from(rows, (r) => r[1]),
    name: Uint16Array.from(rows, (r) => r[2]),
    count: Uint16Array.from(rows, (r) => r[3] ?? 1),
    time: Float32Array.from(rows, (r) => r[4] ?? r[1] - r[0]),
    slice: Uint32Array.from(rows, (_, i) => i),
    flags: new Uint8Array(rows.length),
  };
}

const runOf = (b: Boxes, scale = 1, shift = 0): Run => ({ first: 0, last: b.start.length, scale, shift, unit: 1 });

/** Shades whose pixel tells name and level: name a…z, level in hexadecimal. */
const shades = Uint32Array.from({ length: 26 * LEVELS }, (_, i) => i + 1);

/** The picture as text: a letter a pixel for the name, capital when solid. */
function picture(rows: Row, width: number, scale = 1, shift = 0, gap = 1): string {
  const pixels = new Uint32Array(width);
  const b = boxesOf(rows);
  paintRow({ pixels, at: 0, width, gap }, b, runOf(b, scale, shift), shades);
  return [...pixels]
    .map((p) => {
      if (p === 0) return ".";
      const letter = String.fromCharCode(97 + Math.floor((p - 1) / LEVELS));
      return (p - 1) % LEVELS === LEVELS - 1 ? letter.toUpperCase() : letter;
    })
    .join("");
}

test("boxes lie where their times are, with a pixel of gap when wider than three", () => {
  assert.equal(
    picture(
      [
        [0, 5, 0],
        [5, 8, 1],
        [10, 12, 2],
      ],
      14,
    ),
    "AAAA.BBB..CC..",
  );
});

test("a box narrower than a pixel has one, fainter by its share", () => {
  assert.equal(
    picture(
      [
        [10, 11, 0],
        [50, 60, 1],
      ],
      8,
      0.1,
    ),
    ".a...B..",
  );
});

test("where several meet in a pixel the longest wins, whatever the order", () => {
  assert.equal(
    picture(
      [
        [0, 2, 0],
        [3, 9, 1],
        [9, 10, 2],
      ],
      2,
      0.1,
    ),
    "b.",
  );
  assert.equal(
    picture(
      [
        [0, 7, 0],
        [7, 9, 1],
      ],
      2,
      0.1,
    ),
    "a.",
  );
});

test("a long box is not covered by a short neighbor at its edge", () => {
  assert.equal(
    picture(
      [
        [0, 29, 0],
        [29, 30, 1],
        [30, 60, 2],
      ],
      6,
      0.1,
    ),
    "AAbCCC",
  );
  assert.equal(
    picture(
      [
        [0, 25, 0],
        [25, 26, 1],
        [30, 60, 2],
      ],
      6,
      0.1,
    ),
    "AAbCCC",
  );
});

test("boxes of several slices fade with their busy share, dense ones stay solid", () => {
  assert.equal(
    picture(
      [
        [0, 4, 0, 9, 4],
        [4, 8, 1, 9, 1],
      ],
      8,
    ),
    "AAA.bbb.",
  );
});

test("an event without an end fades to the right", () => {
  const b = boxesOf([[0, 9, 0]]);
  b.flags[0] = 4;
  const pixels = new Uint32Array(9);
  paintRow({ pixels, at: 0, width: 9, gap: 1 }, b, runOf(b), shades);
  const levels = [...pixels].slice(0, 8).map((p) => (p - 1) % LEVELS);
  assert.deepEqual(levels, [15, 15, 15, 15, 15, 11, 7, 3]);
});

test("what lies outside is cut at both ends", () => {
  assert.equal(
    picture(
      [
        [0, 10, 0],
        [12, 40, 1],
      ],
      6,
      1,
      -8,
    ),
    "A...BB",
  );
});

test("panning by whole pixels moves the picture and changes nothing else", () => {
  const rows: Row = [
    [3, 9, 0],
    [11, 12, 1],
    [14, 30, 2],
    [33, 34, 3],
  ];
  const still = picture(rows, 40);
  assert.equal(picture(rows, 36, 1, -4), still.slice(4));
});

test("dots mark boxes of several slices only", () => {
  const pixels = new Uint32Array(12);
  const b = boxesOf([
    [0, 4, 0, 3],
    [4, 8, 1, 1],
    [8, 12, 2, 2],
  ]);
  paintSeveral({ pixels, at: 0, width: 12, gap: 1 }, b, runOf(b), 9, 3);
  assert.deepEqual([...pixels], [9, 0, 0, 9, 0, 0, 0, 0, 0, 9, 0, 0]);
});

test("words are only for boxes that are wide enough", () => {
  const b = boxesOf([
    [0, 30, 0],
    [31, 40, 1],
    [41, 90, 2],
  ]);
  const wide = { least: 30, index: new Uint32Array(8), n: 0 };
  paintRow({ pixels: new Uint32Array(100), at: 0, width: 100, gap: 1 }, b, runOf(b), shades, wide);
  assert.deepEqual([...wide.index.subarray(0, wide.n)], [0, 2]);
});

test("a row is painted into its own line and nowhere else", () => {
  const pixels = new Uint32Array(30);
  const b = boxesOf([[0, 100, 0]]);
  paintRow({ pixels, at: 10, width: 10, gap: 1 }, b, runOf(b), shades);
  assert.ok(pixels.subarray(0, 10).every((p) => p === 0));
  assert.ok(pixels.subarray(10, 20).every((p) => p !== 0));
  assert.ok(pixels.subarray(20).every((p) => p === 0));
});

test("the box under the pointer is found, also a narrow one a little beside it", () => {
  const b = boxesOf([
    [0, 10, 0],
    [20, 21, 1],
    [40, 60, 2],
  ]);
  const run = runOf(b);
  assert.equal(boxAt(b, run, 5, 2), 0);
  assert.equal(boxAt(b, run, 22.5, 2), 1);
  assert.equal(boxAt(b, run, 30, 2), -1);
  assert.equal(boxAt(b, run, 59, 0), 2);
});

test("the first visible box is found by halving", () => {
  const b = boxesOf(Array.from({ length: 1000 }, (_, i) => [i * 10, i * 10 + 5, 0]));
  const run = runOf(b, 1, -5000);
  assert.equal(firstEndingAfter(b, run, 0), 500);
  assert.equal(firstEndingAfter(b, run, 5000), 1000);
});

test("a gap is what no row covers", () => {
  const [one, two] = [
    boxesOf([
      [0, 10, 0],
      [90, 100, 0],
    ]),
    boxesOf([[20, 30, 0]]),
  ];
  const rows = [one, two].map((boxes) => ({ boxes, run: runOf(boxes) }));
  assert.deepEqual(gapAround(rows, 60), { left: 30, right: 90 });
  assert.equal(gapAround(rows, 25), undefined);
});
