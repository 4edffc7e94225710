// What the lines of the program cost: what the Code view asks, which file and line are chosen (both are in the address),
// and the tree of files. The words of the view are here too, since they are fetched with it.
import { isKnown, largestFirst, type Maybe, sum } from "../base/aggregate.ts";
import { enCode } from "../text/en-code.ts";
import { fill } from "../text/fill.ts";
import { zhCode } from "../text/zh-code.ts";
import { type Asked, ask } from "./answers.ts";
import { language } from "./language.ts";
import { go, param, traceQuery } from "./route.ts";
import { type AskedFor, analysis, oneWorker, type Row } from "./trace.ts";

export type CodeKey = keyof typeof enCode;

/** A sentence of the Code view. */
export const c = (key: CodeKey, values: Record<string, string | number> = {}): string =>
  fill((language.value === "zh" ? zhCode : enCode)[key], values);

export type Line = Row<"lines", "lines">;
export type FileRow = Row<"lines", "files">;
export type StackRow = Row<"lines", "stacks">;

// ---- what the server is asked ----

export const askLines = (): AskedFor<"lines"> => analysis("lines", { table: "lines,files", limit: 5000 }, "lines");

export interface Source {
  file: string;
  hash: string | null;
  from: "recording" | "disk" | "none";
  note: string | null;
  text: string | null;
}

export const askSource = (file: string): Asked<Source> =>
  ask<Source>("source", "source", { ...traceQuery.value, ...oneWorker(), lang: language.value, file });

/** The call stacks that go through a line. */
export const askStacks = (file: string, line: number): AskedFor<"lines"> =>
  analysis("lines", { by: "stack", stack: `${file}:${line}`, table: "stacks", limit: 0 }, "lines-stacks");

// ---- heat ----

/** What says how hot a line is: the first of these that anything is known of. */
const HEAT = ["critical_ns", "cpu_self_ns", "samples", "gpu_self_ns", "peak_bytes"] as const;
export type Heat = (typeof HEAT)[number];

export const heatIn = (rows: readonly FileRow[]): Heat =>
  HEAT.find((h) => rows.some((r) => r.file !== null && (r[h] ?? 0) > 0)) ?? "cpu_self_ns";

const HOT = 0.03; // of the whole: below it a line is not worth a look

/** The lines of the program that are hot, the hottest first. */
export function hotLines(lines: readonly Line[], heat: Heat): Line[] {
  const whole = sum(lines, (l) => l[heat]);
  const hot = lines.filter((l) => l.file !== null && l.owner === "own" && (l[heat] ?? 0) >= HOT * whole && whole > 0);
  return hot.sort(largestFirst((l) => l[heat]));
}

// ---- what is chosen ----

/** The file that the address names, by its path or the end of it; else the hottest of the program, else of all. */
export function chosenFile(files: readonly FileRow[], heat: Heat): string | undefined {
  const wanted = param("file");
  const known = files.filter((f) => f.file !== null).sort(largestFirst((f) => f[heat]));
  const named = known.find((f) => f.file === wanted) ?? known.find((f) => wanted && f.file?.endsWith(`/${wanted}`));
  const first = known.find((f) => f.owner === "own") ?? known[0];
  return (named ?? first)?.file ?? undefined;
}

/** The line that the address names, else the hottest of the file. */
export function chosenLine(lines: readonly Line[], file: string, heat: Heat): number | undefined {
  const wanted = Number(param("line"));
  if (Number.isInteger(wanted) && wanted > 0) return wanted;
  const own = lines.filter((l) => l.file === file && isKnown(l.line));
  return own.sort(largestFirst((l) => l[heat]))[0]?.line ?? undefined;
}

/** Chooses a line; `quiet` while keys move through the file. */
export const chooseLine = (file: string, line: number | undefined, quiet = false): void =>
  go({ params: { file, line: line === undefined ? undefined : String(line) } }, quiet);

/** The lines of one file by their number. Two functions may begin in one line: their times are added. */
export function linesOfFile(lines: readonly Line[], file: string): Map<number, Line> {
  const found = new Map<number, Line>();
  for (const l of lines) {
    if (l.file !== file || !isKnown(l.line)) continue;
    const other = found.get(l.line);
    found.set(l.line, other ? joined(other, l) : l);
  }
  return found;
}

const ADDED = [
  "calls",
  "cpu_ns",
  "cpu_self_ns",
  "gpu_ns",
  "gpu_self_ns",
  "backward_gpu_ns",
  "idle_ns",
  "critical_ns",
  "share",
  "peak_bytes",
  "syncs",
  "samples",
] as const;

function joined(a: Line, b: Line): Line {
  const both: Line = { ...((a.cpu_ns ?? 0) >= (b.cpu_ns ?? 0) ? a : b) };
  for (const column of ADDED)
    both[column] = isKnown(a[column]) || isKnown(b[column]) ? (a[column] ?? 0) + (b[column] ?? 0) : null;
  return both;
}

// ---- the tree of files ----

export interface Branch {
  name: string; // without the folders above it
  path: string;
  file: string | undefined; // undefined: a folder
  heat: number;
  kids: Branch[];
}

const byHeat = (a: Branch, b: Branch): number => b.heat - a.heat || (a.name < b.name ? -1 : 1);

/** A folder with one entry is not a separate level. */
function shortened(b: Branch): Branch {
  const kids = b.kids.map(shortened).sort(byHeat);
  const [only] = kids;
  if (b.file === undefined && only && kids.length === 1) return { ...only, name: b.name ? `${b.name}/${only.name}` : only.name };
  return { ...b, kids };
}

/** Folders and files with the sum of their heat, the hottest first; what all have in common is left out. */
export function treeOf(files: readonly FileRow[], heat: Heat): Branch[] {
  const root: Branch = { name: "", path: "", file: undefined, heat: 0, kids: [] };
  for (const f of files) {
    let at = root;
    const parts = (f.file ?? "").split("/").filter(Boolean);
    parts.forEach((name, i) => {
      const path = `${at.path}/${name}`;
      const last = i === parts.length - 1;
      let next = at.kids.find((k) => k.path === path && (k.file !== undefined) === last);
      if (!next) {
        next = { name, path, file: last ? (f.file ?? undefined) : undefined, heat: 0, kids: [] };
        at.kids.push(next);
      }
      next.heat += f[heat] ?? 0;
      at = next;
    });
  }
  const whole = shortened(root);
  return whole.file === undefined ? whole.kids : [{ ...whole, name: whole.name.split("/").pop() ?? whole.name }];
}

/** The end of a path that says enough in a sentence. */
export const baseName = (file: string): string => file.split("/").pop() ?? file;

// ---- the flame graph ----

export interface Frame {
  id: number;
  row: StackRow;
  kids: Frame[];
}

/** The tree of frames; what has no caller in the table is at the top. */
export function framesOf(rows: readonly StackRow[]): Frame[] {
  const all = new Map<number, Frame>();
  for (const row of rows) if (isKnown(row.id)) all.set(row.id, { id: row.id, row, kids: [] });
  const roots: Frame[] = [];
  for (const f of all.values()) {
    const above = isKnown(f.row.parent) ? all.get(f.row.parent) : undefined;
    if (above && above !== f) above.kids.push(f);
    else roots.push(f);
  }
  return roots;
}

export type FlameValue = "cpu_ns" | "samples" | "gpu_ns";

/** What is drawn: the first that anything is known of. */
export const flameValue = (rows: readonly StackRow[]): FlameValue =>
  (["cpu_ns", "samples", "gpu_ns"] as const).find((v) => rows.some((r) => (r[v] ?? 0) > 0)) ?? "cpu_ns";

export interface Neighbor {
  file: string;
  line: number;
  name: string;
  value: number;
}

/** The nearest lines of the program around a line: who calls it, and what it calls, the most first. */
export function neighborsOf(
  roots: readonly Frame[],
  file: string,
  line: number,
  by: FlameValue,
): { callers: Neighbor[]; callees: Neighbor[] } {
  const callers = new Map<string, Neighbor>();
  const callees = new Map<string, Neighbor>();
  const add = (to: Map<string, Neighbor>, row: StackRow, value: Maybe) => {
    const key = `${row.file}:${row.line}`;
    const now = to.get(key);
    if (now) now.value += value ?? 0;
    else to.set(key, { file: row.file ?? "", line: row.line ?? 0, name: row.function ?? "", value: value ?? 0 });
  };
  // above: the nearest own line outside; inside: whether the line itself is around, with no own line between.
  const walk = (f: Frame, above: StackRow | undefined, inside: boolean): void => {
    const own = f.row.owner === "own" && f.row.file !== null && isKnown(f.row.line);
    const isLine = f.row.file === file && f.row.line === line;
    if (isLine && above && !inside) add(callers, above, f.row[by]);
    if (own && inside && !isLine) add(callees, f.row, f.row[by]);
    for (const kid of f.kids) walk(kid, own ? f.row : above, isLine || (inside && !own));
  };
  for (const root of roots) walk(root, undefined, false);
  const sorted = (m: Map<string, Neighbor>) => [...m.values()].sort(largestFirst((n) => n.value)).slice(0, 5);
  return { callers: sorted(callers), callees: sorted(callees) };
}
