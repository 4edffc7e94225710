// One operator, one color, in all pictures of the memory view: in the order of what holds most at the peak, then of what
// a picture shows besides.
import { largestFirst } from "../../base/aggregate.ts";
import { analysis, rowsOf } from "../../model/trace.ts";
import { onDevice } from "./memory-query.ts";

/** Places of names in the order of colors; a name that is not there yet gets the next one. */
export function colorPlaces(first: readonly string[], more: readonly string[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const name of [...first, ...more]) if (!places.has(name)) places.set(name, places.size);
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
