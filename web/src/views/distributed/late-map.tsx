// Rank × collective: which rank is late, where. By call, by name or by step.
import { largest, self } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import type { HeatColumn } from "../../draw/charts/heat.tsx";
import { showCall } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { type Call, type Measure, measureOf } from "../../model/ranks.ts";
import { choice, go, param } from "../../model/route.ts";
import type { AskedFor } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined, quoted } from "../shared/table-source.ts";
import { chooseCell, HeatControls, heatScale, MANY, RankHeat, rankWord, saidOf } from "./rank-heat.tsx";
import { ranksCsv } from "./rank-tables.tsx";

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
  asked: AskedFor<"distributed">;
  calls: readonly Call[];
  worst: number;
}

const COLUMNS = ["call", "name", "step"] as const;
type Columns = (typeof COLUMNS)[number];
const FEW = 240; // columns that can be distinguished
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

export function LateMap({ asked, calls, worst }: MapProps) {
  const [wanted, setMeasure] = choice("measure", "late_by");
  const order = choice("order", "rank");
  const measure: Measure = MEASURES.find((m) => m === wanted) ?? "late_by";
  const by = columnsOf(calls);
  const all = [...new Set(calls.flatMap((c) => [...c.members.keys()]))].sort((a, b) => a - b);
  const cells = cellsOf(calls, all, measure, by);
  const ids = idsOf(calls, by, cells, all);
  const sum = (rank: number) => ids.reduce((s, id) => s + (cells.get(`${rank} ${id}`) ?? 0), 0);
  const many = all.length > MANY;
  const ranks = many && order[0] === "value" ? [...all].sort((a, b) => sum(b) - sum(a)) : all;
  const most = largest(cells.values(), self, 0);
  const scale = heatScale(most);
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
  const heatMap = {
    ranks: ranks.map(rankWord),
    columns: heat,
    groupName: (g: string) => (g ? t("step_n", { n: g }) : ""),
    value,
    speak: (r: number, c: number) => {
      const v = value(r, c);
      const call = callAt(c);
      return `${rankWord(ranks[r] ?? "")}${by === "name" ? "" : `, ${t("step_n", { n: call?.step ?? "" })}`}${by === "step" ? "" : `, ${call?.name}`}: ${short(v, "ns")} ${t(`heat_${measure}`)}`;
    },
    format: scale.format,
    worst: ranks.indexOf(worst),
    label: t("who_late"),
    onCell: (r: number, c: number, shift: boolean) => {
      const call = callAt(c);
      const own = calls.filter((one) => columnOf(one, by) === ids[c]);
      if (!shift) return void showCall(own, ranks[r] ?? -1, measure, (one) => saidOf(one, ranks[r] ?? -1, measure));
      if (by === "name") return go({ params: { q: `name:${quoted(call?.name ?? "")}`, sel: `rank:${ranks[r]}` } });
      chooseCell(call?.step ?? 0, ranks[r] ?? "");
    },
  };
  return (
    <Panel
      name={t("who_late")}
      words={`${most > 0 ? `${scale.unit} · ` : ""}${t(by === "step" ? "late_words_step" : by === "name" ? "late_words_name" : "late_words")}${many ? ` · ${t("late_words_worst", { n: thousands(calls.length) })}` : ""}`}
      define={defined(asked.value, "arrivals", measure === "waiting" ? "late_by" : measure)}
      csv={ranksCsv("arrivals")}
      asked={asked}
      height={170}
      controls={
        <>
          <HeatControls
            largest={most}
            ranks={all.length}
            order={order}
            measure={measure}
            onMeasure={setMeasure}
            measures={[
              { id: "late_by", label: t("lateness") },
              { id: "waiting", label: t("waiting") },
              { id: "duration", label: t("duration") },
            ]}
          />
          <Segmented
            label={t("group_by")}
            chosen={by}
            onChoose={(id) => go({ params: { by: id } })}
            choices={{ call: t("one_call"), name: t("collective"), step: t("step") }}
          />
        </>
      }
    >
      {calls.length === 0 ? (
        <div class="pad">
          <p class="empty">{t("no_collectives")}</p>
        </div>
      ) : (
        <RankHeat {...heatMap} />
      )}
    </Panel>
  );
}
