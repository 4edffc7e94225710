// Steps: are they alike, which one is not, and which part of it.
import { chartScale, short } from "../base/format.ts";
import { type ColumnBar, Columns } from "../draw/columns.tsx";
import { Sparkline, StepTrace, type TraceBox, type TraceLane } from "../draw/trace.tsx";
import { go, param } from "../model/place.ts";
import { setSteps } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, num, type Row, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Legend, Segmented } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table } from "../widgets/table.tsx";
import { csvOf } from "./overview.tsx";
import { columns, source } from "./rows.ts";
import { Card, stageFill, stageName } from "./stepbars.tsx";
import { Verdict } from "./verdict.tsx";

const PARTS = ["interval", "forward_backward", "tail"] as const;
const FILL: Record<string, string> = {
  interval: "var(--data_loader)",
  forward_backward: "var(--kernel)",
  tail: "var(--communication)",
};

/** The three parts of a step; what comes before forward is the interval. */
function partsOf(r: Row): Record<(typeof PARTS)[number], number> {
  const tail = num(r.tail);
  const forward = num(r.forward_backward);
  const known = r.forward_backward !== null;
  return {
    interval: known ? Math.max(0, num(r.duration) - forward - tail) : 0,
    forward_backward: known ? forward : num(r.duration),
    tail,
  };
}

const ALL = { step: undefined, from: undefined, to: undefined };

export function Steps() {
  const asked = analysis("steps", { ...ALL, limit: 0 }, "steps-all");
  const rows = rowsOf(asked.value?.tables.steps);
  const lengths = rows.map((r) => num(r.duration));
  const mean = lengths.length ? lengths.reduce((a, b) => a + b, 0) / lengths.length : 0;
  const chosen = chosenStep(rows);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("steps")}
        facts={[
          t("fact_steps", { n: rows.length, v: short(mean, "ns") }),
          lengths.length > 1
            ? t("fact_range", { a: short(Math.min(...lengths), "ns"), b: short(Math.max(...lengths), "ns") })
            : undefined,
          rows.some((r) => r.communication !== null)
            ? t("fact_exposed", {
                v: short(avg(rows, "exposed_communication"), "ns"),
                w: short(avg(rows, "communication"), "ns"),
              })
            : undefined,
        ]}
      />
      <div class="grid">
        <AllSteps asked={asked} rows={rows} chosen={chosen} />
        <OneStep asked={asked} rows={rows} chosen={chosen} />
        {PARTS.map((p) => (
          <PartCurve key={p} part={p} rows={rows} mean={mean} />
        ))}
        <StepTable />
      </div>
    </>
  );
}

const avg = (rows: readonly Row[], c: string) => (rows.length ? rows.reduce((s, r) => s + num(r[c]), 0) / rows.length : 0);

function chosenStep(rows: readonly Row[]): Row | undefined {
  const wanted = param("step").split("..")[0];
  const found = wanted ? rows.find((r) => String(r.step) === wanted) : undefined;
  return found ?? slowest(rows);
}

const slowest = (rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>((best, r) => (num(r.duration) > num(best?.duration) ? r : best), rows[0]);

function AllSteps({
  asked,
  rows,
  chosen,
}: {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  chosen: Row | undefined;
}) {
  const scale = chartScale("ns", Math.max(...rows.map((r) => num(r.duration)), 1));
  const bars = rows.map((r): ColumnBar => {
    const parts = partsOf(r);
    return {
      id: String(r.step),
      total: num(r.duration),
      parts: PARTS.map((p) => ({ id: p, value: parts[p], fill: FILL[p] as string })),
      chosen: r === chosen,
      card: (
        <Card
          title={t("step_n", { n: String(r.step) })}
          parts={PARTS.map((p) => [t(`part_${p}`), parts[p]])}
          total={num(r.duration)}
        />
      ),
    };
  });
  return (
    <Panel
      name={t("all_steps_title")}
      title={t("all_steps_title")}
      words={`${scale.unit} · ${t("click_one")}`}
      csv={csvOf("steps", "steps")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={190}
      controls={<Legend items={PARTS.map((p) => ({ label: t(`part_${p}`), colour: FILL[p] as string }))} />}
    >
      <div class="pad">
        <Columns
          bars={bars}
          height={190}
          factor={scale.factor}
          format={(v) => Number(v.toPrecision(4)).toString()}
          label={t("all_steps_title")}
          onBar={(id, shift) => pickStep(Number(id), shift)}
        />
      </div>
    </Panel>
  );
}

function pickStep(n: number, shift: boolean): void {
  const now = Number(param("step").split("..")[0] || n);
  if (shift) setSteps(now, n);
  else setSteps(n, n);
}

function lanesOf(segments: readonly Row[], start: number, backward: number): TraceLane[] {
  const box = (r: Row, i: number): TraceBox => {
    const from = num(r.start) - start;
    const to = from + num(r.duration);
    const hidden = r.stage === "communication" && to <= backward;
    const fill = r.stage === "communication" ? (hidden ? "url(#overlap)" : "var(--communication)") : stageFill(String(r.stage));
    const words = short(num(r.duration), "ns");
    const name = r.stage === "communication" ? String(r.name) : stageName(String(r.stage));
    return {
      id: String(i),
      from,
      to,
      fill,
      label: r.stage === "communication" ? words : `${name} ${words}`,
      card: `${name} · ${words}`,
    };
  };
  const host = segments.filter((r) => r.track === "host");
  const others = [...new Set(segments.filter((r) => r.track !== "host").map((r) => String(r.track)))];
  return [
    { name: t("main_stream"), strong: true, boxes: host.map(box) },
    ...others.map((track) => ({ name: track, boxes: segments.filter((r) => r.track === track).map(box) })),
  ];
}

function OneStep({ asked, rows, chosen }: { asked: ReturnType<typeof analysis>; rows: readonly Row[]; chosen: Row | undefined }) {
  themeVersion.value;
  const segments = rowsOf(asked.value?.tables.segments).filter((r) => r.step === chosen?.step);
  const start = num(chosen?.start);
  const length = num(chosen?.end) - start;
  const scale = chartScale("ns", length);
  const ends = segments.filter((r) => r.stage === "backward").map((r) => num(r.start) + num(r.duration) - start);
  const backward = ends.length ? Math.max(...ends) : 0;
  const worst = slowest(rows);
  return (
    <Panel
      name={t("step_n", { n: String(chosen?.step ?? "") })}
      title={t("step_n", { n: String(chosen?.step ?? "") })}
      words={t("from_its_start", { unit: scale.unit })}
      csv={csvOf("steps", "segments")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={150}
      controls={
        <>
          <Segmented
            label={t("step")}
            chosen={chosen === worst ? "slowest" : "this"}
            onChoose={(id) => (id === "slowest" && worst ? setSteps(num(worst.step), num(worst.step)) : undefined)}
            choices={[
              ...(chosen === worst ? [] : [{ id: "this", label: t("step_n", { n: String(chosen?.step) }) }]),
              { id: "slowest", label: t("slowest_step") },
            ]}
          />
          <button type="button" class="link" onClick={() => go({ view: "timeline", params: { step: String(chosen?.step) } })}>
            {t("show_in_timeline")}
          </button>
        </>
      }
    >
      <div class="pad">
        <StepTrace
          lanes={lanesOf(segments, start, backward)}
          length={length}
          factor={scale.factor}
          unit={scale.unit}
          border={backward ? { at: backward, label: t("backward_ends") } : undefined}
          label={t("step_n", { n: String(chosen?.step) })}
        />
      </div>
    </Panel>
  );
}

function PartCurve({ part, rows, mean }: { part: (typeof PARTS)[number]; rows: readonly Row[]; mean: number }) {
  const values = rows.map((r) => partsOf(r)[part]);
  const own = values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  return (
    <Panel
      span="w4"
      name={t(`part_${part}`)}
      title={t(`part_${part}`)}
      words={`${short(own, "ns")} · ${short(mean ? own / mean : 0, "share")}`}
      controls={
        values.length ? (
          <span class="t3">{`${short(Math.min(...values), "ns")} – ${short(Math.max(...values), "ns")}`}</span>
        ) : null
      }
    >
      <div class="pad">
        <Sparkline values={values} colour={FILL[part] as string} height={70} label={t(`part_${part}`)} />
      </div>
    </Panel>
  );
}

function StepTable() {
  const sort = param("sort") || "step:asc";
  const s = source("steps", "steps", { ...ALL, sort }, (r) => String(r.cell("step")));
  return (
    <Panel name={t("steps")} title={t("steps_title")} csv={s.csv} old={s.old} error={s.error} busy={!s.table} height={200}>
      <Table
        name={t("steps")}
        total={s.total}
        row={s.row}
        height={420}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        onRow={(r) => setSteps(num(r.cell("step") as number), num(r.cell("step") as number))}
        columns={columns(s, "steps.steps", [
          ["step", { text: true, width: 80 }],
          ["duration", { bar: "var(--c1)" }],
          ["start", { width: 110 }],
          ["gap", { width: 90 }],
          ["forward_backward", { width: 175 }],
          ["communication", { width: 130 }],
          ["exposed_communication", { width: 150 }],
          ["tail", { width: 100 }],
        ])}
      />
    </Panel>
  );
}
