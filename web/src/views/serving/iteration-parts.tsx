// What the iterations of a phase are spent on, with the gap before them: the parts add up. A row leads to the iteration
// with the most of it.
import { largestFirst, sum } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { choice } from "../../model/route.ts";
import { cycleOf, type Iteration, showIteration, w, wOr } from "../../model/serving.ts";
import { type AskedFor, csvUrl, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { cellsOf, columns, defined, sumsOf } from "../shared/table-source.ts";

type Column = "gap_before" | "sampling" | "compute" | "communication" | "copies" | "launch" | "idle";

/** The column of the iterations that a part adds up. */
const columnOf = (part: string): Column => (part === "scheduler" ? "gap_before" : (part as Column));

const nameOf = (part: string): string => wOr(`part_${part}`, part);

export function IterationParts({ asked }: { asked: AskedFor<"serving"> }) {
  const answer = asked.value;
  const phases = [...rowsOf(answer?.tables.phases)].sort(largestFirst((r) => r.iterations));
  const [wanted, choose] = choice("phase", String(phases[0]?.phase ?? ""));
  const phase = phases.find((r) => r.phase === wanted) ?? phases[0];
  const rows = rowsOf(answer?.tables.parts).filter((r) => r.phase === phase?.phase);
  const iterations = rowsOf(answer?.tables.iterations).filter((r) => r.phase === phase?.phase);
  const table = answer?.tables.parts;
  const row = (i: number): TableRow => {
    const r = rows[i] as (typeof rows)[number];
    return { key: r.part ?? "", shows: true, label: nameOf(r.part ?? ""), cell: cellsOf(r) };
  };
  const show = (r: TableRow) => {
    const worst = most(iterations, columnOf(r.key));
    if (worst) showIteration(worst, `${w("iteration_n", { n: String(worst.step) })}, ${nameOf(r.key)}`);
  };
  return (
    <Panel
      span="w6"
      name={w("parts")}
      words={w("parts_words", {
        n: thousands(phase?.iterations),
        v: short(
          sum(rows, (r) => r.time),
          "ns",
        ),
      })}
      define={defined(answer, "parts", "part")}
      csv={csvUrl("serving", "parts")}
      asked={asked}
      height={220}
      controls={
        phases.length > 1 ? (
          <Segmented
            label={w("phase_label")}
            choices={phases.map((r) => ({ id: r.phase ?? "", label: wOr(`phase_${r.phase}`, String(r.phase)) }))}
            chosen={phase?.phase ?? ""}
            onChoose={choose}
          />
        ) : null
      }
    >
      <Table
        name={w("parts")}
        total={rows.length}
        row={row}
        onRow={show}
        onTimeline={show}
        timelineLabel={w("part_show")}
        sum={sumsOf(rows, ["time", "share"])}
        sumLabel={w("total")}
        columns={columns({ path: "serving.parts", help: (c) => table?.columns.find((x) => x.name === c) }, [
          ["part", { title: w("part"), text: true, sortable: false, stays: true }],
          ["time", { title: w("part_time"), sortable: false, width: 92 }],
          ["share", { sortable: false, width: 180, bar: "var(--kernel)" }],
        ])}
      />
    </Panel>
  );
}

/** The iteration with the most of a part. */
function most(rows: readonly Iteration[], column: Column): Iteration | undefined {
  return [...rows].sort(largestFirst((r) => r[column] ?? 0)).find((r) => cycleOf(r) > 0);
}
