// Files for the program in a page: small ones that it writes are in memory, those of the reader stay on their disk and
// are read in blocks when they are needed. Nothing is ever written to the reader's disk.
import { E, type Entry, Failed, type Files, type How, Kind, type Opened, type Status } from "./files.ts";

const BLOCK_BYTES = 4 << 20;
const FIRST_BYTES = 1 << 12;
const QUIET_MS = 3000;

// Workers have it; the types of a page do not know it.
declare const FileReaderSync: new () => { readAsArrayBuffer(part: Blob): ArrayBuffer };

let lastId = 0;

abstract class Thing {
  readonly id = ++lastId;
  links = 1;
  modifiedMs = Date.now();
  abstract readonly kind: number;
  abstract readonly bytes: number;
  status(): Status {
    const { kind, id, links, bytes, modifiedMs } = this;
    return { kind, device: 1, id, links, bytes, modifiedMs, changedMs: modifiedMs };
  }
}

class Folder extends Thing {
  readonly kind = Kind.folder;
  readonly bytes = 0;
  readonly inside = new Map<string, Thing>();
}

/** A file in memory. */
class Stored extends Thing {
  readonly kind = Kind.file;
  bytes = 0;
  content = new Uint8Array(FIRST_BYTES);
  resize(bytes: number): void {
    if (bytes > this.content.length) {
      const larger = new Uint8Array(Math.max(bytes, this.content.length * 2));
      larger.set(this.content.subarray(0, this.bytes));
      this.content = larger;
    }
    if (bytes < this.bytes) this.content.fill(0, bytes, this.bytes);
    this.bytes = bytes;
  }
  read(at: number, into: Uint8Array): number {
    const part = this.content.subarray(at, Math.min(this.bytes, at + into.length));
    into.set(part);
    return part.length;
  }
  write(at: number, from: Uint8Array): number {
    if (at + from.length > this.bytes) this.resize(at + from.length);
    this.content.set(from, at);
    this.modifiedMs = Date.now();
    return from.length;
  }
}

/** A file of the reader. Only a worker can read one and wait for it. */
class Given extends Thing {
  readonly kind = Kind.file;
  private block = new Uint8Array(0);
  private from = 0;
  constructor(private readonly file: Blob) {
    super();
  }
  get bytes(): number {
    return this.file.size;
  }
  read(at: number, into: Uint8Array): number {
    if (at >= this.bytes) return 0;
    if (at < this.from || at >= this.from + this.block.length) {
      try {
        this.block = new Uint8Array(new FileReaderSync().readAsArrayBuffer(this.file.slice(at, at + BLOCK_BYTES)));
      } catch {
        throw new Failed(E.io); // it was changed or removed since it was given
      }
      this.from = at;
    }
    const part = this.block.subarray(at - this.from, at - this.from + into.length);
    into.set(part);
    return part.length;
  }
}

function opened(thing: Thing): Opened {
  return {
    status: () => thing.status(),
    read(at, into) {
      if (thing instanceof Stored || thing instanceof Given) return thing.read(at, into);
      throw new Failed(E.isdir);
    },
    write(at, bytes) {
      if (thing instanceof Stored) return thing.write(at, bytes);
      throw new Failed(E.badf);
    },
    truncate(bytes) {
      if (thing instanceof Stored) thing.resize(bytes);
      else throw new Failed(E.inval);
    },
    setTime(ms) {
      thing.modifiedMs = ms;
    },
    entries(): Entry[] {
      if (!(thing instanceof Folder)) throw new Failed(E.notdir);
      return [...thing.inside].map(([name, { kind, id }]) => ({ name, kind, id }));
    },
    close() {},
    again: () => opened(thing),
  };
}

export interface PageFiles extends Files {
  /** Puts a file of the reader in the place of one that is there. */
  give(path: string, file: Blob): void;
}

export function pageFiles(): PageFiles {
  const top = new Folder();

  function find(path: string): Thing {
    let at: Thing = top;
    for (const part of path.split("/").filter(Boolean)) {
      if (!(at instanceof Folder)) throw new Failed(E.notdir);
      const next: Thing | undefined = at.inside.get(part);
      if (!next) throw new Failed(E.noent);
      at = next;
    }
    return at;
  }
  function placeOf(path: string): { folder: Folder; name: string } {
    const cut = path.lastIndexOf("/");
    const folder = find(path.slice(0, cut));
    if (!(folder instanceof Folder)) throw new Failed(E.notdir);
    return { folder, name: path.slice(cut + 1) };
  }
  function add(path: string, make: () => Thing): Thing {
    const { folder, name } = placeOf(path);
    if (folder.inside.has(name) || !name) throw new Failed(E.exist);
    const made = make();
    folder.inside.set(name, made);
    folder.modifiedMs = Date.now();
    return made;
  }
  function take(path: string, ofFolder: boolean): Thing {
    const { folder, name } = placeOf(path);
    const thing = folder.inside.get(name);
    if (!thing) throw new Failed(E.noent);
    if (thing instanceof Folder !== ofFolder) throw new Failed(ofFolder ? E.notdir : E.isdir);
    if (thing instanceof Folder && thing.inside.size) throw new Failed(E.notempty);
    folder.inside.delete(name);
    thing.links--;
    return thing;
  }
  function exists(path: string): boolean {
    try {
      find(path);
      return true;
    } catch {
      return false;
    }
  }
  function open(path: string, how: How): Opened {
    if (how.create && !exists(path)) return opened(add(path, () => new Stored()));
    const thing = find(path);
    if (how.create && how.exclusive) throw new Failed(E.exist);
    if (how.folder && !(thing instanceof Folder)) throw new Failed(E.notdir);
    if (how.truncate && thing instanceof Stored) thing.resize(0);
    return opened(thing);
  }
  return {
    open,
    status: (path) => find(path).status(),
    makeFolder: (path) => void add(path, () => new Folder()),
    removeFile: (path) => void take(path, false),
    removeFolder: (path) => void take(path, true),
    rename(from, to) {
      const { folder, name } = placeOf(to);
      const thing = find(from);
      if (folder.inside.get(name) === thing) return;
      placeOf(from).folder.inside.delete(from.slice(from.lastIndexOf("/") + 1));
      folder.inside.set(name, thing);
    },
    link(from, to) {
      const thing = find(from);
      add(to, () => thing);
      thing.links++;
    },
    readLink(path) {
      find(path);
      throw new Failed(E.inval); // there are no links
    },
    setTime(path, ms) {
      find(path).modifiedMs = ms;
    },
    give(path, file) {
      const { folder, name } = placeOf(path);
      const given = new Given(file);
      // One that is as new as now would be taken for one that is being written.
      const modified = file instanceof File ? file.lastModified : Date.now();
      given.modifiedMs = Math.min(modified, Date.now() - QUIET_MS);
      folder.inside.set(name, given);
    },
  };
}
