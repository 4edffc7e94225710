// Tables: any number of rows, of which only the visible ones exist. The source sorts and filters; the
// table draws, opens rows in place, and copies. One unit for a column, taken from its largest value.
import { useState } from "preact/hooks";
import { exact, inScale, type Scale, scaleOf, short, THIN, thousands } from "../base/format.ts";
import { paper } from "../base/paper.ts";
import { type ContextItem, ContextMenu, type MenuAt } from "./context-menu.tsx";
import { Icon } from "./icons.tsx";
import { sortKeys } from "./sort.ts";
import { arranged, fitting, forNumber, keptOf, leastWidth, tableKey } from "./table-columns.ts";
import { Head } from "./table-head.tsx";
import { asText, tableKeys } from "./table-keys.ts";
import { flatten } from "./table-rows.ts";
import { type Flat, isPlaced, type TableColumn, type TableProps, type TableRow } from "./table-types.ts";
import { useView } from "./table-view.ts";
import { tableWords } from "./table-words.ts";

type Scales = Map<string, { scale: Scale; max: number }>;

function scalesOf(columns: readonly TableColumn[], flat: Flat): Scales {
  const scales: Scales = new Map();
  const n = Math.min(flat.total, 200);
  for (const c of columns) {
    if (!c.unit) continue;
    let max = -1;
    for (let i = 0; i < n; i++) {
      const v = flat.at(i).cell(c.name);
      if (typeof v === "number" && Math.abs(v) > max) max = Math.abs(v);
    }
    if (max >= 0) scales.set(c.name, { scale: c.scale ?? scaleOf(c.unit, max), max });
  }
  return scales;
}

const PRINTED = 200; // rows of a table on paper; the last line counts the others
const MORE = 40; // px of the button that shows the columns without room

/** Columns that fit; where some do not, the last one has room for the button that says so. */
function withMore(wanted: readonly TableColumn[], width: number): TableColumn[] {
  const fits = fitting(wanted, width);
  if (fits.length === wanted.length) return fits;
  const shown = fitting(wanted, width - MORE);
  return shown.map((c, i) => (i === shown.length - 1 && c.width ? { ...c, width: c.width + MORE } : c));
}

/** The longest number a column shows, its sum included; words have no such thing. */
function longestNumber(c: TableColumn, props: TableProps, scale: { scale: Scale; max: number } | undefined): string {
  const sum = props.sum?.(c.name);
  return scale && !c.each && !c.show ? inScale(Math.max(scale.max, typeof sum === "number" ? sum : 0), scale.scale) : "";
}

/** The columns in the reader's order, those that have room or all of them, and how wide the table must be. */
function useColumns(props: TableProps, width: number, scales: Scales, all: boolean) {
  const by = sortKeys(props.sort)[0]?.name; // the order makes no sense without its column
  const roomy = props.columns.map((c) => forNumber(c, longestNumber(c, props, scales.get(c.name))));
  const wanted = arranged(roomy, keptOf(tableKey(props.columns))).map((c) => (c.name === by ? { ...c, stays: true } : c));
  const columns = all || width === 0 ? wanted : withMore(wanted, width);
  const least = leastWidth(columns);
  const fixed = columns.every((c) => c.width); // every column has its width: none would take what is left
  return {
    columns,
    gone: wanted.length - columns.length,
    least,
    style: fixed ? { width: `${least}px` } : { minWidth: `${least}px` },
  };
}

export function Table(props: TableProps) {
  const [all, setAll] = useState(false); // columns without room too: then the table scrolls sideways
  const [wide, setWide] = useState(false); // wider than its room, whichever columns leave
  const flows = props.flows === true && !all && !wide;
  const { box, reveal, width, height: visible, top } = useView(flows);
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(props.open));
  const [known] = useState(() => placesOf(props));
  const [active, setActive] = useState(-1);
  const [menu, setMenu] = useState<MenuAt | undefined>();
  const h = props.rowHeight ?? 26;
  const flat = flatten(props, opened, known);
  const scales = scalesOf(props.columns, flat);
  const { columns, gone, style, least } = useColumns(props, width, scales, all);
  if (width > 0 && least > width !== wide) setWide(least > width);
  const whole = paper.value;
  const first = whole ? 0 : Math.max(0, Math.floor(top / h) - 8);
  const last = Math.min(flat.total, whole ? PRINTED : Math.ceil((top + visible) / h) + 8);
  const toggle = (row: TableRow, at: number) => {
    const next = new Set(opened);
    if (next.delete(row.key)) return setOpened(next);
    next.add(row.key);
    if ((row.depth ?? 0) === 0) known.set(row.key, baseOf(at, flat, props));
    setOpened(next);
  };
  const openMenu = (at: number, x: number, y: number, cell?: Element | null) =>
    setMenu({ x, y, items: rowItems(flat.at(at), columns, cell, props) });
  const keys = (e: KeyboardEvent) =>
    tableKeys(e, { active, setActive, flat, h, box: box.current, reveal, props, toggle, openMenu });
  const rows = [];
  for (let i = first; i < last; i++) {
    const row = flat.at(i);
    rows.push(
      <Row
        key={row.key}
        row={row}
        at={i}
        active={i === active}
        scales={scales}
        open={opened.has(row.key)}
        toggle={toggle}
        onActive={setActive}
        onMenu={openMenu}
        columns={columns}
        props={props}
        h={h}
      />,
    );
  }
  const closeMenu = () => {
    setMenu(undefined);
    box.current?.focus({ preventScroll: true });
  };
  return (
    <div
      class={`tscroll ${flows ? "flows" : ""} ${props.old ? "old" : ""}`}
      style={{ maxHeight: flows ? "none" : tallest(props.height, flat.total * h) }}
      ref={box}
      tabIndex={0}
      role="group"
      aria-label={props.name}
      onKeyDown={keys}
    >
      <table class={gone > 0 ? "narrowed" : ""} aria-rowcount={flat.total} style={{ "--row": `${h}px`, ...style }}>
        <Head props={props} columns={columns} gone={gone} scales={scales} onMenu={setMenu} onAll={() => setAll(true)} />
        <tbody onMouseLeave={() => props.onHover?.(undefined)}>
          <tr class="spacer" style={{ height: `${first * h}px` }} aria-hidden="true" />
          {rows}
          {whole && last < flat.total ? (
            <tr>
              <td class="first">… + {thousands(flat.total - last)}</td>
            </tr>
          ) : (
            <tr class="spacer" style={{ height: `${(flat.total - last) * h}px` }} aria-hidden="true" />
          )}
        </tbody>
        {props.sum ? <Sum props={props} columns={columns} scales={scales} /> : null}
      </table>
      {flat.total === 0 && props.empty ? <p class="empty">{props.empty}</p> : null}
      {menu ? <ContextMenu at={menu} name={tableWords.current.menu} onClose={closeMenu} /> : null}
    </div>
  );
}

const WHOLE = 580; // px of rows that are shown without a scroll bar

/** How tall the part that scrolls may be: a table of two dozen rows is shown whole. */
const tallest = (height: number | string | undefined, rows: number): string =>
  rows <= WHOLE ? "none" : typeof height === "number" ? `${height}px` : (height ?? "none");

const copy = (text: string) => void navigator.clipboard?.writeText(text);

/** What can be done with a row, and with the cell that was pointed at. */
function rowItems(
  row: TableRow,
  columns: readonly TableColumn[],
  cell: Element | null | undefined,
  props: TableProps,
): ContextItem[] {
  const words = tableWords.current;
  const column = columns[cell ? [...(cell.parentElement?.children ?? [])].indexOf(cell) : 0] ?? columns[0];
  const { onFilter, onTimeline } = props;
  return [
    { label: words.copyCell, run: () => copy(String(row.cell(column?.name ?? "") ?? cell?.textContent ?? "")) },
    { label: words.copyRow, key: "c", run: () => copy(asText(columns, row)) },
    ...(onFilter ? [{ label: words.filter, key: "x", run: () => onFilter(row, column?.name), separator: true }] : []),
    ...(onTimeline && isPlaced(row)
      ? [{ label: words.timeline, key: "Shift Enter", run: () => onTimeline(row), separator: !onFilter }]
      : []),
  ];
}

/** Where the rows are that are open at first. */
function placesOf(props: TableProps): Map<string, number> {
  const places = new Map<string, number>();
  if (props.open?.length)
    for (let i = 0; i < Math.min(props.total, 100); i++) {
      const key = props.row(i).key;
      if (props.open.includes(key)) places.set(key, i);
    }
  return places;
}

function baseOf(at: number, flat: Flat, props: TableProps): number {
  const key = flat.at(at).key;
  for (let i = Math.min(at, props.total - 1); i >= 0; i--) if (props.row(i).key === key) return i;
  return 0;
}

interface RowProps {
  row: TableRow;
  at: number;
  active: boolean;
  open: boolean;
  h: number;
  scales: Scales;
  toggle: (row: TableRow, at: number) => void;
  onActive: (at: number) => void;
  onMenu: (at: number, x: number, y: number, cell?: Element | null) => void;
  columns: readonly TableColumn[];
  props: TableProps;
}

function Row({ row, at, active, open, scales, toggle, onActive, onMenu, columns, props, h }: RowProps) {
  const state = `${row.marked ? "marked" : ""} ${row.tinted ? "tinted" : ""} ${active ? "active" : ""} ${row.faded ? "faded" : ""} ${open && row.opens ? "opened" : ""}`;
  return (
    <tr
      class={state}
      style={{ height: `${h}px` }}
      onClick={(e) => {
        onActive(at);
        if ((e.target as Element).closest("a,button,input")) return;
        if (row.opens) toggle(row, at);
        props.onRow?.(row);
      }}
      onContextMenu={(e) => {
        e.preventDefault();
        onActive(at);
        onMenu(at, e.clientX, e.clientY, (e.target as Element).closest("td"));
      }}
      onMouseEnter={() => props.onHover?.(row)}
    >
      {columns.map((c, i) =>
        row.wide && i > 0 ? null : i === 0 ? (
          <td
            key={c.name}
            {...(row.wide ? { colSpan: columns.length } : {})}
            class={`first ${c.mono ? "mono" : ""} ${c.text ? "text" : ""}`}
            title={String(row.cell(c.name) ?? "")}
          >
            <span class="lead" style={{ paddingLeft: `${(row.depth ?? 0) * 14}px` }}>
              {row.opens ? (
                <button
                  type="button"
                  class="chevron"
                  aria-expanded={open}
                  aria-label={String(row.cell(c.name) ?? "")}
                  onClick={() => toggle(row, at)}
                >
                  {open ? "▾" : "▸"}
                </button>
              ) : row.opens === false ? (
                <i class="chevron" />
              ) : null}
              {row.missing ? (
                <i class="grey" />
              ) : (
                (row.label ?? c.show?.(row.cell(c.name), row) ?? <span class="cut">{String(row.cell(c.name) ?? "–")}</span>)
              )}
              {props.onTimeline && isPlaced(row) ? <ToTimeline row={row} props={props} /> : null}
            </span>
          </td>
        ) : (
          <Cell key={c.name} column={c} row={row} scale={scales.get(c.name)} />
        ),
      )}
    </tr>
  );
}

/** The way to the event where a row costs most; the keyboard has Shift-Enter. */
const ToTimeline = ({ row, props }: { row: TableRow; props: TableProps }) => (
  <button
    type="button"
    class="to-timeline"
    tabIndex={-1}
    title={props.timelineLabel ?? ""}
    aria-label={props.timelineLabel ?? ""}
    onClick={() => props.onTimeline?.(row)}
  >
    <Icon name="timeline" size={13} />
  </button>
);

function Cell({
  column: c,
  row,
  scale,
}: {
  column: TableColumn;
  row: TableRow;
  scale: { scale: Scale; max: number } | undefined;
}) {
  const value = row.cell(c.name);
  if (row.missing)
    return (
      <td>
        <i class="grey" />
      </td>
    );
  if (value === undefined && row.faded) return <td />;
  const kind = `${c.text ? "text" : ""} ${c.mono ? "mono" : ""} ${c.soft ? "soft" : ""} ${value === null || value === undefined ? "none" : ""}`;
  if (c.show) {
    const shown = c.show(value, row);
    return (
      <td class={kind} {...(c.text && typeof shown === "string" ? { title: shown } : {})}>
        {shown}
      </td>
    );
  }
  if (typeof value !== "number" || !c.unit || !scale) {
    const words = value === null || value === undefined ? "–" : String(value);
    return (
      <td class={kind} {...(c.text ? { title: words } : {})}>
        {words}
      </td>
    );
  }
  const shown = c.each ? short(value, c.unit) : inScale(value, scale.scale) + (c.unit === "share" ? `${THIN}%` : "");
  if (!c.bar)
    return (
      <td class={kind} title={exact(value, c.unit)}>
        {shown}
      </td>
    );
  const share = scale.max > 0 ? Math.min(1, Math.max(0, value / scale.max)) : 0;
  return (
    <td class={`barred ${kind}`} title={exact(value, c.unit)}>
      <span class="barcell">
        <span>{shown}</span>
        <svg class="bar" width="100%" height="6" aria-hidden="true">
          <rect width="100%" height="6" rx="3" fill="var(--track)" />
          <rect width={`${share * 100}%`} height="6" rx="3" fill={c.bar} opacity={row.faded ? 0.6 : 1} />
        </svg>
      </span>
    </td>
  );
}

interface SumProps {
  props: TableProps;
  columns: readonly TableColumn[];
  scales: Scales;
}

function Sum({ props, columns, scales }: SumProps) {
  const row: TableRow = { key: "sum", cell: (n) => props.sum?.(n) };
  return (
    <tfoot>
      <tr>
        {columns.map((c, i) =>
          i === 0 ? (
            <td key={c.name} class="first text">
              {props.sumLabel}
            </td>
          ) : row.cell(c.name) === undefined ? (
            <td key={c.name} />
          ) : (
            <Cell key={c.name} column={{ ...c, bar: "" }} row={row} scale={scales.get(c.name)} />
          ),
        )}
      </tr>
    </tfoot>
  );
}
