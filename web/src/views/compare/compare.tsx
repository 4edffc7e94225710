// Compare: faster or slower, is it real, and because of what.
import type { ComponentChild } from "preact";
import { short } from "../../base/format.ts";
import { askDiff, c, type Diff, isSameTrace, lengthsOf, type Side, sides, stepsOf } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { choice, go } from "../../model/route.ts";
import { rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { CauseList, CauseWaterfall, showCause, tellingSide } from "./causes.tsx";
import { shareOfChange, signed } from "./change.tsx";
import { MemoryChange } from "./memory-change.tsx";
import { ModuleChanges } from "./module-changes.tsx";
import { NameChanges } from "./name-changes.tsx";
import { OwnSteps } from "./own-steps.tsx";
import { PairTimeline } from "./pair-timeline.tsx";
import { ParityStrip } from "./parity-strip.tsx";
import { PickRun } from "./pick-run.tsx";
import { ProgramChanges } from "./program-changes.tsx";
import { RankChanges } from "./rank-changes.tsx";
import { RealChanges } from "./real-changes.tsx";
import { StepChange } from "./step-change.tsx";

type Both = readonly [Side, Side];

export function Compare() {
  const both = sides.value;
  if (!both || isSameTrace(both)) return <PickRun />;
  return <Compared both={both} />;
}

function Compared({ both }: { both: Both }) {
  const asked = askDiff(both);
  const answer = asked.value;
  const hasSteps = rowsOf(answer?.tables.steps).every((r) => (r.steps ?? 0) > 0 && (r.mean ?? 0) > 0);
  const first = rowsOf(answer?.tables.causes).find((r) => r.certain);
  const side = first && tellingSide(first, both);
  return (
    <>
      <Verdict
        answer={answer}
        otherwise={t("compare")}
        facts={hasSteps ? factsOf(asked, both) : [c("no_steps_words")]}
        controls={<OwnSteps side={both[1]} />}
        show={first && side ? () => showCause(first, side) : undefined}
      />
      <ParityStrip asked={asked} />
      {hasSteps ? (
        <div class="grid">
          <ProgramChanges asked={asked} both={both} />
          <StepChange asked={asked} both={both} />
          <div class="w5 stack">
            <CauseWaterfall asked={asked} both={both} />
            <RealChanges asked={asked} both={both} />
          </div>
          <CauseList asked={asked} both={both} />
          <RankChanges asked={asked} both={both} />
          <Parts asked={asked} both={both} />
        </div>
      ) : null}
    </>
  );
}

/** Length and spread of both steps, and the change. */
function factsOf(asked: Diff, both: Both): (string | undefined)[] {
  const [a, b] = lengthsOf(asked);
  const side = (s: Side, mean: number) => {
    const r = stepsOf(asked, s);
    return c(r?.spread == null ? "fact_side_one" : "fact_side", {
      side: `${s.id} ${s.name}`,
      mean: short(mean, "ns"),
      spread: short(r?.spread, "ns"),
      n: r?.steps ?? 0,
    });
  };
  if (!asked.value) return [];
  return [side(both[0], a), side(both[1], b), c("fact_change", { change: signed(b - a, "ns"), share: shareOfChange(a, b) })];
}

const PARTS: Record<string, (props: { asked: Diff; both: Both }) => ComponentChild> = {
  operators: (props) => <NameChanges {...props} table="operators" />,
  kernels: (props) => <NameChanges {...props} table="kernels" />,
  timelines: PairTimeline,
  memory: MemoryChange,
  modules: ModuleChanges,
};

/** One part at a time: they are long, and a link names the one its sender saw. */
function Parts({ asked, both }: { asked: Diff; both: Both }) {
  const [part] = choice("part", "operators");
  const chosen = part in PARTS ? part : "operators";
  const Part = PARTS[chosen] as (typeof PARTS)[string];
  const label = (id: string) => (id === "timelines" ? c("timelines") : t(id as "operators"));
  return (
    <>
      <div class="w12">
        <Segmented
          label={c("part")}
          chosen={chosen}
          onChoose={(id) =>
            go({ params: { part: id === "operators" ? undefined : id, sort: undefined, q: undefined, only: undefined } })
          }
          choices={Object.keys(PARTS).map((id) => ({ id, label: label(id) }))}
        />
      </div>
      <Part key={chosen} asked={asked} both={both} />
    </>
  );
}
