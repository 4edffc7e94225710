// What the parts of the overview count and call the same.
import type { Answer } from "../../api/types.ts";
import { type Row, rowsOf } from "../../model/trace.ts";

export type OverviewStep = Row<"overview", "steps">;
type Answered = Answer<"overview"> | undefined;

/** What its maker calls the device: GPU, NPU, XPU, … */
export const deviceWord = (answer: Answered): string =>
  rowsOf(answer?.tables.configuration).find((r) => r.key === "device_type")?.value || "GPU";

/** The steps that the average is of: where the device work of some was recorded, these. */
export function countedOf(steps: readonly OverviewStep[]): readonly OverviewStep[] {
  const recorded = steps.filter((s) => s.kernel !== null);
  return recorded.length ? recorded : steps;
}
