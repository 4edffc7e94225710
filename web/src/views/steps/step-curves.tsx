// Parts of the steps as curves: those of the step trace where it was recorded, else the overview's categories.
import type { Answer } from "../../api/types.ts";
import { largest, largestFirst, mean, self, shareOf, smallest, sum } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { Lines } from "../../draw/charts/lines.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { analysis, csvUrl, oneWorker, rowsOf } from "../../model/trace.ts";
import { type Defined, Panel } from "../../widgets/panel.tsx";
import { FILL, lengthOf, partsOf, type Step, type StepPart } from "../shared/step-trace.tsx";
import { defined } from "../shared/table-source.ts";

/** The overview of all steps: where Steps takes categories and stages from, so that both say the same. */
export const allOverview = () => analysis("overview", { ...oneWorker(), ...WHOLE_TRACE }, "steps-overview");

export function pickStep(n: number, shift: boolean): void {
  go({ params: { show: undefined } }, true);
  const now = Number(param("step").split("..")[0] || n);
  if (shift) setSteps(now, n);
  else setSteps(n, n);
}

interface CurveProps {
  part: StepPart;
  rows: readonly Step[];
  answer: Answer<"steps"> | undefined;
  chosen: Step | undefined;
}

export function PartCurve({ part, rows, answer, chosen }: CurveProps) {
  return (
    <Curve
      name={t(`part_${part}`)}
      color={FILL[part]}
      steps={rows.map((r) => r.step)}
      values={rows.map((r) => partsOf(r)[part])}
      whole={mean(rows, lengthOf)}
      define={part === "interval" ? { help: t("interval_help") } : defined(answer, "steps", part)}
      chosen={chosen?.step}
    />
  );
}

const CURVES = 3; // categories with the most time

/** The overview's categories over the steps, those that take most. */
export function CategoryCurves({ chosen }: { chosen: Step | undefined }) {
  const answer = allOverview().value;
  const rows = rowsOf(answer?.tables.steps);
  const most = [...CATEGORIES].sort(largestFirst((c) => sum(rows, (r) => r[c]))).slice(0, CURVES);
  return (
    <>
      {most.map((c) => (
        <Curve
          key={c}
          name={t(`cat_${c}`)}
          color={c === "other" ? "var(--other)" : fillOf(c)}
          steps={rows.map((r) => r.step)}
          values={rows.map((r) => r[c])}
          whole={mean(rows, (r) => r.total)}
          define={defined(answer, "steps", c)}
          chosen={chosen?.step}
        />
      ))}
    </>
  );
}

interface OneCurve {
  name: string;
  color: string;
  steps: readonly (number | null)[];
  values: readonly (number | null)[]; // of each step; null: not known of it
  whole: number | null; // mean length of a step
  define: Defined;
  chosen: number | null | undefined;
}

function Curve({ name, color, steps, values, whole, define, chosen }: OneCurve) {
  const own = mean(values, self);
  const [least, most] = [smallest(values, self), largest(values, self)];
  const at = chosen === undefined ? -1 : steps.indexOf(chosen);
  return (
    <Panel
      span="w4"
      name={name}
      title={name}
      words={own === null ? t("not_recorded") : `${short(own, "ns")} · ${short(shareOf(own, whole), "share")}`}
      define={define}
      csv={csvUrl("steps", "steps", WHOLE_TRACE)}
      controls={own === null ? null : <span class="t3">{`${short(least, "ns")} – ${short(most, "ns")}`}</span>}
    >
      <div class="pad">
        {own === null ? null : (
          <Lines
            spark
            lines={[{ id: name, label: name, color, points: values.map((v, i) => [i, v] as const) }]}
            height={70}
            label={name}
            low={least}
            top={most}
            x={(i) => t("step_n", { n: String(steps[i]) })}
            y={(v) => short(v, "ns")}
            chosen={at >= 0 ? at : undefined}
            onPlace={(i, shift) => pickStep(steps[i] ?? 0, shift)}
          />
        )}
      </div>
    </Panel>
  );
}
