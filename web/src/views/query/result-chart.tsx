// Two columns of a result as bars or as a line.
import type { Column, Table } from "../../api/types.ts";
import { short, type Unit } from "../../base/format.ts";
import { cutMiddle } from "../../base/names.ts";
import { Bars } from "../../draw/charts/bars.tsx";
import { Lines, type Point } from "../../draw/charts/lines.tsx";
import { q } from "../../model/query.ts";

const MOST_BARS = 40;
const LABEL_LETTERS = 30; // what fits next to the bars of the narrowest page

const UNITS: Record<string, Unit> = { ns: "ns", bytes: "bytes", share: "share" };
export const unitOf = (c: Column): Unit => UNITS[c.unit ?? ""] ?? "plain";

export const isNumber = (c: Column): boolean => (c.type === "int" || c.type === "real") && c.unit !== "slice";

/** A number as the table and the chart write it. */
export function numberText(v: number, c: Column): string {
  const unit = unitOf(c);
  if (unit !== "plain") return short(v, unit);
  return Number.isInteger(v) ? String(v) : String(Number(v.toPrecision(6)));
}

interface ChartProps {
  table: Table;
  y: number; // column of the values
  form: string;
}

/** What the values are shown by: the first text for bars, the first other number for a line, else the row. */
function axisOf({ table, y, form }: ChartProps): number {
  const fits = (c: Column, i: number) => i !== y && (form === "line" ? isNumber(c) : c.type === "string");
  const found = table.columns.findIndex(fits);
  return found < 0 && form === "bars" ? table.columns.findIndex((_, i) => i !== y) : found;
}

export function ResultChart(props: ChartProps) {
  const { table, y, form } = props;
  const column = table.columns[y];
  const x = axisOf(props);
  const by = table.columns[x];
  if (!column) return <p class="empty">{q("no_chart")}</p>;
  const label = q("chart", { y: column.name, x: by?.name ?? q("row") });
  return form === "line" ? (
    <ResultLine table={table} x={x} y={y} label={label} />
  ) : (
    <ResultBars table={table} x={x} y={y} label={label} />
  );
}

interface DrawnProps {
  table: Table;
  x: number;
  y: number;
  label: string;
}

function ResultBars({ table, x, y, label }: DrawnProps) {
  const column = table.columns[y] as Column;
  const rows = table.rows.slice(0, MOST_BARS);
  const items = rows.map((cells, i) => {
    const value = Number(cells[y] ?? 0);
    const name = x < 0 ? String(i + 1) : String(cells[x] ?? "–");
    const text = cells[y] === null ? "–" : numberText(value, column);
    return { id: `${i}`, label: cutMiddle(name, LABEL_LETTERS), value, text, fill: "var(--accent)", card: `${name}: ${text}` };
  });
  return (
    <>
      <Bars items={items} label={label} />
      {table.rows.length > MOST_BARS ? <p class="empty">{q("first_bars", { n: MOST_BARS })}</p> : null}
    </>
  );
}

function ResultLine({ table, x, y, label }: DrawnProps) {
  const column = table.columns[y] as Column;
  const by = table.columns[x];
  const points = table.rows.map((cells, i): Point => {
    const value = cells[y];
    return [x < 0 ? i + 1 : Number(cells[x] ?? 0), typeof value === "number" ? value : null];
  });
  points.sort((a, b) => a[0] - b[0]);
  const top = Math.max(0, ...points.map(([, v]) => v ?? 0));
  return (
    <Lines
      lines={[{ id: "y", label: column.name, color: "var(--accent)", points }]}
      height={260}
      label={label}
      top={top || 1}
      x={(v) => (by ? numberText(v, by) : String(v))}
      y={(v) => numberText(v, column)}
    />
  );
}
