// A small table of the details: words at the left, numbers at the right.
import type { ComponentChildren } from "preact";

interface SmallColumn {
  title: string;
  kind?: "mono" | "num"; // else words
  help?: string;
}

interface SmallTableProps {
  columns: readonly SmallColumn[];
  rows: readonly { key: string | number; cells: readonly ComponentChildren[] }[];
}

export function SmallTable({ columns, rows }: SmallTableProps) {
  return (
    <table class="tl-table">
      <thead>
        <tr>
          {columns.map((c) => (
            <th key={c.title} {...(c.kind === "num" ? { class: "num" } : {})} {...(c.help ? { title: c.help } : {})}>
              {c.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.key}>
            {r.cells.map((cell, i) => (
              <td key={i} {...(columns[i]?.kind ? { class: columns[i]?.kind } : {})}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const words = (title: string): SmallColumn => ({ title });
export const mono = (title: string): SmallColumn => ({ title, kind: "mono" });
export const number = (title: string): SmallColumn => ({ title, kind: "num" });
