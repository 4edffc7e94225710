// Baselines of a folder over time. The words of the History view are here too, since they are fetched with it.
import { enHistory } from "../text/en-history.ts";
import { fill } from "../text/fill.ts";
import { zhHistory } from "../text/zh-history.ts";
import { language } from "./language.ts";
import { type AskedFor, allWorkers, analysis } from "./trace.ts";

export type HistoryKey = keyof typeof enHistory;

/** A sentence of the History view. */
export function h(key: HistoryKey, values: Record<string, string | number> = {}): string {
  return fill((language.value === "zh" ? zhHistory : enHistory)[key], values);
}

/** All baselines of the run, whichever is in view. */
export const askHistory = (): AskedFor<"history"> => analysis("history", { ...allWorkers(), limit: 0 }, "history");
