// A notebook of questions: cells with a note, SQL and how the result is shown. All of it is in the address, so a link is the
// notebook; one question alone has an address that can be read.
import { go, param } from "./route.ts";

export const FORMS = ["table", "bars", "line", "scatter", "histogram", "heat"] as const;
export type Form = (typeof FORMS)[number];

export interface Cell {
  sql: string;
  note?: string | undefined;
  form?: string | undefined; // a table if not said
  x?: string | undefined; // columns of a chart, by number
  y?: string | undefined;
}

const EMPTY: Cell = { sql: "" };
const MOST = 20; // cells: an address has its limits

const textOf = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : undefined);

/** The cells of an address; what is not a cell is left out. */
export function parseCells(cells: string, one: Cell): Cell[] {
  try {
    const list: unknown = JSON.parse(cells || "[]");
    const read = (Array.isArray(list) ? list : []).slice(0, MOST).flatMap((c): Cell[] => {
      if (typeof c !== "object" || c === null) return [];
      const { q, n, f, x, y } = c as Record<string, unknown>;
      return [{ sql: textOf(q) ?? "", note: textOf(n), form: textOf(f), x: textOf(x), y: textOf(y) }];
    });
    if (read.length > 0) return read;
  } catch {
    // not a notebook: the question alone, if there is one
  }
  return [one];
}

/** One cell without a note is written in words; others as JSON. */
export function writeCells(cells: readonly Cell[]): Record<string, string | undefined> {
  const [first = EMPTY, ...more] = cells;
  if (more.length === 0 && !first.note)
    return { sql: first.sql || undefined, form: first.form, x: first.x, y: first.y, cells: undefined };
  const list = cells.map((c) => ({ q: c.sql, n: c.note, f: c.form, x: c.x, y: c.y }));
  return { cells: JSON.stringify(list), sql: undefined, form: undefined, x: undefined, y: undefined };
}

export const cellsNow = (): Cell[] =>
  parseCells(param("cells"), { sql: param("sql"), form: param("form"), x: param("x"), y: param("y") });

const write = (cells: readonly Cell[], quiet = false) => go({ params: { ...writeCells(cells), sort: undefined } }, quiet);

/** Changes one cell; another question begins with the chart's first columns. */
export function setCell(i: number, change: Partial<Cell>, quiet = false): void {
  const fresh = change.sql !== undefined && change.sql !== cellsNow()[i]?.sql ? { x: undefined, y: undefined } : {};
  write(
    cellsNow().map((c, k) => (k === i ? { ...c, ...fresh, ...change } : c)),
    quiet,
  );
}

export const addCell = (sql = ""): void => write([...cellsNow(), { sql }].slice(0, MOST));

export function removeCell(i: number): void {
  const left = cellsNow().filter((_, k) => k !== i);
  write(left.length ? left : [EMPTY]);
}
