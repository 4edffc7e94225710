// Steps: are they similar, which one is not, and which part of it.
import type { Query } from "../../api/transport.ts";
import { isKnown, largest, largestFirst, sum } from "../../base/aggregate.ts";
import { chartScale, short } from "../../base/format.ts";
import { type Band, Bands } from "../../draw/charts/bands.tsx";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { StepTrace } from "../../draw/charts/step-lanes.tsx";
import { Strip } from "../../draw/charts/strip.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { showStretch } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { choice, go, param, WHOLE_TRACE } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, analysis, csvUrl, hasRows, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Filter } from "../shared/filter.tsx";
import { Card, categoryBars, categoryParts, FormMenu, STAGES, stageBars, stageFill, stageName } from "../shared/step-bars.tsx";
import {
  AverageTrace,
  averageLength,
  FILL,
  lanesOf,
  lengthOf,
  PARTS,
  partsOf,
  type Step,
  stackOf,
} from "../shared/step-trace.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";
import { allOverview, CategoryCurves, PartCurve, pickStep } from "./step-curves.tsx";
import { PointChips, Refusal, type StepPoints, stepPoints } from "./step-points.tsx";
import { StepsVerdict } from "./steps-verdict.tsx";

export function Steps() {
  const p = stepPoints();
  const query = { ...WHOLE_TRACE, ...p.query };
  const asked = analysis("steps", { ...query, limit: 0, table: "steps" }, "steps-all");
  const rows = rowsOf(asked.value?.tables.steps);
  const chosen = chosenStep(rows);
  // Whether the parts of a step (interval, forward + backward, tail) were recorded.
  const traced = hasRows(allOverview(), "step_trace") === true;
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

function chosenStep(rows: readonly Step[]): Step | undefined {
  const wanted = param("step").split("..")[0];
  const found = wanted ? rows.find((r) => String(r.step) === wanted) : undefined;
  return found ?? typical(rows);
}

/** The step nearest to the median: what holds for it holds for most. */
export function typical<S extends Pick<Step, "total" | "duration">>(rows: readonly S[]): S | undefined {
  const sorted = rows.filter((r) => isKnown(lengthOf(r))).sort(largestFirst(lengthOf));
  return sorted[Math.floor(sorted.length / 2)] ?? rows[0];
}

function slowest(rows: readonly Step[]): Step | undefined {
  const most = largest(rows, lengthOf);
  return rows.find((r) => lengthOf(r) === most) ?? rows[0];
}

interface AllProps {
  asked: AskedFor<"steps">;
  rows: readonly Step[];
  chosen: Step | undefined;
  query: Query;
  traced: boolean;
}

function barOf(r: Step, chosen: boolean): ColumnBar {
  const parts = partsOf(r);
  return {
    id: String(r.step),
    total: lengthOf(r) ?? 0,
    parts: stackOf(r),
    chosen,
    card: (
      <Card title={t("step_n", { n: String(r.step) })} parts={PARTS.map((p) => [t(`part_${p}`), parts[p]])} total={lengthOf(r)} />
    ),
  };
}

/** The bars of the overview, the chosen one marked. */
function barsOf(by: string, chosen: Step | undefined): ColumnBar[] {
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
    ? CATEGORIES.filter(there).map((c) => ({ label: t(`cat_${c}`), color: fillOf(c) }))
    : STAGES.filter(there).map((s) => ({ label: stageName(s), color: stageFill(s) }));
}

/** Every step as a bar; where they are too many for the screen, bands of them. */
function AllSteps({ asked, rows, chosen, query, traced }: AllProps) {
  const [by, setBy] = choice("bars", "categories");
  const bands = rowsOf(analysis("steps", { ...query, limit: 0, table: "bands" }, "steps-bands").value?.tables.bands);
  const bars = traced ? rows.map((r) => barOf(r, r === chosen)) : barsOf(by, chosen);
  const longest = largest(bars, (b) => b.total, 1);
  const scale = chartScale(
    "ns",
    largest(bands, (b) => b.p90, longest),
  );
  const banded = bands.length > 0;
  return (
    <Panel
      name={t("all_steps_title")}
      words={`${scale.unit} · ${t(banded ? "bands_words" : "click_one")}`}
      define={defined(asked.value, "steps", "total")}
      csv={csvUrl("steps", banded ? "bands" : "steps", query)}
      asked={asked}
      height={190}
      controls={
        banded ? null : traced ? (
          <Legend items={PARTS.map((p) => ({ label: t(`part_${p}`), color: FILL[p] }))} />
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
            bands={bands.map((b) => bandOf(b, chosen?.step ?? -1))}
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

type StepBand = Row<"steps", "bands">;

/** A band as the chart wants it: it holds at least one step, so all of its numbers are there. */
function bandOf(b: StepBand, chosen: number): Band {
  const [first, last] = [b.first_step ?? 0, b.last_step ?? 0];
  return {
    first,
    last,
    low: b.p10 ?? 0,
    middle: b.p50 ?? 0,
    high: b.p90 ?? 0,
    card: <BandCard band={b} />,
    chosen: chosen >= first && chosen <= last,
  };
}

const BandCard = ({ band }: { band: StepBand }) => (
  <>
    <b>{t("steps_range", { a: String(band.first_step), b: String(band.last_step) })}</b>
    <dl class="card-list">
      {(["p90", "p50", "p10"] as const).map((p) => (
        <div key={p}>
          <dt>{p}</dt>
          <dd>{short(band[p], "ns")}</dd>
        </div>
      ))}
    </dl>
  </>
);

interface OneProps {
  rows: readonly Step[];
  chosen: Step | undefined;
  points: StepPoints;
  query: Query;
  traced: boolean;
}

function OneStep({ rows, chosen, points: p, query: base, traced }: OneProps) {
  themeVersion.value;
  const average = param("show") === "average";
  const query = { ...base, step: chosen ? String(chosen.step) : undefined, table: "segments", limit: 0 };
  const asked = analysis("steps", query, "steps-one");
  const usual = rowsOf(analysis("steps", { ...base, table: "average", limit: 0 }, "steps-average").value?.tables.average);
  const segments = rowsOf(asked.value?.tables.segments).filter((r) => r.step === chosen?.step);
  const start = chosen?.start ?? 0;
  const length = average ? averageLength(usual) : (chosen?.end ?? start) - start;
  const scale = chartScale("ns", length);
  const backward = average ? 0 : backwardEnd(segments, start);
  const worst = slowest(rows);
  const title = average ? t("average_step") : t("step_n", { n: String(chosen?.step ?? "") });
  const pick = (id: string) => {
    if (id === "average") return go({ params: { show: "average" } });
    const step = (id === "slowest" ? worst : chosen)?.step ?? 0;
    go({ params: { show: undefined, step: String(step), from: undefined, to: undefined } });
  };
  return (
    <Panel
      name={title}
      words={
        <span class="chips">
          {average && !traced ? null : t("from_its_start", { unit: scale.unit })} {traced ? <PointChips points={p} /> : null}
        </span>
      }
      define={defined(asked.value, "segments", "stage")}
      csv={csvUrl("steps", "segments", query)}
      asked={asked}
      height={150}
      controls={
        <>
          {segments.some((r) => r.stage === "communication") && !average ? (
            <Legend
              items={[
                { label: t("hidden_part"), color: "url(#overlap)" },
                { label: t("exposed_word"), color: "var(--communication)" },
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
          <AverageOf rows={usual} label={title} traced={traced} />
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

/** When the last backward work of a step that begins at `start` is over; 0 where none is known. */
const backwardEnd = (segments: readonly Row<"steps", "segments">[], start: number): number =>
  largest(
    segments.filter((r) => r.stage === "backward" || (r.stage === "forward_backward" && r.track === "step")),
    (r) => (isKnown(r.start) && isKnown(r.duration) ? r.start + r.duration - start : null),
    0,
  );

/** The average step: as a step trace, or by the overview's categories. */
function AverageOf({ rows, label, traced }: { rows: readonly Row<"steps", "average">[]; label: string; traced: boolean }) {
  if (traced) return <AverageTrace rows={rows} label={label} />;
  const parts = rowsOf(allOverview().value?.tables.breakdown);
  const total = sum(parts, (r) => r.time);
  return <Strip parts={categoryParts(parts)} total={total} height={30} above label={label} />;
}

function StepTable({ query, traced }: { query: Query; traced: boolean }) {
  const sort = param("sort") || "step:asc";
  const s = source("steps", "steps", { ...query, sort, filter: param("q") || undefined }, (r) => String(r.cell("step")));
  const now = param("step");
  return (
    <TablePanel
      name={t("steps")}
      title={t("steps_title")}
      words={t("click_row_step")}
      define={defined(s.answer, "steps", "total")}
      height={200}
      controls={<Filter label={t("filter")} />}
      rows={s}
      row={(i) => {
        const r = s.row(i);
        return { ...r, tinted: String(r.cell("step")) === now, shows: isKnown(r.cell("start")) };
      }}
      table={{
        height: 420,
        sort,
        empty: t("no_rows"),
        onSort: (next) => go({ params: { sort: next } }),
        onRow: (r) => setSteps(Number(r.key), Number(r.key)),
        onTimeline: (r) => showStretch(Number(r.cell("start")), Number(r.cell("end")), t("step_n", { n: r.key })),
        timelineLabel: t("show_step"),
      }}
      list={[
        ["step", { text: true, width: 80 }],
        ["total", { bar: "var(--c1)", title: t("col_duration") }],
        ["start", { width: 110 }],
        ["gap", { width: 90 }],
        ["forward_backward", { width: 175 }],
        ["communication", { width: 130 }],
        ["exposed_communication", { width: 150 }],
        ...(traced ? ([["tail", { width: 100 }]] as const) : []),
      ]}
    />
  );
}
