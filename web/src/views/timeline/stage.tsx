// The stage: canvas below, gutter and scrolling above it, the card that follows the pointer.
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { short, thousands } from "../../base/format.ts";
import type { Hit } from "../../draw/timeline/easel.ts";
import { isCounter, isFaint, isFold } from "../../draw/timeline/folds.ts";
import { GUTTER, type Item, itemsBetween, type Layout, RULER } from "../../draw/timeline/lanes.ts";
import type { Tracks } from "../../draw/timeline/tracks.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { groupFact, groupName, laneFact, laneName, laneRole } from "../../model/timeline/lane-names.ts";
import { chosenMeeting, meetings } from "../../model/timeline/meetings.ts";
import { notes } from "../../model/timeline/notes.ts";
import { hitTimes } from "../../model/timeline/search.ts";
import { area, choices, chosen, colorBy, flows, redraw, scrollTo, showFlows, stage, toggle } from "../../model/timeline/state.ts";
import { type Engine, startEngine } from "./engine.ts";
import { listenToKeys, newInput } from "./input.ts";

/** The layout is handed over, so that a new one is drawn. */
export function Stage({ tracks, layout }: { tracks: Tracks; layout: Layout }) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);

  // Before the first picture: what can be seen can be operated, and no key is lost.
  useLayoutEffect(() => {
    const [b, c, s] = [box.current, canvas.current, scroller.current];
    if (!b || !c || !s) return;
    const engine: Engine = startEngine(c, b, s);
    const input = newInput(
      b,
      GUTTER,
      () => engine,
      (hit) => showCard(card.current, hit),
    );
    const place = (e: PointerEvent) => {
      input.move(e);
      moveCard(card.current, b, e);
    };
    b.addEventListener("pointerdown", input.down);
    b.addEventListener("pointermove", place);
    b.addEventListener("pointerup", input.up);
    b.addEventListener("pointerleave", input.leave);
    b.addEventListener("wheel", input.wheel, { passive: false });
    const size = new ResizeObserver(engine.resize);
    size.observe(b);
    const stopKeys = listenToKeys();
    const stopSignals = effect(() => {
      void [themeVersion.value, chosen.value, area.value, flows.value, notes.value, hitTimes.value, colorBy.value];
      void [meetings(), chosenMeeting.value, showFlows.value];
      redraw();
    });
    return () => {
      stopSignals();
      stopKeys();
      size.disconnect();
      engine.stop();
    };
  }, []);

  const onScroll = () => {
    if (Math.abs((scroller.current?.scrollTop ?? 0) - stage.scroll) >= 1) scrollTo(scroller.current?.scrollTop ?? 0);
    setScroll(Math.floor(stage.scroll / 200));
    redraw();
  };
  const near = itemsBetween(layout.items, scroll * 200 - 400, scroll * 200 + 2000);
  return (
    <div
      class="tl-stage"
      ref={box}
      role="grid"
      tabIndex={0}
      aria-label={t("tl_stage", { n: tracks.lanes.length })}
      aria-describedby="tl-spoken"
    >
      <canvas ref={canvas} />
      <div class="tl-pinned" role="rowgroup" style={{ top: `${RULER}px`, height: `${layout.pinnedHeight}px` }}>
        {layout.pinned.map((i) => (
          <GutterRow key={i.key} item={i} />
        ))}
      </div>
      <div
        class="tl-scroll"
        role="rowgroup"
        tabIndex={0}
        ref={scroller}
        onScroll={onScroll}
        style={{ top: `${RULER + layout.pinnedHeight}px` }}
      >
        <div class="tl-tall" role="presentation" style={{ height: `${layout.height + 20}px` }}>
          {near.map((i) => (
            <GutterRow key={i.key} item={i} />
          ))}
        </div>
      </div>
      <div class="tl-card" ref={card} hidden />
    </div>
  );
}

/** Above the gutter: only tracks with these words in their name. */
export function TrackFilter() {
  const field = useRef<HTMLInputElement>(null);
  const filter = choices.value.filter;
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = filter;
  }, [filter]);
  return (
    <input
      ref={field}
      type="search"
      class="tl-filter"
      placeholder={t("tl_tracks_filter")}
      aria-label={t("tl_tracks_filter")}
      spellcheck={false}
      onInput={(e) => go({ params: { lanes: e.currentTarget.value.trim() } }, true)}
      onKeyDown={(e) => {
        if (e.key !== "Escape") return;
        e.stopPropagation();
        e.currentTarget.value = "";
        go({ params: { lanes: undefined } }, true);
        e.currentTarget.blur();
      }}
    />
  );
}

function GutterRow({ item }: { item: Item }) {
  const style = { top: `${item.y}px`, height: `${item.height}px` };
  if (!item.lane && item.group) {
    const g = item.group;
    return (
      <div class={`tl-row tl-group ${foldClass(item)}`} role="row" tabIndex={-1} style={style}>
        <div role="rowheader" tabIndex={-1} class="tl-name">
          <button type="button" tabIndex={-1} aria-expanded={item.open} onClick={() => toggle("fold", g.id)}>
            <span class="tl-fold">{item.open ? "▾" : "▸"}</span>
            {groupName(g, item.members.length)}
          </button>
        </div>
        <div role="gridcell" tabIndex={-1} class="tl-fact">
          {groupFact(g)}
        </div>
      </div>
    );
  }
  return item.lane ? <LaneRow item={item} style={style} /> : null;
}

/** A fold is inside its group; a closed rank is higher than other heads. */
const foldClass = ({ group, open }: Item): string =>
  !group ? "" : isFold(group) && group.kind !== "nameless" ? "tl-sub" : group.kind === "rank" && !open ? "tl-rank" : "";

function LaneRow({ item, style }: { item: Item; style: Record<string, string> }) {
  const lane = item.lane as NonNullable<Item["lane"]>;
  const small = lane.kind === "calls" || lane.kind === "instants" || (lane.kind === "stream" && !item.open);
  const folds = lane.kind === "python" || isFaint(lane) || (lane.kind !== "stream" && lane.kind !== "steps" && lane.rows > 1);
  const role = laneRole(lane);
  const pinned = choices.value.pinned.includes(lane.id);
  return (
    <div class={`tl-row ${item.group ? "tl-in" : ""} ${small ? "tl-small" : ""}`} role="row" tabIndex={-1} style={style}>
      <div role="rowheader" tabIndex={-1} class="tl-name" title={`${laneName(lane)} ${role} · ${lane.name}`}>
        {folds ? (
          <button type="button" tabIndex={-1} aria-expanded={item.open} onClick={() => toggle("open", lane.id)}>
            {item.open && lane.kind !== "python" ? null : <span class="tl-fold">{item.open ? "▾" : "▸"}</span>}
            {laneName(lane)}
          </button>
        ) : (
          laneName(lane)
        )}
        {role ? <span class="tl-role"> {role}</span> : null}
      </div>
      <div role="gridcell" tabIndex={-1} class="tl-fact">
        {isCounter(lane.kind) ? <span data-counter={lane.id}>{laneFact(lane)}</span> : laneFact(lane)}
        <button
          type="button"
          tabIndex={-1}
          class={pinned ? "tl-pin tl-on" : "tl-pin"}
          aria-pressed={pinned}
          aria-label={t("tl_pin", { name: laneName(lane) })}
          title={t("tl_pin", { name: laneName(lane) })}
          onClick={() => toggle("pin", lane.id)}
        >
          <svg width="11" height="11" viewBox="0 0 11 11" aria-hidden="true">
            <path d="M4 1h3v3l1.500 2h-6L4 4zM5.500 6v4" fill="none" stroke="currentColor" stroke-width="1.2" />
          </svg>
        </button>
      </div>
    </div>
  );
}

// ---- the card at the pointer: written directly, it changes with every move ----

function showCard(card: HTMLElement | null, hit: Hit | undefined): void {
  if (!card) return;
  card.hidden = hit === undefined;
  if (!hit) return;
  const { picture: p } = hit.row;
  const name = p.names[p.boxes.name[hit.index] as number] ?? "";
  const count = p.boxes.count[hit.index] as number;
  const time = short(p.boxes.time[hit.index] as number, "ns");
  const several = t("tl_several", { n: count === 65535 ? `≥ ${thousands(count)}` : thousands(count), time });
  card.replaceChildren();
  const title = card.appendChild(document.createElement("b"));
  title.textContent = count > 1 ? several : name;
  card.appendChild(document.createElement("span")).textContent = count > 1 ? t("tl_longest", { name }) : time;
}

function moveCard(card: HTMLElement | null, box: HTMLElement, e: PointerEvent): void {
  if (!card || card.hidden) return;
  const r = box.getBoundingClientRect();
  const [w, h] = [card.offsetWidth, card.offsetHeight];
  const x = Math.min(e.clientX - r.left + 14, r.width - w - 8);
  const y = e.clientY - r.top + 18 + h > r.height ? e.clientY - r.top - h - 10 : e.clientY - r.top + 18;
  card.style.transform = `translate(${Math.max(4, x)}px, ${y}px)`;
}
