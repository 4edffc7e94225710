// An input pipeline from left to right: a box for each operator, between two boxes the queue that is filled
// as far as it was on average. What was not recorded is drawn dashed.
import type { ComponentChildren } from "preact";
import { largest } from "../../base/aggregate.ts";
import { cutEnd } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../width.ts";

export interface PipeNode {
  id: string;
  into: string | undefined; // the node it feeds
  title: string;
  words: string;
  late?: string | undefined; // it is the bottleneck: the word above it
  suspect?: string | undefined; // it may be one
  dashed?: boolean;
  card?: ComponentChildren;
  queue?: { fill: number | null; label: string; below: string; chosen?: boolean } | undefined; // after it
}

const BOX = { wide: 168, narrow: 118, h: 52 };
const QUEUE = { w: 86, h: 22 };
const ROW = 78;

interface Placed {
  node: PipeNode;
  level: number; // 0 = the end
  row: number;
}

/** Levels count from the end; those that feed the same node are below each other around it. */
export function placePipe(nodes: readonly PipeNode[]): Placed[] {
  const placed: Placed[] = [];
  const seen = new Set<string>();
  let next = 0;
  const visit = (node: PipeNode, level: number): number => {
    seen.add(node.id);
    const feeds = nodes.filter((n) => n.into === node.id && !seen.has(n.id));
    const rows = feeds.map((f) => visit(f, level + 1));
    const row = rows.length ? ((rows[0] as number) + (rows[rows.length - 1] as number)) / 2 : next++;
    placed.push({ node, level, row });
    return row;
  };
  for (const n of nodes) if (!seen.has(n.id) && (n.into === undefined || !nodes.some((m) => m.id === n.into))) visit(n, 0);
  return placed;
}

type Place = Omit<Placed, "node">;

interface Plan {
  w: number; // of a box
  wide: number;
  high: number;
  x: (p: Place) => number;
  y: (p: Place) => number;
  edge: (from: Place, to: Place) => { line: string; arrow: string; x: number; y: number }; // and the middle of its queue
}

/** From left to right, or from top to bottom where the boxes have no room side by side. */
export function planOf(deepest: number, rows: number, width: number): Plan {
  const need = (w: number) => (deepest + 1) * w + deepest * (QUEUE.w + 40);
  if (need(BOX.narrow) > width) return downwards(deepest, rows, width);
  const w = need(BOX.wide) <= width ? BOX.wide : BOX.narrow;
  const gap = deepest > 0 ? (width - w * (deepest + 1)) / deepest : 0;
  const x = (p: Place) => (deepest - p.level) * (w + gap);
  const y = (p: Place) => 24 + p.row * ROW;
  const edge = (from: Place, to: Place) => {
    const [x1, y1] = [x(from) + w, y(from) + BOX.h / 2];
    const [x2, y2] = [x(to), y(to) + BOX.h / 2];
    const middle = (x1 + x2) / 2;
    return {
      line: `M${x1} ${y1}H${middle + QUEUE.w / 2}C${x2 - 12} ${y1} ${middle + QUEUE.w / 2} ${y2} ${x2 - 5} ${y2}`,
      arrow: `M${x2 - 6} ${y2 - 3.5}L${x2} ${y2}L${x2 - 6} ${y2 + 3.5}Z`,
      x: middle,
      y: y1,
    };
  };
  return { w, wide: width, high: 24 + rows * ROW, x, y, edge };
}

const DOWN = BOX.h + 84; // px from one level to the next: the box, its queue and the words below it

function downwards(deepest: number, rows: number, width: number): Plan {
  const w = rows * (BOX.wide + 24) <= width ? BOX.wide : BOX.narrow;
  const wide = Math.max(width, rows * (w + 24));
  const x = (p: Place) => p.row * (wide / rows) + (wide / rows - w) / 2;
  const y = (p: Place) => 24 + (deepest - p.level) * DOWN;
  const edge = (from: Place, to: Place) => {
    const [x1, y1] = [x(from) + w / 2, y(from) + BOX.h];
    const [x2, y2] = [x(to) + w / 2, y(to)];
    return {
      line: `M${x1} ${y1}V${y1 + 26}C${x1} ${y2 - 8} ${x2} ${y1 + 50} ${x2} ${y2 - 5}`,
      arrow: `M${x2 - 3.5} ${y2 - 6}L${x2} ${y2}L${x2 + 3.5} ${y2 - 6}Z`,
      x: x1,
      y: y1 + 26,
    };
  };
  return { w, wide, high: 24 + deepest * DOWN + BOX.h + 4, x, y, edge };
}

interface PipelineProps {
  nodes: readonly PipeNode[];
  label: string;
  onQueue: (id: string) => void;
}

export function Pipeline({ nodes, label, onQueue }: PipelineProps) {
  const [box, width] = useWidth(1000);
  const placed = placePipe(nodes);
  const deepest = largest(placed, (p) => p.level, 0);
  const rows = largest(placed, (p) => p.row + 1, 1);
  const plan = planOf(deepest, rows, width);
  const { w, x, y } = plan;
  const at = new Map(placed.map((p) => [p.node.id, p]));
  return (
    <div class="chart pipe" ref={box}>
      <svg data-chart width={plan.wide} height={plan.high} role="img" aria-label={label}>
        {placed.map((from) => {
          const to = at.get(from.node.into ?? "");
          if (!to) return null;
          const edge = plan.edge(from, to);
          return (
            <g key={from.node.id}>
              <path d={edge.line} fill="none" stroke="var(--line-strong)" stroke-width="1.3" />
              <path d={edge.arrow} fill="var(--line-strong)" />
              {from.node.queue ? <Queue x={edge.x - QUEUE.w / 2} y={edge.y} node={from.node} onQueue={onQueue} /> : null}
            </g>
          );
        })}
        {placed.map(({ node, ...p }) => (
          <g key={node.id} {...(node.card ? tip(node.card, 120) : {})}>
            <rect
              x={x(p) + 0.5}
              y={y(p) + 0.5}
              width={w - 1}
              height={BOX.h - 1}
              rx="6"
              fill={node.late ? "var(--critical-ground)" : node.dashed ? "var(--sunken)" : "var(--surface)"}
              stroke={node.late ? "var(--critical)" : node.suspect ? "var(--warning)" : "var(--line-strong)"}
              {...(node.dashed ? { "stroke-dasharray": "4 3" } : {})}
            />
            {node.late || node.suspect ? (
              <text x={x(p)} y={y(p) - 6} class={node.late ? "axis critical-text" : "axis warning-text"}>
                {node.late ?? node.suspect}
              </text>
            ) : null}
            <text x={x(p) + 11} y={y(p) + 21} class="pipe-title">
              {cutEnd(node.title, w - 20, 7)}
            </text>
            <text x={x(p) + 11} y={y(p) + 39} class="axis">
              {cutEnd(node.words, w - 14, 5.8)}
            </text>
          </g>
        ))}
      </svg>
    </div>
  );
}

function Queue({ x, y, node, onQueue }: { x: number; y: number; node: PipeNode; onQueue: (id: string) => void }) {
  const q = node.queue;
  if (!q) return null;
  return (
    <g
      class="part"
      role="button"
      tabIndex={0}
      aria-label={`${node.title} ${q.label}`}
      onClick={() => onQueue(node.id)}
      onKeyDown={(e) => e.key === "Enter" && onQueue(node.id)}
    >
      <rect
        x={x}
        y={y - QUEUE.h / 2}
        width={QUEUE.w}
        height={QUEUE.h}
        rx="3"
        fill="var(--track)"
        {...(q.chosen ? { stroke: "var(--accent)", "stroke-width": 2 } : {})}
        {...(q.fill === null ? { stroke: "var(--line-strong)", "stroke-dasharray": "4 3" } : {})}
      />
      {q.fill === null ? null : (
        <rect
          x={x + 2}
          y={y - QUEUE.h / 2 + 2}
          width={Math.max(0, Math.min(1, q.fill)) * (QUEUE.w - 4)}
          height={QUEUE.h - 4}
          rx="2"
          fill="var(--c6)"
          opacity="0.6"
        />
      )}
      <text x={x + QUEUE.w / 2} y={y + 4} text-anchor="middle" class="axis strong">
        {q.label}
      </text>
      <text x={x + QUEUE.w / 2} y={y + 26} text-anchor="middle" class="axis">
        {q.below}
      </text>
    </g>
  );
}
