// The critical path on the timeline: of the steps in view, drawn and followed while `path` of the address says so.
// `piece` of the address is the start of the piece that is followed.
import { computed } from "@preact/signals";
import type { Answer } from "../../api/types.ts";
import { firstAfter, type PathMark } from "../../draw/timeline/path.ts";
import { laneIn } from "../../draw/timeline/together.ts";
import type { Lane, LaneKind } from "../../draw/timeline/tracks.ts";
import { ask } from "../answers.ts";
import { language } from "../language.ts";
import { go, param, traceQuery } from "../route.ts";
import { allWorkers, oneWorker, type Row, rowsOf } from "../trace.ts";
import { resting } from "./search.ts";
import { bringIntoView, show, stage } from "./state.ts";
import { isTogether, memberOfRank } from "./together.ts";

type Piece = Row<"critical", "path">;

/** At most this many steps in view have their paths drawn: with more, no piece is visible. */
const MOST_STEPS = 12;
const MOST_PIECES = 50_000;

export const showPath = computed(() => param("path") === "1");

export const togglePath = (): void => go({ params: { path: showPath.peek() ? undefined : "1", piece: undefined } });

/** Numbers of the steps in view; those without one are left out. */
function stepsInView(): [number, number] | undefined {
  const [steps, range] = [stage.tracks?.steps, resting.value ?? stage.range];
  if (!steps) return undefined;
  const seen = steps.number.filter((_, i) => (steps.end[i] as number) > range.from && (steps.start[i] as number) < range.to);
  const [first, last] = [seen[0], seen[seen.length - 1]];
  return first === undefined || last === undefined || seen.length > MOST_STEPS ? undefined : [first, last];
}

export interface ShownPath {
  pieces: readonly Piece[];
  marks: readonly PathMark[];
}

const NONE: ShownPath = { pieces: [], marks: [] };
const FAR: ShownPath = { pieces: [], marks: [] }; // there is more than can be drawn

const KINDS: Record<string, readonly LaneKind[]> = {
  device: ["stream"],
  copy: ["stream"],
  communication: ["stream"],
  queue: ["stream"],
  launch_latency: ["stream"],
  launch_call: ["calls", "work"],
  sync: ["calls", "work"],
};
const HOST: readonly LaneKind[] = ["work", "ranges", "calls", "python"];

/** The lane of a piece: the one for its kind, of its thread or stream. */
export function laneOf(lanes: readonly Lane[], track: number, kind: string): number {
  const own = lanes.filter((l) => l.track === track);
  for (const wanted of KINDS[kind] ?? HOST) {
    const lane = own.find((l) => l.kind === wanted);
    if (lane) return lane.id;
  }
  return own[0]?.id ?? 0;
}

/** Pieces with their lanes; time that nothing on a thread stands for is where the host was before. */
export function marksOf(pieces: readonly Piece[], lanes: readonly Lane[]): PathMark[] {
  const known = new Map<string, number>();
  const hosts = new Map<number | null, number>(); // by rank
  return pieces.map((p) => {
    const kind = p.kind ?? "";
    const key = `${p.track} ${kind}`;
    if (p.track !== null && !known.has(key)) known.set(key, laneOf(lanes, p.track, kind));
    const lane = p.track === null ? (hosts.get(p.rank) ?? 0) : (known.get(key) ?? 0);
    if (!(kind in KINDS) && lane) hosts.set(p.rank, lane);
    return { start: p.start ?? 0, end: (p.start ?? 0) + (p.duration ?? 0), lane };
  });
}

/** The path of a job on the stage of its ranks, whose clock it has: tracks as they are numbered there. */
export function onRanks(pieces: readonly Piece[], placeOf: (rank: number) => number | undefined): Piece[] {
  return pieces.map((p) => {
    const place = p.rank === null ? undefined : placeOf(p.rank);
    return { ...p, track: p.track === null || place === undefined ? null : laneIn(place, p.track) };
  });
}

/** What is drawn; nothing while it is off or on its way. */
export const shownPath = computed<ShownPath>(() => {
  if (!showPath.value) return NONE;
  const steps = stepsInView();
  if (!stage.tracks?.steps.number.length) return NONE;
  if (!steps) return FAR;
  const whose = isTogether.value ? allWorkers() : oneWorker();
  const query = { ...traceQuery.value, ...whose, step: `${steps[0]}..${steps[1]}`, table: "path", limit: MOST_PIECES };
  const asked = ask<Answer<"critical">>("timeline-path", "critical", { ...query, lang: language.value });
  const table = asked.value?.tables.path;
  if (!table || table.total_rows > table.rows.length) return table ? FAR : NONE;
  const pieces = isTogether.value ? onRanks(rowsOf(table), (rank) => memberOfRank(rank)?.place) : rowsOf(table);
  return { pieces, marks: marksOf(pieces, stage.tracks.lanes) };
});

/** Whether more is in view than is drawn. */
export const isPathFar = (): boolean => shownPath.value === FAR;

/** The number of the piece that is followed; -1: none is. */
export function pieceNow(): number {
  const at = param("piece");
  return at === "" ? -1 : shownPath.value.pieces.findIndex((p) => String(p.start) === at);
}

/** The next or previous piece: of the one that is followed, else of the middle of the view. */
export function goToPiece(by: 1 | -1): boolean {
  const { pieces, marks } = shownPath.peek();
  if (!showPath.peek() || pieces.length === 0) return false;
  const middle = (stage.range.from + stage.range.to) / 2;
  const now = pieceNow();
  const to = now >= 0 ? now + by : Math.min(pieces.length - 1, firstAfter(marks, middle));
  const [piece, mark] = [pieces[to], marks[to]];
  if (!piece || !mark) return goBeyond(by);
  go({ params: { piece: String(piece.start), sel: selectionOf(piece), claim: undefined } }, true);
  showMark(mark);
  return true;
}

const selectionOf = (p: Piece): string | undefined =>
  p.slice === null ? undefined : `slice:${p.slice}${isTogether.peek() && p.rank !== null ? `@${p.rank}` : ""}`;

/** A fifth of the view, so that what comes before and after can be seen. */
function showMark(m: PathMark): void {
  const wide = Math.max(m.end - m.start, 1000);
  if (m.lane) bringIntoView({ lane: m.lane, start: m.start, duration: m.end - m.start });
  show({ from: m.start - 2 * wide, to: m.end + 2 * wide });
}

/** The end of what is loaded: on to the step after it, or before. */
function goBeyond(by: 1 | -1): boolean {
  const { marks } = shownPath.peek();
  const edge = by > 0 ? marks[marks.length - 1]?.end : marks[0]?.start;
  const steps = stage.tracks?.steps;
  if (edge === undefined || !steps) return false;
  const wide = stage.range.to - stage.range.from;
  const to = edge + by * wide;
  if (to < 0 || to > stage.whole) return true;
  go({ params: { piece: undefined } }, true);
  show({ from: Math.min(edge, to), to: Math.max(edge, to) });
  return true;
}
