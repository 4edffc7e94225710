// Why: the bottleneck of a step, and how long it would be if something were different.
import { isKnown, largestFirst, sum } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { type AskedFor, hasData, rowsOf } from "../../model/trace.ts";
import { askCritical, askWhatIf, typicalStep, w } from "../../model/why.ts";
import { Headline, Verdict } from "../shared/verdict.tsx";
import { IdleCauses } from "./idle-causes.tsx";
import { Kinds, largestOf, showKind } from "./kinds.tsx";
import { OnPath } from "./on-path.tsx";
import { PathPanel } from "./path-panel.tsx";
import { WhatIf } from "./what-if.tsx";

/** For a verdict that names no event: the largest part of the path. */
function showLargest(asked: AskedFor<"critical">): (() => void) | undefined {
  if (isKnown(asked.value?.verdict?.values.slice)) return undefined;
  const kind = rowsOf(asked.value?.tables.by_kind).sort(largestFirst((r) => r.time))[0]?.kind ?? "";
  return largestOf(asked, kind) ? () => showKind(asked, kind) : undefined;
}

const NO_PATH = ["critical_no_steps", "critical_no_host"];

const lengthOf = (r: { step: number | null; recorded: number | null }) => ({ n: String(r.step), v: short(r.recorded, "ns") });

export function Why() {
  if (!hasData("why")) return <Headline title={w("none")} facts={[w("none_words")]} />;
  const asked = askCritical();
  const whatif = askWhatIf();
  const steps = rowsOf(whatif.value?.tables.steps);
  const typical = typicalStep(steps);
  const off = sum(rowsOf(asked.value?.tables.slack), (r) => r.off_path);
  const facts = [
    typical?.recorded
      ? steps.length === 1
        ? t("fact_one_step", lengthOf(typical))
        : w("fact_step", lengthOf(typical))
      : undefined,
    off > 0 ? w("fact_off", { v: short(off, "ns") }) : undefined,
  ];
  // Without a path there is nothing to draw, to add up or to replay.
  const none = NO_PATH.includes(asked.value?.verdict?.id ?? "");
  return (
    <>
      <Verdict answer={asked.value} otherwise={t("why")} facts={facts} show={showLargest(asked)} />
      <div class="grid">
        {none ? null : (
          <>
            <PathPanel steps={steps} />
            <div class="w12 why-row">
              <Kinds asked={asked} />
              <WhatIf critical={asked} asked={whatif} />
            </div>
          </>
        )}
        <IdleCauses />
        {none ? null : <OnPath asked={asked} />}
      </div>
    </>
  );
}
