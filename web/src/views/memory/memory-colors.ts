// One operator, one color, in all pictures of the memory view: in the order of what holds most at the peak, then of what
// a picture shows besides.
import { largestFirst } from "../../base/aggregate.ts";
import { analysis, rowsOf } from "../../model/trace.ts";
import { onDevice } from "./memory-query.ts";

const COLORS = 12;

/**
 * Places of names in the order of colors. A new name gets the next color that no name has, otherwise one that none of
 * this picture has: in one picture no two share one while there are enough.
 */
export function colorPlaces(first: readonly string[], more: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map(first.slice(0, COLORS).map((name, i) => [name, i]));
  const shown = new Set(more.flatMap((name) => places.get(name) ?? []));
  for (const name of more) {
    if (places.has(name)) continue;
    const unseen = Array.from({ length: COLORS }, (_, i) => i).find((i) => !shown.has(i));
    const place = places.size < COLORS ? places.size : (unseen ?? places.size);
    places.set(name, place);
    shown.add(place);
  }
  return places;
}

/** Operators that hold memory at the peak of the whole window, the largest first. */
export function holdersAtPeak(device: string): string[] {
  const query = { table: "contents", limit: 0, by: "op", filter: onDevice(device) };
  return rowsOf(analysis("memory", query, "memory-colors").value?.tables.contents)
    .filter((r) => r.device === device && r.name !== null)
    .sort(largestFirst((r) => r.bytes))
    .map((r) => String(r.name));
}
