// Several ranks of a job on one clock: which of them are shown, when the trace of each begins, what the server
// is asked about a lane of one of them.
import { computed } from "@preact/signals";
import type { Query } from "../../api/transport.ts";
import { isKnown, largest, largestFirst, smallest } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { foundPicture, withFoundSteps } from "../../draw/timeline/found-steps.ts";
import type { Picture } from "../../draw/timeline/picture.ts";
import type { Range } from "../../draw/timeline/time-scale.ts";
import { joined, pictureOnClock, placeOf, type Rank, rangeToOwn, refOnClock, toCommon } from "../../draw/timeline/together.ts";
import type { Ref, Tracks } from "../../draw/timeline/tracks.ts";
import { ask } from "../answers.ts";
import { language, t } from "../language.ts";
import { param, traceQuery, WHOLE_TRACE } from "../route.ts";
import { type AskedFor, allChosen, allWorkers, analysis, currentRun, currentWorker, type Row, rowsOf } from "../trace.ts";
import { emptyStore, newStore, type Store } from "./picture-store.ts";
import type { SliceAnswer } from "./types.ts";

/** Up to here all ranks are shown at first; more wait to be chosen. */
const ALL_AT_FIRST = 8;
/** More traces at once cannot be read as a timeline. */
export const MOST_RANKS = 64;
const ARRIVALS = 20_000; // members of collectives: those that cost most

/** A rank on the stage. */
export interface Member extends Rank {
  worker: string;
  rank: number;
  store: Store;
  found: Picture | undefined;
  shown: readonly Picture[]; // on the common clock, made again for every frame
}

/** The ranks of the job in order; the place of a rank here is the place of its lanes. */
const ranks = computed(() => (currentRun.value?.workers ?? []).filter((w) => w.role === "rank"));

/** Whether the timeline is one of several ranks. */
export const isTogether = computed(() => allChosen.value && ranks.value.length > 1);

export type Job = AskedFor<"distributed">;

/** Clocks, waiting, and the collectives of the job. */
export const askJob = (): Job =>
  analysis(
    "distributed",
    { ...allWorkers(), ...WHOLE_TRACE, table: "clocks,synchronization,arrivals", arrivals: ARRIVALS, limit: 0 },
    "tl_job",
  );

// ---- which ranks ----

type Waiting = Row<"distributed", "synchronization">;

/** Rank 0, the one the others wait for most, and the one that waits most itself. */
export function tellingRanks(all: readonly number[], waiting: readonly Waiting[]): number[] {
  const known = waiting.filter((r) => isKnown(r.rank));
  const most = (of: (r: Waiting) => number | null) => [...known].sort(largestFirst(of))[0]?.rank;
  const wanted = new Set([all[0], most((r) => r.caused), most((r) => r.waiting)]);
  return all.filter((r) => wanted.has(r));
}

/** The ranks others wait for most, worst first. */
export function slowestRanks(waiting: readonly Waiting[], most: number): number[] {
  const sorted = [...waiting].sort(largestFirst((r) => r.caused));
  return sorted.flatMap((r) => (isKnown(r.rank) ? [r.rank] : [])).slice(0, most);
}

export const allRankNumbers = computed(() => ranks.value.map((w, i) => w.rank ?? i));

/** The ranks the reader chose, or those that tell most. */
export function chosenRanks(job: Job): number[] {
  const all = allRankNumbers.value;
  const text = param("ranks");
  if (text === "all") return all.slice(0, MOST_RANKS);
  const wanted = new Set(text.split(",").filter(Boolean).map(Number));
  const some = all.filter((r) => wanted.has(r)).slice(0, MOST_RANKS);
  if (some.length) return some;
  return all.length <= ALL_AT_FIRST ? all : tellingRanks(all, rowsOf(job.value?.tables.synchronization));
}

// ---- on one clock ----

type ClockRow = Row<"distributed", "clocks">;

const stores = new Map<string, Store>();

function storeOf(key: string): Store {
  const known = stores.get(key) ?? newStore();
  stores.set(key, known);
  return known;
}

/** The earliest beginning of all ranks whose clocks are comparable: 0 of the stage. */
const zeroOf = (clocks: readonly ClockRow[]): number => smallest(clocks, (c) => (c.aligned ? c.start : null), 0);

function memberOf(place: number, tracks: Tracks, job: Job): Member {
  const worker = ranks.value[place - 1] as (typeof ranks.value)[number];
  const clocks = rowsOf(job.value?.tables.clocks);
  const own = clocks.find((c) => c.worker === worker.name);
  const waits = rowsOf(job.value?.tables.synchronization).find((r) => r.worker === worker.name);
  const whole = withFoundSteps(tracks);
  const key = `${JSON.stringify(traceQuery.value)} ${worker.name} ${tracks.trace.events}`;
  return {
    place,
    start: own && isKnown(own.start) ? own.start - zeroOf(clocks) : 0,
    rate: 1 - (own?.aligned ? (own.drift_ppm ?? 0) * 1e-6 : 0),
    name: t("rank_n", { n: worker.rank ?? place - 1 }),
    worker: worker.name,
    rank: worker.rank ?? place - 1,
    detail: isKnown(waits?.waiting) ? t("tl_rank_waits", { time: short(waits.waiting, "ns") }) : "",
    tracks: whole,
    store: storeOf(key),
    found: foundPicture(whole, (n) => t("tl_step_n", { n })),
    shown: [],
  };
}

interface Together {
  key: string;
  members: Member[];
  failed: string[]; // ranks that could not be read
  tracks: Tracks;
}

let now: Together | undefined; // stays while ranks are added

/** The ranks on the stage, for the scheduler. */
export const members = (): readonly Member[] => (isTogether.peek() ? (now?.members ?? []) : []);

export const memberAt = (lane: number): Member | undefined => {
  const place = placeOf(lane);
  return place ? members().find((m) => m.place === place) : undefined;
};

export const memberOfRank = (rank: number): Member | undefined => members().find((m) => m.rank === rank);

/** How many of the chosen ranks are read. */
export interface Reading {
  done: number;
  total: number;
}

/** The lanes of all chosen ranks, once each is read and the clocks are known. */
export function askTogether(): { value: Tracks | undefined; error: { msg: string } | undefined; reading: Reading | undefined } {
  const job = askJob();
  if (!job.value && !job.error) return { value: undefined, error: undefined, reading: { done: 0, total: 0 } };
  const chosen = new Set(chosenRanks(job));
  const places = allRankNumbers.value.flatMap((r, i) => (chosen.has(r) ? [i + 1] : []));
  const asked = places.map((place) => askTracksOf(ranks.value[place - 1]?.name ?? ""));
  const done = asked.filter((a) => a.value !== undefined || a.error !== undefined).length;
  const reading = done < asked.length ? { done, total: asked.length } : undefined;
  const key = JSON.stringify([traceQuery.value, language.value]);
  if (!reading) now = madeOf(key, places, asked, job);
  const value = now?.key === key ? now.tracks : undefined;
  const error = !value && !reading ? asked.find((a) => a.error)?.error : undefined;
  return { value, error, reading };
}

const askTracksOf = (worker: string) =>
  ask<Tracks>(`tracks ${worker}`, "tracks", { ...traceQuery.value, worker, lang: language.value });

let made: { inputs: unknown[]; result: Together | undefined } = { inputs: [], result: undefined };

/** The same answers give the same tracks again, so that nothing is laid out again. */
function madeOf(key: string, places: readonly number[], asked: readonly { value: Tracks | undefined }[], job: Job) {
  const inputs = [key, job.value, ...places, ...asked.map((a) => a.value)];
  if (inputs.length === made.inputs.length && inputs.every((v, i) => v === made.inputs[i])) return made.result;
  const list = places.flatMap((place, i) => {
    const tracks = asked[i]?.value;
    return tracks ? [memberOf(place, tracks, job)] : [];
  });
  const failed = places.filter((_, i) => !asked[i]?.value).map((place) => ranks.value[place - 1]?.name ?? "");
  const first = list.find((m) => m.worker === currentWorker.value?.name) ?? list[0];
  const result = first ? { key, members: list, failed, tracks: joined(list, first) } : undefined;
  made = { inputs, result };
  return result;
}

/** Where the trace of the tape begins on the stage; 0 for a trace alone. */
export function originNow(): number {
  const list = members();
  const own = list.find((m) => m.worker === currentWorker.value?.name);
  return own?.start ?? 0;
}

/** Pictures that lie over each other in a lane of a rank, on the common clock. */
export function movePictures(): void {
  for (const m of members()) {
    const own = m.found ? [...m.store.pictures, m.found] : m.store.pictures;
    m.shown = own.map((p) => pictureOnClock(p, m));
  }
}

/** The span of a member's trace on the stage. */
export const spanOfMember = (m: Member): Range => ({ from: m.start, to: toCommon(m, m.tracks.trace.duration_ns) });

/** A stretch of the stage as times of a rank, cut to its trace; undefined where it has nothing. */
export function ownRange(m: Member, r: Range): Range | undefined {
  const own = rangeToOwn(m, r);
  return own.to > 0 && own.from < m.tracks.trace.duration_ns ? own : undefined;
}

/** What a request about a lane carries: the trace, and its rank where several are shown. */
export function queryOf(lane: number): Query {
  const m = memberAt(lane);
  return m ? { ...traceQuery.value, worker: m.worker } : traceQuery.value;
}

export function leaveTogether(): void {
  for (const s of stores.values()) emptyStore(s);
  stores.clear();
  now = undefined;
  made = { inputs: [], result: undefined };
}

/** An answer about a slice of a rank, with times and lanes of the stage. */
export function detailOnClock(d: SliceAnswer, m: Member): SliceAnswer {
  const one = <R extends Ref | undefined | null>(r: R): R => (r ? (refOnClock(r, m) as R) : r);
  const all = <R extends Ref>(list: R[] | undefined): R[] | undefined => list?.map((r) => refOnClock(r, m));
  const { wait } = d;
  return Object.fromEntries(
    Object.entries({
      ...d,
      slice: refOnClock(d.slice, m),
      parent: one(d.parent),
      previous: one(d.previous),
      next: one(d.next),
      children: all(d.children),
      kernels: all(d.kernels),
      why: all(d.why),
      flows: all(d.flows),
      wait: wait && { ...wait, behind: one(wait.behind) },
    }).filter(([, v]) => v !== undefined),
  ) as unknown as SliceAnswer;
}

// ---- what the alignment is based on ----

/** The sentence about the clocks: what they were compared by, how far they may be off, who could not be compared. */
export function clockWords(): string {
  const shown = new Set(members().map((m) => m.worker));
  const clocks = rowsOf(askJob().value?.tables.clocks).filter((c) => shown.has(c.worker ?? ""));
  const compared = clocks.filter((c) => c.aligned && (c.collectives ?? 0) > 0);
  const unknown = clocks.filter((c) => !c.aligned);
  const words: string[] = [];
  if (compared.length)
    words.push(
      t("tl_clocks", {
        n: Math.max(...compared.map((c) => c.collectives ?? 0)),
        time: short(
          largest(compared, (c) => c.residual, 0),
          "ns",
        ),
      }),
    );
  else words.push(t("tl_clocks_machine"));
  if (unknown.length && compared.length) words.push(t("tl_clocks_unknown", { ranks: unknown.map((c) => c.worker).join(", ") }));
  const failed = now?.failed ?? [];
  if (failed.length) words.push(t("tl_ranks_failed", { ranks: failed.join(", ") }));
  return words.join(" · ");
}
