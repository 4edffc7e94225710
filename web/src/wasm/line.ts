// The page's line to its worker: requests as if they went over HTTP. Events come from the worker while it reads, when it
// cannot be asked for them, so they are kept here.
import type { Inside } from "../api/inside.ts";
import type { FromWorker, ToWorker } from "./worker.ts";

interface Waiting {
  done: (answer: Response) => void;
  fail: (why: unknown) => void;
}

const MOST_EVENTS = 256;

const json = (status: number, value: unknown): Response =>
  new Response(JSON.stringify(value), { status, headers: { "Content-Type": "application/json" } });

const isHere = (target: string, route: string) => target.startsWith(`/api/v1/${route}`);

export function lineTo(
  worker: Worker,
  compiled: Promise<WebAssembly.Module>,
  single: boolean,
  words: (memory: boolean) => string,
): Inside {
  const waiting = new Map<number, Waiting>();
  const events: { event: string; data: unknown }[] = [];
  let first = 0; // the number of the oldest event that is kept
  let last = 0; // of a request
  let broken: string | undefined;
  const post = (message: ToWorker) => worker.postMessage(message);

  function hear(news: readonly { event: string; data: unknown }[]): void {
    events.push(...news);
    const over = Math.max(0, events.length - MOST_EVENTS);
    events.splice(0, over);
    first += over;
  }

  /** The answer of /events. */
  function since(target: string): Response {
    const asked = Number(/since=(\d+)/.exec(target)?.[1] ?? 0);
    const next = first + events.length;
    const missed = asked < first && asked > 0;
    return json(200, {
      instance: "inside",
      version: next,
      next,
      missed,
      events: missed ? [] : events.slice(Math.max(0, asked - first)),
    });
  }

  function refuse(msg: string): Response {
    return json(500, { error: { code: "internal", msg, id: "", values: {}, offset: null } });
  }

  function fail(memory: boolean, msg: string): void {
    console.error(msg);
    broken = words(memory);
    for (const one of waiting.values()) one.done(refuse(broken));
    waiting.clear();
  }

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind === "tell") hear(data.events);
    else if (data.kind === "failed") fail(data.memory, data.msg);
    else {
      const { id, code, media, name, body } = data;
      const headers: Record<string, string> = { "Content-Type": media };
      if (name) headers["Content-Disposition"] = `attachment; filename="${name.replace(/[^\w.+=-]/g, "_")}"`;
      waiting.get(id)?.done(new Response(body, { status: code, headers }));
      waiting.delete(id);
    }
  };
  worker.onerror = (e) => fail(false, e.message);
  compiled.then(
    (module) => post({ kind: "start", module }),
    (e) => fail(false, String(e)),
  );

  function ask(target: string, signal?: AbortSignal, file?: Blob): Promise<Response> {
    if (broken !== undefined) return Promise.resolve(refuse(broken));
    const id = ++last;
    return new Promise((done, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        post({ kind: "drop", id });
        reject(signal.reason);
      });
      waiting.set(id, { done, fail: reject });
      post({ kind: "ask", id, target, ...(file ? { file } : {}) });
    });
  }

  return {
    single,
    fetch: (target, { signal }) => (isHere(target, "events") ? Promise.resolve(since(target)) : ask(target, signal)),
    async send(target, body, onShare) {
      const answer = await ask(target, undefined, body);
      onShare(1);
      return { status: answer.status, text: answer.statusText, answer: await answer.json().catch(() => null) };
    },
  };
}
