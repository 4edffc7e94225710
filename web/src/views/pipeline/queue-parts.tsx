// What both forms of the input pipeline show: queues over time, and the advice about data.
import type { Line } from "../../draw/charts/lines.tsx";
import { nth } from "../../draw/patterns.tsx";
import { t } from "../../model/language.ts";
import { analysis, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { AdviceRow } from "../shared/advice.tsx";
import { defined } from "../shared/table-source.ts";

/** The fill of each queue over time; a queue has the same color wherever it is in `order`. */
export const queueLines = (
  samples: readonly Row<"pipeline", "queue_samples">[],
  names: readonly string[],
  order: readonly string[] = names,
): Line[] =>
  names.map((name) => ({
    id: name,
    label: name,
    color: nth(Math.max(0, order.indexOf(name))),
    points: samples.filter((r) => r.operator === name).map((r) => [r.time ?? 0, r.size] as const),
  }));

export function DataAdvice() {
  const asked = analysis("advise");
  const answer = asked.value;
  const all = rowsOf(answer?.tables.advice);
  const rows = all.filter((r) => /^data_|pageable|copies_exposed|pipeline/.test(String(r.id)));
  if (rows.length === 0) return null;
  return (
    <Panel
      span="w12 advice-panel"
      name={t("advice")}
      define={defined(answer, "advice", "saves")}
      csv={csvUrl("advise", "advice")}
    >
      {rows.map((r) => (
        <AdviceRow key={String(r.id)} row={r} asked={asked} />
      ))}
    </Panel>
  );
}
