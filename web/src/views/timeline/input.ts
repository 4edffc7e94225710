// Pointer, wheel and keys on the stage of the timeline.
import { type Hit, hitAt } from "../../draw/timeline/easel.ts";
import { type Item, itemAt, RULER } from "../../draw/timeline/lanes.ts";
import { lanesBetween } from "../../draw/timeline/overlay.ts";
import { type Range, toTime, toX } from "../../draw/timeline/time-scale.ts";
import { act, pan, zoom } from "../../model/timeline/actions.ts";
import { type Command, meaningOf, motionOf, TAP, wheelOf } from "../../model/timeline/keys.ts";
import { area, choose, markOf, redraw, scrollTo, setArea, setTab, show, stage } from "../../model/timeline/state.ts";
import { type Engine, snap } from "./engine.ts";

type Mode = "wait" | "pan" | "area" | "left" | "right";

interface Drag {
  mode: Mode;
  x: number;
  y: number; // in what scrolls
  range: Range;
  scroll: number;
  hit: Hit | undefined;
  mayPan: boolean;
}

const MOVED = 4;
const EDGE = 5;

function select(hit: Hit): void {
  const { row, index } = hit;
  const p = row.picture;
  const start = p.from + (p.boxes.start[index] as number) * p.unit;
  const end = p.from + (p.boxes.end[index] as number) * p.unit;
  choose({
    id: p.boxes.slice[index] as number,
    instant: row.lane.kind === "instants",
    lane: row.lane.id,
    row: row.row,
    start,
    duration: end - start,
    name: p.names[p.boxes.name[index] as number] ?? "",
  });
  setTab("selection");
}

function bodyY(y: number): number {
  return y - RULER - stage.layout.pinnedHeight + stage.scroll;
}

/** Edge of the area under the pointer. */
function areaEdge(x: number): "left" | "right" | undefined {
  const a = area.peek();
  if (!a) return undefined;
  if (Math.abs(toX(stage.range, stage.width, a.from) - x) < EDGE) return "left";
  return Math.abs(toX(stage.range, stage.width, a.to) - x) < EDGE ? "right" : undefined;
}

/** Whole lanes between two heights; below the last lane stands for all of them. */
function spanOf(a: number, b: number): { top: number; bottom: number } {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  const first: Item | undefined = itemAt(stage.layout.items, low);
  if (!first) return { top: 0, bottom: stage.layout.height };
  const last = itemAt(stage.layout.items, high);
  return { top: first.y, bottom: last ? last.y + last.height : stage.layout.height };
}

export interface Input {
  down: (e: PointerEvent) => void;
  move: (e: PointerEvent) => void;
  up: (e: PointerEvent) => void;
  leave: () => void;
  wheel: (e: WheelEvent) => void;
  hover: () => Hit | undefined;
}

export function newInput(
  box: HTMLElement,
  gutter: number,
  engine: () => Engine | undefined,
  changed: (hit: Hit | undefined) => void,
): Input {
  let drag: Drag | undefined;
  let hit: Hit | undefined;
  const rows = () => engine()?.rows ?? [];
  const at = (e: MouseEvent) => {
    const r = box.getBoundingClientRect();
    return { x: e.clientX - r.left - gutter, y: e.clientY - r.top };
  };

  function down(e: PointerEvent): void {
    const p = at(e);
    if (p.x < 0 || e.button > 1) return;
    const under = hitAt(rows(), p.x, p.y);
    const mayPan = e.button === 1 || (!e.shiftKey && (under !== undefined || p.y < RULER));
    const mode: Mode = e.button === 0 && !e.shiftKey && areaEdge(p.x) ? (areaEdge(p.x) as Mode) : "wait";
    drag = { mode, x: p.x, y: bodyY(p.y), range: stage.range, scroll: stage.scroll, hit: under, mayPan };
    box.setPointerCapture(e.pointerId);
    if (e.button === 1) e.preventDefault();
  }

  function move(e: PointerEvent): void {
    const p = at(e);
    stage.pointer = p;
    if (stage.emphasis !== e.altKey) stage.emphasis = e.altKey;
    if (drag) moved(drag, p);
    else {
      const under = hitAt(rows(), p.x, p.y);
      if (under?.index !== hit?.index || under?.row.lane !== hit?.row.lane || under?.row.row !== hit?.row.row) changed(under);
      hit = under;
      box.style.cursor = areaEdge(p.x) && p.y > RULER ? "ew-resize" : under ? "pointer" : "";
    }
    redraw();
  }

  function moved(d: Drag, p: { x: number; y: number }): void {
    const dx = p.x - d.x;
    const dy = bodyY(p.y) - d.y;
    if (d.mode === "wait") {
      if (Math.hypot(dx, dy) < MOVED) return;
      d.mode = d.mayPan ? "pan" : "area";
      changed(undefined);
    }
    if (d.mode === "pan") {
      const shift = (dx / stage.width) * (d.range.to - d.range.from);
      scrollTo(stage.scroll - dy);
      show({ from: d.range.from - shift, to: d.range.to - shift });
    } else if (d.mode === "area") {
      const span = spanOf(d.y, bodyY(p.y));
      const top = span.top - stage.scroll + RULER + stage.layout.pinnedHeight;
      const one = snap(rows(), d.x, top, top + span.bottom - span.top);
      const two = snap(rows(), Math.max(0, Math.min(stage.width, p.x)), top, top + span.bottom - span.top);
      const [first = 0, second = 0] = [one, two].map((x) =>
        Math.max(0, Math.min(stage.whole, toTime(stage.range, stage.width, x))),
      );
      stage.drag = { from: Math.min(first, second), to: Math.max(first, second), ...span };
    } else {
      const a = area.peek();
      if (!a) return;
      const time = Math.max(0, Math.min(stage.whole, toTime(stage.range, stage.width, snap(rows(), p.x, 0, stage.height))));
      const next =
        d.mode === "left" ? { from: Math.min(time, a.to - 1), to: a.to } : { from: a.from, to: Math.max(time, a.from + 1) };
      stage.drag = { ...markOf(a), ...next };
    }
  }

  function up(e: PointerEvent): void {
    const d = drag;
    drag = undefined;
    if (!d) return;
    box.releasePointerCapture(e.pointerId);
    if (stage.drag) {
      const mark = stage.drag;
      stage.drag = undefined;
      setArea({ from: mark.from, to: mark.to, lanes: lanesBetween(stage, mark.top + 1, mark.bottom) });
      setTab("area");
    } else if (d.mode === "wait" && e.button === 0) {
      if (d.hit) select(d.hit);
      else if (at(e).y > RULER) act("drop");
    }
    redraw();
  }

  function wheel(e: WheelEvent): void {
    e.preventDefault();
    const w = wheelOf(e);
    if (w.zoom !== 1) zoom(w.zoom, toTime(stage.range, stage.width, Math.max(0, at(e).x)));
    if (w.pan) pan(w.pan / stage.width);
    if (w.scroll) {
      scrollTo(stage.scroll + w.scroll);
    }
  }

  function leave(): void {
    if (drag) return;
    stage.pointer = undefined;
    hit = undefined;
    changed(undefined);
    redraw();
  }

  return { down, move, up, leave, wheel, hover: () => hit };
}

const TYPING = /^(INPUT|TEXTAREA|SELECT)$/;

/** Keys of the timeline, before the shell sees them: W is zoom here, not a menu. Returns how to stop. */
export function listenToKeys(): () => void {
  let untilG = 0; // "g t" chooses a view: until then its second key is not ours
  const pressed = new Map<string, number>();
  const down = (e: KeyboardEvent) => {
    const target = e.target as HTMLElement;
    const typing = TYPING.test(target.tagName) || target.isContentEditable;
    if (e.key === "Alt" && !typing) {
      stage.emphasis = true;
      redraw();
    }
    const wasG = performance.now() < untilG;
    untilG = e.key === "g" && !typing ? performance.now() + 1200 : 0;
    if (wasG || document.querySelector("dialog[open],[role=dialog],[role=menu]")) return;
    const meaning = meaningOf({
      code: e.code,
      key: e.key,
      shift: e.shiftKey,
      control: e.ctrlKey || e.altKey || e.metaKey,
      typing,
    });
    if (!meaning) return;
    if ("motion" in meaning) {
      if (!pressed.has(e.code)) {
        pressed.set(e.code, performance.now());
        stage.held.add(meaning.motion);
        redraw();
      }
    } else if (!mayAct(meaning.command, target) || !act(meaning.command)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
  };
  const up = (e: KeyboardEvent) => {
    if (e.key === "Alt") {
      stage.emphasis = false;
      redraw();
    }
    const since = pressed.get(e.code);
    if (since === undefined) return;
    pressed.delete(e.code);
    const meaning = meaningOf({ code: e.code, key: e.key, shift: false, control: false, typing: false });
    if (!meaning || !("motion" in meaning)) return;
    stage.held.delete(meaning.motion);
    const left = TAP - (performance.now() - since);
    if (left > 0) {
      const m = motionOf(new Set([meaning.motion]), left);
      if (m.factor !== 1) zoom(m.factor);
      if (m.shift) pan(m.shift);
    }
  };
  const blur = () => {
    pressed.clear();
    stage.held.clear();
    stage.emphasis = false;
  };
  addEventListener("keydown", down, true);
  addEventListener("keyup", up, true);
  addEventListener("blur", blur);
  return () => {
    removeEventListener("keydown", down, true);
    removeEventListener("keyup", up, true);
    removeEventListener("blur", blur);
  };
}

/** Arrows and Enter belong to the element that has the focus, unless that is the stage or nothing. */
function mayAct(command: Command, target: HTMLElement): boolean {
  const shared: Command[] = ["parent", "child", "box_next", "box_previous", "use"];
  return !shared.includes(command) || target === document.body || target.closest(".tl-stage") !== null;
}
