// An icicle: rows of 20 px, width = time, children below their parent.
import type { ComponentChildren } from "preact";
import { largest } from "../../base/aggregate.ts";
import { cutEnd } from "../../base/text-width.ts";
import { tip } from "../../base/tip.tsx";
import { inkFor } from "../ink.ts";
import { useWidth } from "../width.ts";

export interface Node {
  id: string;
  label: string;
  value: number;
  fill: string;
  kids: Node[];
  card?: ComponentChildren;
}

interface Placed {
  node: Node;
  x: number;
  w: number;
  depth: number;
}

/** Places nodes side by side, each as wide as its share of the parent. */
export function place(nodes: readonly Node[], width: number): Placed[] {
  const placed: Placed[] = [];
  const walk = (list: readonly Node[], x: number, w: number, total: number, depth: number) => {
    let at = x;
    for (const node of list) {
      const own = total > 0 ? (node.value / total) * w : 0;
      if (own < 0.5) continue;
      placed.push({ node, x: at, w: own, depth });
      const kids = node.kids.reduce((s, k) => s + k.value, 0);
      walk(node.kids, at, own, Math.max(node.value, kids), depth + 1);
      at += own;
    }
  };
  walk(
    nodes,
    0,
    width,
    nodes.reduce((s, n) => s + n.value, 0),
    0,
  );
  return placed;
}

export function Icicle({
  nodes,
  label,
  onNode,
  chosen,
}: {
  nodes: readonly Node[];
  label: string;
  onNode: (id: string) => void;
  chosen?: string | undefined;
}) {
  const [box, width] = useWidth(500);
  const placed = place(nodes, width);
  const deep = largest(placed, (p) => p.depth + 1, 1);
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={deep * 20} role="img" aria-label={label}>
        {placed.map(({ node, x, w, depth }) => (
          <g key={node.id} class="part" onClick={() => onNode(node.id)} {...(node.card ? tip(node.card, 80) : {})}>
            <rect
              x={x}
              y={depth * 20}
              width={Math.max(0.5, w - 1)}
              height={19}
              rx="1.5"
              fill={node.fill}
              {...(chosen === node.id ? { stroke: "var(--t1)", "stroke-width": 2 } : {})}
            />
            {w > 34 ? (
              <text x={x + 5} y={depth * 20 + 13.5} fill={inkFor(node.fill)} class="strip-text">
                {cutEnd(node.label, w - 10)}
              </text>
            ) : null}
          </g>
        ))}
      </svg>
    </div>
  );
}
