// Order, filter and cut of rows, as the server arranges them (src/table/arrange.c, filter.c): a report has no server.
import { fuzzy } from "../base/fuzzy.ts";
import type { Cell, Column, Table } from "./types.ts";

export interface Arrangement {
  sort?: string;
  search?: string;
  filter?: string;
  offset?: number;
  limit?: number;
}

type Test = (row: readonly Cell[]) => boolean;

const NS: Record<string, number> = { ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };
const BYTES: Record<string, number> = {
  B: 1,
  K: 1024,
  KB: 1024,
  KiB: 1024,
  M: 1048576,
  MB: 1048576,
  MiB: 1048576,
  G: 1073741824,
  GB: 1073741824,
  GiB: 1073741824,
};

/** A number with its unit, and the units of columns it can be about. */
function numberOf(text: string): { value: number; fits: (c: Column) => boolean; plain: boolean } | undefined {
  const found = /^(\d*\.?\d+)\s*([a-zA-Zµ%]*)$/.exec(text);
  if (!found) return undefined;
  const [value, unit] = [Number(found[1]), found[2] ?? ""];
  const isNumber = (c: Column) => c.type === "int" || c.type === "real";
  if (unit === "") return { value, fits: (c) => isNumber(c) && c.unit !== "ns", plain: true };
  if (unit === "%") return { value: value / 100, fits: (c) => c.unit === "share", plain: false };
  if (unit in NS) return { value: value * (NS[unit] as number), fits: (c) => c.unit === "ns", plain: false };
  if (unit in BYTES)
    return { value: value * (BYTES[unit] as number), fits: (c) => c.unit === "bytes" || c.unit === "bytes/s", plain: false };
  return undefined;
}

const COMPARE: Record<string, (a: number, b: number) => boolean> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
};

function condition(word: string, columns: readonly Column[], sorted: string): Test | undefined {
  const found = /^([a-z_0-9]*)(:?)(<=|>=|<|>|=)?(.+)$/.exec(word);
  if (!found || (!found[3] && !(found[1] && found[2]))) return undefined;
  const number = numberOf(found[4] as string);
  if (!number) return undefined;
  const named = columns.findIndex((c) => c.name === found[1]);
  const fitting = columns.findIndex((c) => c.name === sorted && number.fits(c));
  const at = found[1] ? named : fitting >= 0 ? fitting : columns.findIndex((c) => c.unit && number.fits(c));
  const column = columns[at];
  if (!column || (column.type !== "int" && column.type !== "real")) return undefined;
  const value = column.unit === "share" && number.plain && number.value > 1 ? number.value / 100 : number.value;
  const holds = COMPARE[found[3] ?? "="] as (a: number, b: number) => boolean;
  return (row) => typeof row[at] === "number" && holds(row[at], value);
}

function wordTest(name: string, text: string, exact: boolean, whole: boolean, columns: readonly Column[]): Test {
  const own = columns.findIndex((c) => c.name === name && (c.type === "string" || c.type === "bool"));
  const fits = (cell: Cell | undefined): boolean => {
    if (cell === true || cell === false) return own >= 0 && /^(yes|true|1|是)$/i.test(text) === cell;
    if (typeof cell !== "string") return false;
    if (whole) return cell === text;
    return exact ? cell.toLowerCase().includes(text.toLowerCase()) : fuzzy(text, cell) !== undefined;
  };
  return (row) => (own >= 0 ? fits(row[own]) : row.some((cell) => fits(cell)));
}

/** The tests of a line: words, -words, "two words", column:word, column="all of it", >5ms. */
export function testsOf(line: string, columns: readonly Column[], sorted = ""): Test[] {
  const tests: Test[] = [];
  for (const found of line.matchAll(/(-?)(?:([a-z_0-9]+)([:=]))?"([^"]*)"?|(\S+)/g)) {
    const bare = found[5];
    if (bare === undefined) {
      if (!found[4]) continue;
      const test = wordTest(found[2] ?? "", found[4], true, found[3] === "=", columns);
      tests.push(found[1] ? (row) => !test(row) : test);
      continue;
    }
    const not = bare.length > 1 && bare.startsWith("-");
    const word = not ? bare.slice(1) : bare;
    const colon = /^([a-z_0-9]+):(.+)$/.exec(word);
    const known = colon && columns.some((c) => c.name === colon[1]);
    const test =
      condition(word, columns, sorted) ??
      wordTest(known ? (colon[1] as string) : "", known ? (colon[2] as string) : word, not, false, columns);
    tests.push(not ? (row) => !test(row) : test);
  }
  return tests;
}

const order = (a: Cell, b: Cell): number =>
  typeof a === "string" && typeof b === "string" ? (a < b ? -1 : a > b ? 1 : 0) : Number(a) - Number(b);

/** Rows in the order asked for; what is not known comes last in any of them. */
export function sorted(rows: readonly Cell[][], columns: readonly Column[], wanted: string): Cell[][] {
  const keys = wanted.split(",").map((one) => {
    const [name, way] = one.split(":");
    const at = columns.findIndex((c) => c.name === name);
    return { at, sign: (way ?? (columns[at]?.type === "string" ? "asc" : "desc")) === "asc" ? 1 : -1 };
  });
  if (keys.some((k) => k.at < 0)) return [...rows];
  return [...rows].sort((a, b) => {
    for (const { at, sign } of keys) {
      const [x, y] = [a[at] ?? null, b[at] ?? null];
      if (x === null && y === null) continue;
      if (x === null || y === null) return x === null ? 1 : -1;
      const way = order(x, y) * sign;
      if (way) return way;
    }
    return 0;
  });
}

export function arranged(table: Table, how: Arrangement): Table {
  let rows: Cell[][] = table.rows;
  const first = how.sort?.split(/[:,]/)[0] ?? "";
  if (how.filter) {
    const tests = testsOf(how.filter, table.columns, first);
    rows = rows.filter((row) => tests.every((test) => test(row)));
  }
  if (how.search) {
    const text = how.search.toLowerCase();
    rows = rows.filter((row) => row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(text)));
  }
  if (how.sort) rows = sorted(rows, table.columns, how.sort);
  const from = how.offset ?? 0;
  return { ...table, rows: rows.slice(from, how.limit ? from + how.limit : undefined), total_rows: rows.length };
}
