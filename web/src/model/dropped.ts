// Files that were dropped on the page, or chosen: sent to the server one after the other, then opened as one run.
import { effect, signal } from "@preact/signals";
import { RequestFailed } from "../api/transport.ts";
import { counted, runs, server } from "./answers.ts";
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

async function sendOne(file: File, i: number, group: string): Promise<string | undefined> {
  try {
    const query = { name: file.name, group, lang: language.peek() };
    const { run } = await counted(server().send<{ run: string }>("upload", query, file, (share) => change(i, { share })));
    change(i, { share: 1, run });
    return run;
  } catch (e) {
    change(i, { error: e instanceof RequestFailed ? e.error.msg : String(e) });
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
export async function openFiles(files: readonly File[]): Promise<void> {
  if (files.length === 0) return;
  const refused = refusalOf(
    files.map((f) => f.size),
    runs.peek()?.upload,
  );
  dropped.value = { files: files.map((f) => ({ name: f.name, bytes: f.size, share: 0 })), ...(refused ? { refused } : {}) };
  if (refused) return;
  const group = Math.random().toString(36).slice(2, 14);
  let run: string | undefined;
  for (const [i, file] of files.entries()) run = (await sendOne(file, i, group)) ?? run;
  if (dropped.peek()?.files.every((f) => !f.error)) forget();
  if (run) openWhenListed(run);
}
