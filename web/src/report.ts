// Starts the page inside a report: one HTML file without a server, made by `tacho report`. The answers stay packed until
// they are needed (api/embedded.ts). A separate script: it shares nothing with the page.
import { startPage, textOf, unpack } from "./base/packed.ts";

async function leaveReport(): Promise<void> {
  const index = JSON.parse(await textOf("index"));
  Object.assign(globalThis, { tachoReport: { index, unpack } });
  const { run, other } = index as { run: string; other: string };
  if (other && !location.hash) location.hash = `#/compare?run=${encodeURIComponent(run)}&other=${encodeURIComponent(other)}`;
}

// The first text of the page says that the browser is too old, until everything is loaded.
if ("DecompressionStream" in globalThis) void startPage((document.currentScript as HTMLScriptElement).nonce, leaveReport);
