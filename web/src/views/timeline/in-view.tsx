// With nothing chosen the details are about what is in view: what takes longest there, why the device idles, and of
// several ranks which of them wait, and for which one.
import { largestFirst } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { shownName } from "../../base/names.ts";
import { idleWord, t } from "../../model/language.ts";
import { areaInView, askArea } from "../../model/timeline/area.ts";
import { search } from "../../model/timeline/search.ts";
import { askJob, isTogether, memberOfRank } from "../../model/timeline/together.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { LongName } from "../../widgets/long-name.tsx";
import { mono, number, SmallTable, words } from "./small-table.tsx";

const LISTED = 6;

export function InView() {
  return (
    <div class="tl-in-view">
      <p>{t("tl_select_none")}</p>
      {isTogether.value ? <Waiting /> : <Longest />}
      {isTogether.value ? null : <IdleInView />}
    </div>
  );
}

function Longest() {
  const a = areaInView("device");
  const answer = a && askArea(a, { table: "area", kind: "work", sort: "self:desc" }, "tl_in_view").value;
  const rows = rowsOf(answer?.tables.area).slice(0, LISTED);
  if (rows.length === 0) return null;
  return (
    <SmallTable
      columns={[mono(t("tl_in_view")), number(t("tl_count")), number(t("tl_self"))]}
      rows={rows.map((r) => ({
        key: `${r.kind} ${r.name}`,
        cells: [
          <button key="name" type="button" class="tl-link" title={r.name} onClick={() => search(`"${r.name}"`)}>
            <LongName text={shownName(r.name)} />
          </button>,
          thousands(r.count),
          short(r.self, "ns"),
        ],
      }))}
    />
  );
}

function IdleInView() {
  const a = areaInView("device");
  const answer = a && askArea(a, { table: "idle", kind: "work", sort: "" }, "tl_in_view_idle").value;
  const rows = rowsOf(answer?.tables.idle).filter((r) => (r.time ?? 0) > 0);
  if (rows.length === 0) return null;
  return (
    <SmallTable
      columns={[words(t("tl_area_idle")), number(t("tl_total")), number(t("tl_share"))]}
      rows={[...rows].sort(largestFirst((r) => r.time)).map((r) => ({
        key: r.cause,
        cells: [idleWord(r.cause), short(r.time, "ns"), short(r.share, "share")],
      }))}
    />
  );
}

type Waits = Row<"distributed", "synchronization">;

/** The ranks in view, the one the others wait for first. */
function Waiting() {
  const rows = rowsOf(askJob().value?.tables.synchronization).filter((r) => r.rank !== null && memberOfRank(r.rank));
  if (rows.length === 0) return null;
  const sorted = [...rows].sort(largestFirst((r: Waits) => r.caused)).slice(0, LISTED);
  return (
    <SmallTable
      columns={[words(t("col_rank")), number(t("tl_rank_last")), number(t("tl_others_waited")), number(t("tl_waits_step"))]}
      rows={sorted.map((r) => ({
        key: String(r.worker),
        cells: [t("rank_n", { n: r.rank ?? 0 }), thousands(r.last), short(r.caused, "ns"), short(r.waiting, "ns")],
      }))}
    />
  );
}
