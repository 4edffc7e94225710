// Traces that another page or an address gives to a page without a server: `?url=` names one or several (the other site must
// allow it), and a page that opened this one may send a file:
//
//     const tacho = open("https://…/tacho/");
//     tacho.postMessage("PING", "*")   until "PONG" comes back; then
//     tacho.postMessage({ tacho: { name: "trace.json.gz", buffer } }, "*")
import { effect, signal } from "@preact/signals";
import { theInside } from "../api/inside.ts";
import { runs } from "./answers.ts";
import { openFiles } from "./dropped.ts";

export const isInside = theInside() !== undefined;

/** What is being fetched: how much of it is there, or why it is not. */
export const fetched = signal<{ name: string; bytes: number; reason?: string } | undefined>(undefined);

const PROGRESS_MS = 100;

/** The last part of an address. */
export function nameOf(url: string): string {
  const { pathname } = new URL(url, "https://none.invalid");
  return decodeURIComponent(pathname.split("/").filter(Boolean).at(-1) ?? "") || "trace";
}

/** The addresses an address asks for. */
export const wantedUrls = (search: string): string[] => new URLSearchParams(search).getAll("url").filter(Boolean);

async function fetchOne(url: string): Promise<File> {
  const name = nameOf(url);
  const answer = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
  if (!answer.ok) throw new Error(`${answer.status}`);
  let bytes = 0;
  let shown = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, on) {
      bytes += piece.length;
      if (Date.now() - shown > PROGRESS_MS) {
        shown = Date.now();
        fetched.value = { name, bytes };
      }
      on.enqueue(piece);
    },
  });
  fetched.value = { name, bytes };
  const body = await new Response(answer.body?.pipeThrough(count)).blob();
  return new File([body], name);
}

async function fetchAll(urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    try {
      const file = await fetchOne(url);
      await openFiles([{ file, way: file.name }]);
    } catch (e) {
      fetched.value = { name: nameOf(url), bytes: 0, reason: e instanceof Error ? e.message : String(e) };
      return;
    }
  }
  fetched.value = undefined;
}

interface Sent {
  tacho?: { name?: unknown; buffer?: unknown };
}

function hear(e: MessageEvent<unknown>): void {
  if (e.data === "PING") (e.source as Window | null)?.postMessage("PONG", { targetOrigin: e.origin });
  const sent = (e.data as Sent | null)?.tacho;
  if (!sent || !(sent.buffer instanceof ArrayBuffer || sent.buffer instanceof Blob)) return;
  const file = new File([sent.buffer], typeof sent.name === "string" ? sent.name : "trace");
  void openFiles([{ file, way: file.name }]);
}

/** Opens what this page was opened for, as soon as the program can take files. */
export function followOpener(): void {
  if (!isInside) return;
  let listens = false;
  effect(() => {
    if (!runs.value || listens) return;
    listens = true;
    addEventListener("message", hear);
    const urls = wantedUrls(location.search);
    if (urls.length) queueMicrotask(() => void fetchAll(urls));
  });
}
