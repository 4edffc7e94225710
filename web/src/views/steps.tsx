// Steps: are they alike, which one is not, and which part of it.
import type { Query } from "../api/transport.ts";
import type { Answer } from "../api/types.ts";
import { chartScale, short } from "../base/format.ts";
import { Bands } from "../draw/bands.tsx";
import { type ColumnBar, Columns } from "../draw/columns.tsx";
import { Sparkline, StepTrace, type TraceBox, type TraceLane } from "../draw/trace.tsx";
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
import { columns, defined, source } from "./rows.ts";
import { Card, stageFill, stageName } from "./stepbars.tsx";
import { Verdict } from "./verdict.tsx";

const PARTS = ["interval", "forward_backward", "tail"] as const;
const FILL: Record<string, string> = {
  interval: "var(--data_loader)",
  forward_backward: "var(--kernel)",
  tail: "var(--communication)",
};

/** Whether a part is known of any step: absent is never zero. */
const isKnown = (rows: readonly Row[], part: (typeof PARTS)[number]): boolean =>
  rows.some((r) => (part === "tail" ? r.tail : r.forward_backward) !== null);

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
  const asked = analysis("steps", { ...ALL, limit: 0, table: "steps" }, "steps-all");
  const bands = rowsOf(analysis("steps", { ...ALL, limit: 0, table: "bands" }, "steps-bands").value?.tables.bands);
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
        <AllSteps asked={asked} rows={rows} bands={bands} chosen={chosen} />
        <OneStep rows={rows} chosen={chosen} />
        {PARTS.map((p) => (
          <PartCurve key={p} part={p} rows={rows} mean={mean} answer={asked.value} />
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

interface AllProps {
  asked: ReturnType<typeof analysis>;
  rows: readonly Row[];
  bands: readonly Row[];
  chosen: Row | undefined;
}

function barOf(r: Row, chosen: boolean): ColumnBar {
  const parts = partsOf(r);
  return {
    id: String(r.step),
    total: num(r.duration),
    parts: PARTS.map((p) => ({ id: p, value: parts[p], fill: FILL[p] as string })),
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
function AllSteps({ asked, rows, bands, chosen }: AllProps) {
  const scale = chartScale("ns", Math.max(...rows.map((r) => num(r.duration)), 1));
  const banded = bands.length > 0;
  return (
    <Panel
      name={t("all_steps_title")}
      title={t("all_steps_title")}
      words={`${scale.unit} · ${t(banded ? "bands_words" : "click_one")}`}
      define={defined(asked.value, "steps", "duration")}
      csv={stepsCsv(banded ? "bands" : "steps")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={190}
      controls={banded ? null : <Legend items={PARTS.map((p) => ({ label: t(`part_${p}`), colour: FILL[p] as string }))} />}
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
  const now = Number(param("step").split("..")[0] || n);
  if (shift) setSteps(now, n);
  else setSteps(n, n);
}

/** A collective is solid where it is exposed; the stretches that computation hides lie over it, striped. */
function boxOf(r: Row, i: number, start: number): TraceBox {
  const from = num(r.start) - start;
  const words = short(num(r.duration), "ns");
  const comm = r.stage === "communication";
  const hidden = r.stage === "hidden";
  const stage = String(r.stage);
  const part = PARTS.find((p) => p === stage);
  const name = comm || hidden ? String(r.name) : part ? t(`part_${part}`) : stageName(stage);
  const exposed = comm && typeof r.exposed === "number" ? ` · ${t("exposed_part", { v: short(r.exposed, "ns") })}` : "";
  return {
    id: String(i),
    from,
    to: from + num(r.duration),
    fill: hidden ? "url(#overlap)" : comm ? "var(--communication)" : part ? (FILL[part] as string) : stageFill(stage),
    label: hidden ? "" : comm ? words : `${name} ${words}`,
    card: `${name} · ${words}${hidden ? ` · ${t("hidden_part")}` : exposed}`,
  };
}

function lanesOf(segments: readonly Row[], start: number): TraceLane[] {
  const box = (r: Row, i: number) => boxOf(r, i, start);
  // The stages on the host, or the parts of the step as MindSpore gives them.
  const main = segments.some((r) => r.track === "step") ? "step" : "host";
  const host = segments.filter((r) => r.track === main);
  const others = [...new Set(segments.filter((r) => r.track !== main).map((r) => String(r.track)))];
  // Labels stand on the solid boxes, so those come last where a stretch would cover them.
  const order = (r: Row) => (r.stage === "hidden" ? 1 : 0);
  return [
    { name: t("main_stream"), strong: true, boxes: host.map(box) },
    ...others.map((track) => ({
      name: track,
      boxes: segments
        .filter((r) => r.track === track)
        .sort((a, b) => order(a) - order(b))
        .map(box),
    })),
  ];
}

/** The average step: its three parts one behind the other. */
function averageLane(rows: readonly Row[]): TraceLane[] {
  let at = 0;
  const boxes = PARTS.map((p): TraceBox => {
    const own = rows.length ? rows.reduce((s, r) => s + partsOf(r)[p], 0) / rows.length : 0;
    const words = `${t(`part_${p}`)} ${short(own, "ns")}`;
    const box = { id: p, from: at, to: at + own, fill: FILL[p] as string, label: words, card: words };
    at += own;
    return box;
  });
  return [{ name: t("main_stream"), strong: true, boxes: boxes.filter((b) => b.to > b.from) }];
}

function OneStep({ rows, chosen }: { rows: readonly Row[]; chosen: Row | undefined }) {
  themeVersion.value;
  const average = param("show") === "average";
  const query = { ...ALL, step: chosen ? String(chosen.step) : undefined, table: "segments", limit: 0 };
  const asked = analysis("steps", query, "steps-one");
  const segments = rowsOf(asked.value?.tables.segments).filter((r) => r.step === chosen?.step);
  const start = num(chosen?.start);
  const length = average ? avg(rows, "duration") : num(chosen?.end) - start;
  const scale = chartScale("ns", length);
  const ends = segments.filter((r) => r.stage === "backward").map((r) => num(r.start) + num(r.duration) - start);
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
      words={t("from_its_start", { unit: scale.unit })}
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
        <StepTrace
          lanes={average ? averageLane(rows) : lanesOf(segments, start)}
          length={length}
          factor={scale.factor}
          unit={scale.unit}
          border={backward ? { at: backward, label: t("backward_ends") } : undefined}
          label={title}
        />
      </div>
    </Panel>
  );
}

const PART_COLUMN = { forward_backward: "forward_backward", tail: "tail" } as const;

interface CurveProps {
  part: (typeof PARTS)[number];
  rows: readonly Row[];
  mean: number;
  answer: Answer | undefined;
}

function PartCurve({ part, rows, mean, answer }: CurveProps) {
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
        {known ? <Sparkline values={values} colour={FILL[part] as string} height={70} label={t(`part_${part}`)} /> : null}
      </div>
    </Panel>
  );
}

function StepTable() {
  const sort = param("sort") || "step:asc";
  const s = source("steps", "steps", { ...ALL, sort, filter: param("q") || undefined }, (r) => String(r.cell("step")));
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
