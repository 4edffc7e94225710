// A flame graph out of stacks with their weights: exact sums over any stretch of time, whatever its length.
// The file format is speedscope's: frames once, stacks as lists of frames, a weight for each stack.
import type { FlameNode } from "./flame.ts";

export interface StackFile {
  shared: { frames: readonly { name: string; file?: string; line?: number }[] };
  profiles: readonly { name: string; samples: readonly (readonly number[])[]; weights: readonly number[] }[];
}

interface StackTree {
  root: FlameNode;
  names: string[];
  kinds: Uint8Array; // 5 Python, 11 operator, as in the answers of the timeline
}

const PYTHON = 5;
const OPERATOR = 11;

/** Frames of Python, calls of modules and of built-in functions: what is around the operators. */
const isPython = (f: StackFile["shared"]["frames"][number] | undefined): boolean =>
  f?.file !== undefined || /^(nn\.Module: |<built-in )/.test(f?.name ?? "");
const isDevice = (name: string) => name === "device";
const newNode = (name: number): FlameNode => ({ name, total: 0, self: 0, count: 0, children: new Map() });

/** The tree of one side; without `python` only operators are levels of it. */
export function stackTree(file: StackFile, side: "host" | "device", python: boolean): StackTree {
  const frames = file.shared.frames;
  const root = newNode(-1);
  for (const profile of file.profiles) {
    if (isDevice(profile.name) !== (side === "device")) continue;
    profile.samples.forEach((stack, i) => {
      const weight = profile.weights[i] ?? 0;
      let at = root;
      root.total += weight;
      for (const frame of stack) {
        if (!python && isPython(frames[frame])) continue;
        let next = at.children.get(frame);
        if (!next) {
          next = newNode(frame);
          at.children.set(frame, next);
        }
        next.total += weight;
        at = next;
      }
      at.self += weight;
    });
  }
  return {
    root,
    names: frames.map((f) => (f.file ? `${f.name} (${f.file}:${f.line ?? 0})` : f.name)),
    kinds: Uint8Array.from(frames, (f) => (isPython(f) ? PYTHON : OPERATOR)),
  };
}
