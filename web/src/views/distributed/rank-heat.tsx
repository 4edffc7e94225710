// A heat map whose rows are ranks: large cells with numbers for a few, thin rows on a canvas for many.
import { scaleOf, short } from "../../base/format.ts";
import { roundUp } from "../../base/scale.ts";
import { Heat, type HeatProps, HeatScale } from "../../draw/charts/heat.tsx";
import { HeatMany } from "../../draw/charts/heat-many.tsx";
import { t } from "../../model/language.ts";
import { type Call, type Measure, measureOf } from "../../model/ranks.ts";
import { go } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { Segmented } from "../../widgets/controls.tsx";

export const MANY = 64; // ranks: from here on rows are thin

export const rankWord = (rank: number | string): string => (typeof rank === "number" ? t("rank_n", { n: rank }) : rank);

/** One rank in one call, in words. */
export const saidOf = (call: Call, rank: number, measure: Measure): string =>
  `${rankWord(rank)}, ${t("step_n", { n: call.step })}, ${call.name}: ${short(measureOf(call, rank, measure), "ns")} ${t(`heat_${measure}`)}`;

/** The scale of a map by its largest value. */
export function heatScale(largest: number) {
  const max = roundUp(largest);
  const scale = scaleOf("ns", max);
  return { max, unit: scale.unit, format: (v: number) => (v / scale.factor).toFixed(1) };
}

export function RankHeat(props: HeatProps) {
  return (
    <div class="pad">
      {props.ranks.length > MANY ? <HeatMany {...props} version={themeVersion.value} /> : <Heat {...props} />}
    </div>
  );
}

/** A click on a cell with Shift: its step is the window, its rank is chosen. */
export function chooseCell(step: number, rank: number | string): void {
  setSteps(step, step);
  go({ params: { sel: `rank:${rank}` } }, true);
}

interface ControlsProps<M extends string> {
  largest: number;
  ranks: number;
  order: [string, (id: string) => void];
  measures: readonly { id: M; label: string }[];
  measure: M;
  onMeasure: (id: string) => void;
}

/** The ramp, the order of many ranks, and what the cells are. */
export function HeatControls<M extends string>({ largest, ranks, order, measures, measure, onMeasure }: ControlsProps<M>) {
  const [chosen, choose] = order;
  return (
    <>
      {largest > 0 ? <HeatScale low="0" high={short(roundUp(largest), "ns").replace(/\.0+/, "")} /> : null}
      {ranks > MANY ? (
        <Segmented label={t("order")} chosen={chosen} onChoose={choose} choices={{ rank: t("by_rank"), value: t("by_value") }} />
      ) : null}
      <Segmented label={t("measure")} chosen={measure} onChoose={onMeasure} choices={measures} />
    </>
  );
}
