// What the program in WebAssembly sees as files. A host has them as it likes: the page in memory and as files of the
// reader's disk that are read where they are (page-files.ts), node as those of the machine (node-files.ts).

/** Error numbers of WASI. */
export const E = {
  ok: 0,
  access: 2,
  again: 6,
  badf: 8,
  exist: 20,
  inval: 28,
  io: 29,
  isdir: 31,
  loop: 32,
  nametoolong: 37,
  noent: 44,
  nomem: 48,
  nospc: 51,
  nosys: 52,
  notdir: 54,
  notempty: 55,
  perm: 63,
  pipe: 64,
  spipe: 70,
  xdev: 75,
} as const;

/** A call of the file system that failed, with its error number. */
export class Failed extends Error {
  constructor(readonly code: number) {
    super(`error ${code}`);
  }
}

/** Kinds of WASI. */
export const Kind = { unknown: 0, terminal: 2, folder: 3, file: 4, link: 7 } as const;

export interface Status {
  kind: number;
  device: number;
  id: number;
  links: number;
  bytes: number;
  modifiedMs: number;
  changedMs: number;
}

export interface Entry {
  name: string;
  kind: number;
  id: number;
}

/** An open file or folder. */
export interface Opened {
  status(): Status;
  /** How many bytes from this place on are there now; 0 at the end. A stream ignores the place. */
  read(at: number, into: Uint8Array): number;
  write(at: number, bytes: Uint8Array): number;
  truncate(bytes: number): void;
  setTime(modifiedMs: number): void;
  entries(): Entry[];
  close(): void;
  /** A pipe or a terminal: there is no place in it. */
  readonly streams?: boolean;
  /** Another descriptor of the same file. */
  again(): Opened;
}

export interface How {
  write: boolean;
  create: boolean;
  exclusive: boolean;
  truncate: boolean;
  folder: boolean;
  follow: boolean;
  waits: boolean; // for a pipe's other end
}

/** Paths are absolute; calls throw Failed. */
export interface Files {
  open(path: string, how: How): Opened;
  status(path: string, follow: boolean): Status;
  makeFolder(path: string): void;
  removeFile(path: string): void;
  removeFolder(path: string): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  readLink(path: string): string;
  setTime(path: string, modifiedMs: number): void;
}
