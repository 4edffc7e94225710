// Iterations over time: how long each was by phase, with the time in which nothing ran; tokens per second; how many
// requests were in the batch and in the server.
import { isKnown, largest, smallest } from "../../base/aggregate.ts";
import { chartScale, short, thousands } from "../../base/format.ts";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { type Line, Lines } from "../../draw/charts/lines.tsx";
import { showStretch } from "../../model/evidence.ts";
import { choice } from "../../model/route.ts";
import {
  type Bar,
  barsOf,
  type Iteration,
  overTime,
  PHASES,
  phaseFill,
  type Request,
  rateOf,
  type Series,
  showIteration,
  w,
} from "../../model/serving.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, countOf, csvUrl, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Card } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";

const MOST_BARS = 160;
const BINS = 120;
const HEIGHT = 210;
const FORMS = ["time", "tokens", "batch"] as const;

interface Props {
  asked: AskedFor<"serving">;
  requests: readonly Request[];
}

export function Iterations({ asked, requests }: Props) {
  themeVersion.value;
  const [form, setForm] = choice("iterations", "time");
  const rows = rowsOf(asked.value?.tables.iterations);
  const bars = barsOf(rows, MOST_BARS);
  const scale = chartScale(
    "ns",
    largest(bars, (b) => totalOf(b), 1),
  );
  const each = bars[0]?.n ?? 1;
  const words =
    form === "tokens"
      ? w("tokens_words")
      : form === "batch"
        ? w("batch_words")
        : each > 1
          ? w("iterations_many", { unit: scale.unit, n: each })
          : w("iterations_words", { unit: scale.unit });
  const all = asked.value?.tables.iterations?.total_rows ?? 0;
  return (
    <Panel
      name={w("iterations")}
      words={all > rows.length ? `${words} · ${w("not_all", { n: thousands(rows.length) })}` : words}
      define={defined(asked.value, "iterations", form === "time" ? "phase" : form === "tokens" ? "output_tokens" : "requests")}
      csv={csvUrl("serving", "iterations")}
      asked={asked}
      height={HEIGHT}
      controls={
        <Segmented
          label={w("form")}
          choices={FORMS.map((id) => ({ id, label: w(`form_${id}`) }))}
          chosen={form}
          onChoose={setForm}
        />
      }
    >
      <div class="pad">
        {form === "tokens" ? (
          <Tokens rows={rows} />
        ) : form === "batch" ? (
          <Batch rows={rows} requests={requests} />
        ) : (
          <>
            <Legend items={legendOf(bars)} />
            <Columns
              bars={bars.map(columnOf)}
              height={HEIGHT}
              factor={scale.factor}
              format={(v) => Number(v.toPrecision(3)).toString()}
              label={w("iterations")}
              onBar={(id) => showBar(bars.find((b) => idOf(b) === id))}
            />
          </>
        )}
      </div>
    </Panel>
  );
}

const idOf = (b: Bar): string => String(b.first.step ?? b.first.start);
const totalOf = (b: Bar): number => Object.values(b.work).reduce((s, v) => s + v, b.wait);
const waitWord = (): string => w((countOf("kernel") ?? 0) > 0 ? "waits_device" : "waits");

const titleOf = (b: Bar): string =>
  b.n > 1
    ? w("iterations_n", { a: String(b.first.step), b: String(b.last.step) })
    : w("iteration_n", { n: String(b.first.step) });

function legendOf(bars: readonly Bar[]) {
  const shown = PHASES.filter((p) => bars.some((b) => (b.work[p] ?? 0) > 0));
  return [...shown.map((p) => ({ label: w(`phase_${p}`), color: phaseFill(p) })), { label: waitWord(), color: "url(#blocked)" }];
}

function columnOf(b: Bar): ColumnBar {
  const parts = PHASES.map((p) => ({ id: p, value: b.work[p] ?? 0, fill: phaseFill(p) }));
  return {
    id: idOf(b),
    total: totalOf(b),
    parts: [...parts, { id: "wait", value: b.wait, fill: "url(#blocked)" }],
    card: (
      <Card
        title={titleOf(b)}
        parts={[...PHASES.map((p) => [w(`phase_${p}`), b.work[p]] as const), [waitWord(), b.wait]]}
        total={totalOf(b)}
      />
    ),
  };
}

function showBar(b: Bar | undefined): void {
  if (!b) return;
  if (b.n === 1) showIteration(b.first, titleOf(b));
  else if (isKnown(b.first.start) && isKnown(b.last.start))
    showStretch(b.first.start - (b.first.gap_before ?? 0), b.last.start + (b.last.duration ?? 0), titleOf(b));
}

const rate = (v: number): string => (v >= 10000 ? `${Number((v / 1000).toPrecision(3))} k` : thousands(Math.round(v)));

function Tokens({ rows }: { rows: readonly Iteration[] }) {
  const bins = Math.min(BINS, Math.max(12, rows.length));
  const prompts = rows.every((r) => r.prompt_tokens !== null) && rows.some((r) => (r.prompt_tokens ?? 0) > 0);
  const lines: Line[] = [
    ...(prompts
      ? [
          lineOf(
            "prompt_rate",
            phaseFill("prefill"),
            rateOf(rows, bins, (r) => r.prompt_tokens),
          ),
        ]
      : []),
    lineOf(
      "output_rate",
      phaseFill("decode"),
      rateOf(rows, bins, (r) => r.output_tokens),
    ),
  ];
  return <Over lines={lines} y={rate} rows={rows} label={w("tokens_words")} />;
}

const lineOf = (key: "prompt_rate" | "output_rate" | "in_batch" | "in_server", color: string, points: Series): Line => ({
  id: key,
  label: w(key),
  color,
  points,
});

function Batch({ rows, requests }: { rows: readonly Iteration[]; requests: readonly Request[] }) {
  const bins = Math.min(BINS, Math.max(12, rows.length));
  const from = smallest(rows, (r) => r.start, Number.MAX_SAFE_INTEGER);
  const to = largest(rows, (r) => (r.start ?? 0) + (r.duration ?? 0), from);
  // Only the time of the iterations: before and after it what ran is unknown.
  const there = requests.flatMap((r) => {
    const [start, end] = [Math.max(from, r.arrival ?? to), Math.min(to, r.end ?? from)];
    return end > start ? [{ start, duration: end - start }] : [];
  });
  const edges = [
    { start: from, duration: 0 },
    { start: to, duration: 0 },
  ];
  const lines: Line[] = [
    ...(there.length
      ? [
          lineOf(
            "in_server",
            "var(--critical)",
            overTime([...there, ...edges], bins, () => 1),
          ),
        ]
      : []),
    lineOf(
      "in_batch",
      phaseFill("decode"),
      overTime(rows, bins, (i) => rows[i]?.requests),
    ),
  ];
  return <Over lines={lines} y={(v) => Number(v.toPrecision(3)).toString()} rows={rows} label={w("batch_words")} />;
}

interface OverProps {
  lines: readonly Line[];
  y: (v: number) => string;
  rows: readonly Iteration[];
  label: string;
}

/** Lines over the time of the trace; a click shows the iteration that ran then. */
function Over({ lines, y, rows, label }: OverProps) {
  const show = (x: number) => {
    const at = rows.findIndex((r) => (r.start ?? 0) + (r.duration ?? 0) >= x);
    const found = rows[at];
    if (found) showIteration(found, w("iteration_n", { n: String(found.step) }));
  };
  return <Lines lines={lines} height={HEIGHT + 18} top={1} x={(v) => short(v, "ns")} y={y} label={label} onPlace={show} />;
}
