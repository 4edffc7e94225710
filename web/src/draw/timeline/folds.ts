// What would push the rest off the screen is folded: streams that do next to nothing, counters beyond the first
// few, groups without a name. A fold is a group that the page makes; its number is below zero.
import type { Group, Lane } from "./tracks.ts";

const FEWEST_STREAMS = 3; // fewer stand for themselves
const COUNTERS = 4; // that always stand for themselves
const MOST_COUNTERS = 5;
const FAINT = 0.005;

export function isCounter(kind: Lane["kind"]): boolean {
  return kind === "counter" || kind === "utilization" || kind === "memory";
}

/** A stream that does next to nothing: closed at first, its user ranges only when asked for. */
export function isFaint(lane: Lane): boolean {
  if (lane.kind === "ranges" && lane.closed) return true;
  return (lane.kind === "stream" || lane.kind === "ranges") && lane.busy !== undefined && lane.busy < FAINT;
}

/** Only its number was written: marks of the profiler itself. */
export const isNameless = (g: Group | undefined): boolean => g !== undefined && g.kind === "process" && !g.name && g.closed;

const streamsOf = (group: number): Group => ({ id: -group - 1, kind: "streams", name: "", closed: true });
const countersOf = (group: number): Group => ({ id: -group - 1.5, kind: "counters", name: "", closed: true });
const NAMELESS: Group = { id: -0.5, kind: "nameless", name: "", closed: true };

/** Whether a head is inside another group. */
export const isFold = (g: Group): boolean => g.id < 0;

/** The fold of each lane that is in one. */
export function foldsOf(lanes: readonly Lane[], groups: ReadonlyMap<number, Group>): Map<number, Group> {
  const folds = new Map<number, Group>();
  const byGroup = new Map<number, Lane[]>();
  for (const l of lanes) {
    const list = byGroup.get(l.group) ?? [];
    if (list.length === 0) byGroup.set(l.group, list);
    list.push(l);
  }
  for (const [id, own] of byGroup) {
    const group = groups.get(id);
    const nameless = isNameless(group);
    const faint = own.filter((l) => l.kind === "stream" && isFaint(l));
    const tracks = new Set(faint.length >= FEWEST_STREAMS ? faint.map((l) => l.track) : []);
    const counters = own.filter((l) => isCounter(l.kind));
    for (const l of own) {
      if (nameless) folds.set(l.id, NAMELESS);
      else if ((l.kind === "stream" || l.kind === "ranges") && tracks.has(l.track)) folds.set(l.id, streamsOf(id));
    }
    if (counters.length > MOST_COUNTERS) for (const l of counters.slice(COUNTERS)) folds.set(l.id, countersOf(id));
  }
  return folds;
}

/** The lanes of a fold are together, at the place of the last of them. */
export function gathered(lanes: readonly Lane[], folds: ReadonlyMap<number, Group>): Lane[] {
  const last = new Map<number, Lane>();
  const members = new Map<number, Lane[]>();
  for (const l of lanes) {
    const fold = folds.get(l.id);
    if (!fold) continue;
    last.set(fold.id, l);
    members.set(fold.id, [...(members.get(fold.id) ?? []), l]);
  }
  return lanes.flatMap((l) => {
    const fold = folds.get(l.id);
    if (!fold) return [l];
    return last.get(fold.id) === l ? (members.get(fold.id) ?? []) : [];
  });
}
