// Draws the timeline: one scheduler, one frame function. Input changes the stage, the frame reads it.
import { theReport } from "../../api/report.ts";
import { short } from "../../base/format.ts";
import { tagFor } from "../../draw/timeline/colors.ts";
import { boxAt } from "../../draw/timeline/compositor.ts";
import { valueAt } from "../../draw/timeline/counters.ts";
import { newEasel, readColors, SANS } from "../../draw/timeline/easel.ts";
import { isCounter } from "../../draw/timeline/folds.ts";
import { FOUND_STEPS } from "../../draw/timeline/found-steps.ts";
import { drawLanes } from "../../draw/timeline/frame.ts";
import { remembered } from "../../draw/timeline/labels.ts";
import { GUTTER, stripsOf } from "../../draw/timeline/lanes.ts";
import { drawMeetings } from "../../draw/timeline/meetings.ts";
import { drawArea, drawFlows, drawHoverLine, drawSameName, drawSelected } from "../../draw/timeline/overlay.ts";
import { drawPath } from "../../draw/timeline/path.ts";
import { pictureFor } from "../../draw/timeline/picture.ts";
import { drawGrid, drawRuler } from "../../draw/timeline/ruler.ts";
import { type Easel, type RowDrawn, type Scene, visibleItems } from "../../draw/timeline/scene.ts";
import { covers, panBy, type Range, toTime, toX, zoomAround } from "../../draw/timeline/time-scale.ts";
import { ownLane, placeOf } from "../../draw/timeline/together.ts";
import { server } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { traceQuery } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { motionOf } from "../../model/timeline/keys.ts";
import { counterValue, laneFact } from "../../model/timeline/lane-names.ts";
import { chosenMeeting, meetings, rankPlaces } from "../../model/timeline/meetings.ts";
import { notes } from "../../model/timeline/notes.ts";
import { pieceNow, shownPath, showPath } from "../../model/timeline/path.ts";
import { fetchView, type LaneWish } from "../../model/timeline/picture-store.ts";
import { hitTimes, resting } from "../../model/timeline/search.ts";
import {
  area,
  chosen,
  coarseness,
  colorBy,
  flows,
  markOf,
  setDrawing,
  show,
  showFlows,
  stage,
} from "../../model/timeline/state.ts";
import { members, movePictures, ownRange, spanOfMember } from "../../model/timeline/together.ts";
import { snapshotOf } from "./save.ts";

export interface Engine {
  rows: RowDrawn[];
  resize: () => void;
  stop: () => void;
}

const REST = 160;
const client = Math.random().toString(36).slice(2, 10);

/** Script times of the last frames in ms, for the measurement of budgets. */
const frameTimes: number[] = [];
Object.assign(globalThis, { tachoFrameTimes: frameTimes });

/** Lanes near the screen; those beyond are asked for when scrolling comes close. */
function wishOf(scene: Scene): LaneWish[] {
  const wish = new Map<number, boolean>();
  const far = { ...scene, scroll: Math.max(0, scene.scroll - scene.height), height: scene.height * 3 };
  for (const { item } of visibleItems(far)) {
    if (item.lane) wish.set(item.lane.id, !item.open && (item.lane.kind === "python" || item.lane.kind === "calls"));
    else if (!item.open)
      for (const { lane } of stripsOf(item)) if (!wish.has(lane.id)) wish.set(lane.id, item.group?.kind !== "rank");
  }
  return [...wish].filter(([id]) => ownLane(id) !== FOUND_STEPS).map(([id, coarse]) => ({ id, coarse })); // the page has those
}

/** Asks for what the lanes in view need: of a trace alone once, of several ranks each of them. */
function fetchScene(scene: Scene, done: () => void): void {
  const { by } = scene;
  const wish = wishOf(scene);
  const fetch = server().blocks;
  const list = members();
  const need = { view: stage.range, width: stage.width, whole: stage.whole, lanes: wish, tag: tagFor(by) };
  if (list.length === 0) {
    const came = () => {
      sayCoarseness();
      done();
    };
    fetchView(stage.store, need, { fetch, query: traceQuery.peek(), client, done: came });
    sayCoarseness(); // what is kept already may do
    return;
  }
  for (const m of list) {
    const view = ownRange(m, stage.range);
    const lanes = wish.filter((w) => placeOf(w.id) === m.place).map((w) => ({ ...w, id: ownLane(w.id) }));
    if (!view || lanes.length === 0) continue;
    const query = { ...traceQuery.peek(), worker: m.worker };
    const own = { ...need, view, whole: m.tracks.trace.duration_ns, lanes };
    fetchView(m.store, own, { fetch, query, client: `${client}-${m.place}`, done });
  }
}

/** A server draws as fine as it is asked to; a report only what it has. */
function sayCoarseness(): void {
  const pixel = (stage.range.to - stage.range.from) / stage.width;
  const fits = (p: { asked: number; from: number; to: number }) => p.asked <= 2 * pixel && covers(p, stage.range, stage.whole);
  const shown = theReport() ? stage.store.pictures.find(fits) : undefined;
  coarseness.value = shown && shown.bucket > 8 * pixel ? shown.bucket : 0;
}

const isFetching = (): boolean => stage.store.pending !== undefined || members().some((m) => m.store.pending !== undefined);

/** Pictures and length of the trace a lane is from. */
function sourcesNow(): Pick<Scene, "picturesOf" | "spanOf"> {
  const list = members();
  if (list.length === 0) {
    const all = stage.found ? [...stage.store.pictures, stage.found] : stage.store.pictures;
    const whole: Range = { from: 0, to: stage.whole };
    return { picturesOf: () => all, spanOf: () => whole };
  }
  movePictures();
  const byPlace = new Map(list.map((m) => [m.place, m]));
  return {
    picturesOf: (lane) => byPlace.get(placeOf(lane))?.shown ?? [],
    spanOf: (lane) => {
      const m = byPlace.get(placeOf(lane));
      return m ? spanOfMember(m) : { from: 0, to: stage.whole };
    },
  };
}

export function startEngine(canvas: HTMLCanvasElement, box: HTMLElement, scroller: HTMLElement): Engine {
  const easel = newEasel(canvas);
  let palette = readColors();
  let version = -1;
  let asked = 0;
  let last = 0;
  let restTimer: ReturnType<typeof setTimeout> | undefined;
  const widthOf = remembered((text) => {
    if (!easel) return 0;
    easel.g.font = `450 11px ${SANS}`;
    return easel.g.measureText(text).width;
  });
  const engine: Engine = { rows: [], resize, stop };

  function sceneNow(now: number): Scene {
    return {
      layout: stage.layout,
      ...sourcesNow(),
      range: stage.range,
      whole: stage.whole,
      left: GUTTER,
      width: stage.width,
      height: stage.height,
      scroll: stage.scroll,
      dpr: devicePixelRatio || 1,
      palette,
      version,
      by: colorBy.peek(),
      only: stage.emphasis ? (chosen.peek()?.name ?? "") : "",
      moving: now - stage.movedAt < REST,
      sans: SANS,
      widthOf,
      format: (ns) => short(ns, "ns"),
      step: (name) => name.replace(/^ProfilerStep#(\d+)$/, (_, n: string) => t("tl_step_n", { n })),
      idle: (ns) => t("tl_idle", { time: short(ns, "ns") }),
    };
  }

  function move(now: number): void {
    if (stage.held.size === 0) return;
    const m = motionOf(stage.held, Math.min(50, last ? now - last : 16));
    const at = toTime(stage.range, stage.width, stage.pointer && stage.pointer.x >= 0 ? stage.pointer.x : stage.width / 2);
    const zoomed = zoomAround(stage.range, at, m.factor, stage.whole);
    show(panBy(zoomed, m.shift * (zoomed.to - zoomed.from), stage.whole));
  }

  function frame(now: number): void {
    asked = 0;
    if (!easel || stage.width < 10) return;
    move(now);
    last = stage.held.size ? now : 0;
    const begun = performance.now();
    if (version !== themeVersion.peek()) {
      palette = readColors();
      version = themeVersion.peek();
    }
    if (Math.abs(scroller.scrollTop - stage.scroll) >= 1) scroller.scrollTop = stage.scroll;
    const scene = sceneNow(now);
    fetchScene(scene, request);
    const busy = String(isFetching());
    if (box.getAttribute("aria-busy") !== busy) box.setAttribute("aria-busy", busy);
    engine.rows = paint(easel, scene);
    frameTimes.push(performance.now() - begun);
    if (frameTimes.length > 2000) frameTimes.shift();
    if (scene.moving) {
      clearTimeout(restTimer);
      restTimer = setTimeout(rest, REST + 10);
    }
    if (stage.held.size) request();
  }

  function rest(): void {
    resting.value = { ...stage.range };
    request();
  }

  function request(): void {
    if (!asked) asked = requestAnimationFrame(frame);
  }

  function resize(): void {
    const dpr = devicePixelRatio || 1;
    stage.width = Math.max(0, box.clientWidth - GUTTER);
    stage.height = box.clientHeight;
    canvas.width = Math.round(box.clientWidth * dpr);
    canvas.height = Math.round(box.clientHeight * dpr);
    resting.value = { ...stage.range };
    request();
  }

  function stop(): void {
    if (asked) cancelAnimationFrame(asked);
    clearTimeout(restTimer);
    setDrawing(undefined);
    stage.snapshot = undefined;
    stage.held.clear();
    for (const store of [stage.store, ...members().map((m) => m.store)]) {
      store.pending?.abort.abort();
      store.pending = undefined;
    }
  }

  stage.snapshot = () => snapshotOf(canvas, () => sceneNow(performance.now()), paint);
  setDrawing(request);
  resize();
  return engine;
}

function paint(e: Easel, s: Scene): RowDrawn[] {
  const { g } = e;
  const rows = drawLanes(e, s, () => drawGrid(g, s));
  const path = showPath.peek() ? shownPath.peek() : undefined;
  if (path?.marks.length) drawPath(g, s, path.marks, path.marks[pieceNow()]);
  const c = chosen.peek();
  if (c?.name) drawSameName(g, s, rows, c.name);
  const a = area.peek();
  const mark = stage.drag ?? (a && markOf(a));
  if (mark) drawArea(g, s, mark);
  drawTogether(g, s);
  drawFlows(g, s, flows.peek(), (r) => short(r.start, "ns"));
  if (c) drawSelected(g, s, c);
  const x = stage.pointer && stage.pointer.x >= 0 && stage.pointer.x <= s.width ? stage.pointer.x : undefined;
  if (x !== undefined) drawHoverLine(g, s, x);
  drawRuler(g, s, {
    hits: hitTimes.peek(),
    notes: notes.peek(),
    pointer: x,
    selected: c,
  });
  writeValues(s, x);
  return rows;
}

/** With several ranks: the collectives that connect them. */
function drawTogether(g: CanvasRenderingContext2D, s: Scene): void {
  if (members().length < 2 || !showFlows.peek()) return;
  const meeting = chosenMeeting.peek();
  const label = meeting && t("tl_came_last", { n: meeting.last, time: short(meeting.span, "ns") });
  drawMeetings(g, s, meetings(), rankPlaces(), meeting && { meeting, label: label ?? "" });
}

/** Values of counters at the pointer, into the gutter: text nodes are changed in place, nothing is laid out
 * again. */
function writeValues(s: Scene, x: number | undefined): void {
  for (const el of document.querySelectorAll<HTMLElement>("[data-counter]")) {
    const lane = stage.tracks?.lanes.find((l) => l.id === Number(el.dataset.counter));
    if (!lane || !isCounter(lane.kind)) continue;
    let text = laneFact(lane);
    if (x !== undefined) {
      const p = pictureFor(s.picturesOf(lane.id), lane.id, s.range, s.width, s.whole);
      const value = p && valueAt(p, lane.id, toTime(s.range, s.width, x));
      if (value !== undefined) text = counterValue(lane, value);
    }
    if (el.textContent !== text) el.textContent = text;
  }
}

/** The nearest edge of a box within six pixels, for areas. */
export function snap(rows: readonly RowDrawn[], x: number, top: number, bottom: number): number {
  const dpr = devicePixelRatio || 1;
  let best = x;
  let distance = 6;
  for (const r of rows) {
    if (r.y + r.height < top || r.y > bottom) continue;
    const i = boxAt(r.picture.boxes, r.run, x * dpr, distance * dpr);
    if (i < 0) continue;
    for (const edge of [r.picture.boxes.start[i] as number, r.picture.boxes.end[i] as number]) {
      const at = toX(stage.range, stage.width, r.picture.from + edge * r.picture.unit);
      if (Math.abs(at - x) < distance) {
        distance = Math.abs(at - x);
        best = at;
      }
    }
  }
  return best;
}
