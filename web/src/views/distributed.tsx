// Distributed: which rank, doing what, and what it costs the others.
import { scaleOf, short, thousands } from "../base/format.ts";
import { roundUp } from "../base/scale.ts";
import { Heat, type HeatColumn, HeatScale } from "../draw/heat.tsx";
import { type Part, Strip } from "../draw/strip.tsx";
import { choice, go, param } from "../model/place.ts";
import { setSteps } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, currentRun, num, type Row, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Legend, Segmented } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table } from "../widgets/table.tsx";
import { Filter } from "./filter.tsx";
import { columns, source } from "./rows.ts";
import { Verdict } from "./verdict.tsx";

const ranksQuery = () => ({ worker: undefined, "all-workers": (currentRun.value?.workers.length ?? 1) > 1 ? 1 : undefined });

type Asked = ReturnType<typeof analysis>;

export function Distributed() {
  const asked = analysis("distributed", { ...ranksQuery(), limit: 0 }, "distributed-all");
  const overlap = rowsOf(asked.value?.tables.overlap);
  const arrivals = rowsOf(asked.value?.tables.arrivals);
  const worst = worstRank(asked);
  const computing = (r: Row) => num(r.computation) + num(r.overlapping);
  const own = overlap.find((r) => r.rank === worst);
  const others = overlap.filter((r) => r.rank !== worst);
  const rest = others.length ? others.reduce((s, r) => s + computing(r), 0) / others.length : 0;
  const waits = rowsOf(asked.value?.tables.synchronization)
    .filter((r) => r.rank !== worst)
    .map((r) => num(r.waiting));
  const calls = new Set(numbered(arrivals).map(callKey)).size;
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("distributed")}
        facts={[
          own && rest ? t("fact_compute", { n: String(worst), v: short(computing(own), "ns"), w: short(rest, "ns") }) : undefined,
          waits.length ? t("fact_waits", { a: short(Math.min(...waits), "ns"), b: short(Math.max(...waits), "ns") }) : undefined,
          t("fact_ranks", { n: overlap.length, m: thousands(calls) }),
          t("fact_clock"),
        ]}
      />
      <div class="grid">
        <LateMap asked={asked} arrivals={arrivals} worst={worst} />
        <Overlap asked={asked} rows={overlap} worst={worst} />
        <Waiting asked={asked} worst={worst} />
        <Collectives worst={worst} />
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

const callKey = (r: Row) => `${r.step} ${r.group ?? ""} ${r.call}`;

/** Arrivals with the number of the call in its step: members of one collective share it. */
function numbered(rows: readonly Row[]): Row[] {
  const seen = new Map<string, number>();
  return [...rows]
    .sort((a, b) => num(a.start) - num(b.start))
    .map((r) => {
      const key = `${r.step} ${r.rank}`;
      const call = seen.get(key) ?? 0;
      seen.set(key, call + 1);
      return { ...r, call };
    });
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

const MEASURES = ["late_by", "waiting", "duration"] as const;
type Measure = (typeof MEASURES)[number];

function LateMap({ asked, arrivals, worst }: { asked: Asked; arrivals: readonly Row[]; worst: number }) {
  const [wanted, setMeasure] = choice("measure", "late_by");
  const measure: Measure = MEASURES.find((m) => m === wanted) ?? "late_by";
  const by = param("by") === "step" ? "step" : "collective";
  const rows = numbered(arrivals);
  const ranks = [...new Set(rows.map((r) => num(r.rank)))].sort((a, b) => a - b);
  const ids = [...new Set(rows.map((r) => (by === "step" ? String(r.step) : callKey(r))))].sort((a, b) =>
    a.localeCompare(b, undefined, { numeric: true }),
  );
  const last = new Map<string, number>();
  for (const r of rows) last.set(callKey(r), Math.max(last.get(callKey(r)) ?? 0, num(r.late_by)));
  const measured = (r: Row) => (measure === "waiting" ? (last.get(callKey(r)) ?? 0) - num(r.late_by) : num(r[measure]));
  const cells = new Map<string, number>();
  for (const r of rows) {
    const key = `${r.rank} ${by === "step" ? r.step : callKey(r)}`;
    cells.set(key, by === "step" ? (cells.get(key) ?? 0) + measured(r) : measured(r));
  }
  const max = roundUp(Math.max(...cells.values(), 0));
  const scale = scaleOf("ns", max);
  const columnOf = (id: string): HeatColumn => {
    const r = rows.find((x) => (by === "step" ? String(x.step) : callKey(x)) === id);
    return {
      id,
      group: by === "step" ? "" : String(r?.step),
      lines: by === "step" ? [id] : [shortCollective(String(r?.name)), `#${num(r?.call) + 1}`],
    };
  };
  const heat = ids.map(columnOf);
  const speak = (r: number, c: number) => {
    const v = cells.get(`${ranks[r]} ${ids[c]}`);
    const one = rows.find((x) => (by === "step" ? String(x.step) : callKey(x)) === ids[c]);
    return `${t("rank_n", { n: ranks[r] ?? "" })}, ${t("step_n", { n: String(one?.step) })}${by === "step" ? "" : `, ${one?.name}`}: ${v === undefined ? "–" : short(v, "ns")} ${t(`heat_${measure}`)}`;
  };
  return (
    <Panel
      name={t("who_late")}
      title={t("who_late")}
      words={t(by === "step" ? "late_words_step" : "late_words")}
      csv={undefined}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={170}
      controls={
        <>
          <HeatScale low="0" high={short(max, "ns").replace(/\.0+/, "")} />
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
              { id: "collective", label: t("collective") },
              { id: "step", label: t("step") },
            ]}
          />
        </>
      }
    >
      <div class="pad">
        <Heat
          ranks={ranks.map((n) => t("rank_n", { n }))}
          columns={heat}
          groupName={(g) => (g ? t("step_n", { n: g }) : "")}
          value={(r, c) => cells.get(`${ranks[r]} ${ids[c]}`) ?? null}
          speak={speak}
          format={(v) => (v / scale.factor).toFixed(1)}
          worst={ranks.indexOf(worst)}
          label={t("who_late")}
          onCell={(r, c) => {
            const step = num(rows.find((x) => (by === "step" ? String(x.step) : callKey(x)) === ids[c])?.step);
            setSteps(step, step);
            go({ params: { sel: `rank:${ranks[r]}` } }, true);
          }}
        />
      </div>
    </Panel>
  );
}

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
}: {
  rows: readonly Row[];
  kinds: readonly (readonly [string, string])[];
  worst: number;
}) {
  themeVersion.value;
  const totals = rows.map((r) => kinds.reduce((s, [k]) => s + num(r[k]), 0));
  const max = Math.max(...totals, 1);
  return (
    <div class="rank-bars">
      {rows.map((r) => (
        <div key={String(r.worker)} class={r.rank === worst ? "rank-row strong" : "rank-row"}>
          <span>{r.rank === null ? r.worker : t("rank_n", { n: String(r.rank) })}</span>
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
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={120}
      controls={<Legend items={OVERLAP.map(([k, colour]) => ({ label: t(`part_${k}`), colour }))} />}
    >
      <RankBars rows={rows} kinds={OVERLAP} worst={worst} />
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
      words={t("per_step")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={120}
      controls={<Legend items={SYNC.map(([k, colour]) => ({ label: t(`part_${k}`), colour }))} />}
    >
      <RankBars rows={rows} kinds={SYNC} worst={worst} />
    </Panel>
  );
}

function Collectives({ worst }: { worst: number }) {
  const sort = param("sort");
  const s = source(
    "distributed",
    "collectives",
    { ...ranksQuery(), sort: sort || "name:asc", search: param("q") || undefined },
    (r, i) => `${r.cell("worker")} ${r.cell("name")} ${i}`,
  );
  return (
    <Panel
      name={t("collectives")}
      title={t("collectives")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={220}
      controls={<Filter label={t("filter")} />}
    >
      <Table
        name={t("collectives")}
        total={s.total}
        row={(i) => {
          const r = s.row(i);
          return { ...r, tinted: r.cell("rank") === worst };
        }}
        height={420}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        empty={t("no_rows")}
        columns={columns(s, "distributed.collectives", [
          ["name", { title: t("collective"), text: true, mono: true }],
          ["rank", { width: 60 }],
          ["calls", { width: 64 }],
          ["bytes", { width: 100 }],
          ["total", { width: 100 }],
          ["transfer", { width: 110 }],
          ["waiting", { bar: "url(#waiting)", width: 190 }],
          ["algorithm_bandwidth", { width: 140 }],
          ["bus_bandwidth", { width: 140 }],
        ])}
      />
    </Panel>
  );
}
