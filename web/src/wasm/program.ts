// The program (src/wasm/inside.h) as functions of JavaScript. A call ends when its work is done: in a page it belongs into a
// worker.
import type { Reply } from "./library-types.ts";
import { type System, wasi } from "./wasi.ts";

export interface Host extends System {
  /** Events as the objects of docs/SERVER.md. */
  tell?: (events: readonly { event: string; data: unknown }[]) => void;
}

interface Exports {
  memory: WebAssembly.Memory;
  _start(): void;
  __wasm_call_ctors(): void;
  page_room(n: number): number;
  page_room_back(p: number): void;
  page_open(folder: number, takesFiles: number): number;
  page_ask(target: number, n: number, fileBytes: number): void;
  page_look(): number;
  page_work(): number;
}

export interface Program {
  /** The command line: runs until it ends by Exit. */
  main(): void;
  /** Throws with a sentence when the folder cannot be opened. */
  open(folder: string, takesFiles: boolean): void;
  ask(target: string, file?: { bytes: number; put: (path: string) => void }): Reply;
  /** Whether another look is worth it in a second. */
  look(): boolean;
  /** Whether there was something to do. */
  work(): boolean;
  readonly memoryBytes: number;
}

export async function start(module: WebAssembly.Module, host: Host): Promise<Program> {
  const memory = () => exports.memory;
  const system = wasi(host, memory);
  const bytesAt = (p: number, n: number) => new Uint8Array(memory().buffer, p >>> 0, n >>> 0).slice();
  const textAt = (p: number, n: number) => new TextDecoder().decode(bytesAt(p, n));
  let reply: Reply | undefined;
  let put: ((path: string) => void) | undefined;
  const tacho = {
    duplicate: system.duplicate,
    tell: (p: number, n: number) => host.tell?.(JSON.parse(`[${textAt(p, n)}]`)),
    give: (p: number, n: number) => put?.(textAt(p, n)),
    answer(code: number, media: number, nMedia: number, name: number, nName: number, body: number, nBody: number) {
      reply = { code, media: textAt(media, nMedia), name: textAt(name, nName), body: bytesAt(body, nBody) };
    },
  };
  const imports = { wasi_snapshot_preview1: system.calls, tacho } as unknown as WebAssembly.Imports;
  const exports = (await WebAssembly.instantiate(module, imports)).exports as unknown as Exports;

  /** Calls with a text in the program's memory, which ends in NUL. */
  function withText<T>(text: string, call: (p: number, n: number) => T): T {
    const bytes = new TextEncoder().encode(`${text}\0`);
    const p = exports.page_room(bytes.length);
    if (!p) throw new RangeError("memory");
    new Uint8Array(memory().buffer, p >>> 0, bytes.length).set(bytes);
    try {
      return call(p, bytes.length - 1);
    } finally {
      exports.page_room_back(p);
    }
  }

  return {
    main: exports._start,
    open(folder, takesFiles) {
      exports.__wasm_call_ctors();
      const failed = withText(folder, (p) => exports.page_open(p, takesFiles ? 1 : 0));
      if (failed) throw new Error(new TextDecoder().decode(reply?.body));
    },
    ask(target, file) {
      put = file?.put;
      reply = undefined;
      withText(target, (p, n) => exports.page_ask(p, n, file?.bytes ?? 0));
      if (!reply) throw new Error("no answer");
      return reply;
    },
    look: () => exports.page_look() !== 0,
    work: () => exports.page_work() !== 0,
    get memoryBytes() {
      return memory().buffer.byteLength;
    },
  };
}
