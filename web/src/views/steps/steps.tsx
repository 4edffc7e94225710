// Steps: are they alike, which one is not, and which part of it.
import type { Query } from "../../api/transport.ts";
import type { Answer } from "../../api/types.ts";
import { chartScale, short } from "../../base/format.ts";
import { Bands } from "../../draw/charts/bands.tsx";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { StepTrace } from "../../draw/charts/step-lanes.tsx";
import { Strip } from "../../draw/charts/strip.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { choice, go, param, WHOLE_TRACE, windowQuery } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { Filter } from "../shared/filter.tsx";
import { Card, categoryBars, categoryParts, FormMenu, STAGES, stageBars, stageFill, stageName } from "../shared/step-bars.tsx";
import { AverageTrace, averageLength, FILL, lanesOf, lengthOf, PARTS, partsOf } from "../shared/step-trace.tsx";
import { columns, defined, source } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { allOverview, CategoryCurves, PartCurve, pickStep } from "./step-curves.tsx";
import { PointChips, type Points, points, Refusal } from "./step-points.tsx";

/** Whether the producer writes a step trace (interval, forward + backward, tail): MindSpore does. */
const isTraced = (answer: Answer | undefined): boolean => answer?.trace.format === "mindspore";

export function Steps() {
  const p = points();
  const query = { ...WHOLE_TRACE, ...p.query };
  const asked = analysis("steps", { ...query, limit: 0, table: "steps" }, "steps-all");
  const rows = rowsOf(asked.value?.tables.steps);
  const chosen = chosenStep(rows);
  const traced = isTraced(asked.value);
  return (
    <>
      <StepsVerdict query={query} all={rows} />
      <div class="grid">
        <AllSteps asked={asked} rows={rows} chosen={chosen} query={query} traced={traced} />
        <OneStep rows={rows} chosen={chosen} points={p} query={query} traced={traced} />
        {traced
          ? PARTS.map((part) => <PartCurve key={part} part={part} rows={rows} answer={asked.value} chosen={chosen} />)
          : asked.value && <CategoryCurves chosen={chosen} />}
        <StepTable query={query} traced={traced} />
      </div>
    </>
  );
}

/** The verdict is of the window; of one step it says how it stands among all. */
function StepsVerdict({ query, all }: { query: Query; all: readonly Row[] }) {
  const inWindow = analysis("steps", { ...query, ...windowQuery.value, limit: 0, table: "steps" }, "steps-window");
  const rows = rowsOf(inWindow.value?.tables.steps);
  const lengths = rows.map(lengthOf);
  const mean = lengths.length ? lengths.reduce((a, b) => a + b, 0) / lengths.length : 0;
  const sorted = all.map(lengthOf).sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  return (
    <Verdict
      answer={inWindow.value}
      otherwise={t("steps")}
      facts={[
        rows.length === 1
          ? t("fact_one_step", { n: String(rows[0]?.step), v: short(mean, "ns") })
          : t("fact_steps", { n: rows.length, v: short(mean, "ns") }),
        rows.length === 1 && all.length > 1 && median
          ? t("fact_beside", { x: (mean / median).toFixed(2), n: all.length })
          : undefined,
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
  );
}

const avg = (rows: readonly Row[], c: string) => (rows.length ? rows.reduce((s, r) => s + num(r[c]), 0) / rows.length : 0);

function chosenStep(rows: readonly Row[]): Row | undefined {
  const wanted = param("step").split("..")[0];
  const found = wanted ? rows.find((r) => String(r.step) === wanted) : undefined;
  return found ?? slowest(rows);
}

const slowest = (rows: readonly Row[]): Row | undefined =>
  rows.reduce<Row | undefined>((best, r) => (lengthOf(r) > lengthOf(best) ? r : best), rows[0]);

interface AllProps {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  chosen: Row | undefined;
  query: Query;
  traced: boolean;
}

function barOf(r: Row, chosen: boolean): ColumnBar {
  const parts = partsOf(r);
  return {
    id: String(r.step),
    total: lengthOf(r),
    parts: PARTS.map((p) => ({ id: p, value: parts[p], fill: FILL[p] })),
    chosen,
    card: (
      <Card title={t("step_n", { n: String(r.step) })} parts={PARTS.map((p) => [t(`part_${p}`), parts[p]])} total={lengthOf(r)} />
    ),
  };
}

/** The bars of the overview, the chosen one marked. */
function barsOf(by: string, chosen: Row | undefined): ColumnBar[] {
  const tables = allOverview().value?.tables;
  const made =
    by === "categories"
      ? categoryBars(rowsOf(tables?.steps))
      : stageBars(rowsOf(tables?.stage_steps), by === "host" ? "host_time" : "device_time");
  return made.map((b) => ({ ...b, chosen: b.id === String(chosen?.step) }));
}

/** Only what is in a bar, in the order it is stacked. */
function legendOf(by: string, bars: readonly ColumnBar[]) {
  const there = (id: string) => bars.some((b) => b.parts.some((p) => p.id === id && p.value > 0));
  return by === "categories"
    ? CATEGORIES.filter(there).map((c) => ({ label: t(`cat_${c}`), colour: fillOf(c) }))
    : STAGES.filter(there).map((s) => ({ label: stageName(s), colour: stageFill(s) }));
}

/** Every step as a bar; where they are too many for the screen, bands of them. */
function AllSteps({ asked, rows, chosen, query, traced }: AllProps) {
  const [by, setBy] = choice("bars", "categories");
  const bands = rowsOf(analysis("steps", { ...query, limit: 0, table: "bands" }, "steps-bands").value?.tables.bands);
  const bars = traced ? rows.map((r) => barOf(r, r === chosen)) : barsOf(by, chosen);
  const scale = chartScale("ns", Math.max(...bars.map((b) => b.total), ...bands.map((b) => num(b.p90)), 1));
  const banded = bands.length > 0;
  return (
    <Panel
      name={t("all_steps_title")}
      title={t("all_steps_title")}
      words={`${scale.unit} · ${t(banded ? "bands_words" : "click_one")}`}
      define={defined(asked.value, "steps", "total")}
      csv={csvUrl("steps", banded ? "bands" : "steps", query)}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={190}
      controls={
        banded ? null : traced ? (
          <Legend items={PARTS.map((p) => ({ label: t(`part_${p}`), colour: FILL[p] }))} />
        ) : (
          <>
            <Legend items={legendOf(by, bars)} />
            <FormMenu by={by} onChoose={setBy} />
          </>
        )
      }
    >
      <div class="pad">
        {banded ? (
          <Bands
            bands={bands.map((b) => ({
              first: num(b.first_step),
              last: num(b.last_step),
              low: num(b.p10),
              middle: num(b.p50),
              high: num(b.p90),
              card: <BandCard band={b} />,
              chosen: num(chosen?.step) >= num(b.first_step) && num(chosen?.step) <= num(b.last_step),
            }))}
            height={190}
            factor={scale.factor}
            label={t("all_steps_title")}
            onBand={(first, last) => setSteps(first, last)}
          />
        ) : (
          <Columns
            bars={bars}
            height={190}
            factor={scale.factor}
            format={(v) => Number(v.toPrecision(4)).toString()}
            label={t("all_steps_title")}
            onBar={(id, shift) => pickStep(Number(id), shift)}
          />
        )}
      </div>
    </Panel>
  );
}

const BandCard = ({ band }: { band: Row }) => (
  <>
    <b>{t("steps_range", { a: String(band.first_step), b: String(band.last_step) })}</b>
    <dl class="card-list">
      {(["p90", "p50", "p10"] as const).map((p) => (
        <div key={p}>
          <dt>{p}</dt>
          <dd>{short(num(band[p]), "ns")}</dd>
        </div>
      ))}
    </dl>
  </>
);

interface OneProps {
  rows: readonly Row[];
  chosen: Row | undefined;
  points: Points;
  query: Query;
  traced: boolean;
}

function OneStep({ rows, chosen, points: p, query: base, traced }: OneProps) {
  themeVersion.value;
  const average = param("show") === "average";
  const query = { ...base, step: chosen ? String(chosen.step) : undefined, table: "segments", limit: 0 };
  const asked = analysis("steps", query, "steps-one");
  const mean = rowsOf(analysis("steps", { ...base, table: "average", limit: 0 }, "steps-average").value?.tables.average);
  const segments = rowsOf(asked.value?.tables.segments).filter((r) => r.step === chosen?.step);
  const start = num(chosen?.start);
  const length = average ? averageLength(mean) : num(chosen?.end) - start;
  const scale = chartScale("ns", length);
  const isBackward = (r: Row) => r.stage === "backward" || (r.stage === "forward_backward" && r.track === "step");
  const ends = segments.filter(isBackward).map((r) => num(r.start) + num(r.duration) - start);
  const backward = ends.length && !average ? Math.max(...ends) : 0;
  const worst = slowest(rows);
  const title = average ? t("average_step") : t("step_n", { n: String(chosen?.step ?? "") });
  const pick = (id: string) => {
    if (id === "average") return go({ params: { show: "average" } });
    const n = num((id === "slowest" ? worst : chosen)?.step);
    go({ params: { show: undefined, step: String(n), from: undefined, to: undefined } });
  };
  return (
    <Panel
      name={title}
      title={title}
      words={
        <span class="chips">
          {average && !traced ? null : t("from_its_start", { unit: scale.unit })} {traced ? <PointChips points={p} /> : null}
        </span>
      }
      define={defined(asked.value, "segments", "stage")}
      csv={csvUrl("steps", "segments", query)}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={150}
      controls={
        <>
          {segments.some((r) => r.stage === "communication") && !average ? (
            <Legend
              items={[
                { label: t("hidden_part"), colour: "url(#overlap)" },
                { label: t("exposed_word"), colour: "var(--communication)" },
              ]}
            />
          ) : null}
          <Segmented
            label={t("step")}
            chosen={average ? "average" : chosen === worst ? "slowest" : "this"}
            onChoose={pick}
            choices={[
              ...(chosen === worst ? [] : [{ id: "this", label: t("step_n", { n: String(chosen?.step) }) }]),
              { id: "average", label: t("average_short") },
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
        <Refusal points={p} />
        {average ? (
          <AverageOf rows={mean} label={title} traced={traced} />
        ) : (
          <StepTrace
            lanes={lanesOf(segments, start)}
            length={length}
            factor={scale.factor}
            unit={scale.unit}
            border={backward ? { at: backward, label: t("backward_ends") } : undefined}
            label={title}
          />
        )}
      </div>
    </Panel>
  );
}

/** The average step: as a step trace, or by the overview's categories. */
function AverageOf({ rows, label, traced }: { rows: readonly Row[]; label: string; traced: boolean }) {
  if (traced) return <AverageTrace rows={rows} label={label} />;
  const parts = rowsOf(allOverview().value?.tables.breakdown);
  const total = parts.reduce((s, r) => s + num(r.time), 0);
  return <Strip parts={categoryParts(parts)} total={total} height={30} above label={label} />;
}

function StepTable({ query, traced }: { query: Query; traced: boolean }) {
  const sort = param("sort") || "step:asc";
  const s = source("steps", "steps", { ...query, sort, filter: param("q") || undefined }, (r) => String(r.cell("step")));
  const now = param("step");
  return (
    <Panel
      name={t("steps")}
      title={t("steps_title")}
      words={t("click_row_step")}
      define={defined(s.answer, "steps", "total")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={200}
      controls={<Filter label={t("filter")} />}
    >
      <Table
        name={t("steps")}
        total={s.total}
        row={(i) => {
          const r = s.row(i);
          return { ...r, tinted: String(r.cell("step")) === now };
        }}
        height={420}
        sort={sort}
        empty={t("no_rows")}
        onSort={(next) => go({ params: { sort: next } })}
        onRow={(r) => setSteps(num(r.cell("step") as number), num(r.cell("step") as number))}
        columns={columns(s, "steps.steps", [
          ["step", { text: true, width: 80 }],
          ["total", { bar: "var(--c1)", title: t("col_duration") }],
          ["start", { width: 110 }],
          ["gap", { width: 90 }],
          ["forward_backward", { width: 175 }],
          ["communication", { width: 130 }],
          ["exposed_communication", { width: 150 }],
          ...(traced ? ([["tail", { width: 100 }]] as const) : []),
        ])}
      />
    </Panel>
  );
}
