// Polls the server for events. Each poll is answered immediately, so an idle tab holds no connection: a browser opens at
// most six to a server, for all of its tabs together. A hidden tab does not poll, unless one of its requests waits for a
// trace to load. A page in the back/forward cache does not poll at all.
//
// Requests for a trace that is still loading wait here for the next event; they hold no connection either.

/** The answer of /events?since=N. */
export interface News {
  instance: string;
  version: number;
  next: number;
  missed: boolean; // some events since then are no longer known
  events: { event: string; data: unknown }[];
}

/** Gets the server's events and those of the connection: hello, missed, lost (with the error of the poll). */
export type Listener = (name: string, data: unknown) => void;

export interface Pulse {
  /** Starts polling. */
  start(listener: Listener): void;
  /** Polls immediately. */
  now(): void;
  /** Polls immediately, unless the server is known to be unreachable; true when it answered. */
  check(): Promise<boolean>;
  /** How many times there was news that may matter to a waiting request. */
  count(): number;
  /** Resolves when that count exceeds `seen`. */
  news(seen: number, signal?: AbortSignal): Promise<void>;
  /** The tab was hidden, or is visible again. */
  turned(): void;
  /** The page enters the back/forward cache, or leaves it. */
  leave(): void;
  back(): void;
}

const SHORTEST_MS = 40; // most traces are loaded in less than a tenth of a second
const LONGEST_MS = 400;
const MOVING_MS = 250;
const QUIET_MS = 1500;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 5000;
const RETRY_MS = 2000; // a waiting request is sent again after this time even without news

/** The time until the next poll; undefined: none until the page is visible again or needs one. */
export function pauseOf(s: {
  failures: number;
  waits: boolean;
  polls: number;
  hidden: boolean;
  moving: boolean;
}): number | undefined {
  if (s.failures > 0) return s.hidden ? undefined : Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** (s.failures - 1));
  if (s.waits) return Math.min(LONGEST_MS, SHORTEST_MS * 1.5 ** s.polls);
  if (s.hidden) return undefined;
  return s.moving ? MOVING_MS : QUIET_MS;
}

const PROGRESS: readonly string[] = ["progress", "summaries"];

export function newPulse(ask: (since: number) => Promise<News>, isHidden: () => boolean): Pulse {
  let listener: Listener | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  let away = false;
  let visits = 0;
  let instance = "";
  let since = 0;
  let failures = 0;
  let moving = false;
  let wakes = 0;
  let polls = 0; // since the first of the waiting requests began to wait
  const waiting = new Set<() => void>();
  const checks = new Set<(answered: boolean) => void>();

  const wake = () => {
    wakes++;
    for (const go of [...waiting]) go();
  };

  const hear = (news: News) => {
    const other = news.instance !== instance;
    const returned = failures > 0;
    const known = other ? [] : news.events; // after a restart, everything is asked again anyway
    instance = news.instance;
    since = news.next;
    failures = 0;
    moving = known.some((e) => PROGRESS.includes(e.event));
    if (other || returned) listener?.("hello", { instance, version: news.version });
    else if (news.missed) listener?.("missed", { version: news.version });
    for (const { event, data } of known) listener?.(event, data);
    if (other || returned || news.missed || known.some((e) => e.event !== "progress")) wake();
  };

  const fail = (e: unknown) => {
    failures++;
    moving = false;
    listener?.("lost", e);
  };

  const schedule = () => {
    clearTimeout(timer);
    if (away || asking || !listener) return;
    const pause = pauseOf({ failures, waits: waiting.size > 0, polls, hidden: isHidden(), moving });
    if (pause !== undefined) timer = setTimeout(poll, pause);
  };

  const poll = async (): Promise<void> => {
    clearTimeout(timer);
    if (asking || away) return;
    asking = true;
    const visit = visits;
    polls = waiting.size > 0 ? polls + 1 : 0;
    const answer = await ask(since).then(
      (news) => ({ news }),
      (e: unknown) => ({ e }),
    );
    asking = false;
    if (visit !== visits) {
      now(); // this poll was aborted by leave()
      return;
    }
    if ("news" in answer) hear(answer.news);
    else fail(answer.e);
    for (const tell of [...checks]) tell("news" in answer);
    checks.clear();
    schedule();
  };

  const now = () => void poll();

  return {
    start(l) {
      listener = l;
      now();
    },
    now,
    check() {
      if (failures > 0 && !away) return Promise.resolve(false);
      return new Promise((resolve) => {
        checks.add(resolve);
        now();
      });
    },
    count: () => wakes,
    news(seen, signal) {
      if (wakes > seen) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const end = () => {
          waiting.delete(go);
          clearTimeout(retry);
          signal?.removeEventListener("abort", stop);
        };
        const go = () => {
          end();
          resolve();
        };
        const stop = () => {
          end();
          reject(signal?.reason);
        };
        const retry = setTimeout(go, RETRY_MS);
        signal?.addEventListener("abort", stop, { once: true });
        if (waiting.size === 0) polls = 0;
        waiting.add(go);
        schedule();
      });
    },
    turned() {
      if (isHidden()) schedule();
      else now();
    },
    leave() {
      away = true;
      visits++;
      clearTimeout(timer);
    },
    back() {
      away = false;
      now();
    },
  };
}
