// Steps that were found without marks: no slices stand for them, so their lane is drawn from the list of steps.
import { largest, self } from "../../base/aggregate.ts";
import type { Picture } from "./picture.ts";
import type { Lane, Tracks } from "./tracks.ts";

/** The number of their lane: the server's begin with 1. */
export const FOUND_STEPS = 0;

const LANE: Lane = { id: FOUND_STEPS, kind: "steps", group: 0, track: 0, name: "", rows: 1, slices: 0, closed: false };

const made = new WeakMap<Tracks, Tracks>(); // the same tracks give the same ones again

/** The tracks with a lane of steps on top, where there are steps and nothing that draws them. */
export function withFoundSteps(tracks: Tracks): Tracks {
  if (tracks.steps.total === 0 || tracks.lanes.some((l) => l.kind === "steps")) return tracks;
  const known = made.get(tracks) ?? { ...tracks, lanes: [{ ...LANE, slices: tracks.steps.total }, ...tracks.lanes] };
  made.set(tracks, known);
  return known;
}

/** What a viewport would answer of that lane: a box for each step, whose slice is its number. */
export function foundPicture(tracks: Tracks, nameOf: (step: number) => string): Picture | undefined {
  const { number, start, end } = tracks.steps;
  if (!tracks.lanes.some((l) => l.id === FOUND_STEPS)) return undefined;
  const whole = largest(end, self, Math.max(1, tracks.trace.duration_ns));
  const unit = 2 ** Math.max(0, Math.ceil(Math.log2(whole / 2 ** 31)));
  const n = number.length;
  return {
    from: 0,
    to: whole,
    bucket: 1,
    asked: 1,
    unit,
    boxes: {
      start: Uint32Array.from(start, (v) => v / unit),
      end: Uint32Array.from(end, (v) => v / unit),
      time: Float32Array.from(number, (_, i) => (end[i] as number) - (start[i] as number)),
      count: new Uint16Array(n).fill(1),
      name: Uint16Array.from(number, (_, i) => i),
      slice: Uint32Array.from(number),
      flags: new Uint8Array(n),
    },
    rows: new Map([[FOUND_STEPS, [{ row: 0, first: 0, last: n }]]]),
    counters: new Map(),
    pointTime: new Uint32Array(0),
    pointMin: new Float32Array(0),
    pointMax: new Float32Array(0),
    pointLast: new Float32Array(0),
    names: number.map(nameOf),
    kinds: new Uint8Array(n),
    nameIds: new Uint32Array(n),
    tag: "",
    tags: new Uint32Array(0),
    lanes: new Set([FOUND_STEPS]),
    paint: undefined,
  };
}
