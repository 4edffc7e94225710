// From a claim to its evidence: the event of the timeline that costs most, and the advice one came from. All of it is
// in the address: `advice` and `event` name what is shown, `claim` the row it was, `back` where one was.
import { isKnown, largestFirst, type Maybe } from "../base/aggregate.ts";
import { server } from "./answers.ts";
import { t } from "./language.ts";
import { go, param, place, traceQuery, writePlace } from "./route.ts";
import { tape } from "./steps.ts";
import { type AskedFor, allRanks, analysis, currentRun, oneWorker, type Row, rowsOf } from "./trace.ts";

export type AdviceLine = Row<"advise", "advice">;
export type AdviceEvent = Row<"advise", "events">;

/** The advice about one worker, whatever the view is of. */
const askOwnAdvice = (): AskedFor<"advise"> => analysis("advise", oneWorker(), allRanks.value ? "advise-own" : "advise");

// ---- advice that the reader put away ----

const mutedKey = () => `tacho.muted.${currentRun.value?.path ?? ""}`;

export function readMuted(): string[] {
  try {
    return JSON.parse(localStorage.getItem(mutedKey()) ?? "[]") as string[];
  } catch {
    return [];
  }
}

export function keepMuted(ids: readonly string[]): void {
  if (ids.length) localStorage.setItem(mutedKey(), JSON.stringify(ids));
  else localStorage.removeItem(mutedKey());
}

/** In the order the page shows it: what saves most first, without what was put away. */
export const inOrder = (rows: readonly AdviceLine[], muted: readonly string[]): AdviceLine[] =>
  rows.filter((r) => !muted.includes(String(r.id))).sort(largestFirst((r) => r.saves));

export const eventsOf = (asked: AskedFor<"advise">, id: string): AdviceEvent[] =>
  rowsOf(asked.value?.tables.events).filter((e) => e.advice === id);

// ---- going there ----

// What a jump replaces: an old view, search or area would hide what it shows.
const FRESH = { view: undefined, top: undefined, area: undefined, tab: undefined, find: undefined, details: undefined };

/** Where one is, to come back to: without the way one came there. */
function here(): string {
  const params = new Map(place.value.params);
  if (place.value.view === "timeline") return params.get("back") ?? "";
  for (const name of ["back", "claim", "advice", "event"]) params.delete(name);
  return writePlace({ view: place.value.view, params });
}

/** A stretch of time with some room at both sides. */
export function stretch(from: number, to: number): string {
  const pad = Math.max(1000, (to - from) * 0.2);
  return `${Math.max(0, Math.round(from - pad))}-${Math.round(to + pad)}`;
}

/** Shows the event where a row costs most; `claim` says what the row was. */
export function showSlice(slice: number, claim: string, params: Record<string, string | undefined> = {}): void {
  go({
    view: "timeline",
    params: { ...FRESH, advice: undefined, event: undefined, sel: `slice:${slice}`, claim, back: here(), ...params },
  });
}

/** Shows a stretch of time that no event fills. */
export function showStretch(from: number, to: number, claim: string, params: Record<string, string | undefined> = {}): void {
  const gone = { ...FRESH, advice: undefined, event: undefined, sel: undefined };
  go({ view: "timeline", params: { ...gone, claim, back: here(), view: stretch(from, to), ...params } });
}

/** The slice of a length on a worker that is nearest to a time: lengths in nanoseconds are nearly unique. */
async function sliceOfLength(worker: string, duration: number, near: number): Promise<number | undefined> {
  const q = `>${Math.max(0, duration - 1)}ns <${duration + 1}ns`;
  const found = await server().json<{ hits: { id: number; start: number; duration: number }[] }>("search", {
    ...traceQuery.peek(),
    worker,
    q,
    limit: 200,
  });
  const same = found.hits.filter((h) => h.duration === duration);
  return same.sort((a, b) => Math.abs(a.start - near) - Math.abs(b.start - near))[0]?.id;
}

/** Shows one member of a collective on its own worker; its time is on the clock of the first one. */
export async function showArrival(a: { worker: string | null; start: Maybe; duration: Maybe }, claim: string): Promise<void> {
  if (!a.worker || !isKnown(a.start) || !isKnown(a.duration)) return;
  const slice = await sliceOfLength(a.worker, a.duration, a.start);
  if (slice !== undefined) showSlice(slice, claim, { worker: a.worker });
  else showStretch(a.start, a.start + a.duration, claim);
}

/** Shows the call of a length: of rows that know how long it was and nothing else. */
export async function showLength(duration: number, claim: string): Promise<void> {
  const slice = await sliceOfLength(String(oneWorker().worker ?? ""), duration, 0);
  if (slice !== undefined) showSlice(slice, claim);
}

/** Shows a step. */
export function showStep(number: number): void {
  const now = tape();
  const at = now ? Array.from(now.numbers).indexOf(number) : -1;
  if (now && at >= 0) showStretch(now.starts[at] as number, now.ends[at] as number, t("step_n", { n: String(number) }));
}

/** Shows the event, else the stretch, of a row that has both. */
export function showPlace(
  row: { slice?: Maybe; from?: Maybe; to?: Maybe },
  claim: string,
  params: Record<string, string | undefined> = {},
): void {
  if (isKnown(row.slice)) showSlice(row.slice, claim, params);
  else if (isKnown(row.from) && isKnown(row.to)) showStretch(row.from, row.to, claim, params);
}

/** What the timeline is asked to show of a piece of advice: the event, or the stretch it names. */
function placeOf(row: AdviceLine, event: AdviceEvent | undefined): Record<string, string | undefined> {
  const { from, to } = event ?? row;
  const view = isKnown(from) && isKnown(to) ? stretch(from, to) : undefined;
  const slice = event ? event.slice : row.slice;
  return { view, sel: isKnown(slice) ? `slice:${slice}` : undefined };
}

/** Opens a piece of advice in the timeline, at one of its events. */
export function showAdvice(row: AdviceLine, events: readonly AdviceEvent[], at = 0): void {
  // Advice about all ranks names the one that shows it best; its events are found there.
  const on = allRanks.value && row.worker ? { worker: String(row.worker) } : {};
  const event = at ? String(at) : undefined;
  const shown = "worker" in on ? { sel: undefined } : placeOf(row, events[at]);
  go({ view: "timeline", params: { ...FRESH, claim: undefined, ...on, ...shown, advice: String(row.id), event, back: here() } });
}

/** Back to where one came from. */
export function goBack(): void {
  const to = param("back");
  const gone = { claim: undefined, advice: undefined, event: undefined, back: undefined };
  if (to) location.hash = to;
  else go({ params: gone });
}

/** Puts the strip away and stays. */
export const closeEvidence = (): void =>
  go({ params: { claim: undefined, advice: undefined, event: undefined, back: undefined } });

// ---- in the timeline ----

export interface ShownAdvice {
  row: AdviceLine;
  rows: readonly AdviceLine[];
  at: number; // of row in rows
  events: readonly AdviceEvent[];
  event: number;
}

/** The advice that the address names, among all of it; undefined while it is on its way, or none is named. */
export function shownAdvice(): ShownAdvice | undefined {
  const id = param("advice");
  if (!id) return undefined;
  const asked = askOwnAdvice();
  if (asked.old) return undefined; // still that of another worker, or of all
  const rows = inOrder(rowsOf(asked.value?.tables.advice), readMuted());
  const at = rows.findIndex((r) => r.id === id);
  const row = rows[at];
  if (!row) return undefined;
  const events = eventsOf(asked, id);
  return { row, rows, at, events, event: Math.min(Math.max(0, events.length - 1), Number(param("event") || 0)) };
}

/** The next or previous event of the advice in view; round at the ends. */
export function goToEvent(by: 1 | -1): boolean {
  const shown = shownAdvice();
  if (!shown || shown.events.length < 2) return false;
  showAdvice(shown.row, shown.events, (shown.event + by + shown.events.length) % shown.events.length);
  return true;
}

/** The next or previous advice, at its most expensive event. */
export function goToAdvice(by: 1 | -1): boolean {
  const shown = shownAdvice();
  const next = shown?.rows[(shown.at + by + shown.rows.length) % shown.rows.length];
  if (!shown || !next || shown.rows.length < 2) return false;
  showAdvice(next, eventsOf(askOwnAdvice(), String(next.id)));
  return true;
}
