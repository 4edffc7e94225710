// What the step is made of, by kind: parts that add up to it.
import { isKnown, largestFirst, sum } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Strip } from "../../draw/charts/strip.tsx";
import { showSlice } from "../../model/evidence.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, csvUrl, rowsOf } from "../../model/trace.ts";
import { kindFill, kindWord, w } from "../../model/why.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableColumn, TableRow } from "../../widgets/table-types.ts";
import { cellsOf, columns, defined, sumsOf } from "../shared/table-source.ts";

/** The part of a kind that takes most of the path; null where no event of it is known. */
export const largestOf = (asked: AskedFor<"critical">, kind: string) =>
  rowsOf(asked.value?.tables.by_name)
    .filter((r) => r.kind === kind && isKnown(r.slice))
    .sort(largestFirst((r) => r.time))[0];

/** Shows it, with the path drawn. */
export function showKind(asked: AskedFor<"critical">, kind: string): void {
  const row = largestOf(asked, kind);
  if (row && isKnown(row.slice)) showSlice(row.slice, row.name ?? kindWord(kind), { path: "1", piece: undefined });
}

export function Kinds({ asked }: { asked: AskedFor<"critical"> }) {
  themeVersion.value; // text on fills follows the theme
  const rows = rowsOf(asked.value?.tables.by_kind);
  const total = sum(rows, (r) => r.time);
  const table = asked.value?.tables.by_kind;
  const list: TableColumn[] = columns({ path: "critical.by_kind", help: (c) => table?.columns.find((x) => x.name === c) }, [
    ["kind", { title: w("kind"), text: true, sortable: false, stays: true }],
    ["time", { title: w("time"), sortable: false, width: 92 }],
    ["share", { title: w("share"), sortable: false, width: 74 }],
    ["pieces", { title: w("pieces"), sortable: false, width: 74, soft: true, leaves: 1 }],
  ]);
  const row = (i: number): TableRow => {
    const r = rows[i] as (typeof rows)[number];
    const kind = r.kind ?? "";
    return {
      key: kind,
      shows: largestOf(asked, kind) !== undefined,
      label: (
        <>
          <Swatch color={kindFill(kind)} /> {kindWord(kind)}
        </>
      ),
      cell: cellsOf(r),
    };
  };
  return (
    <Panel
      name={w("kinds")}
      words={w("kinds_words")}
      define={defined(asked.value, "by_kind", "kind")}
      csv={csvUrl("critical", "by_kind")}
      asked={asked}
      height={300}
      span="why-kinds"
    >
      <div class="pad">
        <Strip
          parts={rows.map((r) => ({
            id: r.kind ?? "",
            value: r.time ?? 0,
            fill: kindFill(r.kind ?? ""),
            label: `${kindWord(r.kind ?? "")} ${short(r.time, "ns")}`,
            short: percent(r.share, 0),
            plain: kindFill(r.kind ?? "").startsWith("url") || kindFill(r.kind ?? "") === "var(--track)",
            card: <Definition title={`${kindWord(r.kind ?? "")} · ${exact(r.time, "ns")} · ${percent(r.share)}`} />,
          }))}
          total={total}
          height={30}
          onPart={(kind) => showKind(asked, kind)}
          label={rows.map((r) => `${kindWord(r.kind ?? "")} ${short(r.time, "ns")}`).join(", ")}
        />
      </div>
      <Table
        name={w("kinds")}
        columns={list}
        total={rows.length}
        row={row}
        onTimeline={(r) => showKind(asked, r.key)}
        timelineLabel={w("show_piece")}
        sum={sumsOf(rows, ["time", "share", "pieces"])}
        sumLabel={<span class="under-swatch">{w("total")}</span>}
      />
    </Panel>
  );
}
