// Questions in SQL. The words of the Query view are here too, since they are fetched with it.
import type { Query } from "../api/transport.ts";
import type { Table } from "../api/types.ts";
import { enQuery } from "../text/en-query.ts";
import { fill } from "../text/fill.ts";
import { zhQuery } from "../text/zh-query.ts";
import { type Asked, ask, server } from "./answers.ts";
import { language } from "./language.ts";
import { traceQuery, windowQuery } from "./route.ts";
import { oneWorker } from "./trace.ts";

export type QueryKey = keyof typeof enQuery;

/** A sentence of the Query view. */
export function q(key: QueryKey, values: Record<string, string | number> = {}): string {
  return fill((language.value === "zh" ? zhQuery : enQuery)[key], values);
}

export interface SqlAnswer {
  quality: { notes: readonly unknown[] };
  tables: Record<string, Table>;
}

const sqlQuery = (sql: string, extra: Query = {}): Query => ({
  ...traceQuery.value,
  ...oneWorker(),
  ...windowQuery.value,
  lang: language.value,
  sql,
  ...extra,
});

/** The answer to a question in SQL, about the worker and the window in view. */
export const askSql = (sql: string, slot = "query"): Asked<SqlAnswer> => ask<SqlAnswer>(slot, "query", sqlQuery(sql));

/** The address of a result as CSV. */
export const sqlCsv = (sql: string): string => server().url("query", sqlQuery(sql, { format: "csv" }));

/** The line of a text in which a byte is, and the column of that byte: errors tell bytes. */
export function placeOf(text: string, byte: number): { line: string; column: number } {
  const before = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, byte));
  const start = before.lastIndexOf("\n") + 1;
  const end = text.indexOf("\n", before.length);
  return { line: text.slice(start, end < 0 ? undefined : end), column: before.length - start };
}
