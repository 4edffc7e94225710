// Starts the program before the page of the static site: a classic script, so that it comes before the modules. It also keeps
// the site for the next visit without a network (offline.ts).
import { lineTo } from "./line.ts";
import { endOf } from "./words.ts";

const base = (document.currentScript as HTMLScriptElement).src;
const beside = (name: string) => new URL(name, base).href;

const worker = new Worker(beside("tacho-worker.js"));
const compiled = WebAssembly.compileStreaming(fetch(beside("tacho.wasm")));
Object.assign(globalThis, { tachoInside: lineTo(worker, compiled, false, endOf) });

if ("serviceWorker" in navigator) void navigator.serviceWorker.register(beside("tacho-offline.js")).catch(() => {}); // without https: there is none
