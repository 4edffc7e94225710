// The average step: a bar with direct labels or a donut, and the table behind it.
import type { Answer } from "../../api/types.ts";
import { chartScale, exact, inScale, percent, THIN } from "../../base/format.ts";
import { Donut, Strip } from "../../draw/charts/strip.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import type { Asked } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { choice } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { csvUrl, hasNoSteps, num, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { categoryParts } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";

/** `words`: what the average rests on, where there is another beside it. */
export function AverageStep({ asked, words }: { asked: Asked<Answer>; words?: string | undefined }) {
  const [form, setForm] = choice("average", "bar");
  const answer = asked.value;
  themeVersion.value; // text on fills follows the theme
  const rows = rowsOf(answer?.tables.breakdown);
  const total = rows.reduce((s, r) => s + num(r.time), 0);
  const parts = categoryParts(rows);
  const { title, said } = averageTitle(rowsOf(answer?.tables.steps));
  const scale = chartScale("ns", total);
  return (
    <Panel
      span="wide"
      name={title}
      title={title}
      words={said ?? words ?? t("average_words")}
      define={defined(answer, "breakdown", "category")}
      csv={csvUrl("overview", "breakdown")}
      old={asked.old}
      error={asked.error}
      busy={!answer}
      height={330}
      figure={answer?.verdict?.text.en}
      controls={
        <Segmented
          label={t("form")}
          chosen={form}
          onChoose={setForm}
          choices={[
            { id: "bar", label: t("bar") },
            { id: "donut", label: t("donut") },
          ]}
        />
      }
    >
      {form === "bar" ? (
        <>
          <div class="pad">
            <Strip parts={parts} total={total} height={30} above label={t("average_step")} />
          </div>
          <Breakdown answer={answer} />
        </>
      ) : (
        <div class="donut-row">
          <Donut
            parts={parts}
            middle={inScale(total, scale)}
            below={title === t("average_step") ? t("unit_per_step", { unit: scale.unit }) : scale.unit}
            label={t("average_step")}
          />
          <Breakdown answer={answer} brief />
        </div>
      )}
    </Panel>
  );
}

/** What the average is of: the steps, one of them, those with kernels, or a recording without steps. */
function averageTitle(steps: readonly Row[]): { title: string; said?: string } {
  const known = steps.filter((s) => s.kernel !== null).length;
  if (hasNoSteps()) return { title: t("the_recording"), said: t("one_step_words") };
  if (steps.length === 1) return { title: t("step_n", { n: String(steps[0]?.step) }), said: t("one_step_words") };
  if (known > 0 && known < steps.length)
    return { title: t("average_step"), said: t("average_some", { n: known, m: steps.length }) };
  return { title: t("average_step") };
}

const SHOWN = 8; // steps beside the average; more are in the Steps view

/** The table behind the chart; `brief` beside the donut, where there is no room for bars. */
function Breakdown({ answer, brief }: { answer: Answer | undefined; brief?: boolean }) {
  const rows = rowsOf(answer?.tables.breakdown);
  const steps = hasNoSteps() ? [] : rowsOf(answer?.tables.steps).slice(0, SHOWN);
  const total = rows.reduce((s, r) => s + num(r.time), 0);
  const scale = chartScale("ns", total);
  const time = (v: number) => {
    const shown = v / scale.factor;
    return v > 0 && shown < 0.5 * 10 ** -scale.digits ? Number(shown.toPrecision(2)).toString() : shown.toFixed(scale.digits);
  };
  const help = (table: string, name: string) => answer?.tables[table]?.columns.find((c) => c.name === name)?.help;
  const columns: TableColumn[] = [
    {
      name: "category",
      title: t("category"),
      text: true,
      help: help("breakdown", "category"),
      path: "overview.breakdown.category",
      width: 150,
    },
    {
      name: "time",
      title: t("time"),
      help: help("breakdown", "time"),
      path: "overview.breakdown.time",
      width: 110,
      show: (v) =>
        typeof v === "number" ? (
          <span title={exact(v, "ns")}>
            {time(v)}
            {THIN}
            <span class="unit">{scale.unit}</span>
          </span>
        ) : (
          "–"
        ),
    },
    {
      name: "share",
      title: t("share"),
      help: help("breakdown", "share"),
      path: "overview.breakdown.share",
      ...(brief
        ? { show: (v: unknown) => (typeof v === "number" ? percent(v) : "–") }
        : {
            bar: "share",
            show: (v: unknown, row: TableRow) => <ShareCell value={v} fill={row.key === "sum" ? undefined : fillOf(row.key)} />,
          }),
    },
    ...steps.map(
      (s, i): TableColumn => ({
        name: `step ${s.step}`,
        title: i === 0 ? t("step_n", { n: String(s.step) }) : String(s.step),
        soft: true,
        width: i === 0 ? 78 : 62,
        show: (v) => (typeof v === "number" ? <span title={exact(v, "ns")}>{time(v)}</span> : "–"),
      }),
    ),
  ];
  const row = (i: number): TableRow => {
    const c = CATEGORIES[i] as string;
    const found = rows.find((r) => r.category === c);
    const zero = c === "communication" && num(found?.time) === 0; // one worker has none
    return {
      key: c,
      label: (
        <>
          <Swatch colour={fillOf(c)} /> {t(`cat_${c}` as "cat_kernel")}
        </>
      ),
      cell: (name) =>
        zero
          ? null
          : name.startsWith("step ")
            ? (steps.find((s) => `step ${s.step}` === name)?.[c] ?? null)
            : (found?.[name] ?? null),
    };
  };
  const sum = (name: string) =>
    name === "time"
      ? total
      : name === "share"
        ? 1
        : name.startsWith("step ")
          ? num(steps.find((s) => `step ${s.step}` === name)?.total)
          : undefined;
  return (
    <Table
      name={t("average_step")}
      columns={columns}
      total={CATEGORIES.length}
      row={row}
      sum={sum}
      sumLabel={<span class="under-swatch">{t("total")}</span>}
    />
  );
}

function ShareCell({ value, fill }: { value: unknown; fill: string | undefined }) {
  const v = typeof value === "number" ? value : null;
  return (
    <span class="barcell share">
      <span>{v === null ? "–" : percent(v)}</span>
      {fill ? (
        <svg class="bar" width="100%" height="6" aria-hidden="true">
          <rect width="100%" height="6" rx="3" fill="var(--track)" />
          <rect width={`${(v ?? 0) * 100}%`} height="6" rx="3" fill={fill === "url(#hatch)" ? "var(--other)" : fill} />
        </svg>
      ) : (
        <i class="bar" />
      )}
    </span>
  );
}
