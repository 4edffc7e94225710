// From a row of a table to the timeline.
import { isKnown } from "../../base/aggregate.ts";
import { showName } from "../../model/costliest.ts";
import { showSlice } from "../../model/evidence.ts";
import type { TableRow } from "../../widgets/table-types.ts";

/**
 * Shows the event where a row costs most. A row of all ranks has none: that of the rank that spends most in it is
 * asked for.
 */
export function showRow(r: TableRow, claim: string, kind: "operators" | "kernels" | "modules"): void {
  const slice = r.cell("slice");
  if (isKnown(slice)) showSlice(slice, claim);
  else if (kind !== "modules") showName(kind, String(r.cell("name")), claim);
}
