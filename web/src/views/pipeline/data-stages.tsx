// What the operators of MindSpore's input pipeline spent their time on, stage by stage.

import { t } from "../../model/language.ts";
import type { analysis } from "../../model/trace.ts";
import { csvUrl, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { defined } from "../shared/table-source.ts";

export function DataStages({ asked }: { asked: ReturnType<typeof analysis> }) {
  const rows = rowsOf(asked.value?.tables.dataset_stages);
  if (rows.length === 0) return null;
  return (
    <Panel
      name={t("pipe_stages")}
      title={t("pipe_stages")}
      words={t("pipe_stages_words")}
      define={defined(asked.value, "dataset_stages", "total")}
      csv={csvUrl("pipeline", "dataset_stages")}
    >
      <Table
        name={t("pipe_stages")}
        total={rows.length}
        row={(i) => {
          const r = rows[i];
          return { key: `${r?.operation}/${r?.stage}/${i}`, cell: (c) => r?.[c] };
        }}
        empty={t("no_rows")}
        columns={[
          { name: "operation", title: t("operator"), text: true, mono: true, width: 170 },
          { name: "stage", title: t("pipe_stage"), text: true, mono: true, width: 170 },
          { name: "calls", title: t("col_calls"), unit: "count", width: 90 },
          { name: "total", title: t("col_total"), unit: "ns", width: 110 },
          { name: "mean", title: t("col_mean"), unit: "ns", width: 110 },
          { name: "info", title: t("pipe_stage_info"), text: true, soft: true },
        ]}
      />
    </Panel>
  );
}
