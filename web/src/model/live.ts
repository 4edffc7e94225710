// Unfinished runs: being recorded, or with files that are still being written.
import { effect, signal } from "@preact/signals";
import { theReport } from "../api/report.ts";
import type { RunInfo } from "../api/types.ts";
import { arrived } from "./answers.ts";
import { view } from "./route.ts";
import { currentRun, currentSpan } from "./trace.ts";

export interface Live {
  recorded: boolean; // by `tacho record`, which reports the steps; false: a file grows
  steps: number | undefined; // completed so far, if known
}

/** The progress of an unfinished run; undefined when it is finished. Nothing grows in a report. */
export function liveOf(run: RunInfo | undefined): Live | undefined {
  const spans = run?.workers.flatMap((w) => w.spans) ?? [];
  if (theReport() || !(run?.recording || spans.some((s) => s.growing))) return undefined;
  const read = Math.max(0, ...spans.map((s) => s.facts?.steps ?? 0)); // may be newer than the recorder's count
  return { recorded: run?.recording !== null, steps: run?.recording ? Math.max(run.recording.steps, read) : read || undefined };
}

/** The same for the current run, with the number of steps that its numbers cover. */
export function liveInView(): (Live & { covered: number | undefined }) | undefined {
  const live = liveOf(currentRun.value);
  return live && { ...live, covered: currentSpan.value?.facts?.steps };
}

// ---- new runs ----

const noted = signal<ReadonlySet<string>>(new Set());

/** Marks runs as seen. */
export function note(names: readonly string[]): void {
  if (names.some((name) => !noted.peek().has(name))) noted.value = new Set([...noted.peek(), ...names]);
}

/** New runs that the reader has not seen: neither the run itself nor the list of runs was in view since. */
export function newRuns(): readonly RunInfo[] {
  const run = currentRun.value;
  return view.value === "runs" || !run ? [] : arrived.value.filter((r) => !noted.value.has(r.name) && r !== run);
}

/** Marks what comes into view as seen: the current run, or all runs in the list. */
export function followViewed(): () => void {
  const look = () => {
    const run = currentRun.peek();
    note(view.peek() === "runs" || !run ? arrived.peek().map((r) => r.name) : [run.name]);
  };
  return effect(() => {
    const now = { view: view.value, run: currentRun.value, came: arrived.value };
    if (now.came.length > 0) queueMicrotask(look); // later: when a second run appears, the address first gets the name of the only one
  });
}
