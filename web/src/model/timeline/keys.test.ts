import assert from "node:assert/strict";
import { test } from "node:test";
import { meaningOf, motionOf, wheelOf } from "./keys.ts";

const key = (code: string, k: string, more = {}) =>
  meaningOf({ code, key: k, shift: false, control: false, typing: false, ...more });

test("W A S D go by position, in any layout", () => {
  assert.deepEqual(key("KeyW", "z"), { motion: "in" });
  assert.deepEqual(key("KeyA", "q"), { motion: "left" });
  assert.deepEqual(key("KeyS", "о"), { motion: "out" });
});

test("keys mean nothing while a field has the focus or Ctrl is held", () => {
  assert.equal(key("KeyW", "w", { typing: true }), undefined);
  assert.equal(key("KeyF", "f", { control: true }), undefined);
});

test("Shift D stays the theme, Shift N the previous hit", () => {
  assert.equal(key("KeyD", "D", { shift: true }), undefined);
  assert.deepEqual(key("KeyN", "N", { shift: true }), { command: "hit_previous" });
  assert.deepEqual(key("KeyN", "n"), { command: "hit_next" });
});

test("every command of the design has its key", () => {
  const pairs = [
    ["f", "fit"],
    [".", "next"],
    [",", "previous"],
    ["]", "flow_next"],
    ["[", "flow_previous"],
    ["ArrowUp", "parent"],
    ["ArrowDown", "child"],
    ["/", "search"],
    ["m", "note"],
    ["p", "pin"],
    ["e", "expand"],
    ["q", "details"],
    ["0", "all"],
    ["Enter", "use"],
    ["Escape", "drop"],
  ];
  for (const [k = "", command] of pairs) assert.deepEqual(key("", k), { command });
});

test("held keys move smoothly and in proportion to time", () => {
  const once = motionOf(new Set(["in"]), 20).factor;
  assert.ok(Math.abs(once ** 2 - motionOf(new Set(["in"]), 40).factor) < 1e-12);
  assert.ok(once < 1);
  assert.deepEqual(motionOf(new Set(["in", "out", "left", "right"]), 50), { factor: 1, shift: 0 });
});

test("the wheel scrolls, with Ctrl it zooms, with Shift or sideways it pans", () => {
  const turn = { deltaX: 0, deltaY: 100, deltaMode: 0, ctrlKey: false, shiftKey: false };
  assert.deepEqual(wheelOf(turn), { zoom: 1, pan: 0, scroll: 100 });
  assert.ok(wheelOf({ ...turn, ctrlKey: true }).zoom > 1);
  assert.equal(wheelOf({ ...turn, shiftKey: true }).pan, 100);
  assert.equal(wheelOf({ ...turn, deltaX: 30, deltaY: 2 }).pan, 30);
  assert.equal(wheelOf({ ...turn, deltaMode: 1, deltaY: 3 }).scroll, 48);
});
