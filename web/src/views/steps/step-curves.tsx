// Parts of the steps as curves: MindSpore's of its step trace, else the overview's categories.
import type { Answer } from "../../api/types.ts";
import { short } from "../../base/format.ts";
import { Sparkline } from "../../draw/charts/step-lanes.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { analysis, csvUrl, num, oneWorker, type Row, rowsOf } from "../../model/trace.ts";
import { type Defined, Panel } from "../../widgets/panel.tsx";
import { FILL, isKnown, lengthOf, partsOf, type StepPart } from "../shared/step-trace.tsx";
import { defined } from "../shared/table-source.ts";

/** The overview of all steps: where Steps takes categories and stages from, so that both say the same. */
export const allOverview = () => analysis("overview", { ...oneWorker(), ...WHOLE_TRACE }, "steps-overview");

export function pickStep(n: number, shift: boolean): void {
  go({ params: { show: undefined } }, true);
  const now = Number(param("step").split("..")[0] || n);
  if (shift) setSteps(now, n);
  else setSteps(n, n);
}

const PART_COLUMN = { forward_backward: "forward_backward", tail: "tail" } as const;

interface CurveProps {
  part: StepPart;
  rows: readonly Row[];
  answer: Answer | undefined;
  chosen: Row | undefined;
}

export function PartCurve({ part, rows, answer, chosen }: CurveProps) {
  return (
    <Curve
      name={t(`part_${part}`)}
      colour={FILL[part]}
      rows={rows}
      values={isKnown(rows, part) ? rows.map((r) => partsOf(r)[part]) : []}
      whole={rows.length ? rows.reduce((s, r) => s + lengthOf(r), 0) / rows.length : 0}
      define={part === "interval" ? { help: t("interval_help") } : defined(answer, "steps", PART_COLUMN[part])}
      chosen={chosen}
    />
  );
}

const CURVES = 3; // categories with the most time

/** The overview's categories over the steps, those that take most. */
export function CategoryCurves({ chosen }: { chosen: Row | undefined }) {
  const answer = allOverview().value;
  const rows = rowsOf(answer?.tables.steps);
  const sum = (c: string) => rows.reduce((s, r) => s + num(r[c]), 0);
  const largest = [...CATEGORIES].sort((a, b) => sum(b) - sum(a)).slice(0, CURVES);
  return (
    <>
      {largest.map((c) => (
        <Curve
          key={c}
          name={t(`cat_${c}`)}
          colour={c === "other" ? "var(--other)" : fillOf(c)}
          rows={rows}
          values={rows.some((r) => r[c] !== null) ? rows.map((r) => num(r[c])) : []}
          whole={rows.length ? sum("total") / rows.length : 0}
          define={defined(answer, "steps", c)}
          chosen={rows.find((r) => r.step === chosen?.step)}
        />
      ))}
    </>
  );
}

interface OneCurve {
  name: string;
  colour: string;
  rows: readonly Row[];
  values: readonly number[];
  whole: number; // mean length of a step
  define: Defined;
  chosen: Row | undefined;
}

function Curve({ name, colour, rows, values, whole, define, chosen }: OneCurve) {
  const known = values.length > 0;
  const own = known ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  return (
    <Panel
      span="w4"
      name={name}
      title={name}
      words={known ? `${short(own, "ns")} · ${short(whole ? own / whole : 0, "share")}` : t("not_recorded")}
      define={define}
      csv={csvUrl("steps", "steps", WHOLE_TRACE)}
      controls={
        values.length ? (
          <span class="t3">{`${short(Math.min(...values), "ns")} – ${short(Math.max(...values), "ns")}`}</span>
        ) : null
      }
    >
      <div class="pad">
        {known ? (
          <Sparkline
            values={values}
            colour={colour}
            height={70}
            label={name}
            mark={chosen ? rows.indexOf(chosen) : -1}
            card={(i) => `${t("step_n", { n: String(rows[i]?.step) })} · ${short(values[i] ?? 0, "ns")}`}
            onPoint={(i, shift) => pickStep(num(rows[i]?.step), shift)}
          />
        ) : null}
      </div>
    </Panel>
  );
}
