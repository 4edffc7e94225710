// From a name to the event where it costs most, asked of the server when the user wants to see it. With all ranks it
// is that of the rank that spends most in it.
import type { AnalysisName } from "../api/tables.ts";
import type { Query } from "../api/transport.ts";
import type { Table } from "../api/types.ts";
import { isKnown, largestFirst, type Maybe } from "../base/aggregate.ts";
import { counted, server } from "./answers.ts";
import { showArrival, showPlace, showSlice } from "./evidence.ts";
import { type Call, type Measure, measureOf } from "./ranks.ts";
import { traceQuery, WHOLE_TRACE } from "./route.ts";
import { allRanks, allWorkers, analysisQuery, rowsOf } from "./trace.ts";

type Named = "operators" | "kernels";

/** Where to look: a worker other than the one in view, a step other than the window, another run by its address. */
export interface Where {
  worker?: string | null | undefined;
  step?: number | undefined;
  place?: Record<string, string | undefined>;
}

const only = (column: string, value: string): string => `${column}="${value.replaceAll('"', "")}"`;

/** What the tables asked here have of an event. */
interface Found {
  name?: string | null;
  category?: string | null;
  worst_worker?: string | null;
  slice?: Maybe;
  from?: Maybe;
  to?: Maybe;
}

async function rowsFrom(name: AnalysisName, table: string, extra: Query): Promise<Found[]> {
  const query = { ...analysisQuery(name, extra), table };
  const answer = await server().json<{ tables: Record<string, Table<Found> | undefined> }>(name, query);
  return rowsOf(answer.tables[table]);
}

/** The question about one worker, with the event of each row. */
const at = ({ worker, step }: Where): Query => ({
  ...(worker ? { worker, "all-workers": undefined } : {}),
  ...(step === undefined ? {} : { ...WHOLE_TRACE, step }),
  evidence: "yes",
});

/** The rank that spends most in a name, where the view is of all of them. */
async function worstRank(kind: Named, name: string, run: Query): Promise<string | null> {
  const [row] = await rowsFrom(kind, "workers", { ...allWorkers(), ...run, filter: only("name", name), limit: 1 });
  return row?.worst_worker ?? null;
}

async function findName(kind: Named, name: string, claim: string, where: Where, extra: Query): Promise<void> {
  const { place } = where;
  const run: Query = place ? { ...WHOLE_TRACE, run: place.run, span: undefined } : {};
  const worker = where.worker ?? (allRanks.peek() ? await worstRank(kind, name, run) : place?.worker);
  const filter = [only("name", name), extra.filter].filter(Boolean).join(" ");
  const [row] = await rowsFrom(kind, kind, { ...run, ...at({ ...where, worker }), ...extra, filter, limit: 1 });
  if (isKnown(row?.slice)) showSlice(row.slice, claim, { ...place, ...(worker ? { worker } : {}) });
}

/** Shows the most expensive event of an operator or a kernel; `extra` narrows the question. */
export function showName(kind: Named, name: string, claim = name, where: Where = {}, extra: Query = {}): void {
  if (name) void counted(findName(kind, name, claim, where, extra));
}

async function findWork(claim: string, where: Where): Promise<void> {
  const [kernel] = await rowsFrom("kernels", "kernels", { ...at(where), sort: "max:desc", limit: 1 });
  const host = { ...at(where), sort: "host_self:desc", limit: 1 };
  const row = isKnown(kernel?.slice) ? kernel : (await rowsFrom("operators", "operators", host))[0];
  if (isKnown(row?.slice)) showSlice(row.slice, claim, where.worker ? { worker: where.worker } : {});
}

/** Shows the longest work of a worker: a kernel, without any the operator that costs most. */
export const showWork = (claim: string, where: Where): void => void counted(findWork(claim, where));

async function findCategory(category: string, claim: string, where: Where): Promise<void> {
  const rows = await rowsFrom("overview", "breakdown", at(where));
  const found = rows.find((r) => r.category === category);
  if (found) showPlace(found, claim, where.worker ? { worker: where.worker } : {});
}

/** Shows what takes most of a category of the average step of a worker. */
export const showCategoryOf = (category: string, claim: string, where: Where): void =>
  void counted(findCategory(category, claim, where));

async function findHolder(op: string, query: Query): Promise<void> {
  const rows = await rowsFrom("memory", "contents", { ...at({}), ...query, limit: 0 });
  const found = rows.find((r) => r.name === op && isKnown(r.slice)) ?? rows.find((r) => isKnown(r.slice));
  if (isKnown(found?.slice)) showSlice(found.slice, op);
}

/** Shows the call that allocated the largest block of what an operator holds at the peak. */
export const showHolder = (op: string, query: Query): void => void counted(findHolder(op, query));

async function longestOf(kind: string, range: Query): Promise<number | undefined> {
  const query = { ...traceQuery.peek(), q: `kind:${kind}`, ...range, limit: 1 };
  const found = await server().json<{ names: { longest: { id: number; duration: number } }[] }>("search", query);
  return found.names.map((n) => n.longest).sort(largestFirst((l) => l.duration))[0]?.id;
}

async function findKind(kind: string, within: { from?: Maybe; to?: Maybe }, claim: string): Promise<void> {
  const range = isKnown(within.from) && isKnown(within.to) ? { from: within.from, to: within.to } : {};
  const found = (await longestOf(kind, range)) ?? (await longestOf(kind, {})); // what begins before it reaches into it
  if (found !== undefined) showSlice(found, claim);
}

/** Shows the longest event of a kind that starts within a stretch of time, else the longest of all. */
export const showKind = (kind: string, within: { from?: Maybe; to?: Maybe }, claim: string): void =>
  void counted(findKind(kind, within, claim));

/** The call where a rank loses the most time, by what is measured. */
export function worstCall(calls: readonly Call[], rank: number, measure: Measure): Call | undefined {
  return calls.filter((c) => c.members.has(rank)).sort(largestFirst((c) => measureOf(c, rank, measure)))[0];
}

/** Shows it on that rank; false where none is known. */
export function showCall(calls: readonly Call[], rank: number, measure: Measure, said: (call: Call) => string): boolean {
  const call = worstCall(calls, rank, measure);
  const member = call?.members.get(rank);
  if (!call || !member) return false;
  void counted(showArrival(member, said(call)));
  return true;
}
