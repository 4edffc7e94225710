// Keys of the timeline, by position where the hand rests (W A S D in any layout) and by character elsewhere.

export type Motion = "in" | "out" | "left" | "right";
export type Command =
  | "fit"
  | "next"
  | "previous"
  | "flow_next"
  | "flow_previous"
  | "path_next"
  | "path_previous"
  | "parent"
  | "child"
  | "search"
  | "hit_next"
  | "hit_previous"
  | "note"
  | "pin"
  | "expand"
  | "details"
  | "all"
  | "use"
  | "drop"
  | "evidence_next"
  | "evidence_previous"
  | "advice_next"
  | "advice_previous"
  | "back"
  | "box_next"
  | "box_previous";

interface KeyInput {
  code: string;
  key: string;
  shift: boolean;
  control: boolean; // Ctrl, Alt or Meta
  typing: boolean; // a field has the focus
}

type KeyMeaning = { motion: Motion } | { command: Command } | undefined;

const MOTIONS: Record<string, Motion> = { KeyW: "in", KeyS: "out", KeyA: "left", KeyD: "right" };
const COMMANDS: Record<string, Command> = {
  f: "fit",
  ".": "next",
  ",": "previous",
  "]": "flow_next",
  "[": "flow_previous",
  "}": "path_next",
  "{": "path_previous",
  ArrowUp: "parent",
  ArrowDown: "child",
  ArrowRight: "box_next",
  ArrowLeft: "box_previous",
  "/": "search",
  n: "hit_next",
  m: "note",
  p: "pin",
  e: "expand",
  q: "details",
  j: "evidence_next",
  k: "evidence_previous",
  b: "back",
  "0": "all",
  Enter: "use",
  Escape: "drop",
};

// Letters that mean something else with Shift.
const SHIFTED: Record<string, Command> = { N: "hit_previous", J: "advice_next", K: "advice_previous" };

export function meaningOf(k: KeyInput): KeyMeaning {
  if (k.typing || k.control) return undefined;
  const motion = MOTIONS[k.code];
  if (motion) return k.shift ? undefined : { motion };
  const shifted = SHIFTED[k.key];
  if (shifted) return { command: shifted };
  const command = COMMANDS[k.shift ? k.key : k.key.length === 1 ? k.key.toLowerCase() : k.key];
  return command && !(k.shift && /^[a-z]$/i.test(k.key)) ? { command } : undefined;
}

/** How much a held key changes the view in a time: zoom by e^(rate·t), pan by a share of the view. */
const RATE = { zoom: 3.2, pan: 1.1 } as const;
/** A tap moves as if the key was held this long (ms). */
export const TAP = 90;

export function motionOf(held: ReadonlySet<Motion>, ms: number): { factor: number; shift: number } {
  const seconds = ms / 1000;
  const zoom = (held.has("out") ? 1 : 0) - (held.has("in") ? 1 : 0);
  const pan = (held.has("right") ? 1 : 0) - (held.has("left") ? 1 : 0);
  return { factor: Math.exp(zoom * RATE.zoom * seconds), shift: pan * RATE.pan * seconds };
}

/** What a turn of the wheel means. Lines and pages become pixels first. */
export function wheelOf(e: { deltaX: number; deltaY: number; deltaMode: number; ctrlKey: boolean; shiftKey: boolean }): {
  zoom: number;
  pan: number;
  scroll: number;
} {
  const unit = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 400 : 1;
  const [dx, dy] = [e.deltaX * unit, e.deltaY * unit];
  if (e.ctrlKey) return { zoom: Math.exp(Math.max(-240, Math.min(240, dy)) * 0.0035), pan: 0, scroll: 0 };
  if (e.shiftKey) return { zoom: 1, pan: dx + dy, scroll: 0 };
  return Math.abs(dx) > Math.abs(dy) ? { zoom: 1, pan: dx, scroll: 0 } : { zoom: 1, pan: 0, scroll: dy };
}
