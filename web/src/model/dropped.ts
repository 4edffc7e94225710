// Files that were dropped on the page, or chosen: sent to the server one after the other, then opened as one run. A folder
// keeps its own folders: two ranks may have files of one name.
import { effect, signal } from "@preact/signals";
import { counted, errorOf, runs, server } from "./answers.ts";
import { language } from "./language.ts";
import { changeTrace } from "./steps.ts";

export interface Sent {
  name: string;
  bytes: number;
  share: number; // of it that is sent
  error?: string;
  run?: string; // it became
}

/** Why nothing is sent at all: the server takes no files, or they are larger than what is left. */
export type Refusal = "off" | "large";

export interface Dropped {
  files: readonly Sent[];
  refused?: Refusal;
  empty?: boolean; // all of it is sent, and none of it is a trace
}

/** A file, and the way to it where it came in a folder: `job/rank0/trace.json`. */
export interface Chosen {
  file: File;
  way: string;
}

/** The ways as the server takes them: the first folder is the run, so several of them get one around them. */
export function waysOf(ways: readonly string[]): string[] {
  const tops = new Set(ways.map((w) => (w.includes("/") ? w.slice(0, w.indexOf("/")) : "")));
  return tops.size > 1 ? ways.map((w) => `dropped/${w}`) : [...ways];
}

export const dropped = signal<Dropped | undefined>(undefined);

export const forget = (): void => {
  dropped.value = undefined;
};

/** Whether the files can be sent, before a byte is. */
export function refusalOf(
  bytes: readonly number[],
  room: { used: number; limit: number } | null | undefined,
): Refusal | undefined {
  if (!room) return "off";
  return bytes.reduce((a, b) => a + b, 0) > room.limit - room.used ? "large" : undefined;
}

function change(i: number, to: Partial<Sent>): void {
  const now = dropped.peek();
  if (now) dropped.value = { ...now, files: now.files.map((f, k) => (k === i ? { ...f, ...to } : f)) };
}

async function sendOne(file: File, way: string, i: number, group: string): Promise<string | undefined> {
  try {
    const query = { name: way, group, lang: language.peek() };
    const { run } = await counted(server().send<{ run: string }>("upload", query, file, (share) => change(i, { share })));
    change(i, { share: 1, run });
    return run || undefined;
  } catch (e) {
    change(i, { error: errorOf(e).msg });
    return undefined;
  }
}

/** Shows a run as soon as the server lists it. */
function openWhenListed(run: string): void {
  let stop = () => {};
  let done = false;
  stop = effect(() => {
    if (done || !runs.value?.runs.some((r) => r.name === run)) return;
    done = true;
    queueMicrotask(() => {
      stop();
      changeTrace({ run, worker: undefined, span: undefined }, "overview");
    });
  });
}

/** Sends files and opens what they are. What cannot be opened stays on the screen with the reason. */
export async function openFiles(files: readonly Chosen[]): Promise<void> {
  if (files.length === 0) return;
  const refused = refusalOf(
    files.map((f) => f.file.size),
    runs.peek()?.upload,
  );
  const listed = files.map((f) => ({ name: f.way, bytes: f.file.size, share: 0 }));
  dropped.value = { files: listed, ...(refused ? { refused } : {}) };
  if (refused) return;
  const group = Math.random().toString(36).slice(2, 14);
  let run: string | undefined;
  const ways = waysOf(files.map((f) => f.way));
  for (const [i, { file }] of files.entries()) run = (await sendOne(file, ways[i] ?? file.name, i, group)) ?? run;
  const now = dropped.peek();
  if (now?.files.every((f) => !f.error)) dropped.value = run ? undefined : { ...now, empty: true };
  if (run) openWhenListed(run);
}
