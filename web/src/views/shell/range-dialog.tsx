// Chooses the window by its borders: step numbers or times.
import { useState } from "preact/hooks";
import { parseTime, short } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { param } from "../../model/route.ts";
import { parseSteps, setSteps, setWindow, type Tape, tape, windowRange } from "../../model/steps.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Dialog } from "../../widgets/dialog.tsx";
import { closeLayer } from "./overlays.ts";

type By = "steps" | "time";

/** What the fields mean, or nothing when that is not a window of the trace. */
function meaning(now: Tape, by: By, from: string, to: string): { a: number; b: number } | undefined {
  const numbers = Array.from(now.numbers);
  const [first, last] = by === "steps" ? [numbers[0], numbers[numbers.length - 1]] : [now.from, now.to];
  const read = (text: string) => (by === "time" ? parseTime(text) : /^\d+$/.test(text.trim()) ? Number(text) : undefined);
  const a = from.trim() === "" ? first : read(from);
  const b = to.trim() === "" ? last : read(to);
  if (a === undefined || b === undefined || first === undefined || last === undefined) return undefined;
  if (by === "steps") return a <= b && numbers.some((n) => n >= a && n <= b) ? { a, b } : undefined;
  return a < b && a < last ? { a, b: Math.min(b, last) } : undefined;
}

export function RangeDialog() {
  const now = tape();
  const chosen = now && parseSteps(param("step"), now.numbers);
  const window = now && windowRange(now);
  const [by, setBy] = useState<By>(param("from") || !now?.numbers.length ? "time" : "steps");
  const start = (which: By): [string, string] =>
    which === "steps"
      ? [chosen ? String(chosen[0]) : "", chosen ? String(chosen[1]) : ""]
      : [ms(window?.from ?? 0), ms(window?.to ?? 0)];
  const [[from, to], setFields] = useState(() => start(by));
  const [wrong, setWrong] = useState(false);
  if (!now) return null;
  const choose = (e: Event) => {
    e.preventDefault();
    const m = meaning(now, by, from, to);
    if (!m) return setWrong(true);
    closeLayer();
    if (by === "steps") setSteps(m.a, m.b);
    else setWindow({ from: m.a, to: m.b });
  };
  const switchTo = (id: string) => {
    setBy(id as By);
    setFields(start(id as By));
    setWrong(false);
  };
  const field = (label: string, value: string, set: (v: string) => void, first = false) => (
    <label class="field">
      <span>{label}</span>
      <input type="text" value={value} data-first={first ? "" : undefined} onInput={(e) => set(e.currentTarget.value)} />
    </label>
  );
  const steps = Array.from(now.numbers);
  return (
    <Dialog class="sheet range" label={t("range_title")} onClose={closeLayer}>
      <form onSubmit={choose}>
        <header class="drawer-head">
          <h2>{t("range_title")}</h2>
          {steps.length ? (
            <Segmented
              label={t("range_by")}
              choices={{ steps: t("range_steps"), time: t("range_time") }}
              chosen={by}
              onChoose={switchTo}
            />
          ) : null}
        </header>
        <div class="range-fields">
          {field(t("range_from"), from, (v) => setFields([v, to]), true)}
          {field(t("range_to"), to, (v) => setFields([from, v]))}
        </div>
        <p class={wrong ? "critical" : "t3"} role={wrong ? "alert" : undefined}>
          {wrong
            ? t("range_wrong")
            : by === "steps"
              ? t("range_hint_steps", { a: steps[0] ?? 0, b: steps[steps.length - 1] ?? 0 })
              : t("range_hint_time", { v: short(now.to - now.from, "ns") })}
        </p>
        <footer class="range-foot">
          <button type="button" class="button" onClick={closeLayer}>
            {t("cancel")}
          </button>
          <button type="submit" class="button strong">
            {t("range_set")}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const ms = (ns: number) => `${Number((ns / 1e6).toFixed(6))} ms`;
