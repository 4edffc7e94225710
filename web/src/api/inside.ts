// The line to the program in the page itself, where there is no server: its script leaves it here (wasm/start.ts). Links that
// download have no address there: what they name is asked for and saved.
import { saveFile } from "../base/save.ts";
import type { Line } from "./http.ts";

export interface Inside extends Line {
  /** Whether the page is one file of the reader's disk. */
  readonly single: boolean;
}

export const theInside = (): Inside | undefined => (globalThis as { tachoInside?: Inside }).tachoInside;

/** What the answer says, else the route and the form of its address. */
function nameOf(answer: Response, address: string): string {
  const said = /filename="([^"]*)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1];
  const route = /v1\/([\w-]+)/.exec(address)?.[1] ?? "tacho";
  return said ?? `${route}.${/format=(\w+)/.exec(address)?.[1] ?? "json"}`;
}

/** Saves what a link of the page would download. */
export function saveLinks(line: Line): void {
  addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>("a[download]") : null;
    const address = link?.getAttribute("href") ?? "";
    if (!address.startsWith("/api/")) return;
    e.preventDefault();
    void line.fetch(address, { signal: new AbortController().signal }).then(async (answer) => {
      if (answer.ok) saveFile(nameOf(answer, address), await answer.blob());
    });
  });
}
