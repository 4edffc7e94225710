// A queue for requests. A browser opens at most six connections to a server, for all of its tabs together: a tab that used
// all six for slow requests would block the others.

/** Runs at most `most` tasks at a time, first come, first served. An aborted task leaves the queue. */
export function turns(most: number): <T>(task: () => Promise<T>, signal?: AbortSignal) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = () => {
    if (running >= most) return;
    const begin = waiting.shift();
    if (!begin) return;
    running++;
    begin();
  };
  const turn = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(signal?.reason);
      };
      const begin = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      signal?.addEventListener("abort", leave, { once: true });
      waiting.push(begin);
      next();
    });
  return async (task, signal) => {
    await turn(signal);
    try {
      return await task();
    } finally {
      running--;
      next();
    }
  };
}
