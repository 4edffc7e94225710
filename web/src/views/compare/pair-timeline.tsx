// Two timelines aligned by step on one axis, with the same zoom. A click leads to the event in its own timeline.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isKnown, mean } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { shownName } from "../../base/names.ts";
import { hitAt, newEasel, readColors, SANS } from "../../draw/timeline/easel.ts";
import { remembered } from "../../draw/timeline/labels.ts";
import { GUTTER, RULER } from "../../draw/timeline/lanes.ts";
import type { RowDrawn, Scene } from "../../draw/timeline/scene.ts";
import { panBy, type Range, toTime, zoomAround } from "../../draw/timeline/time-scale.ts";
import type { Tracks } from "../../draw/timeline/tracks.ts";
import { useWidth } from "../../draw/width.ts";
import { ask } from "../../model/answers.ts";
import { c, type Diff, type DiffRow, placeIn, type Side, stepOf, windowOf } from "../../model/compare.ts";
import { showSlice } from "../../model/evidence.ts";
import { language } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { parseSteps } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { allRanks, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { RampLegend, signed } from "./change.tsx";
import {
  changeFills,
  drawPair,
  fetchPair,
  type Kept,
  newKept,
  type PairStage,
  pairSide,
  pairStage,
  type Step,
  sideAt,
  sourcesOf,
} from "./pair-stage.ts";

type Both = readonly [Side, Side];

/** With all ranks only one is shown here: which. */
export const ofOne = (both: Both): string | undefined =>
  allRanks.value ? c("of_one", { a: both[0].worker, b: both[1].worker }) : undefined;

export const askTracks = (side: Side) =>
  ask<Tracks>(`tracks-${side.id}`, "tracks", { run: side.run, worker: side.worker, lang: language.value });

const stepsIn = (tracks: Tracks): Step[] =>
  tracks.steps.number.map((number, i) => ({
    number,
    start: tracks.steps.start[i] as number,
    end: tracks.steps.end[i] as number,
  }));

/** The steps of a side that its window leaves. */
export function stepsInWindow(tracks: Tracks, side: Side): Step[] {
  const all = stepsIn(tracks);
  const chosen = parseSteps(windowOf(side.id), tracks.steps.number);
  return chosen ? all.filter((s) => s.number >= chosen[0] && s.number <= chosen[1]) : all;
}

/** The step that was chosen, or the one that is most like the others. */
function chosenStep(steps: readonly Step[], wanted: string | undefined): Step | undefined {
  const usual = mean(steps, (s) => s.end - s.start) ?? 0;
  const away = (s: Step) => Math.abs(s.end - s.start - usual);
  return steps.find((s) => String(s.number) === wanted) ?? [...steps].sort((x, y) => away(x) - away(y))[0];
}

const changesOf = (asked: Diff): DiffRow[] => [
  ...rowsOf(asked.value?.tables.operators),
  ...(rowsOf(asked.value?.tables.kernels) as DiffRow[]),
];

export function PairTimeline({ asked, both }: { asked: Diff; both: Both }) {
  const tracks = both.map(askTracks);
  const [color, setColor] = choice("tint", "kind");
  const wanted = param("pair").split("-");
  const steps = tracks.map((a, i) => (a.value && !a.old ? stepsInWindow(a.value, both[i] as Side) : []));
  const [a, b] = steps.map((list, i) => chosenStep(list, wanted[i]));
  const ready = a && b && tracks.every((x) => x.value && !x.old);
  const pick = (i: 0 | 1, number: string) => {
    const pair = [a?.number, b?.number].map(String);
    pair[i] = number;
    go({ params: { pair: pair.join("-"), zoom: undefined } });
  };
  return (
    <Panel
      name={c("timelines")}
      words={ofOne(both) ?? c("timelines_words")}
      busy={!ready}
      height={420}
      controls={
        <>
          {color === "change" ? <RampLegend /> : null}
          <Segmented
            label={c("color")}
            chosen={color}
            onChoose={setColor}
            choices={{ kind: c("color_kind"), change: c("color_change") }}
          />
          {both.map((s, i) => (
            <Menu
              key={s.id}
              class="small-menu"
              right
              name={c("step_of", { side: s.id })}
              label={`${s.id} ${c("step_n", { n: [a, b][i]?.number ?? "" })}`}
              items={(steps[i] ?? []).map((x) => ({
                id: String(x.number),
                label: c("step_n", { n: x.number }),
                detail: short(x.end - x.start, "ns"),
                checked: x.number === [a, b][i]?.number,
              }))}
              onChoose={(id) => pick(i as 0 | 1, id)}
            />
          ))}
        </>
      }
    >
      {ready ? (
        <Stage
          both={both}
          tracks={tracks.map((x) => x.value) as [Tracks, Tracks]}
          steps={[a, b]}
          changes={color === "change" ? changesOf(asked) : undefined}
          step={stepOf(asked)}
        />
      ) : null}
    </Panel>
  );
}

interface StageProps {
  both: Both;
  tracks: readonly [Tracks, Tracks];
  steps: readonly [Step, Step];
  changes: readonly DiffRow[] | undefined; // colors by change
  step: number; // the mean one of A
}

const AIR = 0.02;

const parseZoom = (text: string): Range | undefined => {
  const [from, to] = text.split("..").map(Number);
  return isKnown(from) && isKnown(to) && to > from ? { from, to } : undefined;
};

interface Hover {
  x: number;
  y: number;
  name: string;
  facts: string;
}

/** The stage with its stores; the same traces keep what was fetched. */
function useStage({ both, tracks, steps }: StageProps): PairStage {
  const stores = useRef(new Map<string, Kept>());
  useEffect(
    () => () => {
      for (const { store } of stores.current.values()) store.pending?.abort.abort();
    },
    [],
  );
  return useMemo(() => {
    const storeOf = (s: Side) => {
      const key = `${s.run}\n${s.worker}`;
      const store = stores.current.get(key) ?? newKept();
      stores.current.set(key, store);
      return store;
    };
    const side = (i: 0 | 1) =>
      pairSide(
        both[i],
        tracks[i],
        steps[i],
        storeOf(both[i]),
        `${c("step_n", { n: steps[i].number })} · ${short(steps[i].end - steps[i].start, "ns")}`,
      );
    return pairStage([side(0), side(1)]);
  }, [
    both[0].run,
    both[0].worker,
    both[1].run,
    both[1].worker,
    tracks[0],
    tracks[1],
    steps[0].number,
    steps[1].number,
    language.value,
  ]);
}

function Stage(props: StageProps) {
  const stage = useStage(props);
  const canvas = useRef<HTMLCanvasElement>(null);
  const rows = useRef<RowDrawn[]>([]);
  const easel = useRef<ReturnType<typeof newEasel>>(undefined);
  const [box, width] = useWidth(1100);
  const [came, setCame] = useState(0); // pictures
  const [hover, setHover] = useState<Hover | undefined>();
  const [pointer, setPointer] = useState<number | undefined>();
  const whole: Range = { from: -stage.whole * AIR, to: stage.whole * (1 + AIR) };
  const range = parseZoom(param("zoom")) ?? whole;
  const height = RULER + stage.layout.height;
  const version = themeVersion.value;
  const own = useMemo(
    () => (props.changes ? changeFills(props.changes, props.step) : undefined),
    [props.changes?.length, props.changes?.[0]],
  );
  const lanes = Math.max(1, width - GUTTER);
  const show = (r: Range | undefined) =>
    go({ params: { zoom: r && r.to - r.from < stage.whole ? `${Math.round(r.from)}..${Math.round(r.to)}` : undefined } }, true);

  useLayoutEffect(() => {
    const el = canvas.current;
    if (!el) return;
    const dpr = devicePixelRatio || 1;
    el.width = Math.round(width * dpr);
    el.height = Math.round(height * dpr);
    easel.current ??= newEasel(el);
    if (!easel.current) return;
    const { g } = easel.current;
    const widthOf = remembered((text) => {
      g.font = `450 11px ${SANS}`;
      return g.measureText(text).width;
    });
    const scene: Scene = {
      layout: stage.layout,
      ...sourcesOf(stage),
      range,
      whole: stage.whole,
      left: GUTTER,
      width: lanes,
      height,
      scroll: 0,
      dpr,
      palette: readColors(),
      version,
      by: "kind",
      own,
      only: "",
      moving: false,
      sans: SANS,
      widthOf,
      format: (ns) => short(ns, "ns"),
      idle: (ns) => c("idle", { time: short(ns, "ns") }),
      step: (name) => name,
    };
    rows.current = drawPair(easel.current, scene, stage, pointer);
  }, [stage, width, height, range.from, range.to, version, came, own, pointer, language.value]);

  useEffect(() => {
    fetchPair(stage, range, lanes, () => setCame((n) => n + 1));
  }, [stage, lanes, range.from, range.to]);

  const pointed = (e: MouseEvent) => hitAt(rows.current, e.offsetX - GUTTER, e.offsetY);
  const busy = stage.members.some((m) => m.kept.store.pending !== undefined);
  const drag = useDrag(range, lanes, stage.whole, show);
  useWheel(canvas, range, lanes, stage.whole, show);
  const label = c("timelines_label", {
    a: props.steps[0].number,
    va: short(props.steps[0].end - props.steps[0].start, "ns"),
    b: props.steps[1].number,
    vb: short(props.steps[1].end - props.steps[1].start, "ns"),
  });
  return (
    <div
      class="pair"
      ref={box}
      role="group"
      aria-label={label}
      aria-busy={busy}
      tabIndex={0}
      onKeyDown={(e) => keys(e, range, stage.whole, show)}
    >
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        onPointerDown={drag}
        onMouseMove={(e) => {
          const hit = pointed(e);
          setPointer(e.offsetX >= GUTTER ? e.offsetX - GUTTER : undefined);
          setHover(hit && hoverOf(hit.row, hit.index, stage, e, props.changes));
        }}
        onMouseLeave={() => {
          setPointer(undefined);
          setHover(undefined);
        }}
        onClick={(e) => {
          const hit = pointed(e);
          if (!hit) return;
          const { side } = sideAt(stage, hit.row);
          const boxes = hit.row.picture.boxes;
          showSlice(boxes.slice[hit.index] as number, `${side.id}: ${nameOf(hit.row, hit.index)}`, placeIn(side));
        }}
      />
      {hover ? <Card hover={hover} width={width} /> : null}
    </div>
  );
}

const nameOf = (row: RowDrawn, index: number): string =>
  shownName(row.picture.names[row.picture.boxes.name[index] as number] ?? "");

function hoverOf(row: RowDrawn, index: number, stage: PairStage, e: MouseEvent, changes: readonly DiffRow[] | undefined): Hover {
  const { boxes, names } = row.picture;
  const full = names[boxes.name[index] as number] ?? "";
  const change = changes?.find((r) => r.name === full)?.change;
  const several = (boxes.count[index] as number) > 1 ? c("events", { n: boxes.count[index] as number }) : undefined;
  const facts = [
    `${sideAt(stage, row).side.id} ${short(boxes.time[index], "ns")}`,
    several,
    isKnown(change) ? `${c("change")} ${signed(change, "ns")}` : undefined,
  ];
  return { x: e.offsetX, y: e.offsetY, name: nameOf(row, index), facts: facts.filter(Boolean).join(" · ") };
}

const Card = ({ hover, width }: { hover: Hover; width: number }) => (
  <div class="tip pair-card" style={{ left: `${Math.max(0, Math.min(hover.x + 12, width - 300))}px`, top: `${hover.y + 16}px` }}>
    <b>{hover.name}</b>
    <p>{hover.facts}</p>
  </div>
);

type Show = (r: Range | undefined) => void;

/** Drag pans. */
function useDrag(range: Range, width: number, whole: number, show: Show) {
  return (down: PointerEvent) => {
    if (down.button !== 0) return;
    const begin = down.clientX;
    const move = (e: PointerEvent) => {
      if (Math.abs(e.clientX - begin) > 3) show(panBy(range, ((begin - e.clientX) / width) * (range.to - range.from), whole));
    };
    const up = (e: PointerEvent) => {
      removeEventListener("pointermove", move);
      // A drag is not a click.
      if (Math.abs(e.clientX - begin) > 3) addEventListener("click", (x) => x.stopPropagation(), { capture: true, once: true });
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up, { once: true });
  };
}

/** The wheel with Ctrl zooms; without it the page scrolls. */
function useWheel(canvas: { current: HTMLCanvasElement | null }, range: Range, width: number, whole: number, show: Show): void {
  useEffect(() => {
    const el = canvas.current;
    if (!el) return;
    const turn = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      show(zoomAround(range, toTime(range, width, e.offsetX - GUTTER), 1.002 ** e.deltaY, whole));
    };
    el.addEventListener("wheel", turn, { passive: false });
    return () => el.removeEventListener("wheel", turn);
  });
}

/** The keys of the timeline: W S zoom, A D pan, 0 shows all. */
function keys(e: KeyboardEvent, range: Range, whole: number, show: Show): void {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const length = range.to - range.from;
  const zoom = { KeyW: 0.7, KeyS: 1 / 0.7 }[e.code];
  const pan = { KeyA: -0.15, KeyD: 0.15, ArrowLeft: -0.15, ArrowRight: 0.15 }[e.code];
  if (zoom) show(zoomAround(range, (range.from + range.to) / 2, zoom, whole));
  else if (pan) show(panBy(range, pan * length, whole));
  else if (e.key === "0") show(undefined);
  else return;
  e.preventDefault();
  e.stopPropagation();
}
