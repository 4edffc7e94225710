// The program in node: where it is, and what it is given of the machine.
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { isWindows, nodeFiles, ours, sleep, stream } from "./node-files.ts";
import type { Host } from "./program.ts";

// Node 20 can end in its collector while memory of a module grows during a mark that is spread over time.
setFlagsFromString("--no-incremental-marking");

export const here = dirname(fileURLToPath(import.meta.url));

let compiled: WebAssembly.Module | undefined;

export function theModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readFileSync(join(here, "tacho.wasm")));
  return compiled;
}

/** With the files of the machine, below the folder it was started in. */
export function nodeHost(args: readonly string[]): Host {
  const given = Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined);
  // A module cannot ask a terminal.
  const { isTTY, columns } = process.stdout;
  const size: Record<string, string> = isTTY && columns ? { COLUMNS: String(columns) } : {};
  return {
    files: nodeFiles,
    args: ["tacho", ...args.map((a) => (isWindows && isAbsolute(a) ? ours(a) : a))],
    variables: { ...size, ...Object.fromEntries(given), PWD: ours("."), TMPDIR: ours(tmpdir()) },
    streams: [stream(0), stream(1), stream(2)],
    sleep,
  };
}
