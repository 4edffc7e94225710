// Rows of an analysis for the table widget: pages from the server, asked as they come into view.
import type { AnalysisName } from "../../api/tables.ts";
import type { Query } from "../../api/transport.ts";
import type { Answer, Column, RowOf, Table, TableName } from "../../api/types.ts";
import { type Maybe, total } from "../../base/aggregate.ts";
import type { Unit } from "../../base/format.ts";
import type { Asked } from "../../model/answers.ts";
import { t, wordOr } from "../../model/language.ts";
import { type AskedFor, analysis, csvUrl } from "../../model/trace.ts";
import type { Defined } from "../../widgets/panel.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";

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

const unitOf = (column: Column | undefined): Unit | undefined => (column?.unit ? UNITS[column.unit] : undefined);

/** A row of the table widget that knows its columns. */
export interface SourceRow<R> extends TableRow {
  cell<C extends keyof R & string>(column: C): R[C] extends CellValue ? R[C] : never;
}

/** Rows and what is known of their columns: what the table widget shows. */
export interface Listed<R> {
  path: string; // analysis.table, of definitions
  total: number;
  row: (i: number) => SourceRow<R>;
  help: (column: string) => Column | undefined;
}

export interface Source<N extends AnalysisName = AnalysisName, R = object> extends Listed<R> {
  answer: Answer<N> | undefined;
  table: Table<R> | undefined; // first page
  asked: Asked<Answer<N>>;
  csv: string;
}

type KeyOf<R> = (row: SourceRow<R>, i: number) => string;

function listedRow<R>(table: Table<R> | undefined, at: ReadonlyMap<string, number>, i: number): SourceRow<R> {
  const cells = table?.rows[i];
  const cell = (column: string): CellValue => cells?.[at.get(column) ?? -1] ?? null;
  return { key: "", cell, missing: !cells } as SourceRow<R>;
}

/** The rows of one table; `key` makes the key of a row from its cells. */
export function source<N extends AnalysisName, T extends TableName<N>>(
  name: N,
  table: T,
  query: Query,
  key: KeyOf<RowOf<N, T>>,
  slot = `${name}.${table}`,
): Source<N, RowOf<N, T>> {
  const page = (n: number) => analysis(name, { ...query, table, limit: PAGE, offset: n ? n * PAGE : undefined }, `${slot}#${n}`);
  const first = page(0);
  const head = first.value?.tables[table];
  const at = new Map(head?.columns.map((c, i) => [c.name, i]));
  const row = (i: number) => {
    const part = i < PAGE ? head : page(Math.floor(i / PAGE)).value?.tables[table];
    const made = listedRow(part, at, i % PAGE);
    made.key = made.missing ? `missing ${i}` : key(made, i);
    return made;
  };
  return {
    path: `${name}.${table}`,
    answer: first.value,
    table: head,
    total: head?.total_rows ?? 0,
    row,
    asked: first,
    csv: csvUrl(name, table, query),
    help: (c) => head?.columns[at.get(c) ?? -1],
  };
}

/** The cells of a row for the widget, which asks by name. */
export const cellsOf =
  <R extends object>(row: R) =>
  (column: string): CellValue =>
    (row as Record<string, CellValue>)[column] ?? null;

/** The totals of a table: of the columns that add up, as far as they are known. */
export const sumsOf =
  <R extends object>(rows: readonly R[], added: readonly (keyof R & string)[]) =>
  (column: string): CellValue =>
    added.some((name) => name === column) ? total(rows, (r) => (r as Record<string, Maybe>)[column]) : undefined;

/** The word for a column of an analysis; its own name where there is none. */
const columnTitle = (name: string): string => wordOr(`col_${name}`, name.replace(/_/g, " "));

type Extra = Partial<TableColumn>;

/** A column of a table by its name, or one that the page makes itself. */
export type ListedColumn<R> = readonly [keyof R & string, Extra?] | TableColumn;

/** Columns for the widget out of the registry's: title, unit, help, path. */
export function columns<R>(s: Pick<Listed<R>, "help" | "path">, list: readonly ListedColumn<R>[]): TableColumn[] {
  return list.map((listed) => {
    if ("name" in listed) return listed;
    const [name, extra] = listed;
    const column = s.help(name);
    return {
      name,
      title: columnTitle(name),
      unit: unitOf(column),
      help: column?.help,
      path: `${s.path}.${name}`,
      ...extra,
    };
  });
}

/** A small table that is there as a whole; `keep` chooses among its rows. */
export function wholeTable<N extends AnalysisName, T extends TableName<N>>(
  answer: Answer<N> | undefined,
  table: T,
  key: KeyOf<RowOf<N, T>>,
  keep: (row: SourceRow<RowOf<N, T>>) => boolean = () => true,
): Listed<RowOf<N, T>> {
  const whole = answer?.tables[table];
  const at = new Map(whole?.columns.map((c, i) => [c.name, i]));
  const rows = (whole?.rows ?? []).map((_, i) => listedRow(whole, at, i)).filter(keep);
  rows.forEach((row, i) => {
    row.key = key(row, i);
  });
  return {
    path: `${answer?.analysis}.${table}`,
    total: rows.length,
    row: (i) => rows[i] as SourceRow<RowOf<N, T>>,
    help: (c) => whole?.columns[at.get(c) ?? -1],
  };
}

export const yesNo = (v: unknown): string => (v === true ? t("yes") : v === false ? "–" : "–");

/** The definition of a column, for the title of the panel that shows it. */
export const defined = <N extends AnalysisName, T extends TableName<N>>(
  answer: Answer<N> | undefined,
  table: T,
  column: keyof RowOf<N, T> & string,
): Defined => ({
  help: answer?.tables[table]?.columns.find((c) => c.name === column)?.help,
  path: answer ? `${answer.analysis}.${table}.${column}` : undefined,
});

/** What a panel needs to show a table of an answer: the answer, its rows as CSV, what the column that matters means. */
export const panelFor = <N extends AnalysisName, T extends TableName<N>>(
  asked: AskedFor<N>,
  name: N,
  table: T,
  column: keyof RowOf<N, T> & string,
) => ({ asked, csv: csvUrl(name, table), define: defined(asked.value, table, column) });

/** A text that a filter takes as it is, not as words and conditions. */
export const quoted = (text: string): string => `"${text.replaceAll('"', "")}"`;

/** Host and device in the reader's language; AI Core and AI CPU are names. */
export const sideWord = (side: string): string => (side === "host" || side === "device" ? t(side) : side);

/** Operations per byte. */
export const ratioCell = (v: unknown): string => (typeof v === "number" ? (v >= 100 ? v.toFixed(0) : v.toFixed(2)) : "–");
/** What limits the work at best. */
export const boundCell = (v: unknown): string => (typeof v === "string" ? wordOr(`bound_${v}`, v) : "–");

/** How far a row is from what the device can do; shown when chosen. Ask with `roofline: "yes"`. */
export const ROOF_COLUMNS: readonly (readonly ["intensity" | "peak_share" | "bandwidth_share" | "bound", Extra])[] = [
  ["intensity", { width: 80, show: ratioCell }],
  ["peak_share", { width: 90 }],
  ["bandwidth_share", { width: 110 }],
  ["bound", { width: 90, text: true, show: boundCell }],
];
export const ROOF_NAMES = ROOF_COLUMNS.map(([name]) => name);
