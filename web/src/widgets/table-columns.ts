// How the columns of a table are laid out: the order and the widths the reader gave them, kept per table, and which of
// them have room. The first column names the row: it never moves and never leaves.
import { signal } from "@preact/signals";
import type { TableColumn } from "./table-types.ts";

export interface Kept {
  order?: readonly string[];
  widths?: Readonly<Record<string, number>>;
}

const LEAST = 170; // px of a column that takes what is left
const NARROWEST = 44; // px a reader may make a column
const STEP = 16; // px of one key

const kept = signal<ReadonlyMap<string, Kept>>(new Map());
const place = (key: string) => `tacho.table.${key}`;

/** What a table is remembered by, in every language: the path of its first column, or the names of all. */
export const tableKey = (columns: readonly TableColumn[]): string => columns[0]?.path ?? columns.map((c) => c.name).join(",");

function stored(key: string): Kept {
  try {
    return JSON.parse(localStorage.getItem(place(key)) ?? "{}") as Kept;
  } catch {
    return {};
  }
}

export const keptOf = (key: string): Kept => kept.value.get(key) ?? stored(key);

export function keep(key: string, next: Kept): void {
  kept.value = new Map([...kept.value, [key, next]]);
  if (next.order || next.widths) localStorage.setItem(place(key), JSON.stringify(next));
  else localStorage.removeItem(place(key));
}

/** The columns in the reader's order and widths; untouched ones stay where they were. */
export function arranged(columns: readonly TableColumn[], { order, widths }: Kept): TableColumn[] {
  const at = new Map(order?.map((name, i) => [name, i]));
  const [first, ...rest] = columns.map((c) => (widths?.[c.name] ? { ...c, width: widths[c.name] as number } : c));
  const known = rest.filter((c) => at.has(c.name)).sort((a, b) => (at.get(a.name) ?? 0) - (at.get(b.name) ?? 0));
  const moved = rest.map((c) => (at.has(c.name) ? (known.shift() as TableColumn) : c));
  return first ? [first, ...moved] : [];
}

const DIGIT = 7.6; // px of a digit of a table
const SIDES = 24; // px on both sides

/** A column of numbers as wide as its longest: a name may be cut, a number never. */
export const forNumber = (c: TableColumn, longest: string): TableColumn =>
  c.width ? { ...c, width: Math.max(c.width, Math.ceil(longest.length * DIGIT) + SIDES) } : c;

/** Narrower than this a table loses columns: a name is never squeezed away. */
export const leastWidth = (columns: readonly TableColumn[]): number =>
  columns.reduce((s, c) => s + (c.width ?? c.least ?? LEAST), 0);

/** Without the columns that have no room. Those that may go first do, then the last ones; the first and what is kept stay. */
export function fitting(columns: readonly TableColumn[], width: number): TableColumn[] {
  const left = [...columns];
  const goes = (c: TableColumn, i: number) => (i === 0 || c.stays ? -1 : (c.leaves ?? 0) * 1000 + i);
  while (leastWidth(left) > width) {
    const ranks = left.map(goes);
    const next = Math.max(...ranks);
    if (next < 0) break;
    left.splice(ranks.indexOf(next), 1);
  }
  return left;
}

/** A column one place to the left or right, or before another; never before the first. */
export function moved(columns: readonly TableColumn[], name: string, to: number): string[] {
  const names = columns.slice(1).map((c) => c.name);
  const from = names.indexOf(name);
  if (from < 0) return names;
  names.splice(from, 1);
  names.splice(Math.max(0, Math.min(names.length, to - 1)), 0, name);
  return names;
}

/** What a key does to the column whose head has the focus; nothing for other keys. */
export function headKey(e: KeyboardEvent): { wider?: number; move?: number; fit?: boolean } | undefined {
  const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (e.key === "=" && !e.ctrlKey && !e.metaKey) return { fit: true };
  if (!by || !e.shiftKey) return undefined;
  return e.altKey ? { move: by } : { wider: by * STEP };
}

export const atLeast = (px: number): number => Math.max(NARROWEST, Math.round(px));

/** The width that shows every cell of a column whole, as far as rows are drawn. */
export function wholeWidth(table: HTMLTableElement, at: number): number {
  const cells = [...table.querySelectorAll<HTMLTableCellElement>(`tr:not(.spacer) > :nth-child(${at + 1})`)].filter(
    (c) => c.colSpan === 1,
  );
  const range = document.createRange();
  const need = cells.map((cell) => {
    const bar = cell.querySelector("svg.bar") ? 70 : 0;
    const parts = cell.querySelectorAll<HTMLElement>(".cut, code, .barcell > span");
    const hiddenPx = [...parts].reduce((most, p) => Math.max(most, p.scrollWidth - p.clientWidth), 0);
    range.selectNodeContents(cell.querySelector(".barcell > span") ?? cell);
    return range.getBoundingClientRect().width + Math.max(hiddenPx, cell.scrollWidth - cell.clientWidth, 0) + bar;
  });
  return atLeast(Math.max(0, ...need) + 24);
}
