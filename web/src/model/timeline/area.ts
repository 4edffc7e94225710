// What an area holds: one question to a trace alone, one to each rank of several, and their answers as one.
import type { Query } from "../../api/transport.ts";
import type { ApiError, Table } from "../../api/types.ts";
import { largest, smallest, sum } from "../../base/aggregate.ts";
import { isCounter } from "../../draw/timeline/folds.ts";
import { FOUND_STEPS } from "../../draw/timeline/found-steps.ts";
import { laneIn, ownLane, placeOf } from "../../draw/timeline/together.ts";
import { ask, server } from "../answers.ts";
import { language } from "../language.ts";
import { param, traceQuery } from "../route.ts";
import { currentRun, rowsOf } from "../trace.ts";
import { laneList } from "./picture-store.ts";
import { resting } from "./search.ts";
import { type Area, stage } from "./state.ts";
import { isTogether, type Member, members, ownRange } from "./together.ts";
import type { AreaAnswer, AreaTables } from "./types.ts";

/** Kinds of events an area can be narrowed to. The events around the work would lead every list: they are only shown on
 * request. */
export const AREA_KINDS = ["work", "kernel", "copies", "op", "runtime", "collective", "python", "all"] as const;
export type AreaKind = (typeof AREA_KINDS)[number];

const FILTERS: Record<AreaKind, string | undefined> = {
  work: ["python", "module", "span", "step", "device_annotation"].map((k) => `-kind="${k}"`).join(" "),
  kernel: 'kind="kernel"',
  copies: "kind:mem",
  op: 'kind="op"',
  runtime: 'kind="runtime"',
  collective: 'kind="collective"',
  python: 'kind="python"',
  all: undefined,
};

const MOST_NAMES = 500;

export interface AreaQuestion {
  table: "area" | "tracks" | "counters" | "idle";
  kind: AreaKind;
  sort: string;
}

/** Lanes of an area that belong to one trace, with its times. */
interface Part {
  of: Member | undefined;
  from: number;
  to: number;
  lanes: number[]; // as the trace numbers them
}

export function partsOf(a: Area): Part[] {
  if (!isTogether.value) return [{ of: undefined, from: a.from, to: a.to, lanes: a.lanes }];
  return members().flatMap((m) => {
    const own = ownRange(m, a);
    const lanes = a.lanes.filter((id) => placeOf(id) === m.place).map(ownLane);
    return own && lanes.length ? [{ of: m, from: Math.max(0, own.from), to: own.to, lanes }] : [];
  });
}

function queryOfPart(p: Part, q: AreaQuestion): Query {
  const byName = q.table === "area";
  return {
    ...traceQuery.value,
    ...(p.of ? { worker: p.of.worker } : {}),
    from: Math.round(p.from),
    to: Math.round(p.to),
    lanes: laneList(p.lanes.map((id) => ({ id, coarse: false }))),
    sort: byName ? q.sort : undefined,
    filter: byName ? FILTERS[q.kind] : undefined,
    table: byName || q.table === "idle" ? q.table : undefined,
    limit: byName ? MOST_NAMES : undefined,
    lang: language.value,
  };
}

/** Whether the stage still shows the trace before this one: its lanes mean nothing here. */
function isLeft(): boolean {
  const shown = stage.tracks?.trace;
  const wanted = currentRun.value;
  if (!shown || !wanted) return false;
  const worker = wanted.workers.find((w) => w.name === param("worker"))?.name;
  return shown.run !== wanted.name || (worker !== undefined && shown.worker !== "*" && shown.worker !== worker);
}

const MOST_ASKED = 8; // ranks that are asked about what is in view

/** What is in view once it rests, as an area: its streams where it has some, or everything that is not a counter. */
export function areaInView(of: "device" | "all"): Area | undefined {
  const r = resting.value;
  if (isLeft()) return undefined;
  const lanes =
    stage.tracks?.lanes.filter((l) => !isCounter(l.kind) && l.kind !== "instants" && ownLane(l.id) !== FOUND_STEPS) ?? [];
  const streams = lanes.filter((l) => l.kind === "stream");
  const asked = of === "device" && streams.length ? streams : lanes;
  if (!r || asked.length === 0 || members().length > MOST_ASKED) return undefined;
  return { from: Math.max(0, r.from), to: Math.min(stage.whole, r.to), lanes: asked.map((l) => l.id) };
}

/** The address of everything an area holds by name, as CSV; of several ranks there is none. */
export function areaCsv(a: Area, q: AreaQuestion): string | undefined {
  const [part, ...more] = partsOf(a);
  return part && more.length === 0 ? server().url("area", { ...queryOfPart(part, q), limit: 0, format: "csv" }) : undefined;
}

interface AskedArea {
  value: AreaAnswer | undefined;
  error: ApiError | undefined;
}

export function askArea(a: Area, q: AreaQuestion, slot = "tl_area"): AskedArea {
  const asked = partsOf(a).map((p) => ({
    of: p.of,
    ...ask<AreaAnswer>(p.of ? `${slot} ${p.of.place}` : slot, "area", queryOfPart(p, q)),
  }));
  const error = asked.find((x) => x.error)?.error;
  const there = asked.flatMap((x) => (x.value ? [x.of ? ofRank(x.value, x.of.place) : x.value] : []));
  if (there.length < asked.length) return { value: undefined, error };
  return { value: there.length === 1 ? there[0] : mergedAreas(there, q.sort), error };
}

/** Lanes of a rank, as the stage numbers them. */
function ofRank(a: AreaAnswer, place: number): AreaAnswer {
  const placed = <R extends { lane: number }>(t: Table<R> | undefined): Table<R> | undefined =>
    t &&
    withRows(
      t,
      rowsOf(t).map((r) => ({ ...r, lane: laneIn(place, r.lane) })),
    );
  const { tracks, counters } = a.tables;
  return {
    tables: { ...a.tables, ...(tracks ? { tracks: placed(tracks) } : {}), ...(counters ? { counters: placed(counters) } : {}) },
  } as AreaAnswer;
}

/** A table with other rows in the same columns. */
function withRows<R extends object>(t: Table<R>, rows: readonly R[]): Table<R> {
  const cells = rows.map((r) => t.columns.map((c) => (r as Record<string, unknown>)[c.name]));
  return { ...t, rows: cells as Table<R>["rows"] };
}

type Name = AreaTables["area"];

function mergedNames(rows: readonly Name[]): Name[] {
  const byName = new Map<string, Name[]>();
  for (const r of rows) byName.set(`${r.kind} ${r.name}`, [...(byName.get(`${r.kind} ${r.name}`) ?? []), r]);
  return [...byName.values()].map((list) => {
    const [count, total] = [sum(list, (r) => r.count), sum(list, (r) => r.total)];
    return {
      ...(list[0] as Name),
      count,
      total,
      self: sum(list, (r) => r.self),
      mean: count > 0 ? total / count : null,
      min: smallest(list, (r) => r.min),
      max: largest(list, (r) => r.max),
    };
  });
}

function mergedIdle(rows: readonly AreaTables["idle"][], ranks: number): AreaTables["idle"][] {
  const causes = [...new Set(rows.map((r) => r.cause))];
  return causes.map((cause) => {
    const own = rows.filter((r) => r.cause === cause);
    return { cause, time: sum(own, (r) => r.time), share: sum(own, (r) => r.share) / ranks };
  });
}

/** Answers of several ranks as one: names and idle time added up, tracks and counters one below the other. */
export function mergedAreas(list: readonly AreaAnswer[], sort: string): AreaAnswer | undefined {
  const first = list[0]?.tables;
  if (!first) return undefined;
  const [key = "", way] = sort.split(":");
  const by = (r: Name) => r[key as keyof Name] ?? 0;
  const order = (a: Name, b: Name) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0) * (way === "desc" ? -1 : 1);
  const all = <T extends keyof AreaTables>(name: T) =>
    list.flatMap((a) => rowsOf(a.tables[name] as Table<AreaTables[T]> | undefined));
  const tables: AreaAnswer["tables"] = {};
  if (first.area) tables.area = withRows(first.area, mergedNames(all("area")).sort(order));
  if (first.tracks) tables.tracks = withRows(first.tracks, all("tracks"));
  if (first.counters) tables.counters = withRows(first.counters, all("counters"));
  if (first.idle) tables.idle = withRows(first.idle, mergedIdle(all("idle"), list.length));
  return { tables };
}
