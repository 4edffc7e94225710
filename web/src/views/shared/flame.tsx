// A flame graph of an interval: in time order, merged by path, or bottom-up. Boxes come from the timeline's own answers
// and go through its compositor; a click makes a box as wide as the picture and names it, and from there, or with Shift
// at once, it leads to its most expensive event.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { short, thousands } from "../../base/format.ts";
import { darkTextOn, fillOf, type Palette, readPalette, shadesOf } from "../../draw/timeline/colors.ts";
import { type Boxes, boxAt, endX, paintRow, type Run, startX } from "../../draw/timeline/compositor.ts";
import { bottomUp, FLAME_ORDERS, type FlameNode, type FlameOrder, flameBoxes, mergeOf } from "../../draw/timeline/flame.ts";
import { fitText, LABEL, remembered, shortName } from "../../draw/timeline/labels.ts";
import type { Picture } from "../../draw/timeline/picture.ts";
import type { Range } from "../../draw/timeline/time-scale.ts";
import { counted, errorOf, server } from "../../model/answers.ts";
import { showSlice } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { showCalled } from "../../model/moments.ts";
import { traceQuery } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { laneList, readPicture } from "../../model/timeline/picture-store.ts";
import { Segmented } from "../../widgets/controls.tsx";

const ROW = 18;
const WIDTH = 8192;

export interface Shown {
  boxes: Boxes;
  rows: { first: number; last: number }[];
  unit: number;
  length: number; // ns
  nodes: FlameNode[] | undefined;
}

/** The words and colors of boxes. */
type Named = Pick<Picture, "names" | "kinds">;

interface FlameProps extends Range {
  lanes: readonly number[];
  height?: number;
  order?: FlameOrder; // without one it can be chosen
  worker?: string | undefined; // of several ranks in view
}

export function FlameGraph(props: FlameProps) {
  const [chosen, setOrder] = useState<FlameOrder>("merged");
  const order = props.order ?? chosen;
  const [picture, setPicture] = useState<Picture | undefined>(undefined);
  const [error, setError] = useState("");
  const lanes = props.lanes.join(",");
  const trace = JSON.stringify({ ...traceQuery.value, ...(props.worker ? { worker: props.worker } : {}) });
  useEffect(() => {
    const abort = new AbortController();
    const wish = lanes
      .split(",")
      .filter(Boolean)
      .map((id) => ({ id: Number(id), coarse: false }));
    const [from, to] = [Math.max(0, Math.round(props.from)), Math.round(props.to)];
    if (wish.length === 0 || to <= from) return;
    const query = { ...JSON.parse(trace), from, to, width: WIDTH, lanes: laneList(wish) };
    counted(server().blocks("viewport", query, abort.signal)).then(
      (b) => setPicture(readPicture(b, { from, to, width: WIDTH, bucket: 1 }, new Set(wish.map((w) => w.id)))),
      (e: unknown) => {
        if (!abort.signal.aborted) setError(errorOf(e).msg);
      },
    );
    return () => abort.abort();
  }, [props.from, props.to, lanes, trace]);
  const choices = FLAME_ORDERS.map((id) => ({ id, label: t(`tl_flame_${id}`) }));
  return (
    <div class="tl-flame">
      {props.order ? null : (
        <Segmented label={t("tl_flame")} choices={choices} chosen={order} onChoose={(id) => setOrder(id as FlameOrder)} />
      )}
      {error ? <p class="tl-none">{error}</p> : null}
      {picture ? (
        <TimedFlame
          key={order}
          picture={picture}
          order={order}
          lanes={props.lanes}
          height={props.height ?? 0}
          worker={props.worker}
        />
      ) : null}
    </div>
  );
}

function shownOf(p: Picture, order: FlameOrder, lanes: readonly number[]): Shown {
  if (order === "time") {
    const rows = lanes.flatMap((l) => [...(p.rows.get(l) ?? [])].sort((a, b) => a.row - b.row));
    return { boxes: p.boxes, rows, unit: p.unit, length: p.to - p.from, nodes: undefined };
  }
  const merged = mergeOf(p, lanes);
  const f = flameBoxes(order === "merged" ? merged : bottomUp(merged));
  return { boxes: f.boxes, rows: f.rows, unit: f.unit, length: Math.max(1, f.total), nodes: f.nodes };
}

interface Hover {
  x: number;
  y: number;
  words: string;
}

interface TimedProps extends Pick<FlameProps, "lanes" | "worker"> {
  picture: Picture;
  order: FlameOrder;
  height: number;
}

function TimedFlame(props: TimedProps) {
  const [shown] = useState(() => shownOf(props.picture, props.order, props.lanes));
  return <FlameCanvas named={props.picture} shown={shown} height={props.height} worker={props.worker} />;
}

interface CanvasProps {
  named: Named;
  shown: Shown;
  height: number;
  worker?: string | undefined;
}

/** Shows what a box costs most at: the box itself, its longest call, or that of its name. */
function showBox({ named, shown, worker }: CanvasProps, i: number): void {
  const name = named.names[shown.boxes.name[i] as number] ?? "";
  const slice = shown.nodes ? shown.nodes[i]?.slice : shown.boxes.slice[i];
  if (slice === undefined) showCalled(name);
  else showSlice(slice, shortName(name), worker ? { worker } : {});
}

export function FlameCanvas(props: CanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { shown } = props;
  const [view, setView] = useState<Range>({ from: 0, to: shown.length });
  const [hover, setHover] = useState<Hover | undefined>(undefined);
  const [chosen, setChosen] = useState(-1);
  const height = Math.max(ROW, shown.rows.length * ROW);
  const runOf = (row: { first: number; last: number }, width: number): Run => {
    const perNs = width / (view.to - view.from);
    return { ...row, scale: shown.unit * perNs, shift: -view.from * perNs, unit: shown.unit };
  };
  void themeVersion.value;
  useLayoutEffect(() => {
    if (canvas.current) drawFlame(canvas.current, props.named, shown, (row, width) => runOf(row, width));
  });
  const at = (e: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return undefined;
    const row = shown.rows[Math.floor((e.clientY - box.top) / ROW)];
    const i = row ? boxAt(shown.boxes, runOf(row, box.width), e.clientX - box.left, 1) : -1;
    return { i, x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const whole = () => {
    setChosen(-1);
    setView({ from: 0, to: shown.length });
  };
  const zoomTo = (e: MouseEvent) => {
    const found = at(e);
    if (!found || found.i < 0) return whole();
    if (e.shiftKey) return showBox(props, found.i);
    setChosen(found.i);
    setView({ from: (shown.boxes.start[found.i] as number) * shown.unit, to: (shown.boxes.end[found.i] as number) * shown.unit });
  };
  const move = (e: MouseEvent) => {
    const found = at(e);
    setHover(found && found.i >= 0 ? { x: found.x, y: found.y, words: wordsOf(props.named, shown, found.i) } : undefined);
  };
  return (
    <>
      {chosen < 0 ? null : (
        <p class="flame-chosen links">
          <span>{wordsOf(props.named, shown, chosen)}</span>
          <button type="button" class="link" onClick={() => showBox(props, chosen)}>
            {t("show_in_timeline")}
          </button>
          <button type="button" class="link" onClick={whole}>
            {t("reset")}
          </button>
        </p>
      )}
      <div class="tl-flame-box" style={props.height ? { maxHeight: `${props.height}px` } : {}}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={t("tl_flame")}
          style={{ height: `${height}px` }}
          onClick={zoomTo}
          onDblClick={whole}
          onMouseMove={move}
          onMouseLeave={() => setHover(undefined)}
        />
        {hover ? (
          <div class="tl-card" style={{ transform: `translate(${Math.max(0, hover.x - 40)}px, ${hover.y + 18}px)` }}>
            {hover.words}
          </div>
        ) : null}
      </div>
    </>
  );
}

function wordsOf(p: Named, s: Shown, i: number): string {
  const name = p.names[s.boxes.name[i] as number] ?? "";
  const time = s.boxes.time[i] as number;
  const node = s.nodes?.[i];
  const share = short(time / s.length, "share");
  if (!node) return `${name} · ${short(time, "ns")}`;
  return `${name} · ${short(time, "ns")} · ${share} · ${t("tl_self")} ${short(node.self, "ns")}${node.count ? ` · × ${thousands(node.count)}` : ""}`;
}

function drawFlame(
  canvas: HTMLCanvasElement,
  p: Named,
  s: Shown,
  runOf: (row: { first: number; last: number }, width: number) => Run,
): void {
  const dpr = devicePixelRatio || 1;
  const [cssWidth, cssHeight] = [canvas.clientWidth, canvas.clientHeight];
  const width = Math.max(1, Math.round(cssWidth * dpr));
  canvas.width = width;
  canvas.height = Math.round(cssHeight * dpr);
  const g = canvas.getContext("2d");
  const lines = document.createElement("canvas");
  lines.width = width;
  lines.height = Math.max(1, s.rows.length);
  const l = lines.getContext("2d");
  if (!g || !l) return;
  const style = getComputedStyle(document.documentElement);
  const palette: Palette = readPalette((name) => style.getPropertyValue(`--${name}`));
  const fills = p.names.map((n, i) => fillOf(palette, "kind", n, p.kinds[i] as number));
  const shades = shadesOf(fills, palette.surface);
  const image = new ImageData(width, lines.height);
  const pixels = new Uint32Array(image.data.buffer);
  s.rows.forEach((row, i) => {
    paintRow({ pixels, at: i * width, width, gap: 1 }, s.boxes, runOf(row, width), shades);
  });
  l.putImageData(image, 0, 0);
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  g.imageSmoothingEnabled = false;
  g.font = `450 11px ${style.getPropertyValue("--sans")}`;
  g.textBaseline = "middle";
  const widthOf = remembered((text) => g.measureText(text).width);
  s.rows.forEach((row, i) => {
    g.drawImage(lines, 0, i, width, 1, 0, i * ROW, cssWidth, ROW - 1);
    const run = runOf(row, cssWidth);
    for (let k = row.first; k < row.last; k++) {
      const left = Math.max(0, startX(s.boxes, run, k));
      const right = Math.min(cssWidth, endX(s.boxes, run, k));
      if (right - left < LABEL.least) continue;
      const name = s.boxes.name[k] as number;
      const text = fitText(shortName(p.names[name] ?? ""), right - left - 2 * LABEL.inside, widthOf);
      g.fillStyle = darkTextOn(fills[name] ?? palette.surface) ? "#0b0d11" : "#fff";
      if (text) g.fillText(text, left + LABEL.inside, i * ROW + ROW / 2);
    }
  });
}
