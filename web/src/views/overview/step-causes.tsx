// The average step by what its time goes to on the device: work, and idle time by its cause.
import type { Answer } from "../../api/types.ts";
import { isKnown, largestFirst, sum } from "../../base/aggregate.ts";
import { percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { fillOf } from "../../draw/patterns.tsx";
import { showPlace } from "../../model/evidence.ts";
import { idleWord, t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { allRanks, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch, Value } from "../../widgets/controls.tsx";
import { causeFill, showCause } from "../shared/idle.ts";

const WORK = ["kernel", "memcpy", "memset", "communication"] as const;
const AGREES = 0.01; // parts and whole may differ by this share of a step

export interface StepPart {
  id: string;
  time: number;
  fill: string;
  name: string;
  idle?: Row<"overview", "idle">;
  work?: Row<"overview", "breakdown">;
}

/** Whether most of the idle time has a cause: else the categories say more. */
export const hasCauses = (parts: readonly StepPart[]): boolean =>
  parts.length > 0 && parts.filter((p) => p.idle).sort(largestFirst((p) => p.time))[0]?.id !== "unknown";

/**
 * Work and idle time of the only device, where they add up to the step; otherwise nothing: a part that is missing would
 * make the others look larger.
 */
export function partsByCause(answer: Answer<"overview"> | undefined): StepPart[] {
  const idle = rowsOf(answer?.tables.idle);
  const breakdown = rowsOf(answer?.tables.breakdown);
  if (idle.length === 0 || new Set(idle.map((r) => r.device)).size !== 1 || allRanks.value) return [];
  const whole = sum(breakdown, (r) => r.time);
  const work = WORK.flatMap((id): StepPart[] => {
    const found = breakdown.find((r) => r.category === id);
    return found?.time ? [{ id, time: found.time, fill: fillOf(id), name: t(`cat_${id}`), work: found }] : [];
  });
  const causes = idle.map((r, i): StepPart => {
    const cause = r.cause ?? "unknown";
    return { id: cause, time: r.time ?? 0, fill: causeFill(cause, i), name: idleWord(cause), idle: r };
  });
  const all = [...work, ...causes.sort(largestFirst((c) => c.time))];
  return Math.abs(sum(all, (p) => p.time) - whole) <= whole * AGREES ? all : [];
}

export const LEAST = 0.0005; // of a step: less would be written as 0.0 %

/** Whether a part is worth a row. */
export const isWorth = (parts: readonly StepPart[]): ((p: StepPart) => boolean) => {
  const total = sum(parts, (p) => p.time);
  return (p) => p.time >= total * LEAST;
};

export function StepByCause({ parts }: { parts: readonly StepPart[] }) {
  const total = sum(parts, (p) => p.time);
  const show = (p: StepPart) => {
    if (p.idle) showCause([p.idle], p.id);
    else if (p.id === "kernel") go({ view: "kernels", params: { sort: undefined, q: undefined } });
    else if (p.work) showPlace(p.work, p.name);
  };
  const drawn = parts.map(
    (p): Part => ({
      id: p.id,
      value: p.time,
      fill: p.fill,
      label: `${p.name} ${short(p.time, "ns")}`,
      plain: p.fill.startsWith("url"),
      short: percent(p.time / total, 0),
      card: <Definition title={p.name} help={`${short(p.time, "ns")} · ${percent(p.time / total)}`} />,
    }),
  );
  return (
    <>
      <div class="pad">
        <Strip
          parts={drawn}
          total={total}
          height={30}
          above
          label={t("average_step")}
          onPart={(id) => parts.filter((p) => p.id === id).map(show)}
        />
      </div>
      <ul class="step-causes">
        {parts.filter(isWorth(parts)).map((p) => (
          <li key={p.id}>
            <Swatch color={p.fill} />
            <span>{p.name}</span>
            <span>
              <Value text={short(p.time, "ns")} />
            </span>
            <span class="t3">{percent(p.time / total)}</span>
            {!isKnown(p.idle ? p.idle.slice : p.work?.from) ? (
              <span />
            ) : (
              <button type="button" class="link" onClick={() => show(p)}>
                {p.idle ? `${t("longest_wait")} →` : p.id === "kernel" ? `${t("kernels")} →` : t("show_in_timeline")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
