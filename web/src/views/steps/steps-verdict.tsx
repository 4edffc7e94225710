// The sentence above the steps: which one is not like the others, by what, and the way there.
import type { Query } from "../../api/transport.ts";
import { isKnown, largest, largestFirst, mean, smallest, sum } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { CATEGORIES } from "../../draw/patterns.tsx";
import { showSlice, showStep } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { windowQuery } from "../../model/route.ts";
import { analysis, rowsOf } from "../../model/trace.ts";
import { lengthOf, type Step } from "../shared/step-trace.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { allOverview } from "./step-curves.tsx";

/** The step that the verdict names, else the longest; a verdict with an event leads there: to a collective, or to loading. */
function showOddest(values: Record<string, unknown> | undefined, rows: readonly Step[]): (() => void) | undefined {
  const slice = values?.slice;
  if (isKnown(slice)) return () => showSlice(slice, String(values?.collective ?? t("cat_data_loader")));
  const step = values?.step ?? [...rows].sort(largestFirst(lengthOf))[0]?.step;
  return isKnown(step) ? () => showStep(step) : undefined;
}

/** The verdict is about the window; for one step it says how it compares with all. */
export function StepsVerdict({ query, all }: { query: Query; all: readonly Step[] }) {
  const inWindow = analysis("steps", { ...query, ...windowQuery.value, limit: 0, table: "steps" }, "steps-window");
  const rows = rowsOf(inWindow.value?.tables.steps);
  const usual = mean(rows, lengthOf);
  const sorted = all
    .map(lengthOf)
    .filter(isKnown)
    .sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  const v = short(usual, "ns");
  return (
    <Verdict
      answer={inWindow.value}
      otherwise={t("steps")}
      show={showOddest(inWindow.value?.verdict?.values, rows)}
      facts={[
        rows.length === 1 ? t("fact_one_step", { n: String(rows[0]?.step), v }) : t("fact_steps", { n: rows.length, v }),
        rows.length === 1 && all.length > 1 && usual && median
          ? t("fact_beside", { x: (usual / median).toFixed(2), n: all.length })
          : undefined,
        rows.length > 1
          ? t("fact_range", { a: short(smallest(rows, lengthOf), "ns"), b: short(largest(rows, lengthOf), "ns") })
          : undefined,
        rows.some((r) => isKnown(r.communication)) ? t("fact_exposed", exposedOf(rows)) : undefined,
        partFact(inWindow.value?.verdict?.values?.step, rows),
      ]}
    />
  );
}

/** Which part it is: of the step that the verdict names the one that grew most over its median, else the largest. */
function partFact(named: unknown, window: readonly Step[]): string | undefined {
  const rows = rowsOf(allOverview().value?.tables.steps);
  const apart = typeof named === "number" ? grownPart(rows, named) : undefined;
  if (apart) return t("fact_grown", { n: String(named), v: short(apart.by, "ns"), c: t(`cat_${apart.category}`) });
  const most = largestPart(rows.filter((r) => window.some((w) => w.step === r.step)));
  if (!most || most.category === "other") return undefined;
  return t("fact_largest_part", { c: t(`cat_${most.category}`), p: short(most.share, "share") });
}

type CategoryStep = Partial<Record<(typeof CATEGORIES)[number], number | null>> & { step: number | null };

/** The category that takes most of some steps, and its share of them; steps whose work is not known are left out. */
export function largestPart(steps: readonly (CategoryStep & { total: number | null })[]) {
  const known = steps.filter((r) => isKnown(r.kernel));
  const counted = known.length ? known : steps;
  const parts = CATEGORIES.map((category) => ({ category, time: sum(counted, (r) => r[category]) }));
  const [most] = parts.sort(largestFirst((p) => p.time));
  const whole = sum(counted, (r) => r.total);
  return most && most.time > 0 && whole > 0 ? { category: most.category, share: most.time / whole } : undefined;
}

/** The category in which a step is longest over the median of all steps; none where it is not longer. */
export function grownPart(rows: readonly CategoryStep[], step: number) {
  const own = rows.find((r) => r.step === step);
  if (!own || rows.length < 3) return undefined;
  const grown = CATEGORIES.map((category) => {
    const sorted = rows.map((r) => r[category] ?? 0).sort((a, b) => a - b);
    return { category, by: (own[category] ?? 0) - (sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) };
  });
  const [most] = grown.sort(largestFirst((g) => g.by));
  return most && most.by > 0 ? most : undefined;
}

/** Communication of the steps that have any, on average: what is exposed of it, and all of it. */
export function exposedOf(rows: readonly Pick<Step, "communication" | "exposed_communication">[]) {
  const exposed = mean(rows, (r) => r.exposed_communication);
  const all = mean(rows, (r) => r.communication);
  return { v: short(exposed, "ns"), w: short(all, "ns") };
}
