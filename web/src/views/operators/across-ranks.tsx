// Operators or kernels of all ranks: how long a call lasts anywhere, and which rank spent most in it.
import { kernelLabel } from "../../base/names.ts";
import { t } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { columns, defined, source } from "../shared/table-source.ts";

export function AcrossRanks({ name }: { name: "operators" | "kernels" }) {
  const sort = param("rsort") || "worst:desc";
  const s = source(name, "workers", { sort, filter: param("q") || undefined }, (r) => String(r.cell("name")));
  return (
    <Panel
      name={t("across_ranks")}
      title={t("across_ranks")}
      words={t("across_ranks_words")}
      define={defined(s.answer, "workers", "worst")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={220}
    >
      <Table
        name={t("across_ranks")}
        total={s.total}
        row={(i) => {
          const r = s.row(i);
          return { ...r, label: <code>{kernelLabel(String(r.cell("name") ?? ""), 60)}</code> };
        }}
        height={420}
        sort={sort}
        onSort={(next) => go({ params: { rsort: next } })}
        empty={t("no_rows")}
        columns={columns(s, `${name}.workers`, [
          ["name", { text: true, mono: true, title: t(name === "kernels" ? "kernel" : "operator") }],
          ["workers", { width: 70, title: t("spread_workers") }],
          ["p50", { width: 96 }],
          ["p90", { width: 96 }],
          ["p99", { width: 96 }],
          ["worst", { width: 150, title: t("spread_worst") }],
          ["worst_worker", { width: 110, text: true, title: t("spread_worst_worker") }],
        ])}
      />
    </Panel>
  );
}
