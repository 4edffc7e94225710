// Above a timeline of several ranks: which of them are shown, and what their common clock is based
// on.
import { short, thousands } from "../../base/format.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import {
  allRankNumbers,
  askJob,
  chosenRanks,
  clockWords,
  MOST_RANKS,
  type Reading,
  slowestRanks,
  tellingRanks,
} from "../../model/timeline/together.ts";
import { rowsOf } from "../../model/trace.ts";
import { Menu, type MenuItem } from "../../widgets/menu.tsx";

const write = (ranks: readonly number[]) => go({ params: { ranks: [...ranks].sort((a, b) => a - b).join(",") } });

function RankPicker() {
  const job = askJob();
  const waiting = rowsOf(job.value?.tables.synchronization);
  const all = allRankNumbers.value;
  const shown = chosenRanks(job);
  const chosen = new Set(shown);
  const caused = new Map(waiting.map((r) => [r.rank, r.caused]));
  const presets: MenuItem[] = [
    { id: "telling", label: t("tl_ranks_telling") },
    { id: "slowest", label: t("tl_ranks_slowest", { n: Math.min(8, all.length) }) },
    { id: "all", label: all.length > MOST_RANKS ? t("tl_ranks_first", { n: MOST_RANKS }) : t("tl_ranks_all") },
  ];
  const items = all.map((rank, i) => ({
    id: String(rank),
    label: t("rank_n", { n: rank }),
    detail: t("tl_rank_caused", { time: short(caused.get(rank) ?? null, "ns") }),
    checked: chosen.has(rank),
    separator: i === 0,
  }));
  const choose = (id: string) => {
    if (id === "all") go({ params: { ranks: "all" } });
    else if (id === "telling") write(tellingRanks(all, waiting));
    else if (id === "slowest") write(slowestRanks(waiting, 8));
    else {
      const rank = Number(id);
      const next = chosen.has(rank) ? shown.filter((r) => r !== rank) : [...shown, rank];
      if (next.length > 0 && next.length <= MOST_RANKS) write(next);
    }
  };
  const label = (
    <>
      <span class="t2">{t("tl_ranks")}</span>{" "}
      <b>{t("tl_tracks_n", { n: thousands(shown.length), all: thousands(all.length) })}</b>
    </>
  );
  return <Menu name={t("tl_ranks")} label={label} items={[...presets, ...items]} filter={t("filter")} stay onChoose={choose} />;
}

export function RankBar({ reading }: { reading: Reading | undefined }) {
  return (
    <div class="tl-ranks">
      <RankPicker />
      <span role="status">{reading ? t("tl_reading", { n: reading.done, all: reading.total }) : clockWords()}</span>
    </div>
  );
}
