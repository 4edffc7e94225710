// What keys and buttons of the timeline do.
import { signal } from "@preact/signals";
import { short } from "../../base/format.ts";
import { fitRange, panBy, type Range, toTime, zoomAround } from "../../draw/timeline/time-scale.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { goBack, goToAdvice, goToEvent } from "../evidence.ts";
import { t } from "../language.ts";
import { go, param } from "../route.ts";
import { dropSelection } from "../selection.ts";
import { setWindow } from "../steps.ts";
import type { Command } from "./keys.ts";
import { laneName } from "./lane-names.ts";
import { notes, setNotes } from "./notes.ts";
import { goToPiece } from "./path.ts";
import { goToHit } from "./search.ts";
import {
  area,
  bringIntoView,
  choose,
  chooseRef,
  chosen,
  chosenOf,
  detail,
  openDetails,
  setArea,
  setTab,
  show,
  showDetails,
  spoken,
  stage,
  toggle,
} from "./state.ts";
import { memberAt } from "./together.ts";

/** Where keys zoom: at the pointer, else the middle. */
function focusTime(): number {
  const x = stage.pointer && stage.pointer.x >= 0 ? stage.pointer.x : stage.width / 2;
  return toTime(stage.range, stage.width || 1, x);
}

export function zoom(factor: number, at = focusTime()): void {
  show(zoomAround(stage.range, at, factor, stage.whole));
}

export function pan(share: number): void {
  show(panBy(stage.range, share * (stage.range.to - stage.range.from), stage.whole));
}

function showAll(): void {
  show({ from: 0, to: stage.whole });
}

function same(a: Range, b: Range): boolean {
  const tolerance = (b.to - b.from) * 0.001;
  return Math.abs(a.from - b.from) <= tolerance && Math.abs(a.to - b.to) <= tolerance;
}

/** Fits the selection; again: the step it is in; again: everything. */
export function fit(): void {
  const target = area.peek() ?? stretchOf(chosen.peek());
  const step = target && stepAround((target.from + target.to) / 2);
  const wider = [
    target && fitRange(target.from, target.to, stage.whole),
    step && fitRange(step.from, step.to, stage.whole, 0.02),
  ].filter((r) => r !== undefined);
  const at = wider.findIndex((r) => same(stage.range, r));
  show(wider[at + 1] ?? { from: 0, to: stage.whole });
}

function stretchOf(c: { start: number; duration: number } | undefined): Range | undefined {
  return c && { from: c.start, to: c.start + c.duration };
}

export function stepAround(time: number): Range | undefined {
  const s = stage.tracks?.steps;
  if (!s) return undefined;
  const i = s.start.findIndex((from, k) => time >= from && time < (s.end[k] as number));
  return i < 0 ? undefined : { from: s.start[i] as number, to: s.end[i] as number };
}

function follow(r: Ref | undefined): void {
  if (!r) return;
  chooseRef(r);
  setTab("selection");
}

/** The next (or previous) end of a flow of the selection. */
function followFlow(by: 1 | -1): void {
  const d = detail.peek();
  if (!d) return;
  if (by > 0) follow(d.kernels?.[0] ?? d.flows?.find((f) => f.direction === "out"));
  else
    follow(
      d.why?.find((w) => w.role === "launch" || w.role === "forward") ?? d.flows?.find((f) => f.direction === "in") ?? d.why?.[0],
    );
}

/** A note was made and its field has not had the focus yet. */
export const newNote = signal(false);

function addNote(): void {
  const c = chosen.peek();
  const a = area.peek();
  const from = a?.from ?? c?.start ?? focusTime();
  const end = a?.to ?? (c ? c.start + c.duration : from);
  setTab("notes");
  newNote.value = true;
  setNotes([...notes.peek(), { time: from, end, text: c && !a ? c.name.slice(0, 40) : t("tl_note_new") }]);
}

/** The lane keys act on: of the selection, else under the pointer. */
function laneAtHand(): number | undefined {
  if (chosen.peek()) return chosen.peek()?.lane;
  const y = stage.pointer && stage.pointer.y - 24 - stage.layout.pinnedHeight + stage.scroll;
  return y === undefined ? undefined : stage.layout.items.find((i) => i.lane && i.y <= y && i.y + i.height > y)?.lane?.id;
}

function useAsWindow(): void {
  const r = area.peek() ?? stage.range;
  const from = Math.max(0, r.from) - stage.origin;
  setWindow({ from: Math.max(0, Math.round(from)), to: Math.round(Math.min(stage.whole, r.to) - stage.origin) });
}

/** Esc, one level: area, then selection. Tells whether there was something to drop. */
function drop(): boolean {
  if (area.peek()) {
    setArea(undefined);
    return true;
  }
  if (chosen.peek() || param("sel")) {
    choose(undefined);
    dropSelection();
    return true;
  }
  return false;
}

/** Carries a command out; false when there was nothing to do, so that the key is left to others. */
export function act(command: Command): boolean {
  const d = detail.peek();
  const lane = laneAtHand();
  switch (command) {
    case "fit":
      fit();
      return true;
    case "next":
    case "box_next":
      if (d) follow(d.next);
      else chooseFirst();
      return true;
    case "previous":
    case "box_previous":
      if (d) follow(d.previous);
      else chooseFirst();
      return true;
    case "parent":
      follow(d?.parent);
      return true;
    case "child":
      if (d) follow(d.children?.[0]);
      else chooseFirst();
      return true;
    case "flow_next":
      followFlow(1);
      return true;
    case "flow_previous":
      followFlow(-1);
      return true;
    case "path_next":
      return goToPiece(1);
    case "path_previous":
      return goToPiece(-1);
    case "search":
      document.getElementById("tl-find")?.focus();
      return true;
    case "hit_next":
      goToHit(1);
      return true;
    case "hit_previous":
      goToHit(-1);
      return true;
    case "note":
      addNote();
      return true;
    case "pin":
      if (lane !== undefined) toggle("pin", lane);
      return true;
    case "expand":
      if (lane !== undefined) toggle("open", lane);
      return true;
    case "details":
      openDetails(!showDetails.peek());
      return true;
    case "all":
      showAll();
      return false;
    case "evidence_next":
      return goToEvent(1);
    case "evidence_previous":
      return goToEvent(-1);
    case "advice_next":
      return goToAdvice(1);
    case "advice_previous":
      return goToAdvice(-1);
    case "back":
      if (!param("back")) return false;
      goBack();
      return true;
    case "use":
      useAsWindow();
      return true;
    case "drop":
      return drop();
  }
}

/** With nothing chosen arrows begin at the first box in view. */
function chooseFirst(): void {
  for (const item of stage.layout.items) {
    if (!item.lane || item.y + item.height < stage.scroll) continue;
    for (const p of memberAt(item.lane.id)?.shown ?? stage.store.pictures) {
      const row = p.rows.get(item.lane.id)?.find((r) => r.row === 0);
      if (!row) continue;
      for (let i = row.first; i < row.last; i++) {
        const start = p.from + (p.boxes.start[i] as number) * p.unit;
        const end = p.from + (p.boxes.end[i] as number) * p.unit;
        if (end <= stage.range.from) continue;
        if (start >= stage.range.to) break;
        const name = p.names[p.boxes.name[i] as number] ?? "";
        const id = p.boxes.slice[i] as number;
        choose({ id, instant: item.lane.kind === "instants", lane: item.lane.id, row: 0, start, duration: end - start, name });
        return;
      }
    }
  }
}

/** The sentence a screen reader says about the chosen box. */
export function speak(): void {
  const c = chosen.value;
  const lane = c && stage.tracks?.lanes.find((l) => l.id === c.lane);
  spoken.value = c
    ? `${c.name}, ${short(c.duration, "ns")}, ${lane ? laneName(lane) : ""}, ${t("tl_at", { time: short(c.start, "ns") })}`
    : "";
}

/** A selection that came with the address. One made elsewhere is brought into view even when the address has a view. */
export function adopt(r: Ref, elsewhere: boolean): void {
  choose(chosenOf(r));
  if (elsewhere || !param("view")) bringIntoView(r);
}

/** One came for this: it takes a quarter of the view, and what is around it can be seen. */
export function closeUp(r: { lane: number; start: number; duration: number }): void {
  const wide = Math.max(r.duration, 1000);
  bringIntoView(r);
  show(fitRange(r.start - 1.5 * wide, r.start + 2.5 * wide, stage.whole, 0));
}

export function clearFilter(): void {
  go({ params: { lanes: undefined, hide: undefined } });
}
