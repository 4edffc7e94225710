// Search over the whole trace: hits, their ticks on the ruler and the tape, next and previous.
import { computed, signal } from "@preact/signals";
import type { Query } from "../../api/transport.ts";
import type { ApiError } from "../../api/types.ts";
import { refOnClock, toCommon, toOwn } from "../../draw/timeline/together.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { ask, counted, server } from "../answers.ts";
import { go, param, traceQuery } from "../route.ts";
import { hitMarks, type Range } from "../viewport.ts";
import { chooseRef, chosen, redraw, stage } from "./state.ts";
import { isTogether, type Member, members, ownRange } from "./together.ts";
import type { SearchAnswer } from "./types.ts";

const TAPE_WIDTH = 1200;
export const HITS_LISTED = 200;

interface Found {
  of: Member | undefined; // the rank; none for a trace alone
  answer: SearchAnswer;
}

export const sought = computed(() => param("find"));
/** The view once it rests: counts and ticks follow it, not every frame. */
export const resting = signal<Range | undefined>(undefined);

const mistakes = signal<ApiError | undefined>(undefined);

/** What is wrong with the words that are searched for, as the server says it. */
export const searchMistake = (): string | undefined => (mistakes.value?.code === "lost" ? undefined : mistakes.value?.msg);

/** One answer of a trace alone, or of every rank in view one; undefined while some are on their way. */
function askEach(slot: string, query: (m: Member | undefined) => Query | undefined): Found[] | undefined {
  const list = isTogether.value ? members() : [undefined];
  const found: Found[] = [];
  for (const m of list) {
    const own = query(m);
    if (!own) continue;
    const worker = m ? { worker: m.worker } : {};
    const asked = ask<SearchAnswer>(m ? `${slot} ${m.place}` : slot, "search", { ...traceQuery.value, ...worker, ...own });
    const answer = asked.error ? undefined : asked.value;
    if (slot === "tl_search" && asked.error !== mistakes.peek()) queueMicrotask(() => (mistakes.value = asked.error));
    if (!answer || (own.q !== undefined && answer.q !== own.q)) return undefined;
    found.push({ of: m, answer: m ? answerOnClock(answer, m) : answer });
  }
  return found;
}

export function askSearch(): SearchAnswer | undefined {
  const q = sought.value;
  const found = q ? askEach("tl_search", () => ({ q, limit: HITS_LISTED, width: TAPE_WIDTH })) : undefined;
  return found && mergedSearch(found.map((f) => f.answer));
}

function eachInView(): { found: Found[]; range: Range } | undefined {
  const [q, range] = [sought.value, resting.value];
  if (!q || !range) return undefined;
  const found = askEach("tl_search_view", (m) => {
    const own = m ? ownRange(m, range) : range;
    return own && { q, from: Math.max(0, Math.floor(own.from)), to: Math.ceil(own.to), limit: 1, width: viewWidth() };
  });
  return found && { found, range };
}

const viewWidth = () => Math.min(8192, Math.max(1, Math.round(stage.width)));

/** How many hits are in view. */
export function hitsInView(): number | undefined {
  return eachInView()?.found.reduce((sum, f) => sum + f.answer.total, 0);
}

/** Times of the hits in view, from pixels. */
export const hitTimes = computed<number[]>(() => {
  const seen = eachInView();
  if (!seen) return [];
  const { found, range } = seen;
  return found
    .flatMap(({ of, answer }) => {
      const own = of ? (ownRange(of, range) ?? range) : range;
      const [from, to] = [of ? Math.max(0, own.from) : own.from, own.to];
      const times = answer.ticks.map((x) => from + ((x + 0.5) / viewWidth()) * (to - from));
      return of ? times.map((time) => toCommon(of, time)) : times;
    })
    .sort((a, b) => a - b);
});

/** Hits on the tape, which is that of one trace. */
export function publishHits(): void {
  const q = sought.value;
  const found = q ? askEach("tl_search", () => ({ q, limit: HITS_LISTED, width: TAPE_WIDTH })) : undefined;
  const times = (found ?? []).flatMap(({ of, answer }) => {
    const whole = of ? of.tracks.trace.duration_ns : stage.whole;
    return answer.ticks.map((x) => {
      const time = ((x + 0.5) / TAPE_WIDTH) * whole;
      return of ? toCommon(of, time) - stage.origin : time;
    });
  });
  hitMarks.value = [...new Set(times)];
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
 * Jumps to the next hit after (or the last one before) the selection, otherwise the middle of the view. What
 * was typed just before is searched for at once, and every press counts: it waits for the jump before it.
 */
export function goToHit(by: 1 | -1): void {
  searchNow();
  jumps = counted(jumps.then(() => jump(by))).catch((e: unknown) => console.warn(String(e)));
}

async function jump(by: 1 | -1): Promise<void> {
  const q = sought.peek();
  if (!q) return;
  const at = chosen.peek()?.start ?? (stage.range.from + stage.range.to) / 2;
  const hit = (await nearest(q, by, at)) ?? (await nearest(q, by, by > 0 ? -1 : stage.whole + 1));
  if (hit) chooseRef(hit);
}

/** The next hit after (or the last one before) a time, of all ranks in view. */
async function nearest(q: string, by: 1 | -1, at: number): Promise<Ref | undefined> {
  const list: (Member | undefined)[] = isTogether.peek() ? [...members()] : [undefined];
  const hits = await Promise.all(
    list.map(async (m) => {
      const own = m ? toOwn(m, at) : at;
      if (by < 0 && own <= 0) return undefined;
      const limits = by > 0 ? { after: Math.max(0, Math.floor(own) + 1) } : { before: Math.max(0, Math.ceil(own)) };
      const worker = m ? { worker: m.worker } : {};
      const found = await server().json<SearchAnswer>("search", { ...traceQuery.peek(), ...worker, q, limit: 1, ...limits });
      const hit = by > 0 ? found.hits[0] : found.hits[found.hits.length - 1];
      return hit && m ? refOnClock(hit, m) : hit;
    }),
  );
  const known = hits.filter((h) => h !== undefined).sort((a, b) => by * (a.start - b.start));
  return known[0];
}

// ---- several ranks ----

const answerOnClock = (a: SearchAnswer, m: Member): SearchAnswer => ({
  ...a,
  names: a.names.map((n) => ({ ...n, longest: refOnClock(n.longest, m) })),
  hits: a.hits.map((h) => refOnClock(h, m)),
});

/** Answers of several ranks as one: names added up, hits in order of time. Ticks stay with each. */
export function mergedSearch(list: readonly SearchAnswer[]): SearchAnswer | undefined {
  const [first, ...rest] = list;
  if (!first || rest.length === 0) return first;
  const names = new Map<string, SearchAnswer["names"][number]>();
  for (const n of list.flatMap((a) => a.names)) {
    const key = `${n.kind} ${n.name}`;
    const known = names.get(key);
    const longest = known && known.longest.duration >= n.longest.duration ? known.longest : n.longest;
    names.set(key, { ...n, longest, count: n.count + (known?.count ?? 0), total: n.total + (known?.total ?? 0) });
  }
  const hits = list.flatMap((a) => a.hits).sort((a, b) => a.start - b.start);
  return {
    ...first,
    total: list.reduce((sum, a) => sum + a.total, 0),
    names: [...names.values()].sort((a, b) => b.total - a.total),
    n_names: names.size,
    hits: hits.slice(0, HITS_LISTED),
    ticks: [],
    ticks_complete: list.every((a) => a.ticks_complete),
  };
}
