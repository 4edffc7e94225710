// Columns of a result as bars, a line, points, a histogram or a heat map.
import type { Column, Table } from "../../api/types.ts";
import { short, thousands, type Unit } from "../../base/format.ts";
import { cutMiddle } from "../../base/names.ts";
import { Bars } from "../../draw/charts/bars.tsx";
import { Columns } from "../../draw/charts/columns.tsx";
import { Heat } from "../../draw/charts/heat.tsx";
import { Lines, type Point } from "../../draw/charts/lines.tsx";
import { Points } from "../../draw/charts/points.tsx";
import type { Form } from "../../model/notebook.ts";
import { q } from "../../model/query.ts";
import { binsOf } from "./bins.ts";

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
  x: number; // column along the axis; -1: the number of the row
  y: number; // column of the values
  form: Form;
}

const NUMBERED: readonly Form[] = ["line", "scatter"]; // whose axis is one of numbers

/** The columns of a chart: those that were chosen, else the first that fit. */
export function axesOf(
  table: Table,
  form: Form,
  chosen: { x?: string | undefined; y?: string | undefined },
): { x: number; y: number } {
  const there = (text: string | undefined) =>
    text !== undefined && text !== "" && table.columns[Number(text)] ? Number(text) : undefined;
  const numbers = table.columns.flatMap((c, i) => (isNumber(c) ? [i] : []));
  const y = there(chosen.y) ?? (form === "scatter" && numbers.length > 1 ? (numbers[1] as number) : (numbers[0] ?? -1));
  const fits = (c: Column, i: number) => i !== y && (NUMBERED.includes(form) ? isNumber(c) : c.type === "string");
  const found = table.columns.findIndex(fits);
  const other = NUMBERED.includes(form) ? -1 : table.columns.findIndex((_, i) => i !== y);
  return { x: there(chosen.x) ?? (found < 0 ? other : found), y };
}

export function ResultChart({ table, x, y, form }: ChartProps) {
  const column = table.columns[y];
  if (!column || !isNumber(column)) return <p class="empty">{q("no_chart")}</p>;
  const label = q("chart", { y: column.name, x: table.columns[x]?.name ?? q("row") });
  const drawn = { table, x, y, label };
  switch (form) {
    case "line":
      return <ResultLine {...drawn} />;
    case "scatter":
      return <ResultPoints {...drawn} />;
    case "histogram":
      return <ResultHistogram {...drawn} />;
    case "heat":
      return <ResultHeat {...drawn} />;
    default:
      return <ResultBars {...drawn} />;
  }
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

const pointsOf = ({ table, x, y }: DrawnProps): [number, number][] =>
  table.rows.flatMap((cells, i): [number, number][] => {
    const [at, value] = [x < 0 ? i + 1 : cells[x], cells[y]];
    return typeof at === "number" && typeof value === "number" ? [[at, value]] : [];
  });

function ResultPoints(props: DrawnProps) {
  const { table, x, y, label } = props;
  const [column, by] = [table.columns[y] as Column, table.columns[x]];
  return (
    <Points
      points={pointsOf(props)}
      height={280}
      label={label}
      x={(v) => (by ? numberText(v, by) : String(v))}
      y={(v) => numberText(v, column)}
    />
  );
}

function ResultHistogram({ table, y, label }: DrawnProps) {
  const column = table.columns[y] as Column;
  const values = table.rows.flatMap((cells) => (typeof cells[y] === "number" ? [cells[y] as number] : []));
  const bins = binsOf(values);
  const bars = bins.map((b) => ({
    id: numberText(b.from, column),
    total: b.count,
    parts: [{ id: "n", value: b.count, fill: "var(--accent)" }],
    card: `${numberText(b.from, column)} – ${numberText(b.to, column)}: ${b.count}`,
  }));
  return (
    <div class="pad">
      <Columns bars={bars} height={260} factor={1} format={(v) => (Number.isInteger(v) ? String(v) : "")} label={label} />
    </div>
  );
}

const ROW_LETTERS = 10; // next to the cells
const MOST_CELLS = 60; // rows and columns of a heat map

/** The values by two columns: the one along the axis, and the first other one of words. */
function ResultHeat({ table, x, y, label }: DrawnProps) {
  const column = table.columns[y] as Column;
  const down = table.columns.findIndex((c, i) => i !== x && i !== y && c.unit !== "slice");
  if (x < 0 || down < 0) return <p class="empty">{q("no_heat")}</p>;
  const names = (i: number) => [...new Set(table.rows.map((cells) => String(cells[i] ?? "–")))].slice(0, MOST_CELLS);
  const [across, rows] = [names(x), names(down)];
  const values = new Map<string, number>();
  for (const cells of table.rows) {
    const key = `${String(cells[down] ?? "–")}\u0001${String(cells[x] ?? "–")}`;
    if (typeof cells[y] === "number") values.set(key, (values.get(key) ?? 0) + (cells[y] as number));
  }
  const value = (r: number, c: number) => values.get(`${rows[r]}\u0001${across[c]}`) ?? null;
  const text = (v: number | null) => (v === null ? "–" : numberText(v, column));
  return (
    <div class="pad">
      <Heat
        ranks={rows.map((n) => cutMiddle(n, ROW_LETTERS))}
        columns={across.map((n) => ({ id: n, lines: [cutMiddle(n, 12)], group: "" }))}
        groupName={() => ""}
        value={value}
        speak={(r, c) => `${rows[r]}, ${across[c]}: ${text(value(r, c))}`}
        format={(v) => (unitOf(column) === "plain" && Number.isInteger(v) ? thousands(v) : text(v))}
        worst={-1}
        label={label}
        onCell={() => {}}
      />
    </div>
  );
}
