// Answers of the server, kept by their question. A view says while it draws what it wants, and is drawn again with the
// answer; until then the last one of the same slot stays, marked as old, so that nothing jumps.
import { batch, type Signal, signal } from "@preact/signals";
import { theReport } from "../api/report.ts";
import { type Blocks, http, type Query, RequestFailed, type Transport } from "../api/transport.ts";
import type { ApiError, Runs } from "../api/types.ts";

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
export async function openReport(): Promise<void> {
  const report = theReport();
  if (report) transport = (await import("../api/embedded.ts")).embedded(report);
}

export function server(): Transport {
  return transport;
}

function toError(e: unknown): ApiError {
  if (e instanceof RequestFailed) return e.error;
  return { code: "lost", msg: String(e), id: "", values: {}, offset: null };
}

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

/** Asks again what failed, and nothing else. */
export function tryAgain(): void {
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
  slot.state.value = { value: before, old: before !== undefined, error: undefined };
  void counted(question.load(slot.abort.signal)).then(
    (value) => {
      if (slot.question !== question) return;
      slot.answered = asked;
      slot.state.value = { value, old: false, error: undefined };
    },
    (e: unknown) => {
      if (slot.question !== question || (e instanceof DOMException && e.name === "AbortError")) return;
      // Numbers of another run, or of other steps, are no answer.
      const value = slot.answered === asked ? slot.state.peek().value : undefined;
      slot.state.value = { value, old: false, error: toError(e) };
    },
  );
}

/** Grows when everything must be asked again (a trace was loaded anew). */
export const generation = signal(0);

// ---- runs and the live connection ----

export const runs = signal<Runs | undefined>(undefined);
export const connection = signal<{ lost: boolean; since: Date }>({ lost: false, since: new Date() });
export const progress = signal<{ done: number; total: number } | undefined>(undefined);
/** Summaries of workers, which questions about all of them rest on: made, and wanted. */
export const summaries = signal<{ done: number; total: number }>({ done: 0, total: 0 });

async function fetchRuns(): Promise<void> {
  try {
    const now = await transport.json<Runs>("runs", {});
    runs.value = now;
    summaries.value = now.summaries;
  } catch (e) {
    if (!runs.peek()) connection.value = { lost: true, since: new Date() };
    else console.warn(toError(e).msg);
  }
}

let again = () => {};

/** Tries at once, without waiting for the next turn. */
export const reconnect = (): void => again();

/** Listens from now on; done when the runs are known, or not to be had. */
export function connect(): Promise<void> {
  const first = fetchRuns();
  let instance = "";
  const seen = new Set<string>(); // a trace that is ready a second time was loaded anew
  again = transport.events((name, data) => {
    if (name === "hello") {
      const { instance: now, version } = data as { instance: string; version: number };
      const restarted = instance !== "" && instance !== now;
      if (restarted || (instance && connection.peek().lost)) generation.value++;
      void first.then(() => (restarted || runs.peek()?.version !== version ? fetchRuns() : undefined));
      instance = now;
      connection.value = { lost: false, since: new Date() };
    } else if (name === "runs" || name === "failed") {
      void fetchRuns();
    } else if (name === "ready") {
      const key = JSON.stringify(data);
      if (seen.has(key)) generation.value++;
      seen.add(key);
      void fetchRuns();
    } else if (name === "summaries") {
      summaries.value = data as { done: number; total: number };
    } else if (name === "progress") {
      progress.value = data as { done: number; total: number };
    } else if ((name === "lost" || name === "bye") && !connection.peek().lost) {
      connection.value = { lost: true, since: new Date() };
    }
  });
  return first;
}
