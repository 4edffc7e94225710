// Distributed: which rank, doing what, and what it costs the others.
import { useMemo } from "preact/hooks";
import { scaleOf, short, thousands } from "../base/format.ts";
import { roundUp } from "../base/scale.ts";
import { Heat, type HeatColumn, HeatScale } from "../draw/heat.tsx";
import { HeatMany } from "../draw/heatmany.tsx";
import { type Part, Strip } from "../draw/strip.tsx";
import { server, summaries } from "../model/data.ts";
import { choice, go, param } from "../model/place.ts";
import { type Call, callsOf, type Measure, measureOf, worstAndMedian } from "../model/ranks.ts";
import { setSteps } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, analysisQuery, currentRun, info, isJob, num, type Row, ranksOf, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Legend, Segmented } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { lazy } from "./lazy.tsx";
import { Collectives, Devices, ranksQuery } from "./rankstables.tsx";
import { Groups, RankOrder, StepMap, Stragglers, WhatIf } from "./ranksteps.tsx";
import { defined, quoted } from "./rows.ts";
import { Verdict } from "./verdict.tsx";

const Cluster = lazy(() => import("./cluster.tsx").then((m) => m.Cluster));

/** Whether the producer wrote about its devices itself. */
const hasCluster = (asked: Asked): boolean =>
  ["cluster_steps", "links", "resources", "parallel_stages"].some((n) => (asked.value?.tables[n]?.rows.length ?? 0) > 0);

type Asked = ReturnType<typeof analysis>;

const MANY = 64; // ranks: from here on rows are thin

// What the view shows as a whole; collectives and devices come page by page.
const TABLES =
  "overlap,synchronization,arrivals,heat_map,stragglers,what_if,groups,cluster_steps,links,resources,parallel_stages";
const ARRIVALS = 4096; // rows of many ranks: members of the collectives that cost most
const CELLS = 40_000; // of the map of ranks and steps: from here on steps share a column

/** Workers the question is about; of one file only `info` tells, since it may be a reduced run. Undefined: not known yet. */
function workers(): number | undefined {
  const n = isJob(currentRun.value) ? ranksOf(currentRun.value) : 1;
  const facts = info().value;
  if (n > 1 || !facts) return n > 1 ? n : undefined;
  return Number(rowsOf(facts.tables.trace).find((r) => r.key === "workers")?.value ?? 1);
}

/** The question, cut to what can be seen: a thousand ranks have more of everything than there are pixels. */
const question = (n: number) => ({
  ...ranksQuery(),
  table: TABLES,
  limit: 0,
  arrivals: n > MANY ? ARRIVALS : undefined,
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
  const computing = (r: Row) => num(r.computation) + num(r.overlapping);
  const own = overlap.find((r) => r.rank === worst);
  const others = overlap.filter((r) => r.rank !== worst);
  const rest = others.length ? others.reduce((s, r) => s + computing(r), 0) / others.length : 0;
  const sync = rowsOf(asked.value?.tables.synchronization);
  const waits = sync.filter((r) => r.rank !== worst).map((r) => num(r.waiting));
  const calls = useMemo(() => callsOf(rowsOf(asked.value?.tables.arrivals)), [asked.value]);
  const met = sync.reduce((n, r) => n + num(r.last), 0); // each has one that came last
  const last = num(sync.find((r) => r.rank === worst)?.last);
  const some = overlap.length > MANY; // only the most expensive collectives are here
  const collectives = some ? met : calls.length;
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={waitsFor() ?? t("distributed")}
        facts={[
          own && rest ? t("fact_compute", { n: String(worst), v: short(computing(own), "ns"), w: short(rest, "ns") }) : undefined,
          n && waits.length && met
            ? t("fact_waits", { a: short(Math.min(...waits), "ns"), b: short(Math.max(...waits), "ns") })
            : undefined,
          worst >= 0 && met ? t("fact_last", { n: worst, k: thousands(last), m: thousands(met) }) : undefined,
          t("fact_ranks", { n: overlap.length, m: thousands(collectives) }),
          collectives ? clockFact(asked) : undefined,
        ]}
      />
      <div class="grid">
        <StepMap asked={asked} worst={worst} />
        <Stragglers asked={asked} worst={worst} />
        <WhatIf asked={asked} />
        <LateMap asked={asked} calls={calls} worst={worst} />
        <Overlap asked={asked} rows={overlap} worst={worst} />
        <Waiting asked={asked} worst={worst} />
        <Collectives worst={worst} calls={some ? [] : calls} ranks={overlap.length} />
        <Groups asked={asked} />
        <Devices worst={worst} />
        {hasCluster(asked) ? <Cluster asked={asked} /> : null}
      </div>
    </>
  );
}

/** The straggler the verdict names, else the rank that waits least. */
function worstRank(asked: Asked): number {
  const said = asked.value?.verdict?.values.rank;
  if (typeof said === "number") return said;
  return -1;
}

/** Whether clocks had to be shifted to be compared; the notes of the answer say by how much. */
function clockFact(asked: Asked): string {
  const note = (asked.value?.quality.notes ?? []).map(String).find((n) => /clock|时钟/.test(n));
  return note ?? t("fact_clock");
}

const SHORT: Record<string, string> = {
  all_reduce: "allred",
  broadcast: "bcast",
  all_gather: "allgat",
  reduce_scatter: "redsct",
  all_to_all: "alltoall",
};
const shortCollective = (name: string) => {
  const bare = name.replace(/^\w+:/, "");
  return SHORT[bare] ?? bare.slice(0, 8);
};

const MEASURES: readonly Measure[] = ["late_by", "waiting", "duration"];
interface MapProps {
  asked: Asked;
  calls: readonly Call[];
  worst: number;
}

const COLUMNS = ["call", "name", "step"] as const;
type Columns = (typeof COLUMNS)[number];
const FEW = 240; // columns that can be told apart
const NAMES = 40; // collectives shown by name: those with the most

/** What the columns are: every call, all calls of a name, or of a step. Where calls are too many, their steps. */
function columnsOf(calls: readonly Call[]): Columns {
  const steps = new Set(calls.map((c) => c.step)).size;
  const usual = calls.length <= FEW ? "call" : steps > 1 && steps <= FEW ? "step" : "name";
  return COLUMNS.find((c) => c === param("by")) ?? usual;
}

const columnOf = (call: Call, by: Columns): string => (by === "call" ? call.id : by === "name" ? call.name : String(call.step));

/** The columns in their order: by time, names by what they add up to. */
function idsOf(calls: readonly Call[], by: Columns, cells: ReadonlyMap<string, number>, ranks: readonly number[]): string[] {
  const ids = [...new Set(calls.map((c) => columnOf(c, by)))];
  if (by === "call") return ids;
  if (by === "step") return ids.sort((a, b) => Number(a) - Number(b));
  const sums = new Map(ids.map((id) => [id, ranks.reduce((s, r) => s + (cells.get(`${r} ${id}`) ?? 0), 0)]));
  return ids.sort((a, b) => (sums.get(b) ?? 0) - (sums.get(a) ?? 0)).slice(0, NAMES);
}

/** The cells of the map: by call, or summed over the calls of a name or a step. */
function cellsOf(calls: readonly Call[], ranks: readonly number[], measure: Measure, by: Columns): Map<string, number> {
  const cells = new Map<string, number>();
  const shown = new Set(ranks);
  for (const call of calls)
    for (const rank of call.members.keys()) {
      const v = shown.has(rank) ? measureOf(call, rank, measure) : null;
      if (v === null) continue;
      const key = `${rank} ${columnOf(call, by)}`;
      cells.set(key, (cells.get(key) ?? 0) + v);
    }
  return cells;
}

function LateMap({ asked, calls, worst }: MapProps) {
  const [wanted, setMeasure] = choice("measure", "late_by");
  const [order, setOrder] = choice("order", "rank");
  const measure: Measure = MEASURES.find((m) => m === wanted) ?? "late_by";
  const by = columnsOf(calls);
  const all = [...new Set(calls.flatMap((c) => [...c.members.keys()]))].sort((a, b) => a - b);
  const cells = cellsOf(calls, all, measure, by);
  const ids = idsOf(calls, by, cells, all);
  const sum = (rank: number) => ids.reduce((s, id) => s + (cells.get(`${rank} ${id}`) ?? 0), 0);
  const many = all.length > MANY;
  const ranks = many && order === "value" ? [...all].sort((a, b) => sum(b) - sum(a)) : all;
  const largest = Math.max(...cells.values(), 0);
  const max = roundUp(largest);
  const scale = scaleOf("ns", max);
  const firsts = new Map([...calls].reverse().map((c) => [columnOf(c, by), c]));
  const callAt = (c: number) => firsts.get(ids[c] ?? "");
  const heat = ids.map((id, c): HeatColumn => {
    const call = callAt(c);
    return {
      id,
      group: by === "call" ? String(call?.step) : "",
      lines: by === "call" ? [shortCollective(call?.name ?? ""), `#${call?.place}`] : [by === "name" ? shortCollective(id) : id],
    };
  });
  const value = (r: number, c: number) => cells.get(`${ranks[r]} ${ids[c]}`) ?? null;
  const shared = {
    ranks: ranks.map((n) => t("rank_n", { n })),
    columns: heat,
    groupName: (g: string) => (g ? t("step_n", { n: g }) : ""),
    value,
    speak: (r: number, c: number) => {
      const v = value(r, c);
      const call = callAt(c);
      return `${t("rank_n", { n: ranks[r] ?? "" })}${by === "name" ? "" : `, ${t("step_n", { n: call?.step ?? "" })}`}${by === "step" ? "" : `, ${call?.name}`}: ${v === null ? "–" : short(v, "ns")} ${t(`heat_${measure}`)}`;
    },
    format: (v: number) => (v / scale.factor).toFixed(1),
    worst: ranks.indexOf(worst),
    label: t("who_late"),
    onCell: (r: number, c: number) => {
      const call = callAt(c);
      const sel = `rank:${ranks[r]}`;
      if (by === "name") return go({ params: { q: `name:${quoted(call?.name ?? "")}`, sel } });
      setSteps(call?.step ?? 0, call?.step ?? 0);
      go({ params: { sel } }, true);
    },
  };
  return (
    <Panel
      name={t("who_late")}
      title={t("who_late")}
      words={`${largest > 0 ? `${scale.unit} · ` : ""}${t(by === "step" ? "late_words_step" : by === "name" ? "late_words_name" : "late_words")}${many ? ` · ${t("late_words_worst", { n: thousands(calls.length) })}` : ""}`}
      define={defined(asked.value, "arrivals", measure === "waiting" ? "late_by" : measure)}
      csv={distributedCsv("arrivals")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={170}
      controls={
        <>
          {largest > 0 ? <HeatScale low="0" high={short(max, "ns").replace(/\.0+/, "")} /> : null}
          {many ? <RankOrder order={order} onChoose={setOrder} /> : null}
          <Segmented
            label={t("measure")}
            chosen={measure}
            onChoose={setMeasure}
            choices={[
              { id: "late_by", label: t("lateness") },
              { id: "waiting", label: t("waiting") },
              { id: "duration", label: t("duration") },
            ]}
          />
          <Segmented
            label={t("group_by")}
            chosen={by}
            onChoose={(id) => go({ params: { by: id } })}
            choices={[
              { id: "call", label: t("one_call") },
              { id: "name", label: t("collective") },
              { id: "step", label: t("step") },
            ]}
          />
        </>
      }
    >
      <div class="pad">
        {calls.length === 0 ? (
          <p class="empty">{t("no_collectives")}</p>
        ) : many ? (
          <HeatMany {...shared} version={themeVersion.value} />
        ) : (
          <Heat {...shared} />
        )}
      </div>
    </Panel>
  );
}

const distributedCsv = (table: string): string =>
  server().url("distributed", analysisQuery("distributed", { ...ranksQuery(), table, format: "csv", limit: 0 }));

const OVERLAP = [
  ["computation", "var(--kernel)"],
  ["overlapping", "url(#overlap)"],
  ["communication", "var(--communication)"],
  ["other", "url(#hatch)"],
] as const;

function RankBars({
  rows,
  kinds,
  worst,
  lost,
}: {
  rows: readonly Row[];
  kinds: readonly (readonly [string, string])[];
  worst: number;
  lost: string; // the column that decides who is shown when they are many
}) {
  themeVersion.value;
  const totals = rows.map((r) => kinds.reduce((s, [k]) => s + num(r[k]), 0));
  const max = Math.max(...totals, 1);
  const nameOf = (r: Row) => (r.rank === null ? String(r.worker) : t("rank_n", { n: String(r.rank) }));
  return (
    <div class="rank-bars">
      {worstAndMedian(rows, (r) => num(r[lost]), worst).map(({ row: r, median }) => (
        <div key={median ? "median" : String(r.worker)} class={r.rank === worst ? "rank-row strong" : "rank-row"}>
          <span title={nameOf(r)}>{median ? t("median") : nameOf(r)}</span>
          <Strip
            height={16}
            total={max}
            label={t("rank_n", { n: String(r.rank) })}
            parts={kinds.map(
              ([k, fill]): Part => ({
                id: k,
                value: num(r[k]),
                fill,
                label: fill.startsWith("url") && k === "overlapping" ? undefined : short(num(r[k]), "ns"),
                plain: fill.startsWith("url"),
                card: `${t(`part_${k}` as "part_tail")} · ${short(num(r[k]), "ns")}`,
              }),
            )}
          />
        </div>
      ))}
    </div>
  );
}

function Overlap({ asked, rows, worst }: { asked: Asked; rows: readonly Row[]; worst: number }) {
  return (
    <Panel
      span="w6"
      name={t("overlap")}
      title={t("overlap")}
      words={t("per_step")}
      define={defined(asked.value, "overlap", "overlapping")}
      csv={distributedCsv("overlap")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={120}
      controls={<Legend items={OVERLAP.map(([k, colour]) => ({ label: t(`part_${k}`), colour }))} />}
    >
      <RankBars rows={rows} kinds={OVERLAP} worst={worst} lost="communication" />
    </Panel>
  );
}

const SYNC = [
  ["transfer", "var(--communication)"],
  ["waiting", "url(#waiting)"],
] as const;

function Waiting({ asked, worst }: { asked: Asked; worst: number }) {
  const rows = rowsOf(asked.value?.tables.synchronization);
  return (
    <Panel
      span="w6"
      name={t("transfer_waiting")}
      title={t("transfer_waiting")}
      words={t("per_step_sum")}
      define={defined(asked.value, "synchronization", "waiting")}
      csv={distributedCsv("synchronization")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={120}
      controls={<Legend items={SYNC.map(([k, colour]) => ({ label: t(`part_${k}`), colour }))} />}
    >
      <RankBars rows={rows} kinds={SYNC} worst={worst} lost="waiting" />
    </Panel>
  );
}
