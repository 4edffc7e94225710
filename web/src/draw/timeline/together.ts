// Several traces on one clock. The numbers of their lanes are kept apart by the place of the trace, and their
// times go over to the common clock by a start and a rate. Place 0 is a trace alone: nothing is changed then.
import { isNameless } from "./folds.ts";
import type { Picture } from "./picture.ts";
import type { Range } from "./time-scale.ts";
import type { Lane, Ref, Tracks } from "./tracks.ts";

/** More lanes than any trace has. */
const STRIDE = 2 ** 20;

export const placeOf = (lane: number): number => Math.floor(lane / STRIDE);
export const ownLane = (lane: number): number => lane % STRIDE;
export const laneIn = (place: number, lane: number): number => place * STRIDE + lane;

/** A trace on the common clock: where it begins there, and how long one of its nanoseconds is. */
export interface Clock {
  place: number; // from 1
  start: number;
  rate: number;
}

export const toCommon = (c: Clock, time: number): number => c.start + time * c.rate;
export const toOwn = (c: Clock, time: number): number => (time - c.start) / c.rate;
export const rangeToOwn = (c: Clock, r: Range): Range => ({ from: toOwn(c, r.from), to: toOwn(c, r.to) });

const moved = new WeakMap<Picture, { clock: Clock; picture: Picture }>(); // colors stay with the moved one

/** A picture of one trace as the stage of several draws it. */
export function pictureOnClock(p: Picture, c: Clock): Picture {
  const known = moved.get(p);
  if (known && known.clock.start === c.start && known.clock.rate === c.rate && known.clock.place === c.place)
    return known.picture;
  const keyed = <T>(map: Map<number, T>): Map<number, T> => new Map([...map].map(([lane, v]) => [laneIn(c.place, lane), v]));
  const picture: Picture = {
    ...p,
    from: toCommon(c, p.from),
    to: toCommon(c, p.to),
    unit: p.unit * c.rate,
    rows: keyed(p.rows),
    counters: keyed(p.counters),
    lanes: new Set([...p.lanes].map((lane) => laneIn(c.place, lane))),
  };
  moved.set(p, { clock: c, picture });
  return picture;
}

/** A slice the server named, on the common clock. */
export const refOnClock = <R extends Pick<Ref, "lane" | "start">>(r: R, c: Clock): R => ({
  ...r,
  lane: laneIn(c.place, r.lane),
  start: toCommon(c, r.start),
});

export interface Rank extends Clock {
  name: string;
  detail: string;
  tracks: Tracks;
}

/** Group of all lanes of a rank. */
export const rankGroup = (place: number): number => laneIn(place, 0);

/** The lanes of all ranks, a group for each; the steps above them are those of the rank that `stepsOf` names. */
export function joined(ranks: readonly Rank[], stepsOf: Rank): Tracks {
  const { trace, steps } = stepsOf.tracks;
  const at = (time: number) => toCommon(stepsOf, time);
  const end = (r: Rank) => toCommon(r, r.tracks.trace.duration_ns);
  return {
    trace: {
      ...trace,
      worker: "*",
      duration_ns: ranks.reduce((most, r) => Math.max(most, end(r)), 1),
      events: ranks.reduce((sum, r) => sum + r.tracks.trace.events, 0),
    },
    groups: ranks.map((r) => ({ id: rankGroup(r.place), kind: "rank", name: r.name, detail: r.detail, closed: true })),
    lanes: [
      ...stepsOf.tracks.lanes.filter(isSteps).map((l) => ({ ...laneOfRank(l, stepsOf.place), group: 0 })),
      ...ranks.flatMap((r) => r.tracks.lanes.filter((l) => keeps(r, l, stepsOf)).map((l) => laneOfRank(l, r.place))),
    ],
    steps: { ...steps, start: steps.start.map(at), end: steps.end.map(at) },
  };
}

const isSteps = (l: Lane): boolean => l.kind === "steps";

/** Marks of the profiler itself are in the timeline of one rank. */
function keeps(r: Rank, l: Lane, stepsOf: Rank): boolean {
  const group = r.tracks.groups.find((g) => g.id === l.group);
  return !isNameless(group) && !(r === stepsOf && isSteps(l));
}

const laneOfRank = (l: Lane, place: number): Lane => ({
  ...l,
  id: laneIn(place, l.id),
  group: rankGroup(place),
  track: laneIn(place, l.track),
});
