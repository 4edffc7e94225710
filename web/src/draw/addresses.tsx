// The address map: time × address, one box a block, coloured by its operator. Gaps between the
// allocator's regions are left out, so that the picture is not mostly empty.
import { useEffect, useRef } from "preact/hooks";
import { useWidth } from "./width.ts";

export interface Block {
  from: number; // ns
  to: number;
  address: number;
  bytes: number;
  colour: number; // categorical, -1 = others
}

/** Maps addresses to a dense range: regions in order, without the gaps between them. */
export function dense(blocks: readonly Block[]): { at: (address: number) => number; size: number } {
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
  return {
    size,
    at(address) {
      let [lo, hi] = [0, regions.length - 1];
      while (lo < hi) {
        const mid = (lo + hi + 1) >> 1;
        if ((regions[mid]?.from ?? 0) <= address) lo = mid;
        else hi = mid - 1;
      }
      const r = regions[lo];
      return r ? r.base + address - r.from : 0;
    },
  };
}

interface MapProps {
  blocks: readonly Block[];
  from: number;
  to: number;
  height: number;
  version: number;
  label: string;
  onBlock: (i: number | undefined) => void;
}

export function AddressMap({ blocks, from, to, height, version, label, onBlock }: MapProps) {
  const [box, width] = useWidth(700);
  const canvas = useRef<HTMLCanvasElement>(null);
  const map = dense(blocks);
  const x = (time: number) => ((time - from) / Math.max(1, to - from)) * width;
  const y = (address: number) => height - (map.at(address) / Math.max(1, map.size)) * height;
  useEffect(() => {
    const el = canvas.current;
    const g = el?.getContext("2d");
    if (!el || !g) return;
    const ratio = devicePixelRatio || 1;
    el.width = width * ratio;
    el.height = height * ratio;
    g.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colours = Array.from({ length: 12 }, (_, i) => style.getPropertyValue(`--c${i + 1}`));
    const other = style.getPropertyValue("--line-strong");
    for (const b of blocks) {
      const h = (b.bytes / Math.max(1, map.size)) * height;
      g.fillStyle = b.colour < 0 ? other : (colours[b.colour % 12] ?? other);
      g.fillRect(x(b.from), y(b.address) - h, Math.max(1, x(b.to) - x(b.from)), Math.max(0.6, h - 0.4));
    }
  }, [blocks, width, height, version]);
  const find = (e: MouseEvent) => {
    const time = from + (e.offsetX / width) * (to - from);
    const place = ((height - e.offsetY) / height) * map.size;
    const i = blocks.findIndex(
      (b) => b.from <= time && time <= b.to && map.at(b.address) <= place && place < map.at(b.address) + b.bytes,
    );
    onBlock(i < 0 ? undefined : i);
  };
  return (
    <div class="chart" ref={box}>
      <canvas
        ref={canvas}
        style={{ width: `${width}px`, height: `${height}px` }}
        role="img"
        aria-label={label}
        onMouseMove={find}
        onMouseLeave={() => onBlock(undefined)}
      />
    </div>
  );
}
