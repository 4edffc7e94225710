// The fuzz corpora and all traces of the tests, read by the program in WebAssembly as by the native one: the same answer, or
// the same sentence, and no fault of the module.
//     node tests/wasm/corpora.mjs [all]      without the word a tenth of the files, the same ones each time
import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const native = process.env.TACHO ?? join(root, "build/tacho");
const inNode = join(root, "tests/wasm/tacho");
const run = promisify(execFile);
const TENTH = 10;

const below = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();
const everything = [...below(join(root, "tests/fuzz/corpus")), ...below(join(root, "tests/data"))];
const files = process.argv.includes("all") ? everything : everything.filter((_, i) => i % TENTH === 0);

/** Where a damaged gzip stream is given up differs by a few bytes between zlib and the library that the native one has. */
const comparable = (text) => text.replace(/\["input_bytes","\d+"\]/, '["input_bytes",""]');

async function answer(program, path) {
  const words = ["info", "--no-cache", "--threads", "1", "--json", "--stable", path];
  try {
    const { stdout, stderr } = await run(program, words, { timeout: 60_000, maxBuffer: 1 << 28, env: { ...process.env, LC_ALL: "C.UTF-8" } });
    return comparable(`${stdout}\n${stderr}`);
  } catch (e) {
    return comparable(`${e.code ?? e.signal}\n${e.stdout}\n${e.stderr}`);
  }
}

let passed = 0;
const failed = [];
const queue = [...files];
async function work() {
  for (let path = queue.shift(); path; path = queue.shift()) {
    const [a, b] = [await answer(native, path), await answer(inNode, path)];
    if (a === b) passed++;
    else failed.push(`FAIL ${relative(root, path)}\n  native: ${a.slice(0, 300)}\n  wasm:   ${b.slice(0, 300)}`);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
for (const one of failed) console.log(one);
console.log(`${passed} passed, ${failed.length} failed, 0 skipped`);
process.exit(failed.length ? 1 : 0);
