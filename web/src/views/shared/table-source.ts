// Rows of an analysis for the table widget: pages from the server, asked as they come into view.
import type { Query } from "../../api/transport.ts";
import type { Answer, ApiError, Column, Table } from "../../api/types.ts";
import type { Unit } from "../../base/format.ts";
import { t, wordOr } from "../../model/language.ts";
import { analysis, csvUrl } from "../../model/trace.ts";
import type { Defined } from "../../widgets/panel.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";

const PAGE = 200;

const UNITS: Record<string, Unit> = {
  ns: "ns",
  bytes: "bytes",
  share: "share",
  count: "count",
  flop: "flops",
  "flop/s": "flops_per_s",
  "bytes/s": "bytes_per_s",
  "1/sm": "plain",
  "flop/byte": "plain",
};

export const unitOf = (column: Column | undefined): Unit | undefined => (column?.unit ? UNITS[column.unit] : undefined);

export interface Source {
  answer: Answer | undefined;
  table: Table | undefined; // first page
  total: number;
  row: (i: number) => TableRow;
  old: boolean;
  error: ApiError | undefined;
  csv: string;
  help: (column: string) => Column | undefined;
}

/** The rows of one table; `key` makes the key of a row from its cells. */
export function source(
  name: string,
  table: string,
  query: Query,
  key: (row: TableRow, i: number) => string,
  slot = `${name}.${table}`,
): Source {
  const page = (n: number) => analysis(name, { ...query, table, limit: PAGE, offset: n ? n * PAGE : undefined }, `${slot}#${n}`);
  const first = page(0);
  const head = first.value?.tables[table];
  const at = new Map(head?.columns.map((c, i) => [c.name, i]));
  const row = (i: number): TableRow => {
    const part = i < PAGE ? head : page(Math.floor(i / PAGE)).value?.tables[table];
    const cells = part?.rows[i % PAGE];
    const made: TableRow = { key: "", cell: (c) => cells?.[at.get(c) ?? -1] ?? null, missing: !cells };
    made.key = cells ? key(made, i) : `missing ${i}`;
    return made;
  };
  return {
    answer: first.value,
    table: head,
    total: head?.total_rows ?? 0,
    row,
    old: first.old,
    error: first.error,
    csv: csvUrl(name, table, query),
    help: (c) => head?.columns[at.get(c) ?? -1],
  };
}

/** The word for a column of an analysis; its own name where there is none. */
export const columnTitle = (name: string): string => wordOr(`col_${name}`, name.replace(/_/g, " "));

type Extra = Partial<TableColumn>;

/** Columns for the widget out of the registry's: title, unit, help, path. */
export function columns(s: Pick<Source, "help">, path: string, list: readonly (readonly [string, Extra?])[]): TableColumn[] {
  return list.map(([name, extra]) => {
    const column = s.help(name);
    return {
      name,
      title: columnTitle(name),
      unit: unitOf(column),
      help: column?.help,
      path: `${path}.${name}`,
      ...extra,
    };
  });
}

/** The same for a small table that is there as a whole. */
export function wholeTable(
  table: Table | undefined,
  key: (row: TableRow, i: number) => string,
): Pick<Source, "total" | "row" | "help"> {
  const at = new Map(table?.columns.map((c, i) => [c.name, i]));
  return {
    total: table?.rows.length ?? 0,
    row: (i) => {
      const cells = table?.rows[i];
      const made: TableRow = { key: "", cell: (c) => cells?.[at.get(c) ?? -1] ?? null };
      made.key = key(made, i);
      return made;
    },
    help: (c) => table?.columns[at.get(c) ?? -1],
  };
}

export const yesNo = (v: unknown): string => (v === true ? t("yes") : v === false ? "–" : "–");

/** The definition of a column, for the title of the panel that shows it. */
export const defined = (answer: Answer | undefined, table: string, column: string): Defined => ({
  help: answer?.tables[table]?.columns.find((c) => c.name === column)?.help,
  path: answer ? `${answer.analysis}.${table}.${column}` : undefined,
});

/** A text that a filter takes as it is, not as words and conditions. */
export const quoted = (text: string): string => `"${text.replaceAll('"', "")}"`;

/** Host and device in the reader's language; AI Core and AI CPU are names. */
export const sideWord = (side: string): string => (side === "host" || side === "device" ? t(side) : side);

/** Operations per byte. */
export const ratioCell = (v: unknown): string => (typeof v === "number" ? (v >= 100 ? v.toFixed(0) : v.toFixed(2)) : "–");
/** What limits the work at best. */
export const boundCell = (v: unknown): string => (typeof v === "string" ? wordOr(`bound_${v}`, v) : "–");

/** How far a row is from what the device can do; shown when chosen. Ask with `roofline: "yes"`. */
export const ROOF_COLUMNS: readonly (readonly [string, Extra])[] = [
  ["intensity", { width: 80, show: ratioCell }],
  ["peak_share", { width: 90 }],
  ["bandwidth_share", { width: 110 }],
  ["bound", { width: 90, text: true, show: boundCell }],
];
export const ROOF_NAMES = ROOF_COLUMNS.map(([name]) => name);
