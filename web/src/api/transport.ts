// How the page gets its data: over HTTP, or in a report out of its own file (embedded.ts). Nothing else knows which.
import type { ApiError } from "./types.ts";

/** A list is the same parameter several times. */
export type Query = Record<string, string | number | readonly string[] | undefined>;

export interface Transport {
  json<T>(route: string, query: Query, signal?: AbortSignal): Promise<T>;
  blocks(route: string, query: Query, signal?: AbortSignal): Promise<Blocks>;
  /** Sends a file; `onShare` hears how much of it is there. */
  send<T>(route: string, query: Query, body: Blob, onShare: (share: number) => void): Promise<T>;
  /** Address of an answer as a file, for links that download. */
  url(route: string, query: Query): string;
  /** Events from now on; a lost connection is opened again, later and later. Returns how to try at once. */
  events(onEvent: (name: string, data: unknown) => void): () => void;
}

export class RequestFailed extends Error {
  constructor(readonly error: ApiError) {
    super(error.msg);
  }
}

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

export interface Blocks {
  description: Record<string, unknown>;
  block(name: string): Numbers;
}

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f32: Float32Array, f64: Float64Array };

interface BlockInfo {
  type: keyof typeof TYPES;
  at: number;
  n: number;
}

/** The binary form of docs/SERVER.md: typed views into the answer, nothing is copied. */
export function readBlocks(bytes: ArrayBuffer): Blocks {
  const length = new DataView(bytes).getUint32(12, true);
  const description = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 16, length))) as Record<string, unknown>;
  const infos = description.blocks as Record<string, BlockInfo>;
  return {
    description,
    block(name) {
      const info = infos[name];
      if (!info) return new Uint8Array(0);
      return new TYPES[info.type](bytes, 16 + length + info.at, info.n);
    },
  };
}

function address(route: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([k, v]) => (Array.isArray(v) ? v : [v]).map((one) => [k, one] as const));
  const given = pairs.filter(([, v]) => v !== undefined && v !== "");
  const text = given.map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`).join("&");
  return `/api/v1/${route}${text ? `?${text}` : ""}`;
}

async function get(route: string, query: Query, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(address(route, query), signal ? { signal } : {});
  if (answer.ok) return answer;
  const body = (await answer.json().catch(() => null)) as { error?: ApiError } | null;
  throw failure(answer.status, answer.statusText, body);
}

const failure = (status: number, text: string, body: { error?: ApiError } | null): RequestFailed =>
  new RequestFailed(body?.error ?? { code: String(status), msg: text, id: "", values: {}, offset: null });

/** By XMLHttpRequest: fetch does not tell how much was sent. */
function send<T>(route: string, query: Query, body: Blob, onShare: (share: number) => void): Promise<T> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", address(route, query));
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (e) => onShare(e.total ? e.loaded / e.total : 0));
    request.addEventListener("load", () =>
      request.status === 200 ? done(request.response as T) : fail(failure(request.status, request.statusText, request.response)),
    );
    request.addEventListener("error", () => fail(failure(0, "network error", null)));
    request.send(body);
  });
}

const FIRST_DELAY = 1000;
const LONGEST_DELAY = 30_000;
const EVENTS = ["hello", "runs", "progress", "summaries", "ready", "failed", "bye"];

export const http: Transport = {
  json: async (route, query, signal) => (await get(route, query, signal)).json(),
  blocks: async (route, query, signal) => readBlocks(await (await get(route, query, signal)).arrayBuffer()),
  send,
  url: address,
  events(onEvent) {
    let stream: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let delay = FIRST_DELAY;
    const open = () => {
      clearTimeout(timer);
      stream?.close();
      const mine = new EventSource("/api/v1/events");
      stream = mine;
      for (const name of EVENTS) mine.addEventListener(name, (e) => onEvent(name, JSON.parse((e as MessageEvent<string>).data)));
      mine.addEventListener("open", () => {
        delay = FIRST_DELAY;
      });
      mine.addEventListener("error", () => {
        mine.close();
        if (stream !== mine) return;
        onEvent("lost", {});
        timer = setTimeout(open, delay);
        delay = Math.min(LONGEST_DELAY, delay * 2);
      });
    };
    open();
    return open;
  },
};
