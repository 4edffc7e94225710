// The system calls of the program in WebAssembly (WASI, preview 1), over any Files. Only what the program imports is here;
// what it could do beyond it (sockets, other processes) does not exist.
import { E, Failed, type Files, Kind, type Opened, type Status } from "./files.ts";

export interface System {
  files: Files;
  args: readonly string[];
  variables: Record<string, string>;
  /** Standard input, output and errors. */
  streams: readonly Opened[];
  /** Waits without working. */
  sleep: (ms: number) => void;
}

/** The program ended. */
export class Exit extends Error {
  constructor(readonly status: number) {
    super(`exit ${status}`);
  }
}

interface Descriptor {
  file: Opened;
  at: number;
  path: string; // of a folder
  root?: string; // what the program calls a folder that paths begin with
  appends: boolean;
  list?: ReturnType<Opened["entries"]>;
}

const OPEN = { create: 1, folder: 2, exclusive: 4, truncate: 8 };
const RIGHT_TO_WRITE = 1n << 6n;
const RIGHTS_TO_SEEK = (1n << 2n) | (1n << 5n);
const ALL_RIGHTS = (1n << 30n) - 1n;
const FOLLOW = 1;
const APPEND = 1;
const NONBLOCK = 4;
const SET_MTIME = 4;
const SET_MTIME_NOW = 8;
const MONOTONIC = 1;
const SIZE_OF = { iovec: 8, subscription: 48, event: 32, dirent: 24, status: 64, fdstat: 24 };
const EVENT_CLOCK = 0;

const utf8 = new TextEncoder();
const text = new TextDecoder();
const nanoseconds = (ms: number): bigint => BigInt(Math.round(ms * 1000)) * 1000n;

/** "a/../b//c" below a folder, as an absolute path. */
export function pathBelow(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of `${path.startsWith("/") ? "" : `${folder}/`}${path}`.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

type Call = (...words: never[]) => number | undefined;

export function wasi(system: System, memory: () => WebAssembly.Memory) {
  const descriptors = new Map<number, Descriptor>();
  const open = (file: Opened, more: Partial<Descriptor> = {}): number => {
    let fd = 0;
    while (descriptors.has(fd)) fd++;
    descriptors.set(fd, { file, at: 0, path: "", appends: false, ...more });
    return fd;
  };
  for (const stream of system.streams) open(stream);
  const asFolder = { write: false, create: false, exclusive: false, truncate: false, folder: true, follow: true, waits: true };
  open(system.files.open("/", asFolder), { path: "/", root: "/" });

  const view = () => new DataView(memory().buffer);
  const bytesAt = (p: number, n: number) => new Uint8Array(memory().buffer, p >>> 0, n >>> 0);
  // A copy: a decoder of a browser takes no memory that others may share.
  const textAt = (p: number, n: number) => text.decode(bytesAt(p, n).slice());
  const of = (fd: number): Descriptor => {
    const found = descriptors.get(fd);
    if (!found) throw new Failed(E.badf);
    return found;
  };
  const pathOf = (fd: number, p: number, n: number): string => pathBelow(of(fd).path, textAt(p, n));
  const put32 = (p: number, v: number) => view().setUint32(p, v, true);
  const put64 = (p: number, v: bigint | number) => view().setBigUint64(p, BigInt(v), true);

  function putStatus(p: number, s: Status): void {
    bytesAt(p, SIZE_OF.status).fill(0);
    put64(p, s.device);
    put64(p + 8, BigInt.asUintN(64, BigInt(Math.trunc(s.id))));
    view().setUint8(p + 16, s.kind);
    put64(p + 24, s.links);
    put64(p + 32, s.bytes);
    put64(p + 40, nanoseconds(s.modifiedMs));
    put64(p + 48, nanoseconds(s.modifiedMs));
    put64(p + 56, nanoseconds(s.changedMs));
  }

  /** Calls `each` for the pieces of a list of buffers, until one is not filled. */
  function inPieces(list: number, n: number, each: (piece: Uint8Array, done: number) => number): number {
    let done = 0;
    for (let i = 0; i < n; i++) {
      const v = view();
      const at = list + i * SIZE_OF.iovec;
      const length = v.getUint32(at + 4, true);
      const moved = length ? each(bytesAt(v.getUint32(at, true), length), done) : 0;
      done += moved;
      if (moved < length) break;
    }
    return done;
  }

  function move(fd: number, list: number, n: number, from: number | undefined, read: boolean): number {
    const d = of(fd);
    const start = from ?? (d.appends && !read ? d.file.status().bytes : d.at);
    const done = inPieces(list, n, (piece, before) =>
      read ? d.file.read(start + before, piece) : d.file.write(start + before, piece),
    );
    if (from === undefined) d.at = start + done;
    return done;
  }

  function seek(fd: number, offset: bigint, whence: number): number {
    const d = of(fd);
    if (d.file.streams) throw new Failed(E.spipe);
    const base = whence === 0 ? 0 : whence === 1 ? d.at : d.file.status().bytes;
    const to = base + Number(offset);
    if (to < 0) throw new Failed(E.inval);
    d.at = to;
    return to;
  }

  function openPath(fd: number, follow: number, p: number, n: number, flags: number, rights: bigint, how: number): number {
    const path = pathOf(fd, p, n);
    const write = (rights & RIGHT_TO_WRITE) !== 0n;
    const file = system.files.open(path, {
      write,
      create: (flags & OPEN.create) !== 0,
      exclusive: (flags & OPEN.exclusive) !== 0,
      truncate: (flags & OPEN.truncate) !== 0,
      folder: (flags & OPEN.folder) !== 0,
      follow: (follow & FOLLOW) !== 0,
      waits: (how & NONBLOCK) === 0,
    });
    const isFolder = file.status().kind === Kind.folder;
    if (isFolder && write) {
      file.close();
      throw new Failed(E.isdir);
    }
    return open(file, { path, appends: (how & APPEND) !== 0 });
  }

  function readFolder(fd: number, to: number, room: number, cookie: bigint): number {
    const d = of(fd);
    if (cookie === 0n || !d.list) d.list = d.file.entries();
    let used = 0;
    for (let i = Number(cookie); i < d.list.length && used < room; i++) {
      const entry = d.list[i] as (typeof d.list)[number];
      const name = utf8.encode(entry.name);
      const whole = new Uint8Array(SIZE_OF.dirent + name.length);
      const v = new DataView(whole.buffer);
      v.setBigUint64(0, BigInt(i + 1), true);
      v.setBigUint64(8, BigInt.asUintN(64, BigInt(Math.trunc(entry.id))), true);
      v.setUint32(16, name.length, true);
      v.setUint8(20, entry.kind);
      whole.set(name, SIZE_OF.dirent);
      const part = whole.subarray(0, room - used);
      bytesAt(to + used, part.length).set(part);
      used += part.length;
    }
    return used;
  }

  /** Sleeps for a clock; a descriptor always has something. */
  function poll(from: number, to: number, n: number): number {
    let events = 0;
    let until = Number.POSITIVE_INFINITY;
    const put = (at: number) => {
      const out = to + events++ * SIZE_OF.event;
      bytesAt(out, SIZE_OF.event).fill(0);
      put64(out, view().getBigUint64(at, true));
      view().setUint8(out + 10, view().getUint8(at + 8));
    };
    const clocks: number[] = [];
    for (let i = 0; i < n; i++) {
      const at = from + i * SIZE_OF.subscription;
      if (view().getUint8(at + 8) !== EVENT_CLOCK) put(at);
      else {
        clocks.push(at);
        until = Math.min(until, Number(view().getBigUint64(at + 24, true)) / 1e6);
      }
    }
    if (events === 0 && clocks.length) {
      system.sleep(until);
      put(clocks[0] as number);
    }
    return events;
  }

  function putTexts(texts: readonly string[], list: number, to: number): void {
    let at = to;
    for (const [i, one] of texts.entries()) {
      const bytes = utf8.encode(`${one}\0`);
      put32(list + 4 * i, at);
      bytesAt(at, bytes.length).set(bytes);
      at += bytes.length;
    }
  }
  const putSizes = (texts: readonly string[], count: number, size: number) => {
    put32(count, texts.length);
    put32(
      size,
      texts.reduce((sum, one) => sum + utf8.encode(one).length + 1, 0),
    );
  };
  const variables = Object.entries(system.variables).map(([name, value]) => `${name}=${value}`);
  const timeOf = (flags: number, mtime: bigint): number | undefined =>
    flags & SET_MTIME_NOW ? Date.now() : flags & SET_MTIME ? Number(mtime / 1000n) / 1000 : undefined;

  const calls: Record<string, Call> = {
    args_sizes_get: (count: number, size: number) => void putSizes(system.args, count, size),
    args_get: (list: number, to: number) => void putTexts(system.args, list, to),
    environ_sizes_get: (count: number, size: number) => void putSizes(variables, count, size),
    environ_get: (list: number, to: number) => void putTexts(variables, list, to),
    clock_time_get(id: number, _precision: bigint, to: number) {
      put64(to, nanoseconds(id === MONOTONIC ? performance.now() : performance.timeOrigin + performance.now()));
      return E.ok;
    },
    random_get(p: number, n: number) {
      const random = new Uint8Array(n);
      crypto.getRandomValues(random);
      bytesAt(p, n).set(random);
      return E.ok;
    },
    proc_exit(status: number) {
      throw new Exit(status);
    },
    poll_oneoff: (from: number, to: number, n: number, count: number) => void put32(count, poll(from, to, n)),
    sock_recv: () => E.nosys,

    fd_prestat_get(fd: number, to: number) {
      const { root } = of(fd);
      if (root === undefined) return E.badf;
      put32(to, 0);
      put32(to + 4, utf8.encode(root).length);
      return E.ok;
    },
    fd_prestat_dir_name: (fd: number, p: number, n: number) =>
      void bytesAt(p, n).set(utf8.encode(of(fd).root ?? "").subarray(0, n)),
    fd_fdstat_get(fd: number, to: number) {
      const { file } = of(fd);
      const kind = file.status().kind;
      bytesAt(to, SIZE_OF.fdstat).fill(0);
      view().setUint8(to, kind);
      put64(to + 8, kind === Kind.terminal ? ALL_RIGHTS & ~RIGHTS_TO_SEEK : ALL_RIGHTS);
      put64(to + 16, ALL_RIGHTS);
      return E.ok;
    },
    fd_fdstat_set_flags: (fd: number, flags: number) => {
      of(fd).appends = (flags & APPEND) !== 0;
      return E.ok;
    },
    fd_filestat_get: (fd: number, to: number) => void putStatus(to, of(fd).file.status()),
    fd_filestat_set_size: (fd: number, size: bigint) => void of(fd).file.truncate(Number(size)),
    fd_filestat_set_times(fd: number, _access: bigint, mtime: bigint, flags: number) {
      const time = timeOf(flags, mtime);
      if (time !== undefined) of(fd).file.setTime(time);
      return E.ok;
    },
    fd_read: (fd: number, list: number, n: number, count: number) => void put32(count, move(fd, list, n, undefined, true)),
    fd_pread: (fd: number, list: number, n: number, at: bigint, count: number) =>
      void put32(count, move(fd, list, n, Number(at), true)),
    fd_write: (fd: number, list: number, n: number, count: number) => void put32(count, move(fd, list, n, undefined, false)),
    fd_pwrite: (fd: number, list: number, n: number, at: bigint, count: number) =>
      void put32(count, move(fd, list, n, Number(at), false)),
    fd_seek: (fd: number, offset: bigint, whence: number, to: number) => void put64(to, seek(fd, offset, whence)),
    fd_tell: (fd: number, to: number) => void put64(to, of(fd).at),
    fd_sync: () => E.ok,
    fd_readdir: (fd: number, to: number, room: number, cookie: bigint, used: number) =>
      void put32(used, readFolder(fd, to, room, cookie)),
    fd_close(fd: number) {
      of(fd).file.close();
      descriptors.delete(fd);
      return E.ok;
    },

    path_open: (
      fd: number,
      follow: number,
      p: number,
      n: number,
      flags: number,
      rights: bigint,
      _inherited: bigint,
      how: number,
      to: number,
    ) => void put32(to, openPath(fd, follow, p, n, flags, rights, how)),
    path_filestat_get: (fd: number, follow: number, p: number, n: number, to: number) =>
      void putStatus(to, system.files.status(pathOf(fd, p, n), (follow & FOLLOW) !== 0)),
    path_filestat_set_times(fd: number, _follow: number, p: number, n: number, _access: bigint, mtime: bigint, flags: number) {
      const time = timeOf(flags, mtime);
      if (time !== undefined) system.files.setTime(pathOf(fd, p, n), time);
      return E.ok;
    },
    path_create_directory: (fd: number, p: number, n: number) => void system.files.makeFolder(pathOf(fd, p, n)),
    path_remove_directory: (fd: number, p: number, n: number) => void system.files.removeFolder(pathOf(fd, p, n)),
    path_unlink_file: (fd: number, p: number, n: number) => void system.files.removeFile(pathOf(fd, p, n)),
    path_rename: (fd: number, p: number, n: number, toFd: number, q: number, m: number) =>
      void system.files.rename(pathOf(fd, p, n), pathOf(toFd, q, m)),
    path_link: (fd: number, _follow: number, p: number, n: number, toFd: number, q: number, m: number) =>
      void system.files.link(pathOf(fd, p, n), pathOf(toFd, q, m)),
    path_readlink(fd: number, p: number, n: number, to: number, room: number, used: number) {
      const link = utf8.encode(system.files.readLink(pathOf(fd, p, n))).subarray(0, room);
      bytesAt(to, link.length).set(link);
      put32(used, link.length);
      return E.ok;
    },
  };

  /** An error number instead of an exception. */
  const guarded = (call: Call): Call =>
    ((...words: never[]) => {
      try {
        return call(...words) ?? E.ok;
      } catch (e) {
        if (e instanceof Failed) return e.code;
        throw e;
      }
    }) as Call;
  return {
    calls: Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, guarded(call)])),
    /** Another descriptor of an open file; -1 when there is none. */
    duplicate(fd: number): number {
      const d = descriptors.get(fd);
      return d ? open(d.file.again(), { at: d.at, path: d.path, appends: d.appends }) : -1;
    },
  };
}
