// Keys of a table: arrows move, Enter opens or selects, c copies the row, x filters on it, Shift E saves it all,
// the menu key opens the row's menu.
import { type Flat, isPlaced, type TableColumn, type TableProps, type TableRow } from "./table-types.ts";

interface KeyState {
  active: number;
  setActive: (i: number) => void;
  flat: Flat;
  h: number;
  box: HTMLDivElement | null;
  reveal: (y: number, row: number) => void;
  props: TableProps;
  toggle: (row: TableRow, at: number) => void;
  openMenu: (at: number, x: number, y: number) => void;
}

export function tableKeys(e: KeyboardEvent, s: KeyState): void {
  const row = s.active >= 0 && s.active < s.flat.total ? s.flat.at(s.active) : undefined;
  const move = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15 }[e.key] ?? 0;
  if (move && !e.altKey) {
    e.preventDefault();
    const next = Math.max(0, Math.min(s.flat.total - 1, s.active + move));
    s.setActive(next);
    s.reveal(next * s.h, s.h);
  } else if (row && e.key === "Enter") {
    e.preventDefault();
    if (e.shiftKey && s.props.onTimeline && isPlaced(row)) s.props.onTimeline(row);
    else if (s.props.onEnter) s.props.onEnter(row, e.shiftKey);
    else if (row.opens) s.toggle(row, s.active);
    else s.props.onRow?.(row);
  } else if (row && ((e.key === "ArrowRight" && row.opens) || (e.key === "ArrowLeft" && row.opens))) {
    s.toggle(row, s.active);
  } else if (e.key === "E" && e.shiftKey && s.props.onExport) {
    s.props.onExport();
  } else if (row && e.key === "x" && !e.ctrlKey && !e.metaKey) {
    s.props.onFilter?.(row);
  } else if (row && e.key === "c" && !e.ctrlKey && !e.metaKey) {
    void navigator.clipboard?.writeText(asText(s.props.columns, row));
  } else if (row && (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey))) {
    e.preventDefault();
    const at = s.box?.querySelector("tr.active")?.getBoundingClientRect();
    s.openMenu(s.active, (at?.left ?? 0) + 24, at?.bottom ?? 0);
  }
}

/** A row as text: exact values between tabs. */
export function asText(columns: readonly TableColumn[], row: TableRow): string {
  return columns.map((c) => String(row.cell(c.name) ?? "")).join("\t");
}

/** Comma-separated values as lines with tabs, for spreadsheets: quotes are taken off, tabs and breaks become blanks. */
export function tabbed(csv: string): string {
  const out: string[] = [];
  for (const [, quotedCell, plainCell, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    if (quotedCell === undefined && plainCell === "" && end === "") break;
    out.push(
      (quotedCell?.replaceAll('""', '"') ?? plainCell ?? "").replace(/[\t\r\n]+/g, " "),
      end === "," ? "\t" : end === "" ? "" : "\n",
    );
  }
  return out.join("");
}
