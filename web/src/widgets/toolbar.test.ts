import assert from "node:assert/strict";
import { test } from "node:test";
import { staying, type ToolItem } from "./toolbar.tsx";

const items: ToolItem[] = [
  { id: "find", node: 1 },
  { id: "save", node: 1, leaves: 1 },
  { id: "color", node: 1, leaves: 3 },
  { id: "tracks", node: 1, leaves: 2 },
];
const widths = new Map([
  ["find", 200],
  ["save", 60],
  ["color", 100],
  ["tracks", 100],
]);
const names = (room: number) => staying(items, widths, room).map((i) => i.id);

test("everything stays where there is room", () => {
  assert.deepEqual(names(484), ["find", "save", "color", "tracks"]);
});

test("what leaves first has the highest number, and the button for it has room", () => {
  assert.deepEqual(names(483), ["find", "save", "tracks"]);
  assert.deepEqual(names(400), ["find", "save"]);
});

test("what never leaves stays, however narrow it is", () => {
  assert.deepEqual(names(50), ["find"]);
});
