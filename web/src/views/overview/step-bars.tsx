// The steps of the overview: a click on a bar sets the window.
import { largest } from "../../base/aggregate.ts";
import { chartScale } from "../../base/format.ts";
import { Columns } from "../../draw/charts/columns.tsx";
import { showStep } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { choice, param, WHOLE_TRACE } from "../../model/route.ts";
import { parseSteps, setSteps, setWindow } from "../../model/steps.ts";
import { type AskedFor, analysis, csvUrl, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { categoryBars, FormMenu, stageBars } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";
import { averageHeight } from "./average-step.tsx";

export function StepBars({ asked }: { asked: AskedFor<"overview"> }) {
  const [by, setBy] = choice("bars", "categories");
  // All steps, whatever the window: the bars are where it is chosen.
  const whole = analysis("overview", WHOLE_TRACE, "overview-all");
  const all = whole.value ?? asked.value;
  const bars =
    by === "categories"
      ? categoryBars(rowsOf(all?.tables.steps))
      : stageBars(rowsOf(all?.tables.stage_steps), by === "host" ? "host_time" : "device_time");
  const chosen = parseSteps(
    param("step"),
    bars.map((b) => Number(b.id)),
  );
  const shown = chosen ? bars.map((b) => ({ ...b, faded: Number(b.id) < chosen[0] || Number(b.id) > chosen[1] })) : bars;
  const longest = largest(bars, (b) => b.total, 1);
  const scale = chartScale("ns", longest);
  const pick = (id: string, shift: boolean) => {
    const n = Number(id);
    if (chosen && !shift && chosen[0] === n && chosen[1] === n) setWindow(undefined);
    else if (chosen && shift) setSteps(Math.min(n, chosen[0]), Math.max(n, chosen[1]));
    else setSteps(n, n);
  };
  return (
    <Panel
      span="fill"
      name={t("steps")}
      title={t("steps_title")}
      words={`${scale.unit} · ${t("click_bar")}`}
      define={
        by === "categories"
          ? defined(all, "steps", "total")
          : defined(all, "stage_steps", by === "host" ? "host_time" : "device_time")
      }
      csv={csvUrl("overview", by === "categories" ? "steps" : "stage_steps")}
      asked={{ value: all, old: false, error: all ? undefined : whole.error }}
      height={172}
      controls={<FormMenu by={by} onChoose={setBy} />}
    >
      <div class="pad">
        <Columns
          bars={shown}
          height={Math.max(150, averageHeight(asked.value) - 12)}
          factor={scale.factor}
          format={(v) => (v >= 10 || v === 0 ? (Number.isInteger(v) ? String(v) : v.toFixed(1)) : v.toFixed(v < 1 ? 2 : 1))}
          label={t("steps_title")}
          onBar={pick}
          onShow={(id) => showStep(Number(id))}
        />
      </div>
    </Panel>
  );
}
