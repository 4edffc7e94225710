// Steps as stacked bars: by category, or by stage on the host or on the device; the average step as a strip.
import { isKnown, type Maybe, sum } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import type { Part } from "../../draw/charts/strip.tsx";
import { CATEGORIES, fillOf } from "../../draw/patterns.tsx";
import { showStep } from "../../model/evidence.ts";
import { t, wordOr } from "../../model/language.ts";
import { setSteps } from "../../model/steps.ts";
import type { Row } from "../../model/trace.ts";
import { Menu } from "../../widgets/menu.tsx";

type OverviewStep = Row<"overview", "steps">;

export const STAGES = ["data_loading", "forward", "backward", "optimizer", "other"] as const;
const STAGE_FILL: Record<string, string> = {
  data_loading: "var(--data_loader)",
  forward: "var(--c1)",
  backward: "var(--c4)",
  optimizer: "var(--c6)",
  other: "url(#hatch)",
  communication: "var(--communication)",
};

export const stageFill = (s: string): string => STAGE_FILL[s] ?? "var(--track)";
export const stageName = (s: string): string => wordOr(`stage_${s}`, s);

export function categoryBars(steps: readonly OverviewStep[]): ColumnBar[] {
  // Where only some steps have kernels, the rest of the others is not lost time: what ran is unknown.
  const some = steps.some((s) => s.kernel !== null);
  const isUnknown = (step: OverviewStep, category: string) => some && category === "other" && step.kernel === null;
  return steps.map((s) => ({
    id: String(s.step),
    total: s.total ?? 0,
    parts: CATEGORIES.map((c) => ({ id: c, value: s[c] ?? 0, fill: isUnknown(s, c) ? "var(--track)" : fillOf(c) })),
    card: (
      <Card
        title={t("step_n", { n: String(s.step) })}
        parts={CATEGORIES.map((c) => [isUnknown(s, c) ? t("not_recorded") : t(`cat_${c}`), s[c]])}
        total={s.total}
      />
    ),
  }));
}

export function stageBars(rows: readonly Row<"overview", "stage_steps">[], side: "host_time" | "device_time"): ColumnBar[] {
  const numbers = [...new Set(rows.map((r) => r.step))];
  return numbers.map((n) => {
    const own = rows.filter((r) => r.step === n);
    const parts = STAGES.map((s) => ({ id: s, value: own.find((r) => r.stage === s)?.[side] ?? 0, fill: stageFill(s) }));
    const total = sum(parts, (p) => p.value);
    return {
      id: String(n),
      total,
      parts,
      card: <Card title={t("step_n", { n: String(n) })} parts={parts.map((p) => [stageName(p.id), p.value])} total={total} />,
    };
  });
}

interface CardProps {
  title: string;
  parts: readonly (readonly [string, Maybe])[];
  total: Maybe;
}

export function Card({ title, parts, total }: CardProps) {
  return (
    <>
      <b>{title}</b>
      <dl class="card-list">
        {parts
          .filter(([, v]) => isKnown(v) && v > 0)
          .map(([name, v]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{short(v, "ns")}</dd>
            </div>
          ))}
        <div class="card-total">
          <dt>{t("total")}</dt>
          <dd>{short(total, "ns")}</dd>
        </div>
      </dl>
    </>
  );
}

/** The categories as parts of a strip, in their fixed order. */
export function categoryParts(rows: readonly Row<"overview", "breakdown">[]): Part[] {
  return CATEGORIES.flatMap((c): Part[] => {
    const row = rows.find((r) => r.category === c);
    const time = row?.time;
    if (!row || !time) return [];
    const name = t(`cat_${c}`);
    return [
      {
        id: c,
        value: time,
        fill: fillOf(c),
        label: c === "other" ? undefined : `${name} ${short(time, "ns")}`,
        short: short(row.share, "share"),
        card: (
          <Definition
            title={name}
            help={`${short(time, "ns")} · ${t("of_step", { v: percent(row.share) })}`}
            path={exact(time, "ns")}
          />
        ),
      },
    ];
  });
}

/** Bars of a page where a click on one sets the window, and a double click shows the step. */
export function StepColumns({ bars, factor }: { bars: readonly ColumnBar[]; factor: number }) {
  return (
    <Columns
      bars={bars}
      height={190}
      factor={factor}
      format={(v) => Number(v.toPrecision(3)).toString()}
      label={t("steps_title")}
      onBar={(id) => setSteps(Number(id), Number(id))}
      onShow={(id) => showStep(Number(id))}
    />
  );
}

/** What the bars are made of. */
export function FormMenu({ by, onChoose }: { by: string; onChoose: (id: string) => void }) {
  const forms = [
    { id: "categories", label: t("by_categories") },
    { id: "host", label: t("by_stages_host") },
    { id: "device", label: t("by_stages_device") },
  ];
  return (
    <Menu
      class="small-menu"
      right
      name={t("form")}
      label={forms.find((f) => f.id === by)?.label ?? ""}
      items={forms.map((f) => ({ ...f, checked: f.id === by }))}
      onChoose={onChoose}
    />
  );
}
