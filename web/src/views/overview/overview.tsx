// Overview: is the device busy; if not, whom does it wait for.
import type { Answer } from "../../api/types.ts";
import { short, thousands } from "../../base/format.ts";
import { deviceWords } from "../../model/device.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { allRanks, analysis, countOf, csvUrl, hasNoSteps, isOnlyMemory, num, type Row, rowsOf } from "../../model/trace.ts";
import { Meter, Rich } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Advice } from "../shared/advice.tsx";
import { lazy } from "../shared/lazy.tsx";
import { RankMenu } from "../shared/one-rank.tsx";
import { ReportMenu } from "../shared/report.tsx";
import { defined } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { AverageStep } from "./average-step.tsx";
import { Configuration, EventKinds, Stages, UserRanges } from "./stages.tsx";
import { StepBars } from "./step-bars.tsx";

const Mind = lazy(() => import("./producer-cards.tsx").then((m) => m.MindOverview));

/** What its maker calls the device: GPU, NPU, XPU, … */
const deviceWord = (answer: Answer | undefined): string => {
  const said = rowsOf(answer?.tables.configuration).find((r) => r.key === "device_type")?.value;
  return said ? String(said) : "GPU";
};

export function Overview() {
  const asked = analysis("overview");
  const answer = asked.value;
  const parts = rowsOf(answer?.tables.breakdown);
  const steps = rowsOf(answer?.tables.steps);
  const part = (c: string) => num(parts.find((p) => p.category === c)?.time);
  const totals = steps.map((s) => num(s.total));
  const mean = totals.length ? totals.reduce((a, b) => a + b, 0) / totals.length : 0;
  const spread = totals.length > 1 ? (Math.max(...totals) - Math.min(...totals)) / 2 / mean : 0;
  const busy = ["kernel", "memcpy", "memset"].reduce((s, c) => s + part(c), 0);
  const device = (answer?.tables.devices?.rows.length ?? 0) > 0 || (allRanks.value && busy > 0);
  const told = parts.some((p) => p.category === "kernel" && typeof p.time === "number");
  const mind = answer?.trace.format === "mindspore" && !allRanks.value;
  // What the verdict calls exposed may overlap copies: two numbers for nearly the same would confuse.
  const aboutCommunication = answer?.verdict?.values.communication_share !== undefined;
  if (answer && isOnlyMemory()) return <OnlyMemory asked={asked} />;
  return (
    <>
      <Verdict
        answer={answer}
        otherwise={t("overview")}
        controls={<ReportMenu />}
        facts={[
          mean ? lengthFact(steps, mean) : undefined,
          device && told ? t("fact_busy", { d: deviceWord(answer), v: short(busy, "ns") }) : undefined,
          part("data_loader") > mean / 50 ? t("fact_loader", { v: short(part("data_loader"), "ns") }) : undefined,
          part("communication") > mean / 50 && !aboutCommunication
            ? t("fact_comm", { v: short(part("communication"), "ns") })
            : undefined,
          totals.length > 1 ? t("fact_spread", { v: short(spread, "share") }) : undefined,
        ]}
      />
      <div class="grid overview">
        {mind ? <Mind asked={asked} /> : null}
        {mind ? <Advice asked={analysis("advise")} /> : null}
        {mind && steps.length === 0 ? null : (
          <div class="w12 top-row">
            <AverageStep asked={asked} words={mind ? t("average_marked", { n: steps.length }) : undefined} />
            <div class="stack">
              {hasNoSteps() ? null : <StepBars asked={asked} />}
              {device && !allRanks.value ? <DeviceMeters /> : null}
            </div>
          </div>
        )}
        {mind ? null : <Advice asked={analysis("advise")} />}
        {allRanks.value ? (
          <p class="w12 one-rank">
            {t("of_one_rank")} <RankMenu label={t("worker")} />
          </p>
        ) : (
          <>
            <Stages asked={asked} />
            <UserRanges asked={asked} />
            <EventKinds asked={asked} />
          </>
        )}
        <Configuration asked={asked} />
      </div>
    </>
  );
}

/** How long the step is, the steps are on average, or the recording without steps is. */
function lengthFact(steps: readonly Row[], mean: number): string {
  const v = short(mean, "ns");
  if (hasNoSteps()) return t("fact_recording", { v });
  if (steps.length === 1) return t("fact_one_step", { n: String(steps[0]?.step), v });
  return steps.some((s) => s.kernel === null) && steps.some((s) => s.kernel !== null)
    ? t("fact_step_of", { n: steps.length, v })
    : t("fact_step", { v });
}

/** A memory snapshot has no time to break down: zeros would say that it was measured. */
function OnlyMemory({ asked }: { asked: ReturnType<typeof analysis> }) {
  return (
    <>
      <div class="verdict">
        <div>
          <h1>{t("only_memory")}</h1>
          <p class="facts">
            <span>
              <Rich text={t("only_memory_words", { n: thousands(countOf("memory") ?? 0) })} />
            </span>
            <button type="button" class="link" onClick={() => go({ view: "memory" })}>
              {t("open_memory")}
            </button>
          </p>
        </div>
      </div>
      <div class="grid overview">
        <Configuration asked={asked} />
      </div>
    </>
  );
}

const METERS = ["utilization", "sm_efficiency", "occupancy", "tensor_core_share", "mfu"] as const;

function DeviceMeters() {
  const asked = analysis("overview");
  const table = asked.value?.tables.devices;
  const devices = rowsOf(table);
  const words = deviceWords();
  return (
    <Panel
      span="meters"
      name={t("device_meters")}
      title={devices.length === 1 ? t("device_meters") : t("devices")}
      define={defined(asked.value, "devices", "utilization")}
      csv={csvUrl("overview", "devices")}
      old={asked.old}
    >
      {devices.map((d) => (
        <div key={String(d.device)} class="meter-grid">
          {devices.length > 1 ? (
            <b class="meter-device">
              {deviceWord(asked.value)} {d.device}
            </b>
          ) : null}
          {METERS.filter((m) => m !== "mfu" || typeof d.mfu === "number").map((m) => (
            <Meter
              key={m}
              title={t(`meter_${m}`, { d: deviceWord(asked.value), u: words.unit, m: words.matrix })}
              help={table?.columns.find((c) => c.name === m)?.help}
              path={`overview.devices.${m}`}
              value={typeof d[m] === "number" ? num(d[m]) : null}
              missing={t("not_recorded")}
            />
          ))}
        </div>
      ))}
    </Panel>
  );
}
