// Operators or kernels of all ranks: how long a call lasts anywhere, and which rank spent most in it.
import { foldKernel } from "../../base/names.ts";
import { t } from "../../model/language.ts";
import { go, param } from "../../model/route.ts";
import { LongName } from "../../widgets/long-name.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";

export function AcrossRanks({ name }: { name: "operators" | "kernels" }) {
  const sort = param("rsort") || "worst:desc";
  const s = source(name, "workers", { sort, filter: param("q") || undefined }, (r) => String(r.cell("name")));
  return (
    <TablePanel
      name={t("across_ranks")}
      words={t("across_ranks_words")}
      define={defined(s.answer, "workers", "worst")}
      height={220}
      rows={s}
      row={(i) => {
        const r = s.row(i);
        return { ...r, label: <LongName text={foldKernel(String(r.cell("name") ?? ""))} /> };
      }}
      table={{ height: 420, sort, onSort: (next) => go({ params: { rsort: next } }), empty: t("no_rows") }}
      list={[
        ["name", { text: true, mono: true, title: t(name === "kernels" ? "kernel" : "operator") }],
        ["workers", { width: 70, title: t("spread_workers") }],
        ["p50", { width: 96 }],
        ["p90", { width: 96 }],
        ["p99", { width: 96 }],
        ["mean", { width: 110, title: t("spread_mean") }],
        ["worst", { width: 150, title: t("spread_worst") }],
        ["worst_worker", { width: 110, text: true, title: t("spread_worst_worker") }],
      ]}
    />
  );
}
