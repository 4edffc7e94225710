// Flame graphs out of a viewport answer: boxes of a thread nest by time, so a tree comes from one sweep.
// In time order the answer is drawn as it is; merged and bottom-up are laid out again as boxes of the
// same form, so that the compositor draws them all.
import type { Boxes } from "./compositor.ts";
import type { Picture } from "./picture.ts";

export type FlameOrder = "time" | "merged" | "bottom";
export const FLAME_ORDERS: readonly FlameOrder[] = ["time", "merged", "bottom"];

export interface FlameNode {
  name: number; // index of the answer's names
  total: number; // ns
  self: number;
  count: number;
  slice?: number; // its longest call, as far as calls are known
  longest?: number; // ns
  children: Map<number, FlameNode>;
}

const newNode = (name: number): FlameNode => ({ name, total: 0, self: 0, count: 0, children: new Map() });

/** Merges the boxes of lanes by the path of their names. Times are cut to the answer's range. */
export function mergeOf(p: Picture, lanes: readonly number[]): FlameNode {
  const root = newNode(-1);
  for (const lane of lanes) {
    const rows = [...(p.rows.get(lane) ?? [])].sort((a, b) => a.row - b.row);
    let above: { end: number; start: number; node: FlameNode }[] = [];
    for (const row of rows) {
      const here: typeof above = [];
      let k = 0;
      for (let i = row.first; i < row.last; i++) {
        const [start, end] = [p.boxes.start[i] as number, p.boxes.end[i] as number];
        while (k < above.length && (above[k]?.end ?? 0) <= start) k++;
        const over = above[k];
        const parent = over && over.start <= start ? over.node : root;
        if (row.row > 0 && parent === root) continue; // its parent lies outside of what is seen
        here.push({ start, end, node: add(parent, p, i) });
      }
      above = here;
    }
  }
  for (const child of root.children.values()) root.total += child.total;
  return root;
}

function add(parent: FlameNode, p: Picture, i: number): FlameNode {
  const name = p.boxes.name[i] as number;
  let node = parent.children.get(name);
  if (!node) {
    node = newNode(name);
    parent.children.set(name, node);
  }
  const length = ((p.boxes.end[i] as number) - (p.boxes.start[i] as number)) * p.unit;
  const time = Math.min(p.boxes.time[i] as number, length);
  node.total += time;
  node.self += time;
  node.count += p.boxes.count[i] as number;
  keepLongest(node, p.boxes.slice[i] as number, time);
  if (parent.name >= 0) parent.self = Math.max(0, parent.self - time);
  return node;
}

function keepLongest(node: FlameNode, slice: number | undefined, time: number): void {
  if (slice === undefined || time <= (node.longest ?? -1)) return;
  node.slice = slice;
  node.longest = time;
}

/** The other way round: every name by its own time, below it those that called it. */
export function bottomUp(root: FlameNode): FlameNode {
  const out = newNode(-1);
  const path: FlameNode[] = [];
  const visit = (node: FlameNode) => {
    path.push(node);
    if (node.self > 0) {
      let at = out;
      for (let k = path.length - 1; k >= 0; k--) {
        const name = (path[k] as FlameNode).name;
        let next = at.children.get(name);
        if (!next) {
          next = newNode(name);
          at.children.set(name, next);
        }
        next.total += node.self;
        next.count += node.count;
        keepLongest(next, path[k]?.slice, path[k]?.longest ?? 0);
        if (k === path.length - 1) next.self += node.self;
        at = next;
      }
    }
    for (const child of node.children.values()) visit(child);
    path.pop();
  };
  for (const child of root.children.values()) visit(child);
  for (const child of out.children.values()) out.total += child.total;
  return out;
}

interface FlameBoxes {
  boxes: Boxes;
  rows: { first: number; last: number }[];
  nodes: FlameNode[]; // of each box
  total: number;
}

/** Boxes of a tree: widest child first, a unit is a nanosecond (or 2ⁿ of them when the sum is large). */
export function flameBoxes(root: FlameNode, deepest = 64): FlameBoxes & { unit: number } {
  const unit = 2 ** Math.max(0, Math.ceil(Math.log2((root.total + 1) / 2 ** 31)));
  const levels: { node: FlameNode; start: number }[][] = [];
  const place = (node: FlameNode, start: number, level: number) => {
    if (level >= deepest) return;
    let at = start;
    for (const child of [...node.children.values()].sort((a, b) => b.total - a.total)) {
      if (child.total <= 0) continue;
      let list = levels[level];
      if (!list) {
        list = [];
        levels[level] = list;
      }
      list.push({ node: child, start: at });
      place(child, at, level + 1);
      at += child.total;
    }
  };
  place(root, 0, 0);
  const n = levels.reduce((sum, l) => sum + l.length, 0);
  const boxes: Boxes = {
    start: new Uint32Array(n),
    end: new Uint32Array(n),
    time: new Float32Array(n),
    count: new Uint16Array(n),
    name: new Uint16Array(n),
    slice: new Uint32Array(n),
    flags: new Uint8Array(n),
  };
  const nodes: FlameNode[] = [];
  const rows = levels.map((level) => {
    const first = nodes.length;
    for (const { node, start } of level) {
      const i = nodes.length;
      boxes.start[i] = Math.round(start / unit);
      boxes.end[i] = Math.max(Math.round((start + node.total) / unit), (boxes.start[i] as number) + 1);
      boxes.time[i] = node.total;
      boxes.count[i] = 1;
      boxes.name[i] = node.name;
      nodes.push(node);
    }
    return { first, last: nodes.length };
  });
  return { boxes, rows, nodes, total: root.total, unit };
}
