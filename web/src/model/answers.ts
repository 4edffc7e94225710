// Answers of the server, kept by their question. A view asks while it draws; while an answer is on its
// way the last one for the same slot stays, marked as old, so that nothing jumps.
import { type Signal, signal } from "@preact/signals";
import { type Blocks, http, type Query, RequestFailed, type Transport } from "../api/transport.ts";
import type { Answer, ApiError, Runs } from "../api/types.ts";

export interface Asked<T> {
  value: T | undefined;
  old: boolean; // value belongs to an earlier question
  error: ApiError | undefined;
}

interface Slot {
  key: string;
  state: Signal<Asked<unknown>>;
  abort: AbortController | undefined;
}

let transport: Transport = http;
const slots = new Map<string, Slot>();

export function setTransport(t: Transport): void {
  transport = t;
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
    slot = { key: "", state: signal({ value: undefined, old: false, error: undefined }), abort: undefined };
    slots.set(name, slot);
  }
  return slot;
}

/** The answer to a question in a named slot; asking the same again costs nothing. */
export function ask<T>(name: string, route: string, query: Query): Asked<T> {
  const slot = slotOf(name);
  const key = `${route}?${JSON.stringify(query)}#${generation.value}`;
  if (slot.key !== key) start(slot, key, (signal) => transport.json(route, query, signal));
  return slot.state.value as Asked<T>;
}

/** The same for answers in the binary form. */
export function askBlocks(name: string, route: string, query: Query): Asked<Blocks> {
  const slot = slotOf(name);
  const key = `${route}?${JSON.stringify(query)}#${generation.value}`;
  if (slot.key !== key) start(slot, key, (signal) => transport.blocks(route, query, signal));
  return slot.state.value as Asked<Blocks>;
}

/** Asks everything again that failed. */
export function tryAgain(): void {
  generation.value++;
}

/** Questions on their way: the page is busy while there are any. */
export const open = signal(0);

/** Counts a request while it is on its way. A view may ask while it draws, hence the microtask. */
export function counted<T>(request: Promise<T>): Promise<T> {
  queueMicrotask(() => {
    open.value++;
  });
  return request.finally(() => {
    open.value--;
  });
}

function start(slot: Slot, key: string, load: (signal: AbortSignal) => Promise<unknown>): void {
  slot.key = key;
  slot.abort?.abort();
  slot.abort = new AbortController();
  const before = slot.state.peek();
  queueMicrotask(() => {
    slot.state.value = { value: before.value, old: before.value !== undefined, error: undefined };
  });
  void counted(load(slot.abort.signal)).then(
    (value) => {
      if (slot.key === key) slot.state.value = { value, old: false, error: undefined };
    },
    (e: unknown) => {
      if (slot.key !== key || (e instanceof DOMException && e.name === "AbortError")) return;
      slot.state.value = { ...slot.state.peek(), old: false, error: toError(e) };
    },
  );
}

export function askAnalysis(analysis: string, query: Query, slot = analysis): Asked<Answer> {
  return ask<Answer>(slot, analysis, query);
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

export function connect(): void {
  let instance = "";
  const seen = new Set<string>(); // a trace that is ready a second time was loaded anew
  again = transport.events((name, data) => {
    if (name === "hello") {
      const now = (data as { instance: string }).instance;
      if (instance && (instance !== now || connection.peek().lost)) generation.value++;
      instance = now;
      connection.value = { lost: false, since: new Date() };
      void fetchRuns();
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
  void fetchRuns();
}
