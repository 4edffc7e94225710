// From a row of a table to the timeline.
import { isKnown } from "../../base/aggregate.ts";
import { showSlice } from "../../model/evidence.ts";
import { go } from "../../model/route.ts";
import type { TableRow } from "../../widgets/table-types.ts";

/**
 * Shows the event where a row costs most. Of all ranks no event is known: the longest one of the name in the first
 * trace is looked for.
 */
export function showRow(r: TableRow, claim: string, kind: "operator" | "kernel" | "module", find?: string): void {
  const slice = r.cell("slice");
  const name = String(r.cell(kind === "module" ? "module" : "name"));
  if (isKnown(slice)) showSlice(slice, claim);
  else go({ view: "timeline", params: { find: find ?? name, sel: `${kind}:${name}` } });
}
