// The state of the timeline in its three speeds: choices live in the address, the selection in signals, and
// what changes with every frame (view, pointer, held keys) in one plain object that the scheduler reads.
import { computed, signal } from "@preact/signals";
import { COLOR_BY, type ColorBy } from "../../draw/timeline/colors.ts";
import { FOUND_STEPS, foundPicture, withFoundSteps } from "../../draw/timeline/found-steps.ts";
import { type Choices, type Layout, layoutOf } from "../../draw/timeline/lanes.ts";
import type { AreaMark, Flow } from "../../draw/timeline/overlay.ts";
import type { Picture } from "../../draw/timeline/picture.ts";
import { clampRange, fitRange, type Range, reveal } from "../../draw/timeline/time-scale.ts";
import { ownLane } from "../../draw/timeline/together.ts";
import type { Ref, Tracks } from "../../draw/timeline/tracks.ts";
import { ask, server } from "../answers.ts";
import { language, t } from "../language.ts";
import { go, param, traceQuery, windowQuery } from "../route.ts";
import { select } from "../selection.ts";
import { spanOfSteps } from "../steps.ts";
import { hitMarks, viewport } from "../viewport.ts";
import type { Motion } from "./keys.ts";
import { emptyStore, laneList, newStore, type Store } from "./picture-store.ts";
import { askTogether, detailOnClock, isTogether, memberAt, originNow, queryOf, type Reading } from "./together.ts";
import type { SliceAnswer } from "./types.ts";

// ---- frame state ----

export interface Pointer {
  x: number; // CSS pixels from the left of the lanes
  y: number; // from the top of the stage
}

export interface Stage {
  tracks: Tracks | undefined;
  layout: Layout;
  store: Store;
  found: Picture | undefined; // steps without marks, which no answer holds
  range: Range;
  whole: number;
  origin: number; // where the trace of the tape begins: of several ranks the earliest begins at 0
  width: number;
  height: number;
  scroll: number;
  pointer: Pointer | undefined;
  held: Set<Motion>;
  emphasis: boolean; // Alt is held: other names fade
  drag: AreaMark | undefined; // an area while it is drawn
  movedAt: number;
  trace: string;
  snapshot: (() => Snapshot) | undefined; // what is on the screen, to be saved
}

export interface Snapshot {
  png: () => HTMLCanvasElement;
  svg: () => string;
}

const NOTHING: Layout = { items: [], pinned: [], height: 0, pinnedHeight: 0, byLane: new Map() };

export const stage: Stage = {
  tracks: undefined,
  layout: NOTHING,
  store: newStore(),
  found: undefined,
  range: { from: 0, to: 1 },
  whole: 1,
  origin: 0,
  width: 0,
  height: 0,
  scroll: 0,
  pointer: undefined,
  held: new Set(),
  emphasis: false,
  drag: undefined,
  movedAt: 0,
  trace: "",
  snapshot: undefined,
};

let draw: (() => void) | undefined;

/** One scheduler draws; everything else says that there is something to draw. */
export function setDrawing(f: (() => void) | undefined): void {
  draw = f;
}

export function redraw(): void {
  draw?.();
}

// ---- choices, in the address ----

const idSet = (name: string) => new Set(param(name).split(",").filter(Boolean).map(Number));

export const choices = computed<Choices>(() => ({
  folded: idSet("fold"),
  toggled: idSet("open"),
  pinned: [...idSet("pin")],
  hidden: idSet("hide"),
  frames: param("frames") !== "0",
  filter: param("lanes"),
}));

export const showFlows = computed(() => param("flows") !== "0");
export const colorBy = computed<ColorBy>(() => COLOR_BY.find((c) => c === param("color")) ?? "kind");
export const showDetails = computed(() => param("details") !== "0");

export function openDetails(on: boolean): void {
  go({ params: { details: on ? undefined : "0" } }, true);
}

export function toggle(name: "fold" | "open" | "pin" | "hide", id: number): void {
  const set = idSet(name);
  if (!set.delete(id)) set.add(id);
  go({ params: { [name]: [...set].join(",") } });
}

export function askTracks(): {
  value: Tracks | undefined;
  error: { msg: string } | undefined;
  reading: Reading | undefined;
} {
  if (isTogether.value) return askTogether();
  const asked = ask<Tracks>("tracks", "tracks", { ...traceQuery.value, lang: language.value });
  return { error: asked.error, value: asked.value && withFoundSteps(asked.value), reading: undefined };
}

/** Takes over tracks and choices; another trace starts with its whole length. */
export function layOut(tracks: Tracks): void {
  const { run, worker, span, events } = tracks.trace;
  const trace = `${run} ${worker} ${span} ${worker === "*" ? "" : events}`; // ranks may come and go
  stage.whole = Math.max(1, tracks.trace.duration_ns);
  stage.origin = originNow();
  if (stage.trace !== trace) {
    emptyStore(stage.store);
    stage.trace = trace;
    stage.scroll = 0;
    stage.range = rangeInAddress() ?? firstRange(tracks);
    publishRange();
  }
  if (stage.tracks !== tracks) stage.found = worker === "*" ? undefined : foundPicture(tracks, (n) => t("tl_step_n", { n }));
  stage.tracks = tracks;
  stage.layout = layoutOf(tracks, choices.peek());
  scrollTo(stage.scroll);
}

// ---- scrolling: the address names the first lane in view ----

/** Scrolls as far as there is something to see. */
export function scrollTo(y: number): void {
  const room = stage.height - 24 - stage.layout.pinnedHeight;
  const most = stage.height > 0 ? Math.max(0, stage.layout.height + 20 - room) : y;
  const to = Math.max(0, Math.min(most, y));
  if (to !== stage.scroll) publishPlace();
  stage.scroll = to;
  redraw();
}

function topLane(): number | undefined {
  if (stage.scroll < 1) return undefined;
  return stage.layout.items.find((i) => i.lane && i.y + i.height > stage.scroll + 1)?.lane?.id;
}

/** Scrolls to the lane the address names, and opens its group when it is folded away. */
export function scrollToLane(id: number): void {
  if (id === topLane()) return;
  unfold(id);
  const item = stage.layout.byLane.get(id);
  if (item && !item.pinned) scrollTo(item.y);
}

/** Opens the groups a lane is folded away in: its own, and the fold inside it. */
function unfold(lane: number): void {
  for (let depth = 0; depth < 2; depth++) {
    const head = stage.layout.items.find((i) => !i.lane && !i.open && i.members.some((m) => m.id === lane));
    if (!head?.group) return;
    toggle("fold", head.group.id);
    if (stage.tracks) stage.layout = layoutOf(stage.tracks, choices.peek());
  }
}

/** All of the trace; its steps where one stray event makes it far longer. */
const usualRange = (tracks: Tracks): Range => spanOfSteps({ from: 0, to: stage.whole }, tracks.steps.start, tracks.steps.end);

/** What a trace is opened with: its window, else what is usual. */
export function firstRange(tracks: Tracks): Range {
  const w = windowQuery.peek();
  if (w.from || w.to) {
    const end = w.to ? Number(w.to) + stage.origin : stage.whole;
    return fitRange(Number(w.from ?? 0) + stage.origin, end, stage.whole, 0.01);
  }
  if (!w.step) return clampRange(usualRange(tracks), stage.whole);
  const [a = "", b] = w.step.split("..");
  const low = a === "" ? Number.NEGATIVE_INFINITY : Number(a);
  const high = b === undefined ? low : b === "" ? Number.POSITIVE_INFINITY : Number(b);
  const inside = tracks.steps.number.map((n, i) => (n >= low && n <= high ? i : -1)).filter((i) => i >= 0);
  const [first, last] = [inside[0], inside[inside.length - 1]];
  if (first === undefined || last === undefined) return clampRange({ from: 0, to: stage.whole }, stage.whole);
  return fitRange(tracks.steps.start[first] as number, tracks.steps.end[last] as number, stage.whole, 0.01);
}

export function parseRange(text: string): Range | undefined {
  const [from, to] = text.split("-").map(Number);
  return from !== undefined && to !== undefined && to > from ? { from, to } : undefined;
}

function rangeInAddress(): Range | undefined {
  const r = parseRange(param("view"));
  return r && clampRange(r, stage.whole);
}

let writing: ReturnType<typeof setTimeout> | undefined;

/** Tells the tape, and (when things rest) the address, what is seen. */
function publishRange(): void {
  const [from, to] = [Math.max(0, stage.range.from), Math.min(stage.whole, stage.range.to)];
  viewport.value = { from: from - stage.origin, to: to - stage.origin };
  publishPlace();
}

function publishPlace(): void {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const r = stage.range;
    const usual = stage.tracks ? usualRange(stage.tracks) : r;
    const all = r.from <= usual.from && r.to >= usual.to && r.to - r.from <= (usual.to - usual.from) * 1.05;
    const view = all ? undefined : `${Math.max(0, Math.round(r.from))}-${Math.round(r.to)}`;
    const top = topLane();
    go({ params: { view, top: top === undefined ? undefined : String(top) } }, true);
  }, 300);
}

export function stopPublishing(): void {
  clearTimeout(writing);
  viewport.value = undefined;
  hitMarks.value = [];
}

export function show(range: Range): void {
  stage.range = clampRange(range, stage.whole);
  stage.movedAt = performance.now();
  publishRange();
  redraw();
}

// ---- the selection ----

export interface Chosen {
  id: number;
  instant: boolean;
  lane: number;
  row: number;
  start: number;
  duration: number;
  name: string;
}

export const chosen = signal<Chosen | undefined>(undefined);
export const spoken = signal("");
/** In a report, where its pictures end before the screen does: the ns of a box; else 0. */
export const coarseness = signal(0);

export const detail = computed<SliceAnswer | undefined>(() => {
  const c = chosen.value;
  if (!c) return undefined;
  const answer = askDetail(c).value;
  if (!answer || answer.slice.id !== c.id) return undefined;
  const m = memberAt(c.lane);
  return m ? detailOnClock(answer, m) : answer;
});

export function askDetail(c: Chosen) {
  const which = c.instant ? { instant: c.id } : { id: c.id };
  return ask<SliceAnswer>("slice", "slice", { ...queryOf(c.lane), ...windowQuery.value, ...which, lang: language.value });
}

export function choose(c: Chosen | undefined): void {
  if (c && ownLane(c.lane) === FOUND_STEPS) {
    select("step", String(c.id)); // no slice stands for it
    return;
  }
  chosen.value = c;
  go({ params: { sel: c && nameOf(c) } }, c !== undefined && param("sel") !== "");
  redraw();
}

/** What the address calls it: a slice by its number, of several ranks with the rank it is of. */
export function nameOf(c: Pick<Chosen, "id" | "instant" | "lane">): string {
  const m = memberAt(c.lane);
  return `${c.instant ? "instant" : "slice"}:${c.id}${m ? `@${m.rank}` : ""}`;
}

/** What is chosen when something the server named is. */
export const chosenOf = (r: Ref): Chosen => ({
  id: r.id,
  instant: r.kind === "instant",
  lane: r.lane,
  row: r.row,
  start: r.start,
  duration: r.duration,
  name: r.name,
});

export function chooseRef(r: Ref): void {
  choose(chosenOf(r));
  bringIntoView(r);
}

/** Scrolls and pans so that a slice can be seen; opens its group if it is folded. */
export function bringIntoView(r: { lane: number; start: number; duration: number }): void {
  const wide = Math.max(r.duration, 1);
  const length = stage.range.to - stage.range.from;
  if (wide * 400 < length) show(fitRange(r.start - wide * 40, r.start + wide * 41, stage.whole, 0));
  else show(reveal(stage.range, r.start, r.start + r.duration, stage.whole));
  unfold(r.lane);
  const item = stage.layout.byLane.get(r.lane);
  if (!item || item.pinned) return;
  const room = stage.height - 24 - stage.layout.pinnedHeight;
  if (item.y < stage.scroll) scrollTo(item.y - 30);
  else if (item.y + item.height > stage.scroll + room) scrollTo(Math.min(item.y - 30, item.y + item.height - room + 30));
}

/** Flows of the selection that can be drawn: launch to kernel solid, forward to backward dashed. */
export const flows = computed<Flow[]>(() => {
  const d = detail.value;
  if (!d || !showFlows.value) return [];
  const own: Ref = { ...d.slice, track: d.slice.track?.id ?? 0 };
  const list: Flow[] = [];
  const chain = d.why ?? [];
  const launch = chain.find((w) => w.role === "launch");
  if (launch) list.push({ from: launch, to: own, dashed: false });
  const inferred = d.kernel?.link === "inferred"; // its operator is one of another step
  const [forward, backward] = inferred ? [] : [chain.find((w) => w.role === "forward"), chain.find((w) => w.role === "backward")];
  if (forward) list.push({ from: forward, to: backward ?? own, dashed: true });
  for (const k of (d.kernels ?? []).slice(0, 40)) if (!launch) list.push({ from: own, to: k, dashed: false });
  for (const f of d.flows ?? []) {
    const dashed = f.flow !== "launch";
    const known = list.some((l) => l.from.id === f.id || l.to.id === f.id);
    if (!known) list.push(f.direction === "in" ? { from: f, to: own, dashed } : { from: own, to: f, dashed });
  }
  return list;
});

// ---- the area ----

export interface Area extends Range {
  lanes: number[];
}

/** "100-200:1-4,7": a stretch of time over some lanes. */
function parseArea(text: string): Area | undefined {
  const [stretch = "", list = ""] = text.split(":");
  const range = parseRange(stretch);
  const lanes = list.split(",").flatMap((part) => {
    const [a = Number.NaN, b = a] = part.split("-").map(Number);
    return a > 0 && b >= a && b - a < 10_000 ? Array.from({ length: b - a + 1 }, (_, i) => a + i) : [];
  });
  return range && lanes.length ? { ...range, lanes } : undefined;
}

export const area = computed<Area | undefined>(() => parseArea(param("area")));

export function setArea(a: Area | undefined): void {
  const lanes = a && laneList(a.lanes.filter((id) => ownLane(id) !== FOUND_STEPS).map((id) => ({ id, coarse: false })));
  go({ params: { area: a && `${Math.round(a.from)}-${Math.round(a.to)}:${lanes}` } }, true);
  redraw();
}

/** Where an area is: over the lanes it is about, whatever is folded or moved. */
export function markOf(a: Area): AreaMark {
  const wanted = new Set(a.lanes);
  const items = stage.layout.items.filter((i) =>
    i.lane ? wanted.has(i.lane.id) : !i.open && i.members.some((m) => wanted.has(m.id)),
  );
  const top = items[0]?.y ?? 0;
  const last = items[items.length - 1];
  return { from: a.from, to: a.to, top, bottom: last ? last.y + last.height : stage.layout.height };
}

const TABS = ["selection", "area", "flow", "search", "notes"] as const;
export type Tab = (typeof TABS)[number];
export const tab = computed<Tab>(() => TABS.find((x) => x === param("tab")) ?? "selection");

/** Opens a tab of the details. */
export function setTab(to: Tab): void {
  go({ params: { tab: to === "selection" ? undefined : to, details: undefined } }, true);
}

export const exportUrl = (form: string, r: Range | undefined): string =>
  server().url("export", {
    ...traceQuery.value,
    form,
    from: r ? Math.max(0, Math.round(r.from)) : undefined,
    to: r ? Math.round(Math.min(stage.whole, r.to)) : undefined,
  });
