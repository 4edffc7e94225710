// The average step: a bar with direct labels or a donut, and the table of the same numbers.
import type { Answer } from "../../api/types.ts";
import { isKnown, sum } from "../../base/aggregate.ts";
import { ABSENT, chartScale, exact, inScale, percent, short, THIN } from "../../base/format.ts";
import { Donut, Strip } from "../../draw/charts/strip.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { showCategoryOf } from "../../model/costliest.ts";
import { showPlace } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, allRanks, csvUrl, hasNoSteps, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { categoryParts } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";
import { hasCauses, isWorth, LEAST, partsByCause, StepByCause } from "./step-causes.tsx";

/** `words`: what the average is based on, where there is a second one. */
export function AverageStep({ asked, words }: { asked: AskedFor<"overview">; words?: string | undefined }) {
  const [form, setForm] = choice("average", "bar");
  const answer = asked.value;
  themeVersion.value; // text on fills follows the theme
  const rows = rowsOf(answer?.tables.breakdown);
  const total = sum(rows, (r) => r.time);
  const parts = categoryParts(rows);
  const { title, said } = averageTitle(rowsOf(answer?.tables.steps));
  const scale = chartScale("ns", total);
  const causes = partsByCause(answer);
  const [by] = choice("by", hasCauses(causes) ? "cause" : "category");
  const caused = by === "cause" && causes.length > 0 && form === "bar";
  return (
    <Panel
      span="wide"
      name={title}
      words={said ?? words ?? t(caused ? "average_causes" : "average_words")}
      define={defined(answer, "breakdown", "category")}
      csv={csvUrl("overview", "breakdown")}
      asked={asked}
      height={330}
      figure={answer?.verdict?.text.en}
      controls={
        <>
          {caused ? null : (
            <Segmented label={t("form")} chosen={form} onChoose={setForm} choices={{ bar: t("bar"), donut: t("donut") }} />
          )}
          {causes.length ? (
            <Segmented
              label={t("group_by")}
              chosen={caused ? "cause" : "category"}
              onChoose={(id) => go({ params: { by: id, average: undefined } })}
              choices={{ cause: t("by_cause"), category: t("by_category") }}
            />
          ) : null}
        </>
      }
    >
      {caused ? (
        <StepByCause parts={causes} />
      ) : form === "bar" ? (
        <>
          <div class="pad">
            <Strip
              parts={parts}
              total={total}
              height={30}
              above
              label={t("average_step")}
              onPart={(id) => showCategory(answer, id)}
            />
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
            onPart={(id) => showCategory(answer, id)}
          />
          <Breakdown answer={answer} brief />
        </div>
      )}
    </Panel>
  );
}

/** The event that takes most of a category's time, else its longest stretch; of all ranks, where it takes longest. */
function showCategory(answer: Answer<"overview"> | undefined, category: string): void {
  const claim = t(`cat_${category as (typeof CATEGORIES)[number]}`);
  const found = rowsOf(answer?.tables.breakdown).find((r) => r.category === category);
  const worker = rowsOf(answer?.tables.spread).find((r) => r.category === category)?.max_worker;
  if (!allRanks.value && found) showPlace(found, claim);
  if (allRanks.value && worker) showCategoryOf(category, claim, { worker });
}

/** What the average is of: the steps, one of them, those with kernels, or a recording without steps. */
function averageTitle(steps: readonly Row<"overview", "steps">[]): { title: string; said?: string } {
  const known = steps.filter((s) => s.kernel !== null).length;
  if (hasNoSteps()) return { title: t("the_recording"), said: t("one_step_words") };
  if (steps.length === 1) return { title: t("step_n", { n: String(steps[0]?.step) }), said: t("one_step_words") };
  if (known > 0 && known < steps.length)
    return { title: t("average_step"), said: t("average_some", { n: known, m: steps.length }) };
  return { title: t("average_step") };
}

const SHOWN = 8; // steps next to the average; more are in the Steps view

const shownCategories = (answer: Answer<"overview"> | undefined) =>
  CATEGORIES.filter((c) => (rowsOf(answer?.tables.breakdown).find((r) => r.category === c)?.share ?? 0) >= LEAST);

const [BAR, HEAD, LINE] = [60, 28, 26];

/** How tall the average step is, so that the steps next to it can be as tall. */
export function averageHeight(answer: Answer<"overview"> | undefined): number {
  const causes = partsByCause(answer);
  if (param("average") === "donut") return 250;
  if ((param("by") || (hasCauses(causes) ? "cause" : "category")) === "cause")
    return BAR + LINE * causes.filter(isWorth(causes)).length;
  return BAR + HEAD + LINE * (shownCategories(answer).length + 1);
}

/** The table of the chart; `brief` next to the donut, where there is no room for bars. */
function Breakdown({ answer, brief }: { answer: Answer<"overview"> | undefined; brief?: boolean }) {
  const rows = rowsOf(answer?.tables.breakdown);
  const steps = hasNoSteps() ? [] : rowsOf(answer?.tables.steps).slice(0, SHOWN);
  const total = sum(rows, (r) => r.time);
  const scale = chartScale("ns", total);
  // A category that took nothing, or would be written as 0.0 %, says nothing: the bar and the sum hold it.
  const shown = shownCategories(answer);
  // What would be written as zero, although it is not: the time column shows it in another unit.
  const isTiny = (v: number) => v > 0 && v / scale.factor < 0.5 * 10 ** -scale.digits;
  const time = (v: number) =>
    isTiny(v) ? `<${(10 ** -scale.digits).toFixed(scale.digits)}` : (v / scale.factor).toFixed(scale.digits);
  const columns: TableColumn[] = [
    {
      name: "category",
      title: t("category"),
      text: true,
      ...defined(answer, "breakdown", "category"),
      width: 150,
    },
    {
      name: "time",
      title: t("time"),
      ...defined(answer, "breakdown", "time"),
      width: 110,
      show: (v) =>
        isKnown(v) ? (
          <span title={exact(v, "ns")}>
            <Value text={isTiny(v) ? short(v, "ns") : `${time(v)}${THIN}${scale.unit}`} />
          </span>
        ) : (
          ABSENT
        ),
    },
    {
      name: "share",
      title: t("share"),
      ...defined(answer, "breakdown", "share"),
      ...(brief
        ? { show: (v: CellValue) => percent(isKnown(v) ? v : null) }
        : {
            bar: "share",
            show: (v: CellValue, row: TableRow) => <ShareCell value={v} fill={row.key === "sum" ? undefined : fillOf(row.key)} />,
          }),
    },
    ...steps.map(
      (s, i): TableColumn => ({
        name: `step ${s.step}`,
        title: i === 0 ? t("step_n", { n: String(s.step) }) : String(s.step),
        soft: true,
        width: i === 0 ? 78 : 62,
        show: (v) => (isKnown(v) ? <span title={exact(v, "ns")}>{time(v)}</span> : ABSENT),
      }),
    ),
  ];
  const row = (i: number): TableRow => {
    const c = shown[i] as (typeof CATEGORIES)[number];
    const found = rows.find((r) => r.category === c);
    return {
      key: c,
      label: (
        <>
          <Swatch color={fillOf(c)} /> {t(`cat_${c}`)}
        </>
      ),
      shows: allRanks.value ? !!found?.time : isKnown(found?.from),
      cell: (name) =>
        name === "time" || name === "share" ? found?.[name] : (steps.find((s) => `step ${s.step}` === name)?.[c] ?? null),
    };
  };
  const sumOf = (name: string) =>
    name === "time" ? total : name === "share" ? 1 : steps.find((s) => `step ${s.step}` === name)?.total;
  return (
    <Table
      name={t("average_step")}
      columns={columns}
      total={shown.length}
      row={row}
      sum={sumOf}
      onTimeline={(r) => showCategory(answer, r.key)}
      timelineLabel={t("show_costliest")}
      sumLabel={<span class="under-swatch">{t("total")}</span>}
    />
  );
}

function ShareCell({ value, fill }: { value: CellValue; fill: string | undefined }) {
  const v = isKnown(value) ? value : null;
  return (
    <span class="barcell share">
      <span>{percent(v)}</span>
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
