// The files of a machine, for the program in node. On Windows a path of the program that begins with a drive,
// /C:/traces, is that of the drive.
import * as fs from "node:fs";
import * as path from "node:path";
import { isatty } from "node:tty";
import { E, type Entry, Failed, type Files, type How, Kind, type Opened, type Status } from "./files.ts";

const CODES: Record<string, number> = {
  EACCES: E.access,
  EAGAIN: E.again,
  EBADF: E.badf,
  EEXIST: E.exist,
  EINVAL: E.inval,
  EISDIR: E.isdir,
  ELOOP: E.loop,
  ENAMETOOLONG: E.nametoolong,
  ENOENT: E.noent,
  ENOMEM: E.nomem,
  ENOSPC: E.nospc,
  ENOTDIR: E.notdir,
  ENOTEMPTY: E.notempty,
  EPERM: E.perm,
  EPIPE: E.pipe,
  EOF: E.ok,
  ESPIPE: E.spipe,
  EXDEV: E.xdev,
};

/** A call of node, with the error number of the program where it fails. */
function call<T>(task: () => T): T {
  try {
    return task();
  } catch (e) {
    throw new Failed(CODES[(e as NodeJS.ErrnoException).code ?? ""] ?? E.io);
  }
}

const kindOf = (s: { isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean; isCharacterDevice(): boolean }) =>
  s.isDirectory() ? Kind.folder : s.isFile() ? Kind.file : s.isSymbolicLink() ? Kind.link : Kind.unknown;

const statusOf = (s: fs.Stats): Status => ({
  kind: kindOf(s),
  device: s.dev,
  id: s.ino,
  links: s.nlink,
  bytes: s.size,
  modifiedMs: s.mtimeMs,
  changedMs: s.ctimeMs,
});

export const isWindows = process.platform === "win32";
/** The path of the machine. */
const native = (p: string): string => (isWindows ? path.normalize(p.replace(/^\/([A-Za-z]:)/, "$1")) : p);
/** The path as the program has it. */
export const ours = (p: string): string => (isWindows ? `/${path.resolve(p).replaceAll("\\", "/")}` : path.resolve(p));

function opened(fd: number, where: string): Opened {
  return {
    status: () => call(() => statusOf(fs.fstatSync(fd))),
    read: (at, into) => call(() => fs.readSync(fd, into, 0, into.length, at)),
    write: (at, bytes) => call(() => fs.writeSync(fd, bytes, 0, bytes.length, at)),
    truncate: (bytes) => call(() => fs.ftruncateSync(fd, bytes)),
    setTime: (ms) => call(() => fs.futimesSync(fd, ms / 1000, ms / 1000)),
    entries: () => call(() => entriesOf(where)),
    close: () => call(() => fs.closeSync(fd)),
    again: () =>
      opened(
        call(() => fs.openSync(native(where), "r")),
        where,
      ),
  };
}

/** Windows opens no folder. */
function openedFolder(where: string): Opened {
  const isFolder = (): never => {
    throw new Failed(E.isdir);
  };
  return {
    status: () => call(() => statusOf(fs.statSync(native(where)))),
    read: isFolder,
    write: isFolder,
    truncate: isFolder,
    setTime: (ms) => call(() => fs.utimesSync(native(where), ms / 1000, ms / 1000)),
    entries: () => call(() => entriesOf(where)),
    close() {},
    again: () => openedFolder(where),
  };
}

function entriesOf(where: string): Entry[] {
  return fs.readdirSync(native(where), { withFileTypes: true }).map((e, i) => ({ name: e.name, kind: kindOf(e), id: i + 1 }));
}

function open(where: string, how: How): Opened {
  const p = native(where);
  const found = call(() => (how.follow ? fs.statSync : fs.lstatSync)(p, { throwIfNoEntry: false }));
  if (found?.isDirectory()) return openedFolder(where);
  if (how.folder) throw new Failed(found ? E.notdir : E.noent);
  if (found?.isSymbolicLink()) throw new Failed(E.loop);
  const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_NONBLOCK } = fs.constants;
  const flags =
    (how.write ? O_RDWR : O_RDONLY) |
    (how.waits || isWindows ? 0 : O_NONBLOCK) |
    (how.create ? O_CREAT : 0) |
    (how.exclusive ? O_EXCL : 0) |
    (how.truncate ? O_TRUNC : 0);
  const fd = call(() => fs.openSync(p, flags, 0o666));
  return found && !found.isFile() ? stream(fd) : opened(fd, where);
}

export const nodeFiles: Files = {
  open,
  status: (p, follow) => call(() => statusOf(follow ? fs.statSync(native(p)) : fs.lstatSync(native(p)))),
  makeFolder: (p) => call(() => fs.mkdirSync(native(p), 0o700)),
  removeFile: (p) => call(() => fs.unlinkSync(native(p))),
  removeFolder: (p) => call(() => fs.rmdirSync(native(p))),
  rename: (from, to) => call(() => fs.renameSync(native(from), native(to))),
  link: (from, to) => call(() => fs.linkSync(native(from), native(to))),
  readLink: (p) => call(() => fs.readlinkSync(native(p))),
  setTime: (p, ms) => call(() => fs.utimesSync(native(p), ms / 1000, ms / 1000)),
};

const STDERR = 2;

/** A pipe or a device, as standard input and output are: without a place, and patient with a full pipe. */
export function stream(fd: number): Opened {
  const kind = isatty(fd) ? Kind.terminal : Kind.unknown;
  const again = <T>(task: () => T): T => {
    for (;;) {
      try {
        return task();
      } catch (e) {
        const { code } = e as NodeJS.ErrnoException;
        if (code === "EOF") return 0 as T;
        if (code !== "EAGAIN") throw new Failed(CODES[code ?? ""] ?? E.io);
        sleep(1);
      }
    }
  };
  const none = (): never => {
    throw new Failed(E.spipe);
  };
  return {
    streams: true,
    status() {
      const found = call(() => statusOf(fs.fstatSync(fd)));
      return kind === Kind.terminal ? { ...found, kind } : found;
    },
    read: (_at, into) => again(() => fs.readSync(fd, into, 0, into.length, null)),
    write: (_at, bytes) => again(() => fs.writeSync(fd, bytes)),
    truncate: none,
    setTime() {},
    entries: none,
    close: () => (fd > STDERR ? call(() => fs.closeSync(fd)) : undefined),
    again: () => stream(fd),
  };
}

export const sleep = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, Math.min(ms, 2 ** 31 - 1)));
};
