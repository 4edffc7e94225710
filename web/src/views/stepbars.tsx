// Steps as stacked bars: by category, or by stage on the host or on the device. A click sets the window.
import type { Answer } from "../api/types.ts";
import { chartScale, short } from "../base/format.ts";
import { type ColumnBar, Columns } from "../draw/columns.tsx";
import { CATEGORIES, fillOf } from "../draw/patterns.tsx";
import type { Asked } from "../model/data.ts";
import { choice, param } from "../model/place.ts";
import { parseSteps, setSteps, setWindow } from "../model/steps.ts";
import { analysis, num, type Row, rowsOf } from "../model/trace.ts";
import { t, wordOr } from "../model/words.ts";
import { Menu } from "../widgets/menu.tsx";
import { Panel } from "../widgets/panel.tsx";
import { csvOf } from "./overview.tsx";
import { defined } from "./rows.ts";

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

export function categoryBars(steps: readonly Row[]): ColumnBar[] {
  // Where only some steps have kernels, the rest of the others is not lost time: nobody knows what ran.
  const some = steps.some((s) => s.kernel !== null);
  const isUnknown = (step: Row, category: string) => some && category === "other" && step.kernel === null;
  return steps.map((s) => ({
    id: String(s.step),
    total: num(s.total),
    parts: CATEGORIES.map((c) => ({ id: c, value: num(s[c]), fill: isUnknown(s, c) ? "var(--track)" : fillOf(c) })),
    card: (
      <Card
        title={t("step_n", { n: String(s.step) })}
        parts={CATEGORIES.map((c) => [isUnknown(s, c) ? t("not_recorded") : t(`cat_${c}`), num(s[c])])}
        total={num(s.total)}
      />
    ),
  }));
}

export function stageBars(rows: readonly Row[], side: "host_time" | "device_time"): ColumnBar[] {
  const numbers = [...new Set(rows.map((r) => num(r.step)))];
  return numbers.map((n) => {
    const own = rows.filter((r) => num(r.step) === n);
    const parts = STAGES.map((s) => ({ id: s, value: num(own.find((r) => r.stage === s)?.[side]), fill: stageFill(s) }));
    const total = parts.reduce((a, p) => a + p.value, 0);
    return {
      id: String(n),
      total,
      parts,
      card: <Card title={t("step_n", { n })} parts={parts.map((p) => [stageName(p.id), p.value])} total={total} />,
    };
  });
}

export function Card({ title, parts, total }: { title: string; parts: readonly (readonly [string, number])[]; total: number }) {
  return (
    <>
      <b>{title}</b>
      <dl class="card-list">
        {parts
          .filter(([, v]) => v > 0)
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

/** Bars of a page where a click on one sets the window, and nothing else. */
export function StepColumns({ bars, factor }: { bars: readonly ColumnBar[]; factor: number }) {
  return (
    <Columns
      bars={bars}
      height={190}
      factor={factor}
      format={(v) => Number(v.toPrecision(3)).toString()}
      label={t("steps_title")}
      onBar={(id) => setSteps(Number(id), Number(id))}
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

export function StepBars({ asked }: { asked: Asked<Answer> }) {
  const [by, setBy] = choice("bars", "categories");
  // All steps, whatever the window: the bars are where it is chosen.
  const all = analysis("overview", { step: undefined, from: undefined, to: undefined }, "overview-all").value ?? asked.value;
  const bars =
    by === "categories"
      ? categoryBars(rowsOf(all?.tables.steps))
      : stageBars(rowsOf(all?.tables.stage_steps), by === "host" ? "host_time" : "device_time");
  const chosen = parseSteps(
    param("step"),
    bars.map((b) => Number(b.id)),
  );
  const shown = chosen ? bars.map((b) => ({ ...b, faded: Number(b.id) < chosen[0] || Number(b.id) > chosen[1] })) : bars;
  const scale = chartScale("ns", Math.max(...bars.map((b) => b.total), 1));
  const pick = (id: string, shift: boolean) => {
    const n = Number(id);
    if (chosen && !shift && chosen[0] === n && chosen[1] === n) setWindow(undefined);
    else if (chosen && shift) setSteps(Math.min(n, chosen[0]), Math.max(n, chosen[1]));
    else setSteps(n, n);
  };
  return (
    <Panel
      span="fill"
      name={t("steps")}
      title={t("steps_title")}
      words={`${scale.unit} · ${t("click_bar")}`}
      define={
        by === "categories"
          ? defined(all, "steps", "total")
          : defined(all, "stage_steps", by === "host" ? "host_time" : "device_time")
      }
      csv={csvOf("overview", by === "categories" ? "steps" : "stage_steps")}
      busy={!all}
      height={236}
      controls={<FormMenu by={by} onChoose={setBy} />}
    >
      <div class="pad">
        <Columns
          bars={shown}
          height={232}
          factor={scale.factor}
          format={(v) => (v >= 10 || v === 0 ? (Number.isInteger(v) ? String(v) : v.toFixed(1)) : v.toFixed(v < 1 ? 2 : 1))}
          label={t("steps_title")}
          onBar={pick}
        />
      </div>
    </Panel>
  );
}
