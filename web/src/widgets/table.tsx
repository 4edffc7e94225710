// Tables: any number of rows, of which only the visible ones exist. The source sorts and filters; the
// table draws, opens rows in place, and copies. One unit for a column, taken from its largest value.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { exact, inScale, type Scale, scaleOf, short, THIN } from "../base/format.ts";
import { Definition, tip } from "../base/tip.tsx";
import { Icon } from "./icons.tsx";
import { nextSort, sortKeys } from "./sort.ts";
import { tableKeys } from "./table-keys.ts";
import { type Flat, isPlaced, type TableColumn, type TableProps, type TableRow } from "./table-types.ts";

/** Base rows with the rows of the opened ones in between. */
function flatten(props: TableProps, opened: ReadonlySet<string>, known: ReadonlyMap<string, number>): Flat {
  const places = [...known]
    .filter(([key]) => opened.has(key))
    .map(([, i]) => i)
    .sort((a, b) => a - b);
  const blocks: { after: number; rows: TableRow[] }[] = [];
  const grow = (row: TableRow, into: TableRow[]): void => {
    if (!row.opens || !opened.has(row.key)) return;
    const kids = row.kids?.();
    if (!kids) into.push({ key: `${row.key}/…`, cell: () => undefined, label: "…", depth: (row.depth ?? 0) + 1, faded: true });
    for (const kid of kids ?? []) {
      into.push(kid);
      grow(kid, into);
    }
  };
  let extra = 0;
  for (const i of places) {
    if (i >= props.total) continue;
    const rows: TableRow[] = [];
    grow(props.row(i), rows);
    extra += rows.length;
    blocks.push({ after: i, rows });
  }
  return {
    total: props.total + extra,
    at(i) {
      let base = i;
      for (const b of blocks) {
        if (base <= b.after) break;
        if (base <= b.after + b.rows.length) return b.rows[base - b.after - 1] as TableRow;
        base -= b.rows.length;
      }
      return props.row(base);
    },
  };
}

function useScales(columns: readonly TableColumn[], flat: Flat): Map<string, { scale: Scale; max: number }> {
  const scales = new Map<string, { scale: Scale; max: number }>();
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

export function Table(props: TableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [visible, setVisible] = useState(600);
  const [opened, setOpened] = useState<ReadonlySet<string>>(() => new Set(props.open));
  const [known] = useState(() => placesOf(props));
  const [active, setActive] = useState(-1);
  const h = props.rowHeight ?? 26;
  const flat = flatten(props, opened, known);
  const scales = useScales(props.columns, flat);
  useLayoutEffect(() => {
    if (box.current) setVisible(box.current.clientHeight);
  });
  const first = Math.max(0, Math.floor(top / h) - 8);
  const last = Math.min(flat.total, Math.ceil((top + visible) / h) + 8);
  const toggle = (row: TableRow, at: number) => {
    const next = new Set(opened);
    if (next.delete(row.key)) return setOpened(next);
    next.add(row.key);
    if ((row.depth ?? 0) === 0) known.set(row.key, baseOf(at, flat, props));
    setOpened(next);
  };
  const keys = (e: KeyboardEvent) => tableKeys(e, { active, setActive, flat, h, box: box.current, props, toggle });
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
        props={props}
        h={h}
      />,
    );
  }
  return (
    <div
      class={`tscroll ${props.old ? "old" : ""}`}
      style={{ maxHeight: typeof props.height === "number" ? `${props.height}px` : (props.height ?? "none") }}
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={props.name}
      onScroll={(e) => setTop(e.currentTarget.scrollTop)}
      onKeyDown={keys}
    >
      <table aria-rowcount={flat.total} style={{ "--row": `${h}px`, minWidth: `${leastWidth(props.columns)}px` }}>
        <Head props={props} scales={scales} />
        <tbody onMouseLeave={() => props.onHover?.(undefined)}>
          <tr class="spacer" style={{ height: `${first * h}px` }} aria-hidden="true" />
          {rows}
          <tr class="spacer" style={{ height: `${(flat.total - last) * h}px` }} aria-hidden="true" />
        </tbody>
        {props.sum ? <Sum props={props} scales={scales} /> : null}
      </table>
      {flat.total === 0 && props.empty ? <p class="empty">{props.empty}</p> : null}
    </div>
  );
}

const LEAST = 170; // of a column that takes what is left

/** Narrower than this the table scrolls: a name is never squeezed away. */
export const leastWidth = (columns: readonly TableColumn[]): number => columns.reduce((s, c) => s + (c.width ?? LEAST), 0);

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

function Head({ props, scales }: { props: TableProps; scales: Map<string, { scale: Scale }> }) {
  const keys = sortKeys(props.sort);
  return (
    <>
      <colgroup>
        {props.columns.map((c) => (
          <col key={c.name} style={c.width ? { width: `${c.width}px` } : {}} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {props.columns.map((c) => {
            const unit = c.unit && c.unit !== "share" && !c.each ? scales.get(c.name)?.scale.unit : "";
            const place = keys.findIndex((k) => k.name === c.name);
            const on = place === 0;
            const order = keys[place]?.order;
            const card = tip(<Definition title={c.title} help={c.help} path={c.path} />);
            const words = (
              <>
                <span class={c.help ? "defined" : ""}>{c.unitOnly && unit ? unit : c.title}</span>
                {unit && !c.unitOnly ? <span class="unit">, {unit}</span> : null}
                {order ? <span class="arrow">{`${order === "asc" ? " ↑" : " ↓"}${place > 0 ? place + 1 : ""}`}</span> : null}
              </>
            );
            return (
              <th
                key={c.name}
                scope="col"
                class={`${c.text ? "text" : ""} ${on ? "on" : ""} ${c.bar === "share" ? "shared" : c.bar ? "barred" : ""}`}
                {...(on ? { "aria-sort": order === "asc" ? "ascending" : "descending" } : {})}
              >
                {props.onSort && c.sortable !== false ? (
                  <button type="button" {...card} onClick={(e) => props.onSort?.(nextSort(props.sort, c.name, e.shiftKey))}>
                    {words}
                  </button>
                ) : (
                  <span {...card}>{words}</span>
                )}
              </th>
            );
          })}
        </tr>
      </thead>
    </>
  );
}

interface RowProps {
  row: TableRow;
  at: number;
  active: boolean;
  open: boolean;
  h: number;
  scales: Map<string, { scale: Scale; max: number }>;
  toggle: (row: TableRow, at: number) => void;
  props: TableProps;
}

function Row({ row, at, active, open, scales, toggle, props, h }: RowProps) {
  const state = `${row.marked ? "marked" : ""} ${row.tinted ? "tinted" : ""} ${active ? "active" : ""} ${row.faded ? "faded" : ""} ${open && row.opens ? "opened" : ""}`;
  return (
    <tr
      class={state}
      style={{ height: `${h}px` }}
      onClick={(e) => {
        if ((e.target as Element).closest("a,button,input")) return;
        if (row.opens) toggle(row, at);
        props.onRow?.(row);
      }}
      onMouseEnter={() => props.onHover?.(row)}
    >
      {props.columns.map((c, i) =>
        row.wide && i > 0 ? null : i === 0 ? (
          <td
            key={c.name}
            {...(row.wide ? { colSpan: props.columns.length } : {})}
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
  if (c.show) return <td class={kind}>{c.show(value, row)}</td>;
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

function Sum({ props, scales }: { props: TableProps; scales: Map<string, { scale: Scale; max: number }> }) {
  const row: TableRow = { key: "sum", cell: (n) => props.sum?.(n) };
  return (
    <tfoot>
      <tr>
        {props.columns.map((c, i) =>
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
