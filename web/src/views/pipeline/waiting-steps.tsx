// The steps as bars: how long each of them waited for its data, and what the rest of it was.
import { largest, type Maybe } from "../../base/aggregate.ts";
import { chartScale } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { param } from "../../model/route.ts";
import { Legend } from "../../widgets/controls.tsx";
import { type Defined, Panel } from "../../widgets/panel.tsx";
import { Card, StepColumns } from "../shared/step-bars.tsx";

interface WaitingStep {
  step: number | null;
  total: number | null;
  parts: readonly Maybe[]; // in the order of the legend
}

interface Props {
  steps: readonly WaitingStep[];
  legend: readonly { label: string; color: string }[];
  define: Defined;
  csv: string;
  asked: NonNullable<Parameters<typeof Panel>[0]["asked"]>;
}

export function WaitingSteps({ steps, legend, define, csv, asked }: Props) {
  const longest = largest(steps, (s) => s.total, 1);
  const scale = chartScale("ns", longest);
  const bars = steps.map((s) => ({
    id: String(s.step),
    total: s.total ?? 0,
    parts: legend.map(({ label, color }, i) => ({ id: label, value: s.parts[i] ?? 0, fill: color })),
    chosen: String(s.step) === param("step"),
    card: (
      <Card
        title={t("step_n", { n: String(s.step) })}
        parts={legend.map(({ label }, i) => [label, s.parts[i]])}
        total={s.total}
      />
    ),
  }));
  return (
    <Panel
      span="w7"
      name={t("steps_title")}
      words={`${scale.unit} · ${t("click_bar")}`}
      define={define}
      csv={csv}
      asked={asked}
      height={190}
      controls={<Legend items={legend} />}
    >
      <div class="pad">
        <StepColumns bars={bars} factor={scale.factor} />
      </div>
    </Panel>
  );
}
