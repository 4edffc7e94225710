// Query: a notebook of questions in SQL, each with its note and its result as a table or a chart. It is in the address.
import { useRef } from "preact/hooks";
import type { ApiError, Column, Table as Result, Cell as Value } from "../../api/types.ts";
import { thousands } from "../../base/format.ts";
import { showSlice } from "../../model/evidence.ts";
import { addCell, type Cell, cellsNow, FORMS, type Form, removeCell, setCell } from "../../model/notebook.ts";
import { askSql, placeOf, q, sqlCsv } from "../../model/query.ts";
import { go, param } from "../../model/route.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Headline } from "../shared/verdict.tsx";
import { SqlEditor } from "./editor.tsx";
import { axesOf, numberText, ResultChart, unitOf } from "./result-chart.tsx";

export function Query() {
  const cells = cellsNow();
  const empty = cells.length === 1 && !cells[0]?.sql;
  return (
    <>
      <Headline
        title={q("title")}
        facts={[empty ? q("facts_start") : cells.length > 1 ? q("facts_cells", { n: cells.length }) : undefined]}
      />
      <div class="grid">
        {cells.map((cell, i) => (
          <OneCell key={i} cell={cell} at={i} alone={cells.length === 1} />
        ))}
        <p class="w12 cell-add">
          <button type="button" class="button" onClick={() => addCell()}>
            {q("add_cell")}
          </button>
        </p>
        <Examples at={cells.length - 1} />
      </div>
    </>
  );
}

// ---- a cell: a note, a question, its answer ----

interface CellProps {
  cell: Cell;
  at: number;
  alone: boolean;
}

function OneCell({ cell, at, alone }: CellProps) {
  const text = useRef(cell.sql);
  const asked = cell.sql ? askSql(cell.sql, `query ${at}`) : undefined;
  const tables = asked && !asked.error ? Object.entries(asked.value?.tables ?? {}) : [];
  const notes = (asked?.value?.quality.notes ?? []).map(String);
  const run = (sql: string) => setCell(at, { sql: sql.trim() });
  const controls = (
    <>
      <button type="button" class="button" onClick={() => run(".tables")}>
        {q("tables")}
      </button>
      {alone ? null : (
        <button type="button" class="button" aria-label={q("remove_cell", { n: at + 1 })} onClick={() => removeCell(at)}>
          ×
        </button>
      )}
      <button type="button" class="button primary" onClick={() => run(text.current)}>
        {q("run")}
      </button>
    </>
  );
  return (
    <>
      <Panel
        name={alone ? q("sql") : q("cell", { n: at + 1 })}
        words={
          tables.length ? [q("rows", { n: thousands(tables[0]?.[1].rows.length ?? 0) }), ...notes].join(" · ") : q("sql_words")
        }
        controls={controls}
        span="w12 sql-panel"
      >
        <input
          type="text"
          class="cell-note"
          placeholder={q("note")}
          aria-label={q("note_of", { n: at + 1 })}
          value={cell.note ?? ""}
          onChange={(e) => setCell(at, { note: e.currentTarget.value.trim() || undefined }, true)}
        />
        <SqlEditor
          sql={cell.sql}
          onRun={run}
          onText={(t) => {
            text.current = t;
          }}
        />
        {asked?.error ? <Mistake sql={cell.sql} error={asked.error} /> : null}
      </Panel>
      {tables.map(([name, table]) => (
        <ResultPanel
          key={name}
          name={tables.length > 1 ? name : alone ? q("result") : q("result_of", { n: at + 1 })}
          table={table}
          cell={cell}
          at={at}
          old={asked?.old ?? false}
        />
      ))}
    </>
  );
}

/** What is wrong, and where. */
function Mistake({ sql, error }: { sql: string; error: ApiError }) {
  const place = error.offset === null ? undefined : placeOf(sql, error.offset);
  const from = place ? Math.max(0, place.column - 60) : 0;
  return (
    <div class="sql-error" role="alert">
      <p>{error.msg}</p>
      {place ? (
        <pre>
          {place.line.slice(from, from + 110)}
          {"\n"}
          {" ".repeat(place.column - from)}^
        </pre>
      ) : null}
    </div>
  );
}

function Examples({ at }: { at: number }) {
  const asked = askSql(".examples", "query-examples");
  const rows = asked.value?.tables.examples?.rows ?? [];
  return (
    <Panel name={q("examples")} words={q("examples_words")} asked={asked} span="w12">
      <ul class="sql-examples">
        {rows.map(([question, sql]) => (
          <li key={String(question)}>
            <button type="button" class="link" title={String(sql)} onClick={() => setCell(at, { sql: String(sql) })}>
              {String(question)}
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

// ---- the result ----

interface ResultProps {
  name: string;
  table: Result;
  cell: Cell;
  at: number;
  old: boolean;
}

function ResultPanel({ name, table, cell, at, old }: ResultProps) {
  const form = (FORMS as readonly string[]).includes(cell.form ?? "") ? (cell.form as Form) : "table";
  const { x, y } = axesOf(table, form, cell);
  const menu = (label: string, chosen: number, key: "x" | "y") =>
    form === "table" || (form === "histogram" && key === "x") ? null : (
      <Menu
        class="small-menu"
        right
        name={label}
        label={
          <>
            <span class="t2">{label}</span> <b>{table.columns[chosen]?.name ?? q("row")}</b>
          </>
        }
        items={table.columns.map((c, i) => ({ id: String(i), label: c.name, checked: i === chosen }))}
        onChoose={(id) => setCell(at, { [key]: id })}
      />
    );
  const controls = (
    <>
      {menu(q("along"), x, "x")}
      {menu(q("value"), y, "y")}
      <Segmented
        choices={FORMS.map((id) => ({ id, label: q(`as_${id}`) }))}
        chosen={form}
        label={q("form")}
        onChoose={(id) => setCell(at, { form: id === "table" ? undefined : id })}
      />
    </>
  );
  return (
    <Panel name={name} words={form === "table" ? q("result_words") : ""} controls={controls} csv={sqlCsv(cell.sql)} span="w12">
      {form === "table" ? (
        <ResultTable name={name} table={table} old={old} />
      ) : (
        <ResultChart table={table} x={x} y={y} form={form} />
      )}
    </Panel>
  );
}

/** A column keeps its place as its name: names of a result may be the same. */
const keyOf = (i: number) => `c${i}`;

const slicesOf = (columns: readonly Column[]) => columns.findIndex((c) => c.unit === "slice");

function EventLink({ id }: { id: number }) {
  return (
    <button
      type="button"
      class="link"
      title={q("shows")}
      onClick={(e) => {
        e.stopPropagation();
        showSlice(id, `SQL ${id}`);
      }}
    >
      {id}
    </button>
  );
}

function columnOf(c: Column, i: number): TableColumn {
  const isText = c.type === "string" || c.type === "big";
  const unit = unitOf(c);
  const base = { name: keyOf(i), title: c.name, help: c.help, text: isText, ...(isText ? { least: 140 } : { width: 120 }) };
  if (c.unit === "slice") return { ...base, width: 90, show: (v) => (typeof v === "number" ? <EventLink id={v} /> : "–") };
  if (isText || c.type === "bool") return base;
  if (unit !== "plain") return { ...base, unit };
  return { ...base, show: (v) => (typeof v === "number" ? numberText(v, c) : "–") };
}

const order = (a: Value, b: Value): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
};

/** Rows in the order that the head of the table asks for; without one, in that of the SQL. */
function sorted(table: Result, sort: string): readonly Value[][] {
  const [key = "", way = "desc"] = sort.split(":");
  const i = table.columns.findIndex((_, k) => keyOf(k) === key);
  if (i < 0) return table.rows;
  const sign = way === "asc" ? 1 : -1;
  return [...table.rows].sort((a, b) => sign * order(a[i] ?? null, b[i] ?? null));
}

function ResultTable({ name, table, old }: { name: string; table: Result; old: boolean }) {
  const sort = param("sort");
  const rows = sorted(table, sort);
  const slice = slicesOf(table.columns);
  const row = (i: number): TableRow => {
    const cells = rows[i] ?? [];
    const cell = (column: string): CellValue =>
      column === "slice" && slice >= 0 ? (cells[slice] ?? null) : (cells[Number(column.slice(1))] ?? null);
    return { key: String(i), cell };
  };
  return (
    <Table
      name={name}
      columns={table.columns.map(columnOf)}
      total={rows.length}
      row={row}
      sort={sort}
      onSort={(next) => go({ params: { sort: next } })}
      old={old}
      empty={q("no_rows")}
      height={Math.min(560, 60 + 28 * Math.max(1, rows.length))}
      {...(slice >= 0 ? { onTimeline: (r: TableRow) => showSlice(Number(r.cell("slice")), `SQL ${r.cell("slice")}`) } : {})}
    />
  );
}
