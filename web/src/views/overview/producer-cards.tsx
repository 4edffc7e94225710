// The overview of a MindSpore run: the average step as its step trace, the way of the data, the types of
// operators, what ran. Every panel leads to the view that holds more of it.
import type { ComponentChildren } from "preact";
import type { Answer } from "../../api/types.ts";
import { percent, short, THIN, thousands } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Donut, type Part } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { type Asked, server } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, traceQuery, type View } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { DataFlow } from "../shared/data-flow.tsx";
import { AverageTrace, averageLength, FILL, PARTS } from "../shared/step-trace.tsx";
import { defined, quoted, sideWord } from "../shared/table-source.ts";

interface Props {
  asked: Asked<Answer>;
}

/** A title that leads to the view with more of it. */
const Leads = ({ to, children }: { to: View; children: ComponentChildren }) => (
  <button type="button" class="leads" onClick={() => go({ view: to })}>
    {children} <span aria-hidden="true">→</span>
  </button>
);

export function MindOverview({ asked }: Props) {
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
  const share = (p: string) => {
    const own = parts.find((r) => r.stage === p);
    return typeof own?.share === "number" ? percent(own.share) : "–";
  };
  return (
    <Panel
      span={wide ? "mind-whole" : ""}
      name={t("step_trace")}
      title={<Leads to="steps">{t("step_trace")}</Leads>}
      words={parts.length ? `${short(averageLength(parts), "ns")} · ${basis}` : t("not_recorded")}
      define={defined(asked.value, "step_trace", "duration")}
      csv={csvUrl("overview", "step_trace")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={180}
    >
      {parts.length ? (
        <div class="pad">
          <AverageTrace rows={rows.length ? rows : parts} label={t("step_trace")} />
          <dl class="parts">
            {PARTS.map((p) => (
              <div key={p}>
                <dt>
                  <Swatch colour={FILL[p]} /> {t(`part_${p}`)}
                </dt>
                <dd>
                  <Value text={short(num(parts.find((r) => r.stage === p)?.duration), "ns")} /> <span class="t3">{share(p)}</span>
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
      define={defined(asked.value, "data_flow", "steps")}
      csv={csvUrl("overview", "data_flow")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
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
const measureOf = (rows: readonly Row[]): "total" | "mean" =>
  rows.some((r) => String(r.side).startsWith("AI ")) ? "total" : "mean";

function OperatorTypes({ asked }: Props) {
  themeVersion.value;
  const rows = rowsOf(asked.value?.tables.operator_types);
  const measure = measureOf(rows);
  const whole = rows.reduce((s, r) => s + num(r[measure]), 0);
  const sum = rows.reduce((s, r) => s + num(r.total), 0);
  const isRest = (r: Row) => r.side === null && r.type === "Others";
  const fill = (r: Row, i: number) => (isRest(r) ? "var(--track)" : nth(i));
  const name = (r: Row) => (isRest(r) ? t("others") : String(r.type));
  const open = (type: string) => go({ view: "operators", params: { q: `type:${quoted(type)}`, of: "type" } });
  const parts = rows.map((r, i): Part => {
    const share = whole > 0 ? num(r[measure]) / whole : 0;
    return {
      id: isRest(r) ? "" : String(r.type),
      value: num(r[measure]),
      fill: fill(r, i),
      card: (
        <Definition title={name(r)} help={`${short(num(r[measure]), "ns")} · ${percent(share)}`} path={String(r.side ?? "")} />
      ),
    };
  });
  const [number = "", unit = ""] = short(measure === "total" ? sum : whole, "ns").split(THIN);
  return (
    <Panel
      span=""
      name={t("operator_types")}
      title={<Leads to="operators">{t("operator_types")}</Leads>}
      words={t(measure === "total" ? "types_by_total" : "types_by_mean")}
      define={defined(asked.value, "operator_types", "type")}
      csv={csvUrl("overview", "operator_types")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={160}
    >
      {rows.length ? (
        <div class="types">
          <Donut
            parts={parts}
            radius={66}
            middle={number}
            below={unit}
            label={t("operator_types")}
            onPart={(id) => (id ? open(id) : undefined)}
          />
          <ol class="types-list">
            {rows.map((r, i) => (
              <li key={name(r)}>
                <Swatch colour={fill(r, i)} />
                {isRest(r) ? (
                  <span class="t3">{name(r)}</span>
                ) : (
                  <button type="button" class="link" onClick={() => open(String(r.type))}>
                    <code>{name(r)}</code>
                  </button>
                )}
                <span class="t3">{isRest(r) ? "" : sideWord(String(r.side))}</span>
                <span class="t3">× {thousands(num(r.calls))}</span>
                <b>
                  <Value text={short(num(r[measure]), "ns")} />
                </b>
                <span class="t3">{percent(whole > 0 ? num(r[measure]) / whole : 0)}</span>
              </li>
            ))}
          </ol>
        </div>
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
      define={defined(asked.value, "work", "key")}
      csv={csvUrl("overview", "work")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
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
