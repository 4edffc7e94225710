// Overview: is the device busy; if not, what does it wait for.
import type { ComponentChildren } from "preact";
import type { Answer } from "../../api/types.ts";
import { isKnown, largest, mean, smallest, sum } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { paper } from "../../base/paper.ts";
import { summaries } from "../../model/answers.ts";
import { eventsOf, inOrder, showAdvice } from "../../model/evidence.ts";
import { language, t } from "../../model/language.ts";
import { choice, go } from "../../model/route.ts";
import {
  type AskedFor,
  allRanks,
  allWorkers,
  analysis,
  countOf,
  currentRun,
  hasNoSteps,
  hasRows,
  isJob,
  isOnlyMemory,
  ranksOf,
  rowsOf,
  whoseNumbers,
} from "../../model/trace.ts";
import { Icon } from "../../widgets/icons.tsx";
import { Advice } from "../shared/advice.tsx";
import { lazy } from "../shared/lazy.tsx";
import { RankMenu } from "../shared/one-rank.tsx";
import { ReportMenu } from "../shared/report.tsx";
import { Headline, Verdict } from "../shared/verdict.tsx";
import { AverageStep } from "./average-step.tsx";
import { Figures } from "./figures.tsx";
import { RankSpread } from "./rank-spread.tsx";
import { Configuration, EventKinds, Stages, UserRanges } from "./stages.tsx";
import { StepBars } from "./step-bars.tsx";
import { countedOf, deviceWord, type OverviewStep } from "./steps.ts";

const ProducerCards = lazy(() => import("./producer-cards.tsx").then((m) => m.ProducerCards));

type Answered = Answer<"overview"> | undefined;

const DEVICE_WORK = ["kernel", "memcpy", "memset"];

export function Overview() {
  const asked = analysis("overview");
  const answer = asked.value;
  const steps = rowsOf(answer?.tables.steps);
  const busy = sum(rowsOf(answer?.tables.breakdown), (p) => (DEVICE_WORK.includes(p.category ?? "") ? p.time : 0));
  const device = (answer?.tables.devices?.rows.length ?? 0) > 0 || (allRanks.value && busy > 0);
  const figures = device && !allRanks.value;
  // What the producer added up itself, where it did: that comes first then.
  const cards = !allRanks.value && hasRows(asked, "step_trace", "operator_types", "data_flow") === true;
  const blamed = answer && !allRanks.value ? answerAboutRun() : undefined;
  if (answer && isOnlyMemory()) return <OnlyMemory asked={asked} />;
  return (
    <>
      <Verdict
        answer={blamed ?? answer}
        otherwise={t("overview")}
        controls={<ReportMenu />}
        facts={[
          blamed && answer?.verdict ? `${whoseNumbers()}: ${answer.verdict.text[language.value]}` : undefined,
          ...factsOf(answer, device, busy, figures),
        ]}
        more={blamed ? <WhoseFault /> : undefined}
        show={blamed ? undefined : showCause()}
      />
      <div class="grid overview">
        {figures ? <Figures asked={asked} /> : null}
        {cards ? <ProducerCards asked={asked} /> : null}
        {cards ? <Advice asked={analysis("advise")} /> : null}
        {answer && steps.length === 0 ? null : (
          <div class={hasNoSteps() ? "w12 top-row alone" : "w12 top-row"}>
            <AverageStep asked={asked} words={cards ? t("average_marked", { n: steps.length }) : undefined} />
            {hasNoSteps() ? null : <StepBars asked={asked} />}
          </div>
        )}
        {allRanks.value ? <RankSpread asked={asked} /> : null}
        {cards ? null : <Advice asked={analysis("advise")} />}
        {allRanks.value ? (
          <p class="w12 one-rank">
            {t("of_one_rank")} <RankMenu label={t("worker")} />
          </p>
        ) : (
          <More>
            <Stages asked={asked} />
            <UserRanges asked={asked} />
            <EventKinds asked={asked} />
            <Configuration asked={asked} />
          </More>
        )}
        {allRanks.value ? <Configuration asked={asked} /> : null}
      </div>
    </>
  );
}

const TALL = 1200; // px of a window with room for everything

/** What is seldom asked first: closed, so that the answer and what to change fit on the screen. */
function More({ children }: { children: ComponentChildren }) {
  const [more, setMore] = choice("more", innerHeight >= TALL ? "1" : "0");
  const open = more === "1" || paper.value;
  return (
    <>
      <button type="button" class="w12 more-parts" aria-expanded={open} onClick={() => setMore(open ? "0" : "1")}>
        <Icon name={open ? "down" : "right"} size={12} /> {t("overview_more")}
      </button>
      {open ? children : null}
    </>
  );
}

const FEW = 64; // ranks: of more, the answer about all of them waits for their summaries

/** The answer about the whole job, where it names a rank that costs it time: that comes before what this rank does. */
function answerAboutRun(): Answer<"distributed"> | undefined {
  const ready = summaries.value.total > 0 && summaries.value.done === summaries.value.total;
  if (!isJob(currentRun.value) || (ranksOf(currentRun.value) > FEW && !ready)) return undefined;
  const said = analysis("distributed", { ...allWorkers(), table: "stragglers", limit: 1 }, "overview-run").value;
  return said?.verdict?.id === "straggler" ? said : undefined;
}

function WhoseFault() {
  return (
    <span>
      <button type="button" class="link" onClick={() => go({ view: "distributed" })}>
        {t("whose_fault")}
      </button>
    </span>
  );
}

/** The way to what costs most: the first advice is what the verdict names. */
function showCause(): (() => void) | undefined {
  const asked = analysis("advise");
  const first = inOrder(rowsOf(asked.value?.tables.advice), [])[0];
  return first && isKnown(first.from) ? () => showAdvice(first, eventsOf(asked, String(first.id))) : undefined;
}

/** The facts below the verdict; parts of a step are worth a word from two percent of it. */
function factsOf(answer: Answered, device: boolean, busy: number, figures: boolean): (string | undefined)[] {
  const parts = rowsOf(answer?.tables.breakdown);
  const all = rowsOf(answer?.tables.steps);
  const steps = countedOf(all);
  const usual = mean(steps, (s) => s.total);
  const part = (c: string) => parts.find((p) => p.category === c)?.time;
  const large = (c: string) => (part(c) ?? 0) > (usual ?? 0) / 50;
  // What the verdict calls exposed may overlap copies: two numbers for nearly the same would confuse.
  const aboutCommunication = answer?.verdict?.values.communication_share !== undefined;
  return [
    usual ? lengthFact(steps, all.length, usual) : undefined,
    figures ? undefined : unprofiledFact(answer),
    device && !figures && isKnown(part("kernel")) ? t("fact_busy", { d: deviceWord(answer), v: short(busy, "ns") }) : undefined,
    large("data_loader") ? t("fact_loader", { v: short(part("data_loader"), "ns") }) : undefined,
    large("communication") && !aboutCommunication ? t("fact_comm", { v: short(part("communication"), "ns") }) : undefined,
    usual && steps.length > 1 ? spreadFact(steps, usual) : undefined,
  ];
}

const ONE_SIDED = 0.5; // of the mean: beyond it plus and minus would promise steps that take no time

/** How far the steps are from the middle between the shortest and the longest; where that is far, these two. */
function spreadFact(steps: readonly OverviewStep[], usual: number): string {
  const [least, most] = [smallest(steps, (s) => s.total), largest(steps, (s) => s.total)];
  const spread = (most - least) / 2 / usual;
  if (spread > ONE_SIDED) return t("fact_steps_range", { least: short(least, "ns"), most: short(most, "ns") });
  return t("fact_spread", { v: short(spread, "share") });
}

/** How long the step is, the steps are on average, or the recording without steps is. */
function lengthFact(steps: readonly OverviewStep[], all: number, usual: number): string {
  const v = short(usual, "ns");
  if (hasNoSteps()) return t("fact_recording", { v });
  if (steps.length === 1) return t("fact_one_step", { n: String(steps[0]?.step), v });
  return steps.length < all ? t("fact_step_of", { n: steps.length, m: all, v }) : t("fact_step", { v });
}

/** How long the step would be without the profiler, where that is estimated. */
function unprofiledFact(answer: Answered): string | undefined {
  const bare = rowsOf(answer?.tables.unprofiled)[0];
  if (!bare) return undefined;
  const words = { v: short(bare.step, "ns"), least: short(bare.least, "ns"), most: short(bare.most, "ns") };
  return t("fact_unprofiled", words);
}

/** A memory snapshot has no time to break down: zeros would say that it was measured. */
function OnlyMemory({ asked }: { asked: AskedFor<"overview"> }) {
  return (
    <>
      <Headline
        title={t("only_memory")}
        facts={[t("only_memory_words", { n: thousands(countOf("memory")) })]}
        more={
          <button type="button" class="link" onClick={() => go({ view: "memory" })}>
            {t("open_memory")}
          </button>
        }
      />
      <div class="grid overview">
        <Configuration asked={asked} />
      </div>
    </>
  );
}
