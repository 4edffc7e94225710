// Tables of the distributed view: collectives by rank, and every rank's device.
import type { TableName } from "../../api/types.ts";
import { shareOf } from "../../base/aggregate.ts";
import { ABSENT } from "../../base/format.ts";
import { showCall, showName, showWork } from "../../model/costliest.ts";
import { t } from "../../model/language.ts";
import { type Call, timesLast } from "../../model/ranks.ts";
import { go, param } from "../../model/route.ts";
import { allWorkers, csvUrl, currentRun, isJob, oneWorker } from "../../model/trace.ts";
import type { CellValue, TableRow } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";
import { saidOf } from "./rank-heat.tsx";

/** All ranks of the job at once; a trace that belongs to none alone. */
export const ranksQuery = () => (isJob(currentRun.value) ? allWorkers() : oneWorker());

/** A table about them as CSV. */
export const ranksCsv = (table: TableName<"distributed">): string => csvUrl("distributed", table, ranksQuery());

/** The call in which a rank waits longest for the others; where calls are not known, the longest. */
function showCollective(calls: readonly Call[], rank: number, worker: string, name: string): void {
  const own = calls.filter((c) => c.name === name);
  if (!showCall(own, rank, "waiting", (call) => saidOf(call, rank, "waiting"))) showName("kernels", name, name, { worker });
}

export function Collectives({ worst, calls, ranks }: { worst: number; calls: readonly Call[]; ranks: number }) {
  const sort = param("sort");
  const s = source(
    "distributed",
    "collectives",
    { ...ranksQuery(), sort: sort || "name:asc,rank:asc", filter: param("q") || undefined },
    (r, i) => `${r.cell("worker")} ${r.cell("name")} ${i}`,
  );
  const row = (i: number): TableRow => {
    const r = s.row(i);
    if (r.missing) return r;
    const again = !sort && i > 0 && s.row(i - 1).cell("name") === r.cell("name");
    const { last, of } = timesLast(calls, Number(r.cell("rank")), String(r.cell("name")));
    const made: Record<string, () => number | null> = {
      waiting_share: () => shareOf(r.cell("waiting"), r.cell("total")),
      last: () => (of ? last : null),
    };
    return {
      ...r,
      tinted: r.cell("rank") === worst,
      shows: true,
      cell: (c) => made[c]?.() ?? r.cell(c as "rank"),
      label: again ? "" : <code>{String(r.cell("name"))}</code>,
      note: t("n_of_m", { n: last, m: of }),
    };
  };
  return (
    <TablePanel
      name={t("collectives")}
      words={calls.length ? t("collectives_words", { n: ranks, m: new Set(calls.map((c) => c.step)).size }) : undefined}
      define={defined(s.answer, "collectives", "waiting")}
      height={220}
      controls={<Filter label={t("filter")} />}
      rows={s}
      row={row}
      table={{
        height: 420,
        sort,
        onSort: (next) => go({ params: { sort: next } }),
        empty: t("no_rows"),
        timelineLabel: t("show_costliest"),
        onTimeline: (r) => showCollective(calls, Number(r.cell("rank")), String(r.cell("worker")), String(r.cell("name"))),
      }}
      list={[
        ["name", { title: t("collective"), text: true, mono: true }],
        ["rank", { width: 60 }],
        ["calls", { width: 64 }],
        ["bytes", { width: 96 }],
        ["total", { width: 96 }],
        ["transfer", { width: 104 }],
        ["waiting", { bar: "url(#waiting)", width: 170 }],
        {
          ...MADE,
          name: "waiting_share",
          title: t("waiting_share"),
          help: t("waiting_share_help"),
          unit: "share",
          width: 78,
          soft: true,
        },
        ...(calls.length
          ? [
              {
                ...MADE,
                name: "last",
                title: t("last_to_arrive"),
                help: t("last_to_arrive_help"),
                width: 110,
                show: (v: CellValue, r: TableRow) => (v === null ? ABSENT : r.note),
              },
            ]
          : []),
        ["algorithm_bandwidth", { width: 126 }],
        ["bus_bandwidth", { width: 110 }],
      ]}
    />
  );
}

/** Columns the page computes: the server cannot sort by them. */
const MADE = { sortable: false };

/** Every rank's device: what it is and how busy it was. */
export function Devices({ worst }: { worst: number }) {
  const sort = param("dsort") || "rank:asc";
  const s = source("distributed", "devices", { ...ranksQuery(), sort }, (r, i) => `${r.cell("worker")} ${i}`);
  if (s.table && s.total === 0) return null;
  return (
    <TablePanel
      name={t("devices")}
      words={t("devices_words")}
      define={defined(s.answer, "devices", "utilization")}
      height={160}
      rows={s}
      row={(i) => {
        const r = s.row(i);
        return { ...r, shows: !r.missing, tinted: r.cell("rank") === worst };
      }}
      table={{
        height: 420,
        sort,
        onSort: (next) => go({ params: { dsort: next } }),
        timelineLabel: t("show_costliest"),
        onTimeline: (r) => showWork(String(r.cell("worker")), { worker: String(r.cell("worker")) }),
      }}
      list={[
        ["worker", { text: true }],
        ["rank", { width: 60 }],
        ["device", { width: 70, title: t("device") }],
        ["name", { text: true, width: 170, title: t("device_name") }],
        ["memory_bytes", { width: 110 }],
        ["sm_count", { width: 60 }],
        ["compute_capability", { width: 96 }],
        ["utilization", { bar: "var(--kernel)", width: 150 }],
        ["sm_efficiency", { width: 110 }],
        ["occupancy", { width: 100 }],
        ["tensor_core_share", { width: 120 }],
      ]}
    />
  );
}
