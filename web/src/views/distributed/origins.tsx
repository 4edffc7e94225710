// Where the waiting of a run comes from: which rank, doing what; in all and step by step.
import { largest, largestFirst, sum } from "../../base/aggregate.ts";
import { chartScale, short } from "../../base/format.ts";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { t, wordOr } from "../../model/language.ts";
import { setSteps } from "../../model/steps.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Card } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";
import { rankWord } from "./rank-heat.tsx";
import { ranksCsv } from "./rank-tables.tsx";

type Asked = AskedFor<"distributed">;
type Origin = Row<"distributed", "origins">;

interface OriginSum {
  key: string;
  rank: number | null;
  worker: string | null;
  place: string;
  cause: string;
  cost: number;
  steps: number;
  file: string | null;
  line: number | null;
}

/** The rows of each origin together: they are by step. */
export function originSums(rows: readonly Origin[]): OriginSum[] {
  const sums = new Map<string, OriginSum>();
  for (const r of rows) {
    const key = `${r.worker ?? ""} ${r.place} ${r.cause}`;
    let one = sums.get(key);
    if (!one) {
      const { rank, worker, file, line } = r;
      one = { key, rank, worker, place: r.place ?? "", cause: r.cause ?? "", cost: 0, steps: 0, file, line };
      sums.set(key, one);
    }
    one.cost += r.cost ?? 0;
    one.steps += 1;
  }
  return [...sums.values()].sort(largestFirst((o) => o.cost));
}

export const originName = (o: { rank: number | null; worker: string | null; cause: string }): string =>
  o.rank !== null || o.worker
    ? rankWord(o.rank ?? o.worker ?? "")
    : t(o.cause === "pipeline" ? "origin_pipeline" : "origin_nobody");

/** Where the waiting comes from, per step: its rows add up to it. */
export function Origins({
  asked,
  worst,
  openLine,
}: {
  asked: Asked;
  worst: number;
  openLine: (file: string, line: number) => void;
}) {
  const rows = rowsOf(asked.value?.tables.origins);
  const steps = new Set(rowsOf(asked.value?.tables.heat_map).map((r) => r.step)).size || 1;
  const sums = originSums(rows);
  if (asked.value && sums.length === 0) return null;
  const all = sum(sums, (o) => o.cost) / steps;
  const most = largest(sums, (o) => o.cost, 1);
  return (
    <Panel
      name={t("origins")}
      words={t("origins_words", { v: short(all, "ns") })}
      define={defined(asked.value, "origins", "cost")}
      csv={ranksCsv("origins")}
      asked={asked}
      height={180}
    >
      <ul class="origins">
        {sums.slice(0, 12).map((o) => {
          const { file, line } = o;
          return (
            <li key={o.key} class={o.rank === worst ? "strong" : ""}>
              <span class="origin-name">
                {originName(o)}
                <small>
                  {o.worker ? wordOr(`place_${o.place}`, o.place) : ""}
                  {o.worker ? ` · ${wordOr(`cause_${o.cause}`, o.cause)}` : ""}
                  {file && line !== null ? (
                    <button type="button" class="link" title={`${file}:${line}`} onClick={() => openLine(file, line)}>
                      {t("show_code")}
                    </button>
                  ) : null}
                </small>
              </span>
              <i>
                <i style={{ width: `${(100 * o.cost) / most}%` }} class={o.worker ? "" : "nobody"} />
              </i>
              <b>{short(o.cost / steps, "ns")}</b>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

const SHOWN = 5; // origins that have a color
const originFill = (o: OriginSum, i: number, worst: number): string =>
  !o.worker ? "var(--track)" : o.rank === worst ? "var(--critical)" : i < SHOWN ? `var(--c${(i % 12) + 1})` : "url(#hatch)";

/** What each origin cost, step by step; what belongs to no rank is spread over all steps. */
export function OverRun({ asked, worst }: { asked: Asked; worst: number }) {
  const rows = rowsOf(asked.value?.tables.origins);
  const steps = [...new Set(rowsOf(asked.value?.tables.heat_map).map((r) => r.step ?? 0))].sort((a, b) => a - b);
  const sums = originSums(rows);
  if (asked.value && (steps.length < 2 || sums.every((o) => !o.worker))) return null;
  const costs = new Map<string, number>();
  for (const r of rows) {
    const key = `${r.worker ?? ""} ${r.place} ${r.cause} ${r.step ?? ""}`;
    costs.set(key, (costs.get(key) ?? 0) + (r.cost ?? 0));
  }
  const costOf = (o: OriginSum, step: number) => (o.worker ? (costs.get(`${o.key} ${step}`) ?? 0) : o.cost / steps.length);
  const ordered = [...sums.filter((o) => !o.worker), ...sums.filter((o) => o.worker)];
  const bars = steps.map((step): ColumnBar => {
    const parts = ordered.map((o) => ({ id: o.key, value: costOf(o, step), fill: originFill(o, sums.indexOf(o), worst) }));
    const total = sum(parts, (p) => p.value);
    const words = ordered.map((o): [string, number] => [originName(o), costOf(o, step)]);
    return { id: String(step), parts, total, card: <Card title={t("step_n", { n: step })} parts={words} total={total} /> };
  });
  const scale = chartScale(
    "ns",
    largest(bars, (b) => b.total, 1),
  );
  return (
    <Panel
      name={t("over_run")}
      words={`${scale.unit} · ${t("over_run_words")}`}
      define={defined(asked.value, "origins", "cost")}
      csv={ranksCsv("origins")}
      asked={asked}
      height={190}
      controls={
        <Legend
          items={sums.slice(0, SHOWN).map((o) => ({ label: originName(o), color: originFill(o, sums.indexOf(o), worst) }))}
        />
      }
    >
      <div class="pad">
        <Columns
          bars={bars}
          height={180}
          factor={scale.factor}
          format={(v) => Number(v.toPrecision(3)).toString()}
          label={t("over_run")}
          onBar={(id) => setSteps(Number(id), Number(id))}
        />
      </div>
    </Panel>
  );
}
