// The head of a table: a click sorts, its edge widens a column, dragging moves it. The same by keys and by its menu.
import { useRef, useState } from "preact/hooks";
import type { Scale } from "../base/format.ts";
import { Definition, tip } from "../base/tip.tsx";
import type { ContextItem, MenuAt } from "./context-menu.tsx";
import { nextSort, sortKeys } from "./sort.ts";
import { arranged, atLeast, headKey, keep, keptOf, moved, tableKey, wholeWidth } from "./table-columns.ts";
import type { TableColumn, TableProps } from "./table-types.ts";
import { tableWords } from "./table-words.ts";

const DRAG_PX = 6; // nearer than this it is a click

interface HeadProps {
  props: TableProps;
  columns: readonly TableColumn[]; // as they are shown
  gone: number; // columns without room
  scales: Map<string, { scale: Scale }>;
  onMenu: (menu: MenuAt) => void;
  onAll: () => void;
}

/** What a reader does to the columns of one table, by whatever means. */
function layoutOf(props: TableProps, shown: readonly TableColumn[]) {
  const key = tableKey(props.columns);
  const all = () => arranged(props.columns, keptOf(key));
  return {
    widen: (name: string, px: number) => keep(key, { ...keptOf(key), widths: { ...keptOf(key).widths, [name]: atLeast(px) } }),
    /** To the place of another one that is shown: what is not shown keeps its neighbors. */
    move(name: string, place: number) {
      const target = shown[Math.max(1, Math.min(shown.length - 1, place))];
      const to = all().findIndex((c) => c.name === target?.name);
      if (to > 0) keep(key, { ...keptOf(key), order: moved(all(), name, to) });
    },
    reset: () => keep(key, {}),
    isTouched: () => keptOf(key).order !== undefined || keptOf(key).widths !== undefined,
  };
}

export function Head({ props, columns, gone, scales, onMenu, onAll }: HeadProps) {
  const row = useRef<HTMLTableRowElement>(null);
  const [over, setOver] = useState(-1); // the column that a dragged one would take the place of
  const layout = layoutOf(props, columns);
  const cell = (i: number) => row.current?.children[i] as HTMLElement;
  const fit = (i: number) =>
    layout.widen(columns[i]?.name ?? "", wholeWidth(row.current?.closest("table") as HTMLTableElement, i));
  const menu = (i: number, x: number, y: number) => onMenu({ x, y, items: headItems(i, columns, layout, fit, props) });
  const keys = (i: number) => (e: KeyboardEvent) => {
    const does = headKey(e);
    const name = columns[i]?.name ?? "";
    if (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey)) {
      const at = cell(i).getBoundingClientRect();
      menu(i, at.left, at.bottom);
    } else if (does?.fit) fit(i);
    else if (does?.wider) layout.widen(name, cell(i).offsetWidth + does.wider);
    else if (does?.move && i > 0) layout.move(name, i + does.move);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const drag = dragging(row, columns, layout, setOver);
  return (
    <>
      <colgroup>
        {columns.map((c) => (
          <col key={c.name} style={c.width ? { width: `${c.width}px` } : {}} />
        ))}
      </colgroup>
      <thead>
        <tr ref={row}>
          {columns.map((c, i) => (
            <HeadCell
              key={c.name}
              column={c}
              props={props}
              unit={scales.get(c.name)?.scale.unit ?? ""}
              target={i === over}
              gone={i === columns.length - 1 ? gone : 0}
              onAll={onAll}
              onKeys={keys(i)}
              onMenu={(e) => {
                e.preventDefault();
                menu(i, e.clientX, e.clientY);
              }}
              onGrab={(e) => drag.move(e, i)}
              onEdge={(e) => drag.edge(e, i)}
              onFit={() => fit(i)}
            />
          ))}
        </tr>
      </thead>
    </>
  );
}

type Layout = ReturnType<typeof layoutOf>;

function headItems(
  i: number,
  columns: readonly TableColumn[],
  layout: Layout,
  fit: (i: number) => void,
  props: TableProps,
): ContextItem[] {
  const words = tableWords.current;
  const column = columns[i] as TableColumn;
  const sorts = props.onSort && column.sortable !== false;
  const sort = (order: string) => () => props.onSort?.(`${column.name}:${order}`);
  return [
    ...(sorts
      ? [
          { label: words.descending, run: sort("desc") },
          { label: words.ascending, run: sort("asc") },
        ]
      : []),
    { label: words.fit, key: "=", run: () => fit(i), separator: Boolean(sorts) },
    ...(i > 1 ? [{ label: words.left, key: "Alt Shift ←", run: () => layout.move(column.name, i - 1) }] : []),
    ...(i > 0 && i < columns.length - 1
      ? [{ label: words.right, key: "Alt Shift →", run: () => layout.move(column.name, i + 1) }]
      : []),
    ...(layout.isTouched() ? [{ label: words.reset, run: layout.reset, separator: true }] : []),
  ];
}

/** The end of a drag is not a click: the button under the pointer would sort. */
function noClick(): void {
  const stop = new AbortController();
  addEventListener("click", (x) => x.stopPropagation(), { capture: true, signal: stop.signal });
  setTimeout(() => stop.abort());
}

/** Dragging a head moves its column, dragging its edge widens it. */
function dragging(
  row: { current: HTMLTableRowElement | null },
  columns: readonly TableColumn[],
  layout: Layout,
  setOver: (i: number) => void,
) {
  const follow = (e: PointerEvent, onMove: (e: PointerEvent) => void, onEnd: (e: PointerEvent) => void) => {
    const stop = new AbortController();
    const end = (x: PointerEvent) => {
      stop.abort();
      onEnd(x);
    };
    addEventListener("pointermove", (x) => x.pointerId === e.pointerId && onMove(x), { signal: stop.signal });
    addEventListener("pointerup", end, { signal: stop.signal });
    addEventListener("pointercancel", end, { signal: stop.signal });
  };
  return {
    edge(e: PointerEvent, i: number) {
      e.preventDefault();
      e.stopPropagation();
      const width = (e.currentTarget as HTMLElement).parentElement?.offsetWidth ?? 0;
      const name = columns[i]?.name ?? "";
      follow(
        e,
        (x) => layout.widen(name, width + x.clientX - e.clientX),
        () => {},
      );
    },
    move(e: PointerEvent, i: number) {
      if (i === 0 || e.button !== 0) return;
      let to = -1;
      const at = (x: number) =>
        [...(row.current?.children ?? [])].findIndex((c) => {
          const r = c.getBoundingClientRect();
          return x >= r.left && x < r.right;
        });
      follow(
        e,
        (x) => {
          if (to < 0 && Math.abs(x.clientX - e.clientX) < DRAG_PX) return;
          to = Math.max(1, at(x.clientX));
          setOver(to);
        },
        () => {
          setOver(-1);
          if (to < 0) return;
          noClick();
          if (to !== i) layout.move(columns[i]?.name ?? "", to);
        },
      );
    },
  };
}

interface CellProps {
  column: TableColumn;
  props: TableProps;
  unit: string;
  target: boolean;
  gone: number;
  onAll: () => void;
  onKeys: (e: KeyboardEvent) => void;
  onMenu: (e: MouseEvent) => void;
  onGrab: (e: PointerEvent) => void;
  onEdge: (e: PointerEvent) => void;
  onFit: () => void;
}

function HeadCell({ column: c, props, target, ...on }: CellProps) {
  const keys = sortKeys(props.sort);
  const unit = c.unit && c.unit !== "share" && !c.each ? on.unit : "";
  const place = keys.findIndex((k) => k.name === c.name);
  const first = place === 0;
  const order = keys[place]?.order;
  const card = tip(<Definition title={c.title} help={c.help} path={c.path} />);
  const words = (
    <>
      <span class={c.help ? "defined" : ""}>{c.unitOnly && unit ? unit : c.title}</span>
      {unit && !c.unitOnly ? <span class="unit">, {unit}</span> : null}
      {order ? <span class="arrow">{`${order === "asc" ? " ↑" : " ↓"}${place > 0 ? place + 1 : ""}`}</span> : null}
    </>
  );
  const kind = `${c.text ? "text" : ""} ${first ? "on" : ""} ${c.bar === "share" ? "shared" : c.bar ? "barred" : ""} ${target ? "drop" : ""} ${on.gone > 0 ? "with-more" : ""}`;
  return (
    <th
      scope="col"
      class={kind}
      {...(first ? { "aria-sort": order === "asc" ? "ascending" : "descending" } : {})}
      onContextMenu={on.onMenu}
      onPointerDown={on.onGrab}
    >
      {props.onSort && c.sortable !== false ? (
        <button
          type="button"
          {...card}
          onKeyDown={on.onKeys}
          onClick={(e) => props.onSort?.(nextSort(props.sort, c.name, e.shiftKey))}
        >
          {words}
        </button>
      ) : (
        <span {...card} class="head-words">
          {words}
        </span>
      )}
      {on.gone > 0 ? (
        <button
          type="button"
          class="more-columns"
          title={tableWords.current.more}
          aria-label={`+${on.gone} ${tableWords.current.more}`}
          onClick={on.onAll}
        >
          +{on.gone}
        </button>
      ) : null}
      <i class="edge" onPointerDown={on.onEdge} onDblClick={on.onFit} onClick={(e) => e.stopPropagation()} />
    </th>
  );
}
