// The rows of a table as they are listed: those of opened rows come below them.
import type { Flat, TableProps, TableRow } from "./table-types.ts";

/** Base rows with the rows of the opened ones in between. */
export function flatten(props: TableProps, opened: ReadonlySet<string>, known: ReadonlyMap<string, number>): Flat {
  const places = [...known]
    .filter(([key]) => opened.has(key))
    .map(([key, i]) => placeNow(props, key, i))
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

const SEARCHED = 200; // rows in which an opened one is looked for

/** Where an opened row is now: another order moves it. */
function placeNow(props: TableProps, key: string, last: number): number {
  if (last < props.total && props.row(last).key === key) return last;
  for (let i = 0; i < Math.min(props.total, SEARCHED); i++) if (props.row(i).key === key) return i;
  return last;
}
