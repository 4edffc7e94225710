// Search over the whole trace: hits, their ticks on the ruler and the tape, next and previous.
import { computed, signal } from "@preact/signals";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { ask, counted, server } from "../answers.ts";
import { go, param, traceQuery } from "../route.ts";
import { hitMarks, type Range } from "../viewport.ts";
import { chooseRef, chosen, redraw, stage } from "./state.ts";
import type { SearchAnswer } from "./types.ts";

const TAPE_WIDTH = 1200;
export const HITS_LISTED = 200;

export const sought = computed(() => param("find"));
/** The view once it rests: counts and ticks follow it, not every frame. */
export const resting = signal<Range | undefined>(undefined);

export function askSearch() {
  const q = sought.value;
  return q
    ? ask<SearchAnswer>("tl_search", "search", { ...traceQuery.value, q, limit: HITS_LISTED, width: TAPE_WIDTH }).value
    : undefined;
}

export function askInView() {
  const [q, r] = [sought.value, resting.value];
  if (!q || !r) return undefined;
  const [from, to] = [Math.max(0, Math.floor(r.from)), Math.ceil(r.to)];
  const answer = ask<SearchAnswer>("tl_search_view", "search", {
    ...traceQuery.value,
    q,
    from,
    to,
    limit: 1,
    width: Math.min(8192, Math.max(1, Math.round(stage.width))),
  }).value;
  return answer?.q === q ? answer : undefined;
}

/** Times of the hits in view and on the tape, from pixels. */
export const hitTimes = computed<number[]>(() => {
  const [answer, r] = [askInView(), resting.value];
  if (!answer || !r || !sought.value) return [];
  const width = Math.max(1, Math.round(stage.width));
  return answer.ticks.map((x) => r.from + ((x + 0.5) / width) * (r.to - r.from));
});

export function publishHits(): void {
  const answer = sought.value ? askSearch() : undefined;
  hitMarks.value = answer ? answer.ticks.map((x) => ((x + 0.5) / TAPE_WIDTH) * stage.whole) : [];
}

const TYPING_REST = 120;
let typing: { text: string; timer: ReturnType<typeof setTimeout> } | undefined;

/** Searches for what is typed, once the typing rests. */
export function search(text: string): void {
  clearTimeout(typing?.timer);
  typing = { text, timer: setTimeout(searchNow, TYPING_REST) };
}

function searchNow(): void {
  if (!typing) return;
  clearTimeout(typing.timer);
  go({ params: { find: typing.text.trim() } }, true);
  typing = undefined;
  redraw();
}

let jumps: Promise<void> = Promise.resolve();

/**
 * Jumps to the next hit behind (or the last one before) the selection, else the middle of the view. What was
 * typed just before is searched for at once, and every press counts: it waits for the jump before it.
 */
export function goToHit(by: 1 | -1): void {
  searchNow();
  jumps = counted(jumps.then(() => jump(by))).catch((e: unknown) => console.warn(String(e)));
}

async function jump(by: 1 | -1): Promise<void> {
  const q = sought.peek();
  if (!q) return;
  const at = chosen.peek()?.start ?? (stage.range.from + stage.range.to) / 2;
  const limits = by > 0 ? { after: Math.floor(at) + 1 } : { before: Math.max(0, Math.ceil(at)) };
  const found = await server().json<SearchAnswer>("search", { ...traceQuery.peek(), q, limit: 1, ...limits });
  let hit: Ref | undefined = by > 0 ? found.hits[0] : found.hits[found.hits.length - 1];
  if (!hit) {
    const round = by > 0 ? { after: 0 } : { before: Math.ceil(stage.whole) + 1 };
    const again = await server().json<SearchAnswer>("search", { ...traceQuery.peek(), q, limit: 1, ...round });
    hit = again.hits[0];
  }
  if (hit) chooseRef(hit);
}
