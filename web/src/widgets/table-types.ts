// What a table is given: its columns, its rows, and what happens to them.
import type { ComponentChildren } from "preact";
import type { Scale, Unit } from "../base/format.ts";

export type CellValue = string | number | boolean | null | undefined;

export interface TableRow {
  key: string;
  cell(column: string): CellValue; // a method: rows that know their columns by name fit too
  label?: ComponentChildren; // instead of the first cell
  depth?: number;
  opens?: boolean;
  kids?: () => readonly TableRow[] | undefined; // undefined: on its way
  marked?: boolean; // selected
  tinted?: boolean; // stands out, but is not selected
  faded?: boolean; // below another row
  missing?: boolean; // not loaded yet
  note?: string; // what a column of its own making shows
  wide?: boolean; // words only: they take the whole row
  shows?: boolean; // knows its place in the timeline without an event
}

export interface TableColumn {
  name: string;
  title: string;
  unit?: Unit | undefined;
  help?: string | undefined;
  path?: string | undefined;
  width?: number; // px; without one the column takes what is left
  least?: number; // px of a column that takes what is left
  leaves?: number; // where there is no room, columns with the highest number go first
  stays?: boolean; // never goes
  bar?: string; // fill of the bar under the number
  text?: boolean; // left-aligned words
  mono?: boolean;
  soft?: boolean; // gray
  each?: boolean; // every number in the unit that suits it
  unitOnly?: boolean; // the unit says it all: GFLOP, TFLOP/s
  scale?: Scale;
  sortable?: boolean;
  show?: (value: CellValue, row: TableRow) => ComponentChildren; // instead of the number
}

export interface TableProps {
  name: string;
  columns: readonly TableColumn[];
  total: number;
  row: (i: number) => TableRow;
  sort?: string; // column:asc or column:desc
  onSort?: (sort: string) => void;
  onRow?: (row: TableRow) => void;
  onEnter?: (row: TableRow, shift: boolean) => void;
  onHover?: (row: TableRow | undefined) => void;
  onTimeline?: (row: TableRow) => void; // of rows that know an event (their cell `slice`) or a place
  timelineLabel?: string;
  onFilter?: (row: TableRow, column?: string) => void; // only rows like this one
  onExport?: () => void;
  height?: number | string; // of the part that scrolls
  flows?: boolean; // scrolls with the page
  old?: boolean | undefined;
  sum?: (column: string) => CellValue; // a row of totals
  sumLabel?: ComponentChildren;
  empty?: string;
  rowHeight?: number;
  open?: readonly string[]; // rows that are open at first
}

/** Whether a row has a place in the timeline. */
export const isPlaced = (row: TableRow): boolean => row.shows ?? typeof row.cell("slice") === "number";

export interface Flat {
  total: number;
  at: (i: number) => TableRow;
}
