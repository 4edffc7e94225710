// The address map: time × address, one box a block. Gaps between the allocator's regions are left out, so that
// the picture is not mostly empty. Dragging a rectangle zooms, the right button gives everything back.
import { useEffect, useRef, useState } from "preact/hooks";
import { drawnAs } from "../../base/save.ts";
import { ticks } from "../../base/scale.ts";
import { useWidth } from "../width.ts";

export interface Block {
  from: number; // ns
  to: number;
  address: number;
  bytes: number;
  color: number; // categorical, -1 = others
}

interface Dense {
  size: number;
  at: (address: number) => number;
  back: (place: number) => number; // the address at a place
}

/** Maps addresses to a dense range: regions in order, without the gaps between them. */
export function dense(blocks: readonly Block[]): Dense {
  const spans = [...blocks].sort((a, b) => a.address - b.address);
  const regions: { from: number; to: number; base: number }[] = [];
  let size = 0;
  for (const b of spans) {
    const last = regions[regions.length - 1];
    if (last && b.address <= last.to) {
      const grown = Math.max(last.to, b.address + b.bytes);
      size += grown - last.to;
      last.to = grown;
    } else {
      regions.push({ from: b.address, to: b.address + b.bytes, base: size });
      size += b.bytes;
    }
  }
  /** The last region whose `key` does not exceed a value. */
  const find = (key: "from" | "base", value: number) => {
    let [lo, hi] = [0, regions.length - 1];
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if ((regions[mid]?.[key] ?? 0) <= value) lo = mid;
      else hi = mid - 1;
    }
    return regions[lo];
  };
  return {
    size,
    at(address) {
      const r = find("from", address);
      return r ? r.base + address - r.from : 0;
    },
    back(place) {
      const r = find("base", place);
      return r ? r.from + place - r.base : 0;
    },
  };
}

export interface Zoom {
  from: number;
  to: number;
  low: number; // addresses
  high: number;
}

interface MapProps {
  blocks: readonly Block[];
  from: number;
  to: number;
  height: number;
  version: number;
  label: string;
  only: number | undefined; // the color that stands out
  time: (ns: number) => string; // of the axis
  size: (bytes: number) => string;
  onShow: (i: number) => void; // a click
  onBlock: (i: number | undefined, x: number, y: number) => void;
  onZoom: (zoom: Zoom | undefined) => void;
}

interface Drag {
  x: number;
  y: number;
  x2: number;
  y2: number;
}

const LEFT = 62;
const BOTTOM = 20;
const MOVED = 4;

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  fill: string;
  faint: boolean;
}

/** Round numbers of the unit that suits: 1024 to the next. */
function byteTicks(size: number): number[] {
  const unit = 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(1, size)) / 10));
  return ticks(size / unit, 4).map((v) => v * unit);
}

export function AddressMap(props: MapProps) {
  const { blocks, from, to, version } = props;
  const [box, whole] = useWidth(700);
  const [drag, setDrag] = useState<Drag | undefined>(undefined);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = Math.max(40, whole - LEFT);
  const height = props.height - BOTTOM;
  const map = dense(blocks);
  const x = (time: number) => ((time - from) / Math.max(1, to - from)) * width;
  const y = (address: number) => height - (map.at(address) / Math.max(1, map.size)) * height;
  const boxes = (): Box[] => {
    const style = getComputedStyle(document.documentElement);
    const colors = Array.from({ length: 12 }, (_, i) => style.getPropertyValue(`--c${i + 1}`).trim());
    const other = style.getPropertyValue("--line-strong").trim();
    return blocks.map((b) => {
      const h = (b.bytes / Math.max(1, map.size)) * height;
      const fill = b.color < 0 ? other : (colors[b.color % 12] ?? other);
      const [left, right] = [Math.max(0, x(b.from)), Math.min(width, x(b.to))];
      const faint = props.only !== undefined && props.only !== b.color;
      return { x: left, y: y(b.address) - h, w: Math.max(1, right - left), h: Math.max(0.6, h - 0.4), fill, faint };
    });
  };
  useEffect(() => {
    const el = canvas.current;
    const g = el?.getContext("2d");
    if (!el || !g) return;
    const ratio = devicePixelRatio || 1;
    el.width = width * ratio;
    el.height = height * ratio;
    g.scale(ratio, ratio);
    for (const b of boxes()) {
      g.globalAlpha = b.faint ? 0.15 : 1;
      g.fillStyle = b.fill;
      g.fillRect(b.x, b.y, b.w, b.h);
    }
    drawnAs.set(el, () =>
      boxes()
        .map(
          (b) =>
            `<rect x="${b.x}" y="${b.y}" width="${b.w}" height="${b.h}" fill="${b.fill}"${b.faint ? ' opacity="0.15"' : ""}/>`,
        )
        .join(""),
    );
  }, [blocks, width, height, version, from, to, props.only]);
  const timeAt = (px: number) => from + (px / width) * (to - from);
  const placeAt = (py: number) => ((height - py) / height) * map.size;
  const blockAt = (e: MouseEvent) => {
    const [time, place] = [timeAt(e.offsetX), placeAt(e.offsetY)];
    return blocks.findIndex(
      (b) => b.from <= time && time <= b.to && map.at(b.address) <= place && place < map.at(b.address) + b.bytes,
    );
  };
  const find = (e: MouseEvent) => {
    if (drag) return setDrag({ ...drag, x2: e.offsetX, y2: e.offsetY });
    const i = blockAt(e);
    props.onBlock(i < 0 ? undefined : i, e.offsetX + LEFT, e.offsetY);
  };
  const release = (e: MouseEvent) => {
    if (!drag) return;
    const i = blockAt(e);
    if (Math.hypot(drag.x2 - drag.x, drag.y2 - drag.y) >= MOVED) props.onZoom(zoomOf(drag));
    else if (i >= 0) props.onShow(i);
    setDrag(undefined);
  };
  /** The addresses between two heights; a flat drag is about time alone. */
  const zoomOf = (d: Drag): Zoom => {
    const flat = Math.abs(d.y2 - d.y) < 12;
    const [low, high] = flat ? [0, map.size] : [placeAt(Math.max(d.y, d.y2)), placeAt(Math.min(d.y, d.y2))];
    return {
      from: Math.max(0, timeAt(Math.min(d.x, d.x2))),
      to: timeAt(Math.max(d.x, d.x2)),
      low: map.back(low),
      high: map.back(high),
    };
  };
  return (
    <div class="chart map" ref={box}>
      <svg data-chart width={whole} height={props.height} aria-hidden="true">
        {byteTicks(map.size)
          .filter((v) => v <= map.size && map.size > 0)
          .map((v) => (
            <g key={v}>
              <line
                x1={LEFT}
                x2={whole}
                y1={height - (v / map.size) * height}
                y2={height - (v / map.size) * height}
                stroke="var(--line)"
              />
              <text x={LEFT - 6} y={Math.max(10, height - (v / map.size) * height + 4)} text-anchor="end" class="axis">
                {props.size(v)}
              </text>
            </g>
          ))}
        {ticks(to - from, Math.max(2, Math.floor(width / 120)))
          .filter((v) => v < (to - from) * 0.98)
          .map((v) => (
            <text
              key={v}
              x={LEFT + x(from + v)}
              y={props.height - 5}
              text-anchor={v === 0 ? "start" : v > (to - from) * 0.94 ? "end" : "middle"}
              class="axis"
            >
              {props.time(from + v)}
            </text>
          ))}
        {drag ? (
          <rect
            x={LEFT + Math.min(drag.x, drag.x2)}
            y={Math.min(drag.y, drag.y2)}
            width={Math.abs(drag.x2 - drag.x)}
            height={Math.abs(drag.y2 - drag.y)}
            fill="var(--accent)"
            opacity="0.14"
          />
        ) : null}
      </svg>
      <canvas
        ref={canvas}
        style={{ left: `${LEFT}px`, width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={props.label}
        onMouseDown={(e) => {
          if (e.button === 0) setDrag({ x: e.offsetX, y: e.offsetY, x2: e.offsetX, y2: e.offsetY });
        }}
        onMouseMove={find}
        onMouseUp={release}
        onMouseLeave={() => {
          setDrag(undefined);
          props.onBlock(undefined, 0, 0);
        }}
        onContextMenu={(e) => {
          e.preventDefault();
          props.onZoom(undefined);
        }}
      />
    </div>
  );
}
