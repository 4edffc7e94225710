// Starts tacho.html: the page, the program and its worker in one file of the reader's disk.
import { scriptAddress, startPage, stream } from "../base/packed.ts";
import { lineTo } from "./line.ts";
import { endOf } from "./words.ts";

const WASM = { headers: { "Content-Type": "application/wasm" } };

async function leaveLine(): Promise<void> {
  const worker = new Worker(await scriptAddress("worker"));
  const compiled = WebAssembly.compileStreaming(new Response(stream("program"), WASM));
  Object.assign(globalThis, { tachoInside: lineTo(worker, compiled, true, endOf) });
}

if ("DecompressionStream" in globalThis) void startPage((document.currentScript as HTMLScriptElement).nonce, leaveLine);
