// Where the text of a file is not known: its lines with a measurement as a table.
import { c, chooseLine, type Heat, type Line } from "../../model/code.ts";
import type { AskedFor } from "../../model/trace.ts";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { cellsOf, columns } from "../shared/table-source.ts";

interface Props {
  asked: AskedFor<"lines">;
  file: string;
  lines: ReadonlyMap<number, Line>;
  chosen: number | undefined;
  heat: Heat;
  self: boolean;
  onShow: (line: Line) => void;
}

export function LineTable({ asked, file, lines, chosen, heat, self, onShow }: Props) {
  const rows = [...lines.values()].sort((a, b) => (b[heat] ?? 0) - (a[heat] ?? 0));
  const table = asked.value?.tables.lines;
  const has = (column: keyof Line) => rows.some((r) => typeof r[column] === "number" && (r[column] as number) > 0);
  const cpu = self ? ("cpu_self_ns" as const) : ("cpu_ns" as const);
  const gpu = self ? ("gpu_self_ns" as const) : ("gpu_ns" as const);
  const row = (i: number): TableRow => {
    const r = rows[i] as Line;
    return { key: String(r.line), cell: cellsOf(r), marked: r.line === chosen };
  };
  const optional = [
    ["critical_ns", { title: c("on_path"), bar: "var(--critical)", width: 150 }],
    [cpu, { title: c("cpu"), bar: "var(--cpu_exec)", width: 120 }],
    [gpu, { title: c("gpu"), bar: "var(--kernel)", width: 120 }],
    ["idle_ns", { title: c("idle"), width: 80 }],
    ["peak_bytes", { title: c("memory"), width: 90, leaves: 1 }],
    ["samples", { title: c("samples"), width: 80, leaves: 2 }],
  ] as const;
  return (
    <Table
      name={c("lines")}
      total={rows.length}
      row={row}
      height="max(320px, calc(100vh - 320px))"
      onRow={(r) => chooseLine(file, Number(r.key))}
      onEnter={(r) => onShow(lines.get(Number(r.key)) as Line)}
      columns={columns<Line>({ path: "lines.lines", help: (name) => table?.columns.find((x) => x.name === name) }, [
        ["line", { title: c("number"), width: 56, sortable: false, stays: true }],
        ["function", { title: c("text"), text: true, mono: true, sortable: false, least: 110, stays: true }],
        ...optional.filter(([name]) => has(name)).map(([name, extra]) => [name, { ...extra, sortable: false }] as const),
      ])}
    />
  );
}
