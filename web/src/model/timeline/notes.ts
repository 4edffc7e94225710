// Notes on the ruler: a time or a stretch of it and some words, all in the address.
import { computed } from "@preact/signals";
import type { Note } from "../../draw/timeline/ruler.ts";
import { go, param } from "../route.ts";
import { redraw } from "./state.ts";

export const notes = computed<Note[]>(() => parseNotes(param("notes")));

/** "100-200 text|300 text": times in ns, then the words. */
export function parseNotes(text: string): Note[] {
  return text
    .split("|")
    .map((part) => /^(\d+)(?:-(\d+))? (.*)$/s.exec(part))
    .filter((m) => m !== null)
    .map((m) => ({ time: Number(m[1]), end: Number(m[2] ?? m[1]), text: m[3] ?? "" }));
}

export function writeNotes(list: readonly Note[]): string {
  return list
    .map((n) => `${Math.round(n.time)}${n.end > n.time ? `-${Math.round(n.end)}` : ""} ${n.text.replace(/\|/g, "/")}`)
    .join("|");
}

export function setNotes(list: readonly Note[]): void {
  go({ params: { notes: writeNotes(list) } }, true);
  redraw();
}
