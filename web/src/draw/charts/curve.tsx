// A curve over time with uPlot: allocated filled, reserved dashed, step borders, a flag at the peak.
// Dragging chooses a range, the right button gives it back.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type Scale, short, tick } from "../../base/format.ts";
import { drawnAs } from "../../base/save.ts";
import { ticks } from "../../base/scale.ts";
import { SvgPen } from "../svg.ts";
import { useWidth } from "../width.ts";

export interface CurveData {
  time: Float64Array; // ns
  allocated: Float64Array; // bytes
  reserved: Float64Array | undefined;
  capacity: number | undefined;
  steps: readonly { number: number; start: number }[];
  peak: { time: number; value: number; label: string } | undefined;
  mark: { from: number; to: number } | undefined; // birth and death of the row under the pointer
  at: { time: number; label: string } | undefined; // the moment chosen by a click
}

interface CurveProps {
  data: CurveData;
  height: number;
  words: { allocated: string; reserved: string; capacity: string };
  version: number; // of the theme
  scale: Scale; // of the bytes
  onRange: (from: number, to: number) => void;
  onReset: () => void;
  onTime: (time: number) => void;
  onShow: (time: number) => void; // a double click
}

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axisFont(): string {
  return `11px ${css("--sans")}`;
}

function options(width: number, now: { current: CurveProps }, dragged: { current: boolean }): uPlot.Options {
  const line = css("--c1");
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const axis = { font: axisFont(), stroke: css("--t3"), grid: { stroke: css("--line"), width: 1 }, ticks: { show: false } };
  return {
    width,
    height: now.current.height,
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 }, y: false },
    scales: { x: { time: false }, y: { range: (_u, _min, max) => [0, Math.max(1, max, now.current.data.capacity ?? 0) * 1.12] } },
    axes: [
      {
        ...axis,
        size: 26,
        grid: { show: false },
        values: (_u, list) => list.map((v) => short(v, "ns").replace(/\.0+(?=\u2009)/, "")),
      },
      {
        ...axis,
        size: 56,
        splits: (_u, _axis, _min, max) =>
          ticks(max / 1.12 / now.current.scale.factor, 4).map((v) => v * now.current.scale.factor),
        values: (_u, list) => list.map((v) => tick(v, now.current.scale)),
      },
    ],
    series: [
      {},
      { stroke: line, width: 1.3, fill: `${line}29`, ...(stepped ? { paths: stepped } : {}), points: { show: false } },
      { stroke: css("--t2"), width: 1.2, dash: [4, 4], ...(stepped ? { paths: stepped } : {}), points: { show: false } },
    ],
    hooks: {
      draw: [(u) => decorate(u, now.current)],
      setSelect: [
        (u) => {
          if (u.select.width < 4) return;
          dragged.current = true;
          now.current.onRange(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** A canvas, or what writes SVG in its place. */
type Pen = CanvasRenderingContext2D;

/** The curve as shapes, for a saved picture: rules and numbers, the lines, and everything above them. */
function vectorOf(u: uPlot, p: CurveProps): string {
  const ratio = devicePixelRatio || 1;
  const pen = new SvgPen((text) => u.ctx.measureText(text).width, css("--line-strong"));
  const g = pen as unknown as Pen;
  const { left, top, width, height } = u.bbox;
  const [x, y] = [(v: number) => u.valToPos(v, "x", true), (v: number) => u.valToPos(v, "y", true)];
  const { min: from = 0, max: to = 1 } = u.scales.x as { min?: number; max?: number };
  const most = (u.scales.y as { max?: number }).max ?? 1;
  g.font = `${11 * ratio}px ${css("--sans")}`;
  g.fillStyle = css("--t3");
  g.strokeStyle = css("--line");
  for (const v of ticks(most / 1.12 / p.scale.factor, 4).map((m) => m * p.scale.factor)) {
    if (v > most) continue;
    g.beginPath();
    g.moveTo(left, y(v));
    g.lineTo(left + width, y(v));
    g.stroke();
    g.textAlign = "right";
    g.fillText(tick(v, p.scale), left - 6 * ratio, y(v) + 4 * ratio);
  }
  g.textAlign = "center";
  for (const v of ticks(to, 6).filter((m) => m >= from && m <= to))
    g.fillText(short(v, "ns").replace(/\.0+(?=\u2009)/, ""), x(v), top + height + 16 * ratio);
  g.textAlign = "left";
  for (const series of [1, 2] as const) {
    const values = u.data[series] as ArrayLike<number> | undefined;
    if (!values?.length) continue;
    const dashed = series === 2;
    const path = (fill: boolean) => {
      g.beginPath();
      for (let i = 0; i < values.length; i++) {
        const [px, py] = [x(u.data[0][i] as number), y(values[i] as number)];
        if (i === 0) g.moveTo(px, fill ? y(0) : py);
        else g.lineTo(px, y(values[i - 1] as number));
        g.lineTo(px, py);
      }
      if (fill) g.lineTo(x(u.data[0][values.length - 1] as number), y(0));
    };
    if (!dashed) {
      g.fillStyle = `${css("--c1")}29`;
      path(true);
      g.fill();
    }
    g.strokeStyle = css(dashed ? "--t2" : "--c1");
    g.lineWidth = 1.3 * ratio;
    g.setLineDash(dashed ? [4 * ratio, 4 * ratio] : []);
    path(false);
    g.stroke();
    g.setLineDash([]);
  }
  decorate(u, p, g);
  return `<g transform="scale(${1 / ratio})">${pen.body()}</g>`;
}

/** Step borders, labels of the lines, the flag, the life of a block. */
function decorate(u: uPlot, p: CurveProps, g: Pen = u.ctx): void {
  const ratio = devicePixelRatio || 1;
  const { left, top, width, height } = u.bbox;
  const x = (time: number) => Math.round(u.valToPos(time, "x", true));
  g.save();
  g.beginPath();
  g.rect(left, top - 8 * ratio, width, height + 8 * ratio);
  g.clip();
  g.font = `${11 * ratio}px ${css("--sans")}`;
  g.textBaseline = "alphabetic";
  g.fillStyle = css("--t2");
  g.strokeStyle = css("--line-strong");
  g.setLineDash([2 * ratio, 3 * ratio]);
  let free = left; // up to here numbers are written
  for (const s of p.data.steps) {
    const at = x(s.start);
    g.beginPath();
    g.moveTo(at, top);
    g.lineTo(at, top + height);
    g.stroke();
    const from = Math.max(at, left) + 5 * ratio;
    if (at < left - ratio || from < free) continue;
    g.fillText(String(s.number), from, top + 8 * ratio);
    free = from + g.measureText(String(s.number)).width + 7 * ratio;
  }
  g.setLineDash([]);
  if (p.data.mark) {
    g.fillStyle = `${css("--accent")}2E`;
    g.fillRect(x(p.data.mark.from), top, Math.max(1, x(p.data.mark.to) - x(p.data.mark.from)), height);
  }
  if (p.data.capacity) line(u, g, p.data.capacity, ratio);
  if (p.data.at) moment(u, g, p.data.at, ratio);
  label(u, g, p.words.allocated, p.data.allocated[p.data.allocated.length - 1] ?? 0, css("--c1"), ratio);
  if (p.data.reserved) label(u, g, p.words.reserved, p.data.reserved[p.data.reserved.length - 1] ?? 0, css("--t2"), ratio);
  if (p.data.capacity) label(u, g, p.words.capacity, p.data.capacity, css("--critical"), ratio);
  if (p.data.peak) flag(u, g, p.data.peak, ratio);
  g.restore();
}

/** What the device has. */
function line(u: uPlot, g: Pen, value: number, ratio: number): void {
  const y = Math.round(u.valToPos(value, "y", true));
  g.strokeStyle = css("--critical");
  g.lineWidth = ratio;
  g.beginPath();
  g.moveTo(u.bbox.left, y);
  g.lineTo(u.bbox.left + u.bbox.width, y);
  g.stroke();
}

function moment(u: uPlot, g: Pen, at: { time: number; label: string }, ratio: number): void {
  const x = Math.round(u.valToPos(at.time, "x", true));
  g.strokeStyle = css("--accent");
  g.lineWidth = 1.4 * ratio;
  g.beginPath();
  g.moveTo(x, u.bbox.top);
  g.lineTo(x, u.bbox.top + u.bbox.height);
  g.stroke();
  g.fillStyle = css("--accent-text");
  const w = g.measureText(at.label).width;
  const fits = x + w + 6 * ratio < u.bbox.left + u.bbox.width;
  g.fillText(at.label, fits ? x + 5 * ratio : x - w - 5 * ratio, u.bbox.top + 22 * ratio);
}

function label(u: uPlot, g: Pen, text: string, value: number, color: string, ratio: number): void {
  g.fillStyle = color;
  g.textAlign = "right";
  const y = u.valToPos(value, "y", true);
  const low = y - 17 * ratio < u.bbox.top + 8 * ratio; // above it the numbers of the steps are written
  g.fillText(text, u.bbox.left + u.bbox.width - 6 * ratio, low ? y + 13 * ratio : y - 6 * ratio);
  g.textAlign = "left";
}

function flag(u: uPlot, g: Pen, peak: { time: number; value: number; label: string }, ratio: number): void {
  const px = u.valToPos(peak.time, "x", true);
  const py = u.valToPos(peak.value, "y", true);
  if (px < u.bbox.left || px > u.bbox.left + u.bbox.width) return;
  g.strokeStyle = css("--critical");
  g.lineWidth = 1.2 * ratio;
  g.beginPath();
  g.moveTo(px, py);
  g.lineTo(px, u.bbox.top + u.bbox.height);
  g.stroke();
  g.fillStyle = css("--surface");
  g.beginPath();
  g.arc(px, py, 3.2 * ratio, 0, Math.PI * 2);
  g.fill();
  g.stroke();
  const w = g.measureText(peak.label).width + 12 * ratio;
  const bx = Math.min(px + 9 * ratio, u.bbox.left + u.bbox.width - w);
  g.fillStyle = css("--surface");
  g.strokeStyle = css("--line-strong");
  g.lineWidth = ratio;
  g.beginPath();
  g.roundRect(bx, py - 18 * ratio, w, 19 * ratio, 4 * ratio);
  g.fill();
  g.stroke();
  g.fillStyle = css("--t1");
  g.fillText(peak.label, bx + 6 * ratio, py - 5 * ratio);
}

export function Curve(props: CurveProps) {
  const [box, width] = useWidth(700);
  const plot = useRef<uPlot | undefined>(undefined);
  const now = useRef(props);
  now.current = props;
  const dragged = useRef(false);
  const { data, version } = props;
  useEffect(() => {
    if (!box.current) return;
    const empty = new Float64Array(0);
    const u = new uPlot(
      options(width, now, dragged),
      [data.time, data.allocated, data.reserved ?? empty] as uPlot.AlignedData,
      box.current,
    );
    u.over.addEventListener("contextmenu", (e) => {
      e.preventDefault();
      now.current.onReset();
    });
    u.over.addEventListener("mousedown", () => {
      dragged.current = false;
    });
    u.over.addEventListener("click", (e) => {
      if (!dragged.current) now.current.onTime(u.posToVal(e.offsetX, "x"));
    });
    u.over.addEventListener("dblclick", (e) => now.current.onShow(u.posToVal(e.offsetX, "x")));
    plot.current = u;
    drawnAs.set(u.ctx.canvas, () => vectorOf(u, now.current));
    return () => u.destroy();
  }, [data.time, version, width]);
  useEffect(() => plot.current?.redraw(false), [data.mark, data.peak, data.at]);
  return <div class="curve" ref={box} />;
}
