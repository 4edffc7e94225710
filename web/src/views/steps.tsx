// Steps: are they alike, which one is not, and which part of it.
import type { Query } from "../api/transport.ts";
import type { Answer } from "../api/types.ts";
import { chartScale, short } from "../base/format.ts";
import { Bands } from "../draw/bands.tsx";
import { type ColumnBar, Columns } from "../draw/columns.tsx";
import { Sparkline, StepTrace } from "../draw/trace.tsx";
import { server } from "../model/data.ts";
import { go, param } from "../model/place.ts";
import { setSteps } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, analysisQuery, num, type Row, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Legend, Segmented } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table } from "../widgets/table.tsx";
import { Filter } from "./filter.tsx";
import { PointChips, type Points, points, Refusal } from "./points.tsx";
import { columns, defined, source } from "./rows.ts";
import { Card } from "./stepbars.tsx";
import { AverageTrace, averageLength, FILL, isKnown, lanesOf, PARTS, partsOf, type StepPart } from "./steptrace.tsx";
import { Verdict } from "./verdict.tsx";

const ALL = { step: undefined, from: undefined, to: undefined };

export function Steps() {
  const p = points();
  const query = { ...ALL, ...p.query };
  const asked = analysis("steps", { ...query, limit: 0, table: "steps" }, "steps-all");
  const bands = rowsOf(analysis("steps", { ...query, limit: 0, table: "bands" }, "steps-bands").value?.tables.bands);
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
        <AllSteps asked={asked} rows={rows} bands={bands} chosen={chosen} query={query} />
        <OneStep rows={rows} chosen={chosen} points={p} query={query} />
        {PARTS.map((part) => (
          <PartCurve key={part} part={part} rows={rows} mean={mean} answer={asked.value} chosen={chosen} />
        ))}
        <StepTable query={query} />
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

interface AllProps {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  bands: readonly Row[];
  chosen: Row | undefined;
  query: Query;
}

function barOf(r: Row, chosen: boolean): ColumnBar {
  const parts = partsOf(r);
  return {
    id: String(r.step),
    total: num(r.duration),
    parts: PARTS.map((p) => ({ id: p, value: parts[p], fill: FILL[p] })),
    chosen,
    card: (
      <Card
        title={t("step_n", { n: String(r.step) })}
        parts={PARTS.map((p) => [t(`part_${p}`), parts[p]])}
        total={num(r.duration)}
      />
    ),
  };
}

/** Every step as a bar; where they are too many for the screen, bands of them. */
function AllSteps({ asked, rows, bands, chosen, query }: AllProps) {
  const scale = chartScale("ns", Math.max(...rows.map((r) => num(r.duration)), 1));
  const banded = bands.length > 0;
  return (
    <Panel
      name={t("all_steps_title")}
      title={t("all_steps_title")}
      words={`${scale.unit} · ${t(banded ? "bands_words" : "click_one")}`}
      define={defined(asked.value, "steps", "duration")}
      csv={stepsCsv(banded ? "bands" : "steps", query)}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={190}
      controls={banded ? null : <Legend items={PARTS.map((p) => ({ label: t(`part_${p}`), colour: FILL[p] }))} />}
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
            bars={rows.map((r) => barOf(r, r === chosen))}
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

const stepsCsv = (table: string, extra: Query = ALL): string =>
  server().url("steps", analysisQuery({ ...extra, table, format: "csv", limit: 0 }));

function pickStep(n: number, shift: boolean): void {
  go({ params: { show: undefined } }, true);
  const now = Number(param("step").split("..")[0] || n);
  if (shift) setSteps(now, n);
  else setSteps(n, n);
}

interface OneProps {
  rows: readonly Row[];
  chosen: Row | undefined;
  points: Points;
  query: Query;
}

function OneStep({ rows, chosen, points: p, query: base }: OneProps) {
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
          {t("from_its_start", { unit: scale.unit })} <PointChips points={p} />
        </span>
      }
      define={defined(asked.value, "segments", "stage")}
      csv={stepsCsv("segments", query)}
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
          <AverageTrace rows={mean} label={title} />
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

const PART_COLUMN = { forward_backward: "forward_backward", tail: "tail" } as const;

interface CurveProps {
  part: StepPart;
  rows: readonly Row[];
  mean: number;
  answer: Answer | undefined;
  chosen: Row | undefined;
}

function PartCurve({ part, rows, mean, answer, chosen }: CurveProps) {
  const known = isKnown(rows, part);
  const values = known ? rows.map((r) => partsOf(r)[part]) : [];
  const own = values.length ? values.reduce((a, b) => a + b, 0) / values.length : 0;
  return (
    <Panel
      span="w4"
      name={t(`part_${part}`)}
      title={t(`part_${part}`)}
      words={known ? `${short(own, "ns")} · ${short(mean ? own / mean : 0, "share")}` : t("not_recorded")}
      define={part === "interval" ? { help: t("interval_help") } : defined(answer, "steps", PART_COLUMN[part])}
      csv={stepsCsv("steps")}
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
            colour={FILL[part]}
            height={70}
            label={t(`part_${part}`)}
            mark={chosen ? rows.indexOf(chosen) : -1}
            card={(i) => `${t("step_n", { n: String(rows[i]?.step) })} · ${short(values[i] ?? 0, "ns")}`}
            onPoint={(i, shift) => pickStep(num(rows[i]?.step), shift)}
          />
        ) : null}
      </div>
    </Panel>
  );
}

function StepTable({ query }: { query: Query }) {
  const sort = param("sort") || "step:asc";
  const s = source("steps", "steps", { ...query, sort, filter: param("q") || undefined }, (r) => String(r.cell("step")));
  const now = param("step");
  return (
    <Panel
      name={t("steps")}
      title={t("steps_title")}
      words={t("click_row_step")}
      define={defined(s.answer, "steps", "duration")}
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
