// The transport over HTTP, or over another line that carries the same requests (inside.ts). A request for a trace that is still loading is not left open on the server (wait=0): it is sent
// again when the server has news (pulse.ts). Requests in flight are aborted when the page enters the back/forward cache, and
// sent again when it leaves it.
import { type News, newPulse } from "./pulse.ts";
import { address, type Query, RequestFailed, readBlocks, type Transport } from "./transport.ts";
import { turns } from "./turns.ts";
import type { ApiError } from "./types.ts";

const MOST_AT_ONCE = 4; // a browser opens six connections to a server: two are left for other tabs
const MOST_TRIES = 3;
const POLL_TIMEOUT_MS = 20_000; // long, because slow requests of other tabs may use all connections for a while
const WITHOUT_TRACE: readonly string[] = ["runs", "events", "ping"];

const failure = (status: number, text: string, body: { error?: ApiError } | null): RequestFailed =>
  new RequestFailed(body?.error ?? { code: String(status), msg: text, id: "", values: {}, offset: null });

/** The server does not answer. The sentence for it is in the text tables. */
const gone = () => new RequestFailed({ code: "lost", msg: "", id: "", values: {}, offset: null });

// At most two SQL queries run at a time in all tabs together; each tab uses one of two locks.
const slowLock = `tacho.slow.${Math.floor(Math.random() * 2)}`;

/** What carries requests. */
export interface Line {
  fetch(url: string, how: { signal: AbortSignal }): Promise<Response>;
  /** Sends a file with a request; `onShare` hears how much of it is there. */
  send(url: string, body: Blob, onShare: (share: number) => void): Promise<{ status: number; text: string; answer: unknown }>;
}

const LOADING = Symbol();

/** SQL may take seconds; .tables and .schema do not. */
const isSlow = (route: string, query: Query): boolean => route === "query" && !String(query.sql).startsWith(".");

/** Limits slow requests across tabs. Web Locks exist only on https: and localhost; elsewhere there is no such limit. */
async function slowly<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!navigator.locks) return task();
  return (await navigator.locks.request(slowLock, signal ? { signal } : {}, task)) as T;
}

export function overLine(line: Line): Transport {
  const inTurn = turns(MOST_AT_ONCE);
  const inFlight = new Set<AbortController>();
  let away = false;

  /** One request including its body: the connection is in use until the body is read. */
  async function once<T>(url: string, read: (answer: Response) => Promise<T>, signal?: AbortSignal): Promise<T | typeof LOADING> {
    const own = new AbortController();
    const stop = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    inFlight.add(own);
    try {
      const answer = await line.fetch(url, { signal: own.signal });
      if (answer.status === 202) {
        await answer.text(); // an unread body holds the connection
        return LOADING;
      }
      if (answer.ok) return await read(answer);
      throw failure(answer.status, answer.statusText, (await answer.json().catch(() => null)) as { error?: ApiError } | null);
    } finally {
      inFlight.delete(own);
      signal?.removeEventListener("abort", stop);
    }
  }

  const pulse = newPulse(
    async (since) => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), POLL_TIMEOUT_MS);
      try {
        return (await once(address("events", { since }), (answer) => answer.json(), late.signal)) as News;
      } finally {
        clearTimeout(timer);
      }
    },
    () => document.visibilityState === "hidden",
  );

  async function get<T>(route: string, query: Query, read: (answer: Response) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const url = address(route, WITHOUT_TRACE.includes(route) ? query : { ...query, wait: 0 });
    for (let tries = 0; ; ) {
      const seen = pulse.count();
      try {
        const ask = () => once(url, read, signal);
        const answer = await inTurn(() => (isSlow(route, query) ? slowly(ask, signal) : ask()), signal);
        if (answer !== LOADING) return answer;
        await pulse.news(seen, signal);
      } catch (e) {
        if (signal?.aborted || e instanceof RequestFailed || e instanceof SyntaxError) throw e;
        if (!away && ++tries === MOST_TRIES) throw gone();
        if (!(await pulse.check())) throw gone();
      }
    }
  }

  async function send<T>(route: string, query: Query, body: Blob, onShare: (share: number) => void): Promise<T> {
    const { status, text, answer } = await line.send(address(route, query), body, onShare).catch(() => Promise.reject(gone()));
    if (status === 200) return answer as T;
    throw failure(status, text, answer as { error?: ApiError } | null);
  }

  /** No polls and no requests while the page is in the back/forward cache; a poll as soon as it is visible again. */
  function followPage(): void {
    addEventListener("pagehide", () => {
      away = true;
      pulse.leave();
      for (const request of inFlight) request.abort();
    });
    addEventListener("pageshow", (e) => {
      if (!e.persisted && !away) return;
      away = false;
      pulse.back();
    });
    document.addEventListener("visibilitychange", pulse.turned);
  }

  return {
    json: (route, query, signal) => get(route, query, (answer) => answer.json(), signal),
    blocks: async (route, query, signal) => readBlocks(await get(route, query, (answer) => answer.arrayBuffer(), signal)),
    text: (route, query) => get(route, query, (answer) => answer.text()),
    send,
    url: address,
    events(listener) {
      followPage();
      pulse.start(listener);
      return pulse.now;
    },
  };
}

/** By XMLHttpRequest: fetch does not tell how much was sent. */
const sendOverHttp: Line["send"] = (url, body, onShare) =>
  new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", url);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.addEventListener("progress", (e) => onShare(e.total ? e.loaded / e.total : 0));
    request.addEventListener("load", () => done({ status: request.status, text: request.statusText, answer: request.response }));
    request.addEventListener("error", fail);
    request.send(body);
  });

export const http: Transport = overLine({ fetch: (url, how) => fetch(url, how), send: sendOverHttp });
