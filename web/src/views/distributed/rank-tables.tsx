// Tables of the distributed view: collectives by rank, and every rank's device.

import { t } from "../../model/language.ts";
import { type Call, timesLast } from "../../model/ranks.ts";
import { go, param } from "../../model/route.ts";
import { allWorkers, csvUrl, currentRun, isJob, num, oneWorker } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { columns, defined, source } from "../shared/table-source.ts";

/** All ranks of the job at once; a trace that belongs to none alone. */
export const ranksQuery = () => (isJob(currentRun.value) ? allWorkers() : oneWorker());

/** A table about them as CSV. */
export const ranksCsv = (table: string): string => csvUrl("distributed", table, ranksQuery());

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
    const share = num(r.cell("total") as number) > 0 ? num(r.cell("waiting") as number) / num(r.cell("total") as number) : null;
    return {
      ...r,
      tinted: r.cell("rank") === worst,
      cell: (c) => (c === "waiting_share" ? share : c === "last" ? (of ? last : null) : r.cell(c)),
      label: again ? "" : <code>{String(r.cell("name"))}</code>,
      note: t("n_of_m", { n: last, m: of }),
    };
  };
  const made = (name: string, help: string): Partial<TableColumn> => ({
    title: t(name as "waiting_share"),
    help,
    sortable: false,
  });
  return (
    <Panel
      name={t("collectives")}
      title={t("collectives")}
      words={calls.length ? t("collectives_words", { n: ranks, m: new Set(calls.map((c) => c.step)).size }) : undefined}
      define={defined(s.answer, "collectives", "waiting")}
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
        row={row}
        height={420}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        empty={t("no_rows")}
        columns={columns(s, "distributed.collectives", [
          ["name", { title: t("collective"), text: true, mono: true }],
          ["rank", { width: 60 }],
          ["calls", { width: 64 }],
          ["bytes", { width: 96 }],
          ["total", { width: 96 }],
          ["transfer", { width: 104 }],
          ["waiting", { bar: "url(#waiting)", width: 170 }],
          ["waiting_share", { ...made("waiting_share", t("waiting_share_help")), unit: "share", width: 78, soft: true }],
          ...(calls.length
            ? ([
                [
                  "last",
                  {
                    ...made("last_to_arrive", t("last_to_arrive_help")),
                    width: 110,
                    show: (v: unknown, r: TableRow) => (v === null ? "–" : r.note),
                  },
                ],
              ] as const)
            : []),
          ["algorithm_bandwidth", { width: 126 }],
          ["bus_bandwidth", { width: 110 }],
        ])}
      />
    </Panel>
  );
}

/** Every rank's device: what it is and how busy it was. */
export function Devices({ worst }: { worst: number }) {
  const sort = param("dsort") || "rank:asc";
  const s = source("distributed", "devices", { ...ranksQuery(), sort }, (r, i) => `${r.cell("worker")} ${i}`);
  if (s.table && s.total === 0) return null;
  return (
    <Panel
      name={t("devices")}
      title={t("devices")}
      words={t("devices_words")}
      define={defined(s.answer, "devices", "utilization")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={160}
    >
      <Table
        name={t("devices")}
        total={s.total}
        row={(i) => {
          const r = s.row(i);
          return { ...r, tinted: r.cell("rank") === worst };
        }}
        height={420}
        sort={sort}
        onSort={(next) => go({ params: { dsort: next } })}
        columns={columns(s, "distributed.devices", [
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
        ])}
      />
    </Panel>
  );
}
