// Distributed: which rank, doing what, and what it costs the others.
import { useMemo } from "preact/hooks";
import { isKnown, largest, mean, self, smallest, sum } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { type Part, Strip } from "../../draw/charts/strip.tsx";
import { summaries } from "../../model/answers.ts";
import { showCategoryOf, showWork } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { type Call, callsOf, worstAndMedian } from "../../model/ranks.ts";
import { go } from "../../model/route.ts";
import { changeTrace } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import {
  type AskedFor,
  analysis,
  currentRun,
  factIn,
  hasRows,
  info,
  isJob,
  type Row,
  ranksOf,
  rowsOf,
} from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { lazy } from "../shared/lazy.tsx";
import { defined } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { LateMap } from "./late-map.tsx";
import { Origins, OverRun } from "./origins.tsx";
import { MANY, rankWord } from "./rank-heat.tsx";
import { Groups, StepMap, Stragglers, showRank, WhatIf } from "./rank-steps.tsx";
import { Collectives, Devices, ranksCsv, ranksQuery } from "./rank-tables.tsx";
import { Chain, StepPicture } from "./step-picture.tsx";

const DeviceReport = lazy(() => import("./device-report.tsx").then((m) => m.DeviceReport));

/** Whether the producer wrote about its devices itself. */
const hasReport = (asked: Asked): boolean => hasRows(asked, "cluster_steps", "links", "resources", "parallel_stages") === true;

type Asked = AskedFor<"distributed">;
type Overlapped = Row<"distributed", "overlap">;

// What the view shows as a whole; collectives and devices come page by page.
const TABLES =
  "overlap,synchronization,arrivals,heat_map,lanes,chain,origins,stragglers,what_if,groups,cluster_steps,links,resources,parallel_stages";
const ARRIVALS = 4096; // rows of many ranks: members of the collectives that cost most
const LANES = 32; // ranks of the picture of a step, where they are many
const CELLS = 40_000; // of the map of ranks and steps: from here on steps share a column

/** Workers the question is about; of one file only `info` tells, since it may be a reduced run. Undefined: not known yet. */
function workers(): number | undefined {
  const n = isJob(currentRun.value) ? ranksOf(currentRun.value) : 1;
  const facts = info().value;
  if (n > 1 || !facts) return n > 1 ? n : undefined;
  return Number(factIn(facts, "workers") ?? 1);
}

/** The question, cut to what can be seen: a thousand ranks have more of everything than there are pixels. */
const question = (n: number) => ({
  ...ranksQuery(),
  table: TABLES,
  limit: 0,
  arrivals: n > MANY ? ARRIVALS : undefined,
  lanes: n > MANY ? LANES : undefined,
  "map-steps": n > MANY ? Math.max(16, Math.floor(CELLS / n)) : undefined,
});

const NOTHING: Asked = { value: undefined, old: false, error: undefined };

/** How many summaries are made of those the answer waits for; undefined when it waits for none. */
function waitsFor(): string | undefined {
  const { done, total } = summaries.value;
  return done < total ? t("summaries_made", { n: thousands(done), m: thousands(total) }) : undefined;
}

export function Distributed() {
  const n = workers();
  const asked = n === undefined ? NOTHING : analysis("distributed", question(n), "distributed-all");
  const overlap = rowsOf(asked.value?.tables.overlap);
  const worst = worstRank(asked);
  const own = overlap.find((r) => r.rank === worst);
  const rest = mean(
    overlap.filter((r) => r.rank !== worst),
    computing,
  );
  const sync = rowsOf(asked.value?.tables.synchronization);
  const waits = sync.filter((r) => r.rank !== worst).map((r) => r.waiting);
  const calls = useMemo(() => callsOf(rowsOf(asked.value?.tables.arrivals)), [asked.value]);
  const met = sum(sync, (r) => r.last); // each has one that arrived last
  const last = sync.find((r) => r.rank === worst)?.last;
  const some = overlap.length > MANY; // only the most expensive collectives are here
  const collectives = some ? met : calls.length;
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={waitsFor() ?? t("distributed")}
        facts={[
          own && rest ? t("fact_compute", { n: String(worst), v: short(computing(own), "ns"), w: short(rest, "ns") }) : undefined,
          n && waits.some(isKnown) && met
            ? t("fact_waits", { a: short(smallest(waits, self), "ns"), b: short(largest(waits, self), "ns") })
            : undefined,
          worst >= 0 && met ? t("fact_last", { n: worst, k: thousands(last), m: thousands(met) }) : undefined,
          t("fact_ranks", { n: overlap.length, m: thousands(collectives) }),
          collectives ? clockFact(asked) : undefined,
        ]}
        more={hasTraces() ? <OnOneTimeline /> : undefined}
        show={calls.some((c) => c.members.has(worst)) ? () => showRank(calls, worst, "", "late_by") : undefined}
      />
      <div class="grid">
        <div class="w8 stack">
          <StepPicture asked={asked} calls={calls} worst={worst} ranks={overlap.length} />
          <OverRun asked={asked} worst={worst} />
        </div>
        <div class="w4 stack">
          <Origins asked={asked} worst={worst} openLine={openLine} />
          <Chain asked={asked} calls={calls} />
        </div>
        <StepMap asked={asked} calls={calls} worst={worst} />
        <Stragglers asked={asked} calls={calls} worst={worst} />
        <WhatIf asked={asked} />
        <LateMap asked={asked} calls={calls} worst={worst} />
        <Overlap asked={asked} rows={overlap} calls={calls} worst={worst} />
        <Waiting asked={asked} calls={calls} worst={worst} />
        <Collectives worst={worst} calls={some ? [] : calls} ranks={overlap.length} />
        <Groups asked={asked} calls={calls} />
        <Devices worst={worst} />
        {hasReport(asked) ? <DeviceReport asked={asked} /> : null}
      </div>
    </>
  );
}

const openLine = (file: string, line: number): void => go({ view: "code", params: { file, line: String(line) } });

/** A reduced run has numbers of its ranks, but no traces to draw. */
const hasTraces = (): boolean => (currentRun.value?.workers ?? []).filter((w) => w.role === "rank").length > 1;

function OnOneTimeline() {
  return (
    <span>
      <button type="button" class="link" onClick={() => changeTrace({ worker: "*", span: undefined }, "timeline")}>
        {t("on_one_timeline")}
      </button>
    </span>
  );
}

/** The time a rank computes, whether it communicates meanwhile or not. */
const computing = (r: Overlapped): number | null =>
  r.computation === null && r.overlapping === null ? null : (r.computation ?? 0) + (r.overlapping ?? 0);

/** The straggler the verdict names, or none. */
function worstRank(asked: Asked): number {
  const said = asked.value?.verdict?.values.rank;
  return typeof said === "number" ? said : -1;
}

/** Whether clocks had to be shifted to be compared; the notes of the answer say by how much. */
function clockFact(asked: Asked): string {
  const note = (asked.value?.quality.notes ?? []).map(String).find((n) => /clock|时钟/.test(n));
  return note ?? t("fact_clock");
}

const OVERLAP = [
  ["computation", "var(--kernel)"],
  ["overlapping", "url(#overlap)"],
  ["communication", "var(--communication)"],
  ["other", "url(#hatch)"],
] as const;

/** What a part of a rank's bar is made of most. */
function showPart(calls: readonly Call[], r: Pick<Overlapped, "rank" | "worker">, part: string): void {
  const where = { worker: r.worker };
  const said = rankWord(r.rank ?? r.worker ?? "");
  if (part === "waiting" || part === "transfer" || part === "communication")
    showRank(calls, r.rank ?? -1, r.worker ?? "", part === "waiting" ? "waiting" : "duration");
  else if (part === "other") showCategoryOf("other", `${said}, ${t("part_other")}`, where);
  else showWork(`${said}, ${t("part_computation")}`, where);
}

interface RankBarsProps<K extends string, R> {
  calls: readonly Call[];
  rows: readonly R[];
  kinds: readonly (readonly [K, string])[];
  worst: number;
  lost: K; // the column that decides who is shown when they are many
}

type OfRank<K extends string> = { rank: number | null; worker: string | null } & Record<K, number | null>;

function RankBars<K extends string, R extends OfRank<K>>({ rows, calls, kinds, worst, lost }: RankBarsProps<K, R>) {
  themeVersion.value;
  const max = largest(rows, (r) => sum(kinds, ([k]) => r[k]), 1);
  const nameOf = (r: R) => rankWord(r.rank ?? r.worker ?? "");
  return (
    <div class="rank-bars">
      {worstAndMedian(rows, (r) => r[lost], worst).map(({ row: r, median }) => (
        <div key={median ? "median" : String(r.worker)} class={r.rank === worst ? "rank-row strong" : "rank-row"}>
          <span title={nameOf(r)}>{median ? t("median") : nameOf(r)}</span>
          <Strip
            height={16}
            total={max}
            label={nameOf(r)}
            onPart={(part) => showPart(calls, r, part)}
            parts={kinds.map(
              ([k, fill]): Part => ({
                id: k,
                value: r[k] ?? 0,
                fill,
                label: fill.startsWith("url") && k === "overlapping" ? undefined : short(r[k], "ns"),
                plain: fill.startsWith("url"),
                card: `${t(`part_${k}` as "part_tail")} · ${short(r[k], "ns")}`,
              }),
            )}
          />
        </div>
      ))}
    </div>
  );
}

interface OverlapProps {
  asked: Asked;
  rows: readonly Overlapped[];
  calls: readonly Call[];
  worst: number;
}

function Overlap({ asked, rows, calls, worst }: OverlapProps) {
  return (
    <Panel
      span="w6"
      name={t("overlap")}
      words={t("per_step")}
      define={defined(asked.value, "overlap", "overlapping")}
      csv={ranksCsv("overlap")}
      asked={asked}
      height={120}
      controls={<Legend items={OVERLAP.map(([k, color]) => ({ label: t(`part_${k}`), color }))} />}
    >
      <RankBars rows={rows} calls={calls} kinds={OVERLAP} worst={worst} lost="communication" />
    </Panel>
  );
}

const SYNC = [
  ["transfer", "var(--communication)"],
  ["waiting", "url(#waiting)"],
] as const;

function Waiting({ asked, calls, worst }: { asked: Asked; calls: readonly Call[]; worst: number }) {
  const rows = rowsOf(asked.value?.tables.synchronization);
  return (
    <Panel
      span="w6"
      name={t("transfer_waiting")}
      words={t("per_step_sum")}
      define={defined(asked.value, "synchronization", "waiting")}
      csv={ranksCsv("synchronization")}
      asked={asked}
      height={120}
      controls={<Legend items={SYNC.map(([k, color]) => ({ label: t(`part_${k}`), color }))} />}
    >
      <RankBars rows={rows} calls={calls} kinds={SYNC} worst={worst} lost="waiting" />
    </Panel>
  );
}
