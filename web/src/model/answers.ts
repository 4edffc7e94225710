// Answers of the server, kept by their question. A view says while it draws what it wants, and is drawn again with the
// answer; until then the last one of the same slot stays, marked as old, so that nothing jumps.
import { batch, type Signal, signal } from "@preact/signals";
import { http, overLine } from "../api/http.ts";
import { saveLinks, theInside } from "../api/inside.ts";
import { theReport } from "../api/report.ts";
import { type Blocks, type Query, RequestFailed, type Transport } from "../api/transport.ts";
import type { ApiError, RunInfo, Runs } from "../api/types.ts";
import { t } from "./language.ts";

export interface Asked<T> {
  value: T | undefined;
  old: boolean; // value belongs to an earlier question
  error: ApiError | undefined;
}

interface Question {
  key: string;
  load: (signal: AbortSignal) => Promise<unknown>;
}

interface Slot {
  question: Question | undefined; // answered, or on its way
  answered: string; // what the value is the answer to
  state: Signal<Asked<unknown>>;
  abort: AbortController | undefined;
}

let transport: Transport = http;
const slots = new Map<string, Slot>();

export function setTransport(t: Transport): void {
  transport = t;
}

/** In a report the answers are in the page's own file; what reads them is needed nowhere else. */
export async function chooseTransport(): Promise<void> {
  const [report, inside] = [theReport(), theInside()];
  if (report) transport = (await import("../api/embedded.ts")).embedded(report);
  if (!inside) return;
  transport = overLine(inside);
  saveLinks(inside);
}

export function server(): Transport {
  return transport;
}

/** An error with a sentence for the reader. */
export function errorOf(e: unknown): ApiError {
  if (!(e instanceof RequestFailed)) return { code: "internal", msg: String(e), id: "", values: {}, offset: null };
  return e.error.code === "lost" ? lostError() : e.error;
}

/** The server does not answer. */
export const lostError = (): ApiError => ({ code: "lost", msg: t("server_gone"), id: "", values: {}, offset: null });

function slotOf(name: string): Slot {
  let slot = slots.get(name);
  if (!slot) {
    const state = signal<Asked<unknown>>({ value: undefined, old: false, error: undefined });
    slot = { question: undefined, answered: "", state, abort: undefined };
    slots.set(name, slot);
  }
  return slot;
}

/** The answer to a question in a named slot; asking the same again costs nothing. */
export function ask<T>(name: string, route: string, query: Query): Asked<T> {
  return want(name, route, query, (signal) => transport.json(route, query, signal)) as Asked<T>;
}

/** The same for answers in the binary form. */
export function askBlocks(name: string, route: string, query: Query): Asked<Blocks> {
  return want(name, route, query, (signal) => transport.blocks(route, query, signal)) as Asked<Blocks>;
}

// Drawing only says what it wants. Requests start when it is over, for each slot the last one that was wanted.
const wishes = new Map<Slot, Question>();

function want(name: string, route: string, query: Query, load: Question["load"]): Asked<unknown> {
  const slot = slotOf(name);
  const key = `${route}?${JSON.stringify(query)}#${generation.value}`;
  if (slot.question?.key === key) wishes.delete(slot);
  else {
    if (wishes.size === 0) queueMicrotask(startWishes);
    wishes.set(slot, { key, load });
  }
  return slot.state.value;
}

function startWishes(): void {
  batch(() => {
    for (const [slot, question] of wishes) start(slot, question);
  });
  wishes.clear();
}

/** Counts the reader's retries; scripts that could not be loaded are retried, too. */
export const tries = signal(0);

/** Asks again what failed, and nothing else. */
export function tryAgain(): void {
  tries.value++;
  for (const slot of slots.values()) if (slot.question && slot.state.peek().error) start(slot, slot.question);
}

/** Questions on their way: the page is busy while there are any. */
export const open = signal(0);

/** Counts a request while it is on its way. */
export function counted<T>(request: Promise<T>): Promise<T> {
  open.value = open.peek() + 1;
  return request.finally(() => {
    open.value = open.peek() - 1;
  });
}

function start(slot: Slot, question: Question): void {
  slot.question = question;
  slot.abort?.abort();
  slot.abort = new AbortController();
  const before = slot.state.peek().value;
  const asked = question.key.replace(/#\d+$/, ""); // the same, whenever it is asked
  // A refresh of the same question: the last answer is shown as valid until the new one arrives.
  slot.state.value = { value: before, old: before !== undefined && slot.answered !== asked, error: undefined };
  void counted(question.load(slot.abort.signal)).then(
    (value) => {
      if (slot.question !== question) return;
      slot.answered = asked;
      slot.state.value = { value, old: false, error: undefined };
    },
    (e: unknown) => {
      if (slot.question !== question || (e instanceof DOMException && e.name === "AbortError")) return;
      // Numbers of another run, or of other steps, are not an answer.
      const value = slot.answered === asked ? slot.state.peek().value : undefined;
      slot.state.value = { value, old: false, error: errorOf(e) };
    },
  );
}

/** Grows when everything must be asked again (a trace was loaded again). */
export const generation = signal(0);

// ---- runs and the live connection ----

export const runs = signal<Runs | undefined>(undefined);
/** Whether the server is unreachable, since when, and whether it refused this page's token. */
export const connection = signal<{ lost: boolean; since: Date; token?: boolean }>({ lost: false, since: new Date() });
export const progress = signal<{ done: number; total: number } | undefined>(undefined);
/** Summaries of workers, which questions about all of them need: made, and wanted. */
export const summaries = signal<{ done: number; total: number }>({ done: 0, total: 0 });
/** Runs that appeared while the page was open. */
export const arrived = signal<readonly RunInfo[]>([]);

/** Runs whose files were deleted while the page was open, and since when: what is shown of them stays. */
export const deleted = signal<ReadonlyMap<string, { run: RunInfo; since: Date }>>(new Map());

/** Adds the runs that are missing now, and drops those that are back. */
export function departures(
  seen: ReadonlyMap<string, { run: RunInfo; since: Date }>,
  before: readonly RunInfo[],
  now: readonly RunInfo[],
  since = new Date(),
): ReadonlyMap<string, { run: RunInfo; since: Date }> {
  const isHere = (name: string) => now.some((r) => r.name === name);
  const left = before.filter((r) => !isHere(r.name) && !seen.has(r.name)).map((run) => [run.name, { run, since }] as const);
  return new Map([...[...seen].filter(([name]) => !isHere(name)), ...left]);
}

function takeRuns(now: Runs): void {
  const before = runs.peek();
  const isReading = now.runs.some((r) =>
    r.workers.some((w) => w.spans.some((s) => s.state === "waiting" || s.state === "loading")),
  );
  batch(() => {
    if (before) arrived.value = arrivals(arrived.peek(), before.runs, now.runs);
    if (before) deleted.value = departures(deleted.peek(), before.runs, now.runs);
    runs.value = now;
    summaries.value = now.summaries;
    if (!isReading) progress.value = undefined;
  });
}

/** Updates the list of new runs: adds those that are new now, drops those that are gone. */
export function arrivals(seen: readonly RunInfo[], before: readonly RunInfo[], now: readonly RunInfo[]): RunInfo[] {
  const isNew = (r: RunInfo) => seen.some((s) => s.name === r.name) || !before.some((b) => b.name === r.name);
  return now.filter(isNew);
}

let fetching: Promise<void> | undefined;
let fetchAgain = false;

/** Fetches the list of runs. All events during a fetch together cause one more. */
function fetchRuns(): Promise<void> {
  fetchAgain = fetching !== undefined;
  fetching ??= askRuns().finally(() => {
    fetching = undefined;
    if (fetchAgain) void fetchRuns();
  });
  return fetching;
}

async function askRuns(): Promise<void> {
  try {
    takeRuns(await transport.json<Runs>("runs", {}));
  } catch (e) {
    if (!runs.peek()) connection.value = { lost: true, since: new Date() };
    else console.warn(errorOf(e).msg);
  }
}

let again = () => {};

/** Tries at once, without waiting for the next turn. */
export const reconnect = (): void => again();

/** Asks everything again, including the list of runs. */
function startOver(): void {
  generation.value++;
  void fetchRuns();
}

/** Listens from now on; done when the runs are known, or not to be had. */
export function connect(): Promise<void> {
  const first = fetchRuns();
  let instance = "";
  const hear: Record<string, (data: unknown) => void> = {
    hello(data) {
      const { instance: now, version } = data as { instance: string; version: number };
      const returned = instance !== "" && (instance !== now || connection.peek().lost);
      instance = now;
      connection.value = { lost: false, since: new Date() };
      if (returned) startOver();
      else void first.then(() => (runs.peek()?.version === version ? undefined : fetchRuns()));
    },
    missed: startOver,
    runs: () => void fetchRuns(),
    failed: () => void fetchRuns(),
    ready(data) {
      if ((data as { renewed: boolean }).renewed) generation.value++;
      void fetchRuns();
    },
    summaries(data) {
      summaries.value = data as { done: number; total: number };
    },
    progress(data) {
      progress.value = data as { done: number; total: number };
    },
    lost(e) {
      const token = e instanceof RequestFailed && e.error.code === "token";
      const now = connection.peek();
      if (!now.lost || token !== (now.token ?? false))
        connection.value = { lost: true, since: now.lost ? now.since : new Date(), token };
    },
    bye: () => hear.lost?.(undefined),
  };
  again = transport.events((name, data) => hear[name]?.(data));
  return first;
}
