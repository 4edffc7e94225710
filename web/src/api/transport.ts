// How the page gets its data: over HTTP (http.ts), from the program in the page itself (inside.ts), or in a report out of
// its own file (embedded.ts). Nothing else knows which.
import type { ApiError } from "./types.ts";

/** A list is the same parameter several times. */
export type Query = Record<string, string | number | readonly string[] | undefined>;

/** The address of a question; what is not given or empty is left out. */
export function address(route: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([k, v]) => (Array.isArray(v) ? v : [v]).map((one) => [k, one] as const));
  const given = pairs.filter(([, v]) => v !== undefined && v !== "");
  const text = given.map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`).join("&");
  return `/api/v1/${route}${text ? `?${text}` : ""}`;
}

export interface Transport {
  json<T>(route: string, query: Query, signal?: AbortSignal): Promise<T>;
  blocks(route: string, query: Query, signal?: AbortSignal): Promise<Blocks>;
  /** Sends a file; `onShare` hears how much of it is there. */
  send<T>(route: string, query: Query, body: Blob, onShare: (share: number) => void): Promise<T>;
  /** An answer as text, in the form that the question names. */
  text(route: string, query: Query): Promise<string>;
  /** Address of an answer as a file, for links that download. */
  url(route: string, query: Query): string;
  /** Starts the events, including those of the connection: hello, missed, lost. Returns how to poll immediately. */
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
