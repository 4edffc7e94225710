// Where the reader is: view, run, worker, span, window, sorting, selection. All of it is in the address,
// so a link shows what its sender saw; back and forward step through choices.
import { computed, signal } from "@preact/signals";

export interface Place {
  view: string;
  params: ReadonlyMap<string, string>;
}

export const VIEWS = [
  "runs",
  "overview",
  "why",
  "code",
  "timeline",
  "operators",
  "kernels",
  "roofline",
  "modules",
  "memory",
  "steps",
  "pipeline",
  "serving",
  "distributed",
  "hang",
  "compare",
  "history",
  "query",
] as const;
export type View = (typeof VIEWS)[number];

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const params = new Map<string, string>();
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    if (equals > 0) params.set(decoded(part.slice(0, equals)), decoded(part.slice(equals + 1)));
  }
  return { view: path || "overview", params };
}

/** Replaces a view that does not exist with the overview. */
export const knownPlace = (p: Place): Place => ((VIEWS as readonly string[]).includes(p.view) ? p : { ...p, view: "overview" });

/** A plus is a plus here, not a blank; an invalid escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const encoded = (text: string) => encodeURIComponent(text).replace(/%(?:2B|3A|2C|2F)/g, (code) => decodeURIComponent(code));

export function writePlace(p: Place): string {
  const given = [...p.params].filter(([, v]) => v !== "");
  const query = given.map(([k, v]) => `${encoded(k)}=${encoded(v)}`).join("&");
  return `#/${p.view}${query ? `?${query}` : ""}`;
}

export const place = signal<Place>(parsePlace(""));
export const view = computed(() => place.value.view as View);

export function param(name: string): string {
  return place.value.params.get(name) ?? "";
}

/** Changes the place. `quiet` replaces the entry in the history: keystrokes of a search, not choices. */
export function go(change: { view?: string; params?: Record<string, string | undefined> }, quiet = false): void {
  const params = new Map(place.value.params);
  for (const [k, v] of Object.entries(change.params ?? {})) {
    if (v === undefined || v === "") params.delete(k);
    else params.set(k, v);
  }
  const next: Place = { view: change.view ?? place.value.view, params };
  const text = writePlace(next);
  if (text === location.hash) return;
  if (quiet) history.replaceState(null, "", text);
  else history.pushState(null, "", text);
  place.value = next;
}

/** A choice among few, kept in the address unless it is the usual one. */
export function choice(name: string, usual: string): [string, (chosen: string) => void] {
  return [param(name) || usual, (chosen) => go({ params: { [name]: chosen === usual ? undefined : chosen } })];
}

/** Follows the address bar from now on. */
export function followAddress(): void {
  const read = () => {
    const there = parsePlace(location.hash);
    const known = knownPlace(there);
    if (known !== there) history.replaceState(null, "", writePlace(known));
    place.value = known;
  };
  addEventListener("popstate", read);
  addEventListener("hashchange", read);
  read();
}

/** The parameters every request about the chosen trace carries. */
export const traceQuery = computed(() => ({
  run: param("run") || undefined,
  worker: param("worker") === "*" ? undefined : param("worker") || undefined, // * = all ranks
  span: param("span") || undefined,
}));

/** A question about all of the trace, whatever the window. */
export const WHOLE_TRACE = { step: undefined, from: undefined, to: undefined } as const;

/** The window, as the API wants it: steps or times, never both. */
export const windowQuery = computed(() => ({
  step: param("step") || undefined,
  from: param("step") ? undefined : param("from") || undefined,
  to: param("step") ? undefined : param("to") || undefined,
}));
