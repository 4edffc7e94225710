// What the operators of the input pipeline spent their time on, stage by stage.
import { t } from "../../model/language.ts";
import { type AskedFor, csvUrl } from "../../model/trace.ts";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, wholeTable } from "../shared/table-source.ts";

export function DataStages({ asked }: { asked: AskedFor<"pipeline"> }) {
  const rows = wholeTable(asked.value, "dataset_stages", (r, i) => `${r.cell("operation")}/${r.cell("stage")}/${i}`);
  if (rows.total === 0) return null;
  return (
    <TablePanel
      name={t("pipe_stages")}
      words={t("pipe_stages_words")}
      define={defined(asked.value, "dataset_stages", "total")}
      csv={csvUrl("pipeline", "dataset_stages")}
      rows={rows}
      table={{ empty: t("no_rows") }}
      list={[
        ["operation", { title: t("operator"), text: true, mono: true, width: 170 }],
        ["stage", { title: t("pipe_stage"), text: true, mono: true, width: 170 }],
        ["calls", { width: 90 }],
        ["total", { width: 110 }],
        ["mean", { width: 110 }],
        ["info", { title: t("pipe_stage_info"), text: true, soft: true }],
      ]}
    />
  );
}
