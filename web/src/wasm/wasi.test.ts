// The system calls over files in memory, with the program's memory played by the test.
import assert from "node:assert/strict";
import { test } from "node:test";
import { E, Failed, Kind } from "./files.ts";
import { pageFiles } from "./page-files.ts";
import { pathBelow, wasi } from "./wasi.ts";

const utf8 = new TextEncoder();

function machine() {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const files = pageFiles();
  const none = files.open("/", {
    write: false,
    create: false,
    exclusive: false,
    truncate: false,
    folder: true,
    follow: true,
    waits: true,
  });
  const { calls, duplicate } = wasi(
    { files, args: ["tacho", "info"], variables: { A: "b" }, streams: [none, none, none], sleep() {} },
    () => memory,
  );
  const view = () => new DataView(memory.buffer);
  const call = (name: string, ...words: (number | bigint)[]) => calls[name]?.(...(words as never[]));
  const put = (at: number, text: string) => {
    const bytes = utf8.encode(text);
    new Uint8Array(memory.buffer).set(bytes, at);
    return bytes.length;
  };
  const open = (path: string, flags: number, write: boolean): number => {
    const n = put(1000, path);
    assert.equal(call("path_open", 3, 1, 1000, n, flags, write ? 66n : 2n, 0n, 0, 2000), E.ok);
    return view().getUint32(2000, true);
  };
  return { memory, files, call, duplicate, view, put, open };
}

test("paths cannot leave the top", () => {
  assert.equal(pathBelow("/a/b", "../c//./d"), "/a/c/d");
  assert.equal(pathBelow("/a", "../../../x"), "/x");
  assert.equal(pathBelow("/a", "/b"), "/b");
});

test("what is written is read back, from any place and by a second descriptor", () => {
  const { call, view, put, open, memory, duplicate } = machine();
  const fd = open("file", 1, true);
  const n = put(3000, "hello, world");
  view().setUint32(4000, 3000, true);
  view().setUint32(4004, n, true);
  assert.equal(call("fd_write", fd, 4000, 1, 2000), E.ok);
  assert.equal(view().getUint32(2000, true), n);
  view().setUint32(4000, 5000, true);
  view().setUint32(4004, 5, true);
  const again = duplicate(fd);
  assert.equal(call("fd_pread", again, 4000, 1, 7n, 2000), E.ok);
  assert.equal(new TextDecoder().decode(new Uint8Array(memory.buffer, 5000, 5)), "world");
  assert.equal(call("fd_filestat_get", fd, 6000), E.ok);
  assert.equal(view().getBigUint64(6032, true), BigInt(n));
  assert.equal(call("fd_close", fd), E.ok);
  assert.equal(call("fd_close", fd), E.badf);
  assert.equal(duplicate(99), -1);
});

test("folders list what is in them, in pieces when there is little room", () => {
  const { call, view, open, files, memory } = machine();
  files.makeFolder("/run");
  for (const name of ["a", "bb", "ccc"]) open(`run/${name}`, 1, true);
  const folder = open("run", 2, false);
  const names: string[] = [];
  for (let cookie = 0n; ; ) {
    assert.equal(call("fd_readdir", folder, 7000, 60, cookie, 2000), E.ok);
    const used = view().getUint32(2000, true);
    let at = 7000;
    while (at + 24 <= 7000 + used) {
      const length = view().getUint32(at + 16, true);
      if (at + 24 + length > 7000 + used) break;
      assert.equal(view().getUint8(at + 20), Kind.file);
      names.push(new TextDecoder().decode(new Uint8Array(memory.buffer, at + 24, length)));
      cookie = view().getBigUint64(at, true);
      at += 24 + length;
    }
    if (used < 60) break;
  }
  assert.deepEqual(names, ["a", "bb", "ccc"]);
});

test("a folder opens for no writing, and a name that is there is not made again", () => {
  const { call, put, files } = machine();
  files.makeFolder("/run");
  assert.equal(call("path_open", 3, 1, 1000, put(1000, "run"), 0, 66n, 0n, 0, 2000), E.isdir);
  assert.equal(call("path_open", 3, 1, 1000, put(1000, "run"), 5, 2n, 0n, 0, 2000), E.exist);
  assert.equal(call("path_open", 3, 1, 1000, put(1000, "none"), 0, 2n, 0n, 0, 2000), E.noent);
  assert.throws(
    () => files.removeFile("/run"),
    (e) => e instanceof Failed && e.code === E.isdir,
  );
});

test("the program gets its words and variables", () => {
  const { call, view, memory } = machine();
  assert.equal(call("args_sizes_get", 100, 104), E.ok);
  assert.equal(view().getUint32(100, true), 2);
  assert.equal(view().getUint32(104, true), "tacho info ".length);
  assert.equal(call("environ_get", 200, 300), E.ok);
  assert.equal(new TextDecoder().decode(new Uint8Array(memory.buffer, 300, 3)), "A=b");
});
