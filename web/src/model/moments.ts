// From a box of a flame graph, a module of another run or a moment of the memory curve to its event, asked of the server
// when the user wants to see it. Only views that are fetched later use it.
import type { Query } from "../api/transport.ts";
import type { Table } from "../api/types.ts";
import { isKnown, largestFirst, type Maybe } from "../base/aggregate.ts";
import { counted, server } from "./answers.ts";
import { showSlice, showStretch } from "./evidence.ts";
import { traceQuery, WHOLE_TRACE, windowQuery } from "./route.ts";
import { oneWorker, rowsOf } from "./trace.ts";

type Place = Record<string, string | undefined>;

export interface Found {
  name?: string | null;
  category?: string | null;
  module?: string | null;
  device?: string | null;
  allocated?: Maybe;
  allocated_at?: Maybe;
  time?: Maybe;
  start?: Maybe;
  end?: Maybe;
  duration?: Maybe;
  slice?: Maybe;
  from?: Maybe;
  to?: Maybe;
}

/** Rows of an analysis of one worker: the one in view, or that of a place. */
export async function rowsFrom(name: string, table: string, place: Place | undefined, extra: Query): Promise<Found[]> {
  const own: Query = { ...traceQuery.peek(), ...oneWorker(), ...windowQuery.peek() };
  const trace: Query = place ? { run: place.run, worker: place.worker, ...WHOLE_TRACE } : own;
  const query = { ...trace, evidence: "yes", limit: 0, table, ...extra };
  const answer = await server().json<{ tables: Record<string, Table<Found> | undefined> }>(name, query);
  return rowsOf(answer.tables[table]);
}

const exactly = (column: string, value: string): string => `${column}="${value.replaceAll('"', "")}"`;

// ---- flame graphs ----

interface Names {
  names: { name: string; longest: { id: number; duration: number } }[];
}

/** The longest event whose name has all of these words; one that is nothing else comes first. */
async function longestNamed(words: readonly string[]): Promise<number | undefined> {
  const q = words.map((w) => `"${w.replaceAll('"', "")}"`).join(" ");
  const query = { ...traceQuery.peek(), worker: oneWorker().worker, q, limit: 1 };
  const { names } = await server().json<Names>("search", query);
  const same = names.filter((n) => n.name === words[0]);
  return (same.length ? same : names).map((n) => n.longest).sort(largestFirst((l) => l.duration))[0]?.id;
}

async function findCalled(words: readonly string[], claim: string): Promise<void> {
  const filter = exactly("name", words[0] ?? "");
  const operator = words.length > 1 ? undefined : (await rowsFrom("operators", "operators", undefined, { filter, limit: 1 }))[0];
  const slice = isKnown(operator?.slice) ? operator.slice : await longestNamed(words);
  if (slice !== undefined) showSlice(slice, claim, { worker: String(oneWorker().worker ?? "") || undefined });
}

/**
 * Shows what a name of a flame graph costs most at: of an operator the call with the longest device work, of anything else
 * the longest call. Frames of Python are `name (file:line)` there, and have both words in the timeline.
 */
export function showCalled(name: string): void {
  const [, what = name, file] = /^(.*) \((.*):\d+\)$/.exec(name) ?? [];
  void counted(findCalled(file ? [what, file] : [what], name));
}

// ---- memory ----

/** Finds the last allocation before a moment and shows it, else the moment. */
export async function findMoment(time: number, device: string, claim: string, place: Place | undefined): Promise<void> {
  const filter = `${exactly("device", device)} kind:allocation allocated_at<=${Math.round(time)}ns`;
  const [row] = await rowsFrom("memory", "events", place, { ...WHOLE_TRACE, filter, sort: "allocated_at:desc", limit: 1 });
  if (isKnown(row?.slice)) showSlice(row.slice, claim, place);
  else showStretch(time, time + 1, claim, place);
}

/** Shows the last allocation on a device up to a moment: what made its memory what it is then. */
export const showMoment = (time: number, device: string, claim: string, place?: Place): void =>
  void counted(findMoment(time, device, claim, place));

// ---- comparisons ----

async function findModule(module: string, claim: string, place: Place): Promise<void> {
  const rows = await rowsFrom("modules", "modules", place, {});
  const found = rows.find((r) => r.module === module && isKnown(r.slice));
  if (isKnown(found?.slice)) showSlice(found.slice, claim, place);
}

/** Shows the call of a module that costs most in a run. */
export const showModuleIn = (module: string, claim: string, place: Place): void => void counted(findModule(module, claim, place));

async function findPart(category: string, claim: string, place: Place): Promise<void> {
  const found = (await rowsFrom("overview", "breakdown", place, {})).find((r) => r.category === category);
  if (isKnown(found?.slice)) showSlice(found.slice, claim, place);
  else if (isKnown(found?.from) && isKnown(found.to)) showStretch(found.from, found.to, claim, place);
}

/** Shows what takes most of a category of the average step of a run. */
export const showPartIn = (category: string, claim: string, place: Place): void => void counted(findPart(category, claim, place));
