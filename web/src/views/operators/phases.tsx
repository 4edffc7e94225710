// The parts of operators: finding the shape, computing, making the backward node. Only some producers record them.
import { largestFirst, sum } from "../../base/aggregate.ts";
import { thousands } from "../../base/format.ts";
import { showName } from "../../model/costliest.ts";
import { t, wordOr } from "../../model/language.ts";
import { analysis, countOf, type Row, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { cellsOf, columns, panelFor, wholeTable } from "../shared/table-source.ts";

type Phase = Row<"operators", "phases">;

type Timed = Pick<Phase, "op" | "name" | "parent" | "host_total">;

/** Parts of the operator itself, not of another of its parts: these add up. */
export const outermost = <P extends Timed>(list: readonly P[]): P[] =>
  list.filter((r) => !list.some((o) => o !== r && o.name === r.parent));

/** Rows of one operator together, the longest operator first, the longest phase first. */
export function byOperator<P extends Timed>(rows: readonly P[]): P[][] {
  const groups = new Map<string, P[]>();
  for (const r of rows) groups.set(String(r.op), [...(groups.get(String(r.op)) ?? []), r]);
  const time = (list: readonly P[]) => sum(outermost(list), (r) => r.host_total);
  return [...groups.values()].map((list) => [...list].sort(largestFirst((r) => r.host_total))).sort((a, b) => time(b) - time(a));
}

/** The phases of an operator, each with those inside it right below. */
export function nested<P extends Timed>(list: readonly P[], within = outermost(list), depth = 1): { row: P; depth: number }[] {
  return within.flatMap((row) => {
    const inside = depth < list.length ? list.filter((r) => r !== row && r.parent === row.name) : [];
    return [{ row, depth }, ...nested(list, inside, depth + 1)];
  });
}

/** An operator with its phases below; the sum of its outermost phases is in its row. */
function rowOf(list: readonly Phase[]): TableRow {
  const op = String(list[0]?.op);
  const added = (c: "host_total" | "device_total") =>
    list.some((r) => r[c] !== null) ? sum(outermost(list), (r) => r[c]) : null;
  return {
    key: op,
    label: <code>{op}</code>,
    opens: true,
    cell: (c) => (c === "op" ? op : c === "host_total" || c === "device_total" ? added(c) : null),
    shows: true,
    kids: () =>
      nested(list).map(({ row: r, depth }, i) => ({
        key: `${op}/${i}`,
        depth,
        faded: true,
        label: (
          <>
            {wordOr(`phase_${r.phase}`, String(r.phase ?? ""))} <code class="t3">{r.name}</code>
          </>
        ),
        cell: cellsOf(r),
      })),
  };
}

/** Only where they were recorded: elsewhere the answer has no such table. */
export const Phases = () => (countOf("op_phase") ? <PhaseTable /> : null);

const DEVICE = [
  ["device_total", { bar: "var(--kernel)", width: 160 }],
  ["device_share", { width: 90, soft: true }],
] as const;

function PhaseTable() {
  const asked = analysis("operators", { table: "phases", limit: 0 }, "operators-phases");
  const groups = byOperator(rowsOf(asked.value?.tables.phases));
  if (groups.length === 0) return null;
  const listed = wholeTable(asked.value, "phases", (r) => String(r.cell("op")));
  return (
    <Panel
      name={t("phases")}
      words={t("phases_words", { n: thousands(groups.length) })}
      {...panelFor(asked, "operators", "phases", "phase")}
      height={200}
    >
      <Table
        name={t("phases")}
        total={groups.length}
        row={(i) => rowOf(groups[i] ?? [])}
        open={groups.slice(0, 3).map((g) => String(g[0]?.op))}
        height={420}
        timelineLabel={t("show_costliest")}
        onTimeline={(r) => showName("operators", r.key)}
        columns={columns(listed, [
          ["op", { title: t("operator"), text: true, mono: true }],
          ["calls", { width: 70 }],
          ["host_total", { bar: "var(--cpu_exec)", width: 160 }],
          ["host_share", { width: 90, soft: true }],
          ["host_mean", { width: 100 }],
          ...(groups.flat().some((r) => r.device_total !== null) ? DEVICE : []),
        ])}
      />
    </Panel>
  );
}
