// Steps and the window: where steps lie, which of them are chosen, how long that is.
import type { Query } from "../api/transport.ts";
import { askBlocks } from "./answers.ts";
import { go, param, traceQuery } from "./route.ts";
import type { Range } from "./viewport.ts";

export interface Tape {
  from: number;
  to: number;
  width: number;
  device: ArrayLike<number>;
  communication: ArrayLike<number>;
  data: ArrayLike<number>;
  host: ArrayLike<number>;
  numbers: ArrayLike<number>;
  starts: ArrayLike<number>;
  ends: ArrayLike<number>;
}

const WIDTH = 1200; // asked once for a trace; the canvas stretches it

export function tape(): (Tape & { old: boolean }) | undefined {
  return askTape("tape", {});
}

function askTape(slot: string, part: Query): (Tape & { old: boolean }) | undefined {
  const { value: blocks, old } = askBlocks(slot, "tape", { ...traceQuery.value, ...part, width: WIDTH });
  if (!blocks) return undefined;
  return {
    old,
    from: Number(blocks.description.from),
    to: Number(blocks.description.to),
    width: WIDTH,
    device: blocks.block("device"),
    communication: blocks.block("communication"),
    data: blocks.block("data"),
    host: blocks.block("host"),
    numbers: blocks.block("step_number"),
    starts: blocks.block("step_start"),
    ends: blocks.block("step_end"),
  };
}

/** What the tape is to show: the steps with a little air, where one stray event makes the trace far longer; else all. */
export const tapeSpan = (whole: Tape): Range => spanOfSteps(whole, whole.starts, whole.ends);

/** The same of any list of steps in a stretch of time. */
export function spanOfSteps(whole: Range, starts: ArrayLike<number>, ends: ArrayLike<number>): Range {
  const n = starts.length;
  const all = { from: whole.from, to: whole.to };
  if (n === 0) return all;
  const [first, last] = [starts[0] as number, ends[n - 1] as number];
  const air = (last - first) * 0.03;
  if (last - first >= (whole.to - whole.from) / 2) return all;
  return { from: Math.max(whole.from, Math.floor(first - air)), to: Math.min(whole.to, Math.ceil(last + air)) };
}

/** The tape as it is shown. */
export function tapeInView(): (Tape & { old: boolean }) | undefined {
  const whole = tape();
  if (!whole) return undefined;
  const span = tapeSpan(whole);
  if (span.from === whole.from && span.to === whole.to) return whole;
  const part = askTape("tape-in-view", { from: span.from, to: span.to });
  // Steps are those of the whole trace: one that is cut by the edge is still the same step.
  return part && { ...part, numbers: whole.numbers, starts: whole.starts, ends: whole.ends };
}

/** Which steps have room for their number: every first, second, fifth, tenth, … whatever leaves `apart` pixels. */
export function numberedSteps(numbers: ArrayLike<number>, x: (i: number) => number, apart: number): Set<number> {
  const n = numbers.length;
  const room = n > 1 ? Math.abs(x(n - 1) - x(0)) / (n - 1) : apart;
  const least = room > 0 ? apart / room : n;
  const ten = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, least))));
  const every = [1, 2, 5, 10].map((m) => m * ten).find((m) => m >= least * 0.999) ?? n;
  const shown = new Set<number>();
  let last = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < n; i++) {
    if ((numbers[i] as number) % every !== 0 || x(i) - last < apart) continue;
    shown.add(i);
    last = x(i);
  }
  return shown.size ? shown : new Set(n ? [0] : []);
}

/** `3`, `3..5`, `3..`, `..5` as two numbers. */
export function parseSteps(text: string, numbers: ArrayLike<number>): [number, number] | undefined {
  const first = numbers[0];
  const last = numbers[numbers.length - 1];
  if (text === "" || first === undefined || last === undefined) return undefined;
  const [a = "", b] = text.split("..");
  return [a === "" ? first : Number(a), b === undefined ? Number(a) : b === "" ? last : Number(b)];
}

/** The steps that the trace has, when it has none of those in the address; else, or while unknown, undefined. */
export function stepsInstead(): { n: number; first: number; last: number } | undefined {
  const asked = param("step");
  const now = asked ? tape() : undefined;
  return now && !now.old ? otherSteps(asked, now.numbers) : undefined;
}

/** The same for given steps and step numbers. */
export function otherSteps(asked: string, numbers: ArrayLike<number>): { n: number; first: number; last: number } | undefined {
  const n = numbers.length;
  const [a, b] = parseSteps(asked, numbers) ?? [0, -1];
  for (let i = 0; i < n; i++) if ((numbers[i] as number) >= a && (numbers[i] as number) <= b) return undefined;
  return { n, first: numbers[0] ?? 0, last: numbers[n - 1] ?? 0 };
}

export const writeSteps = (a: number, b: number): string => (a === b ? String(a) : `${Math.min(a, b)}..${Math.max(a, b)}`);

/** The window in time, whatever it was chosen by. */
export function windowRange(tape: Tape): Range & { steps: number } {
  const chosen = parseSteps(param("step"), tape.numbers);
  let from = tape.from;
  let to = tape.to;
  let steps = tape.numbers.length;
  if (chosen) {
    steps = 0;
    for (let i = 0; i < tape.numbers.length; i++) {
      const n = tape.numbers[i] as number;
      if (n < chosen[0] || n > chosen[1]) continue;
      if (steps++ === 0) from = tape.starts[i] as number;
      to = tape.ends[i] as number;
    }
  } else if (param("from") || param("to")) {
    from = Number(param("from") || tape.from);
    to = Number(param("to") || tape.to);
    steps = 0;
    for (let i = 0; i < tape.numbers.length; i++) if ((tape.starts[i] as number) < to && (tape.ends[i] as number) > from) steps++;
  }
  return { from, to, steps };
}

export const setSteps = (a: number, b: number): void =>
  go({ params: { step: writeSteps(a, b), from: undefined, to: undefined } });

export const setWindow = (r: Range | undefined): void =>
  go({
    params: {
      step: undefined,
      from: r ? String(Math.round(r.from)) : undefined,
      to: r ? String(Math.round(r.to)) : undefined,
    },
  });

/** Steps that lie whole in a stretch of time, first and last. */
function stepsWithin(now: Tape, r: Range): [number, number] | undefined {
  const inside = Array.from(now.numbers).filter((_, i) => (now.starts[i] as number) >= r.from && (now.ends[i] as number) <= r.to);
  const [first, last] = [inside[0], inside[inside.length - 1]];
  return first === undefined || last === undefined ? undefined : [first, last];
}

// What belongs to one trace only: times, lanes, slices.
const OF_A_TRACE = ["from", "to", "view", "top", "area", "notes", "fold", "open", "pin", "hide", "range", "ranks"];

let carried = ""; // steps kept from the trace before

/** Whether the steps in the address were kept from another trace; they are dropped when this one does not have them. */
export const areCarried = (): boolean => carried !== "" && carried === param("step");

/** Another run, worker or span: view, window (as steps) and selection (by name) stay, what cannot goes. */
export function changeTrace(
  to: { run?: string | undefined; worker?: string | undefined; span?: string | undefined },
  view?: string,
) {
  const params: Record<string, string | undefined> = Object.fromEntries(OF_A_TRACE.map((name) => [name, undefined]));
  const now = tape();
  const steps = now && (param("from") || param("to")) ? stepsWithin(now, windowRange(now)) : undefined;
  if (steps && !param("step")) params.step = writeSteps(...steps);
  if (/^(slice|instant):/.test(param("sel"))) params.sel = undefined;
  carried = params.step ?? param("step");
  go({ ...(view ? { view } : {}), params: { ...params, ...to } });
}

/** Moves the window by one step. */
export function moveStep(by: number): void {
  const t = tape();
  if (!t || t.numbers.length === 0) return;
  const list = Array.from(t.numbers);
  const chosen = parseSteps(param("step"), t.numbers);
  const at = chosen ? list.indexOf(by > 0 ? chosen[1] : chosen[0]) + by : by > 0 ? 0 : list.length - 1;
  const next = list[Math.max(0, Math.min(list.length - 1, at))] as number;
  setSteps(next, next);
}
