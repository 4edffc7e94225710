// What the producer added up itself (MindSpore does): the average step as its step trace, the way of the data, the types
// of operators, what ran. Every panel leads to the view that holds more of it.
import type { ComponentChildren } from "preact";
import { percent, short, thousands } from "../../base/format.ts";
import { server } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, traceQuery, type View } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { DataFlow } from "../shared/data-flow.tsx";
import { AverageTrace, averageLength, durationOf, FILL, PARTS } from "../shared/step-trace.tsx";
import { defined, panelFor, quoted } from "../shared/table-source.ts";
import { TopChart, type TopRow } from "../shared/top-chart.tsx";

interface Props {
  asked: AskedFor<"overview">;
}

/** A title that leads to the view with more of it. */
const Leads = ({ to, children }: { to: View; children: ComponentChildren }) => (
  <button type="button" class="leads" onClick={() => go({ view: to })}>
    {children} <span aria-hidden="true">→</span>
  </button>
);

export function ProducerCards({ asked }: Props) {
  const flows = (asked.value?.tables.data_flow?.rows.length ?? 0) > 0;
  // What was not recorded takes little room.
  return (
    <div class="w12 mind">
      <AverageStepTrace asked={asked} wide={!flows} />
      {flows ? <DataPreparation asked={asked} /> : null}
      <OperatorTypes asked={asked} />
      <div class="stack">
        {flows ? null : <DataPreparation asked={asked} />}
        <WorkDone asked={asked} />
      </div>
    </div>
  );
}

function AverageStepTrace({ asked, wide }: Props & { wide: boolean }) {
  themeVersion.value;
  const parts = rowsOf(asked.value?.tables.step_trace);
  const steps = analysis("steps", { table: "average", limit: 0 }, "overview-average");
  const rows = rowsOf(steps.value?.tables.average);
  const basis = t(parts[0]?.basis === "producer" ? "average_given" : "average_traced");
  const share = (p: string) => percent(parts.find((r) => r.stage === p)?.share);
  return (
    <Panel
      span={wide ? "mind-whole" : ""}
      name={t("step_trace")}
      title={<Leads to="steps">{t("step_trace")}</Leads>}
      words={parts.length ? `${short(averageLength(parts), "ns")} · ${basis}` : t("not_recorded")}
      {...panelFor(asked, "overview", "step_trace", "duration")}
      height={180}
    >
      {parts.length ? (
        <div class="pad">
          <AverageTrace rows={rows.length ? rows : parts} label={t("step_trace")} />
          <dl class="parts">
            {PARTS.map((p) => (
              <div key={p}>
                <dt>
                  <Swatch color={FILL[p]} /> {t(`part_${p}`)}
                </dt>
                <dd>
                  <Value text={short(durationOf(parts, p), "ns")} /> <span class="t3">{share(p)}</span>
                </dd>
              </div>
            ))}
          </dl>
        </div>
      ) : (
        <p class="empty">{t("mind_no_steps")}</p>
      )}
    </Panel>
  );
}

function DataPreparation({ asked }: Props) {
  const rows = rowsOf(asked.value?.tables.data_flow);
  return (
    <Panel
      span=""
      name={t("data_preparation")}
      title={<Leads to="pipeline">{t("data_preparation")}</Leads>}
      words={rows.length ? t("data_preparation_words") : t("not_recorded")}
      {...panelFor(asked, "overview", "data_flow", "steps")}
      height={180}
    >
      {rows.length ? (
        <div class="pad">
          <DataFlow down rows={rows} help={defined(asked.value, "data_flow", "status").help} />
        </div>
      ) : (
        <p class="empty">{t("mind_no_data")}</p>
      )}
    </Panel>
  );
}

/** On an Ascend the time of all executions counts, elsewhere that of one. */
type OperatorType = Row<"overview", "operator_types">;

const measureOf = (rows: readonly OperatorType[]): "total" | "mean" =>
  rows.some((r) => String(r.side).startsWith("AI ")) ? "total" : "mean";

function OperatorTypes({ asked }: Props) {
  const types = rowsOf(asked.value?.tables.operator_types);
  const measure = measureOf(types);
  const rows = types.map((r): TopRow => {
    const rest = r.side === null && r.type === "Others";
    const name = rest ? "" : String(r.type);
    return { name, label: name || t("others"), side: r.side ?? "", calls: r.calls, value: r[measure], rest };
  });
  return (
    <Panel
      span=""
      name={t("operator_types")}
      title={<Leads to="operators">{t("operator_types")}</Leads>}
      words={t(measure === "total" ? "types_by_total" : "types_by_mean")}
      {...panelFor(asked, "overview", "operator_types", "type")}
      height={160}
    >
      {rows.length ? (
        <TopChart
          rows={rows}
          form="pies"
          chosen=""
          title={t("operator_types")}
          onName={(type) => go({ view: "operators", params: { q: `type:${quoted(type)}`, of: "type" } })}
          compact
        />
      ) : (
        <p class="empty">{t("not_recorded")}</p>
      )}
    </Panel>
  );
}

const WORK = ["streams", "operators", "executions", "total_time_ns"] as const;

function WorkDone({ asked }: Props) {
  const rows = rowsOf(asked.value?.tables.work);
  const value = (key: string) => rows.find((r) => r.key === key)?.value;
  const file = server().url("export", { ...traceQuery.value, form: "chrome" });
  return (
    <Panel
      span="fill"
      name={t("timeline")}
      title={<Leads to="timeline">{t("timeline")}</Leads>}
      words={t("work_words")}
      {...panelFor(asked, "overview", "work", "key")}
      height={160}
    >
      <dl class="work">
        {WORK.map((key) => (
          <div key={key}>
            <dt>{t(`work_${key}`)}</dt>
            <dd>
              {value(key) === undefined ? (
                "–"
              ) : key === "total_time_ns" ? (
                <Value text={short(Number(value(key)), "ns")} />
              ) : (
                thousands(Number(value(key)))
              )}
            </dd>
          </div>
        ))}
      </dl>
      <p class="pad">
        <a class="button" href={file} download>
          {t("work_download")}
        </a>
      </p>
    </Panel>
  );
}
