// Query: any question in SQL, with its result as a table or a chart. The question is in the address.
import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError, Cell, Column, Table as Result } from "../../api/types.ts";
import { showSlice } from "../../model/evidence.ts";
import { askSql, placeOf, q, sqlCsv } from "../../model/query.ts";
import { choice, go, param } from "../../model/route.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Headline } from "../shared/verdict.tsx";
import { isNumber, numberText, ResultChart, unitOf } from "./result-chart.tsx";

export function Query() {
  const sql = param("sql");
  return sql ? <Asked sql={sql} /> : <Start />;
}

const runSql = (sql: string) => go({ params: { sql: sql.trim() || undefined, sort: undefined, y: undefined } });

function Start() {
  return (
    <>
      <Headline title={q("title")} facts={[q("facts_start")]} />
      <div class="grid">
        <Editor sql="" error={undefined} />
        <Examples />
      </div>
    </>
  );
}

function Asked({ sql }: { sql: string }) {
  const asked = askSql(sql);
  const tables = asked.error ? [] : Object.entries(asked.value?.tables ?? {});
  const n = tables[0]?.[1].rows.length ?? 0;
  const notes = (asked.value?.quality.notes ?? []).map(String);
  return (
    <>
      <Headline title={q("title")} facts={tables.length ? [q("facts_rows", { n }), ...notes] : []} />
      <div class="grid">
        <Editor sql={sql} error={asked.error} />
        {asked.error
          ? null
          : tables.map(([name, table]) => (
              <ResultPanel key={name} name={tables.length > 1 ? name : q("result")} table={table} sql={sql} old={asked.old} />
            ))}
        <Examples />
      </div>
    </>
  );
}

// ---- the question ----

function Editor({ sql, error }: { sql: string; error: ApiError | undefined }) {
  const [text, setText] = useState(sql);
  const box = useRef<HTMLTextAreaElement>(null);
  useEffect(() => setText(sql), [sql]); // an example, or one step back
  const onKey = (e: KeyboardEvent) => {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    runSql(box.current?.value ?? text);
  };
  const controls = (
    <>
      <button type="button" class="button" onClick={() => runSql(".tables")}>
        {q("tables")}
      </button>
      <button type="button" class="button" onClick={() => runSql(text)}>
        {q("run")}
      </button>
    </>
  );
  return (
    <Panel name={q("sql")} words={q("sql_words")} controls={controls} span="w12">
      <textarea
        ref={box}
        class="sql-text"
        aria-label={q("sql")}
        spellcheck={false}
        rows={Math.min(14, Math.max(4, text.split("\n").length + 1))}
        value={text}
        onInput={(e) => setText(e.currentTarget.value)}
        onKeyDown={onKey}
      />
      {error ? <Mistake sql={sql} error={error} /> : null}
    </Panel>
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

function Examples() {
  const asked = askSql(".examples", "query-examples");
  const rows = asked.value?.tables.examples?.rows ?? [];
  return (
    <Panel name={q("examples")} words={q("examples_words")} asked={asked} span="w12">
      <ul class="sql-examples">
        {rows.map(([question, sql]) => (
          <li key={String(question)}>
            <button type="button" class="link" title={String(sql)} onClick={() => runSql(String(sql))}>
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
  sql: string;
  old: boolean;
}

function ResultPanel({ name, table, sql, old }: ResultProps) {
  const [form, setForm] = choice("form", "table");
  const numbers = table.columns.map((c, i) => ({ c, i })).filter(({ c }) => isNumber(c));
  const [y, setY] = choice("y", String(numbers[0]?.i ?? -1));
  const controls = (
    <>
      {form !== "table" && numbers.length > 1 ? (
        <Segmented
          choices={numbers.slice(0, 6).map(({ c, i }) => ({ id: String(i), label: c.name }))}
          chosen={y}
          label={q("value")}
          onChoose={setY}
        />
      ) : null}
      <Segmented
        choices={{ table: q("as_table"), bars: q("as_bars"), line: q("as_line") }}
        chosen={form}
        label={q("form")}
        onChoose={setForm}
      />
    </>
  );
  return (
    <Panel name={name} words={form === "table" ? q("result_words") : ""} controls={controls} csv={sqlCsv(sql)} span="w12">
      {form === "table" ? (
        <ResultTable name={name} table={table} old={old} />
      ) : (
        <ResultChart table={table} y={Number(y)} form={form} />
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

const order = (a: Cell, b: Cell): number => {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
};

/** Rows in the order that the head of the table asks for; without one, in that of the SQL. */
function sorted(table: Result, sort: string): readonly Cell[][] {
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
