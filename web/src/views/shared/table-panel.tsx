// A panel that is one table.
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { columns, type Listed, type ListedColumn, type Source } from "./table-source.ts";

interface Props<R> extends Omit<Parameters<typeof Panel>[0], "children"> {
  rows: Listed<R> & Partial<Pick<Source, "asked" | "csv">>;
  row?: (i: number) => TableRow; // when it is more than its cells
  list: readonly ListedColumn<R>[];
  table: Omit<Parameters<typeof Table>[0], "name" | "total" | "row" | "columns">;
}

export function TablePanel<R>({ rows, row = rows.row, list, table, ...panel }: Props<R>) {
  const known = { ...(rows.csv ? { csv: rows.csv } : {}), ...(rows.asked ? { asked: rows.asked } : {}) };
  return (
    <Panel {...known} {...panel}>
      <Table {...table} name={panel.name} total={rows.total} row={row} columns={columns(rows, list)} />
    </Panel>
  );
}
