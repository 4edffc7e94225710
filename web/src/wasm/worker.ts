// The worker that runs the program for a page, so that the page is never held up: questions in the order they come, and the
// reading of files when none waits. Files stay with the reader's browser; they are read here, where waiting is allowed.
import { E, Failed, type Opened } from "./files.ts";
import { pageFiles } from "./page-files.ts";
import { type Program, start } from "./program.ts";

export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module }
  | { kind: "ask"; id: number; target: string; file?: Blob }
  | { kind: "drop"; id: number }; // its answer is not needed any more

export type FromWorker =
  | { kind: "reply"; id: number; code: number; media: string; name: string; body: ArrayBuffer }
  | { kind: "tell"; events: readonly { event: string; data: unknown }[] }
  | { kind: "failed"; memory: boolean; msg: string };

const LOOK_MS = 1000;
const FOLDERS = ["/given", "/tmp"];

const scope = globalThis as unknown as {
  postMessage(message: FromWorker, transfer?: Transferable[]): void;
  onmessage: ((e: MessageEvent<ToWorker>) => void) | null;
};

const files = pageFiles();
const asked: Extract<ToWorker, { kind: "ask" }>[] = [];
let program: Program | undefined;
let busy = false;
let lookAt = 0;

/** What the program writes for a person goes to the console. */
function output(write: (text: string) => void): Opened {
  const none = (): never => {
    throw new Failed(E.badf);
  };
  const self: Opened = {
    streams: true,
    status: () => ({ kind: 0, device: 0, id: 0, links: 1, bytes: 0, modifiedMs: 0, changedMs: 0 }),
    read: () => 0,
    write(_at, bytes) {
      write(new TextDecoder().decode(bytes.slice()));
      return bytes.length;
    },
    truncate: none,
    setTime() {},
    entries: none,
    close() {},
    again: () => self,
  };
  return self;
}

async function begin(module: WebAssembly.Module): Promise<void> {
  for (const folder of FOLDERS) files.makeFolder(folder);
  const made = await start(module, {
    files,
    args: ["tacho"],
    variables: { TMPDIR: "/tmp" },
    streams: [output(() => {}), output(console.log), output(console.warn)],
    sleep() {},
    tell: (events) => scope.postMessage({ kind: "tell", events }),
  });
  made.open("/given", true);
  program = made;
}

function answer(p: Program, one: (typeof asked)[number]): void {
  const { id, target, file } = one;
  const reply = p.ask(target, file && { bytes: file.size, put: (path) => files.give(path, file) });
  const body = reply.body.buffer as ArrayBuffer;
  scope.postMessage({ kind: "reply", id, code: reply.code, media: reply.media, name: reply.name, body }, [body]);
  if (file) lookAt = Date.now();
}

/** One piece of work: true when there may be more. */
function turn(p: Program): boolean {
  const next = asked.shift();
  if (next) {
    answer(p, next);
    return true;
  }
  if (lookAt && Date.now() >= lookAt) {
    const again = p.look();
    lookAt = again ? Date.now() + LOOK_MS : 0;
    if (again) setTimeout(go, LOOK_MS);
    return true;
  }
  return p.work();
}

// Messages that came meanwhile are heard between two pieces of work; a timer would wait longer.
const next = new MessageChannel();
next.port1.onmessage = () => {
  busy = false;
  go();
};

function go(): void {
  if (!program || busy) return;
  try {
    busy = turn(program);
  } catch (e) {
    // Out of memory, or a fault of the program: it answers nothing any more.
    program = undefined;
    scope.postMessage({ kind: "failed", memory: e instanceof RangeError, msg: String(e) });
    return;
  }
  if (busy) next.port2.postMessage(0);
}

scope.onmessage = ({ data }) => {
  if (data.kind === "start")
    void begin(data.module).then(go, (e) => scope.postMessage({ kind: "failed", memory: false, msg: String(e) }));
  else if (data.kind === "ask") asked.push(data);
  else {
    const at = asked.findIndex((a) => a.id === data.id);
    if (at >= 0) asked.splice(at, 1);
  }
  go();
};
