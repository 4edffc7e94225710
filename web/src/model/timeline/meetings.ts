// Collectives across ranks: the calls that belong together, on the clock of the stage, and the one that is chosen.
import { computed } from "@preact/signals";
import { isKnown, smallest } from "../../base/aggregate.ts";
import { isCollective } from "../../draw/timeline/colors.ts";
import type { Meeting } from "../../draw/timeline/meetings.ts";
import { refOnClock, toOwn } from "../../draw/timeline/together.ts";
import { counted, server } from "../answers.ts";
import { callsOf } from "../ranks.ts";
import { traceQuery } from "../route.ts";
import { rowsOf } from "../trace.ts";
import { chooseRef, chosen, detail } from "./state.ts";
import { askJob, isTogether, type Job, memberAt, memberOfRank, members } from "./together.ts";
import type { SearchAnswer } from "./types.ts";

let made: { of: Job["value"]; list: Meeting[] } = { of: undefined, list: [] };

/** All calls with two members or more, by time. Times of the answer count from the first rank's trace. */
export function meetings(): readonly Meeting[] {
  if (!isTogether.value) return [];
  const answer = askJob().value;
  if (made.of === answer) return made.list;
  const zero = smallest(rowsOf(answer?.tables.clocks), (c) => (c.aligned ? c.start : null), 0);
  const list = callsOf(rowsOf(answer?.tables.arrivals)).flatMap((c) => {
    const arrivals = [...c.members].flatMap(([rank, r]) =>
      isKnown(r.start) ? [{ rank, start: r.start - zero, end: r.start - zero + (r.duration ?? 0) }] : [],
    );
    if (arrivals.length < 2) return [];
    const first = smallest(arrivals, (a) => a.start);
    return [{ name: c.name, step: c.step, first, span: c.span, last: c.last, arrivals }];
  });
  made = { of: answer, list };
  return list;
}

/** The collective the chosen box is a part of. */
export const chosenMeeting = computed<Meeting | undefined>(() => {
  const c = chosen.value;
  const m = c && isTogether.value ? memberAt(c.lane) : undefined;
  if (!c || !m) return undefined;
  const communicates = isCollective(c.name) || detail.value?.collective !== undefined;
  const end = c.start + c.duration;
  let best: Meeting | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const meeting of meetings()) {
    if (!communicates && meeting.name !== c.name) continue;
    const own = meeting.arrivals.find((a) => a.rank === m.rank);
    if (!own || own.end <= c.start || own.start >= end) continue;
    const apart = Math.abs(own.start - c.start) + Math.abs(own.end - end); // several may run at once
    if (apart < least) [best, least] = [meeting, apart];
  }
  return best;
});

/** Ranks that are not shown have a place in the table, but nothing to jump to. */
export const isShownRank = (rank: number): boolean => memberOfRank(rank) !== undefined;

/** Chooses the same collective on another rank: the slice of its name that runs when it arrived. */
export async function goToArrival(meeting: Meeting, rank: number): Promise<void> {
  const m = memberOfRank(rank);
  const arrival = meeting.arrivals.find((a) => a.rank === rank);
  if (!m || !arrival) return;
  const after = Math.max(0, Math.floor(toOwn(m, arrival.start)) - 1000); // clocks are rounded to the nanosecond
  const q = `"${meeting.name.replace(/"/g, "")}"`;
  const query = { ...traceQuery.peek(), worker: m.worker, q, after, limit: 1 };
  const found = await counted(server().json<SearchAnswer>("search", query));
  if (found.hits[0]) chooseRef(refOnClock(found.hits[0], m));
}

/** Ranks on the stage in order, with the place of their group. */
export const rankPlaces = (): Map<number, number> => new Map(members().map((m) => [m.rank, m.place]));
