// What the second program does otherwise in a step, whatever it costs: before any time is compared.
import { useState } from "preact/hooks";
import { c, cOr, type Diff, diffCsv, type Side, stepOf } from "../../model/compare.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { WithCode } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";
import { SideLinks } from "./causes.tsx";
import { RampCell, signed, strongest } from "./change.tsx";

type Changed = Row<"diff", "program_changes">;
type Both = readonly [Side, Side];

const FIRST = 6; // rows; the others on demand

export function ProgramChanges({ asked, both }: { asked: Diff; both: Both }) {
  const [all, setAll] = useState(false);
  const rows = rowsOf(asked.value?.tables.program_changes);
  if (rows.length === 0) return null;
  const most = strongest(
    rows.map((r) => r.change),
    stepOf(asked),
  );
  return (
    <Panel
      name={c("program")}
      words={c("program_words")}
      define={defined(asked.value, "program_changes", "name")}
      csv={diffCsv(both, "program_changes")}
      asked={asked}
      height={120}
    >
      {rows.slice(0, all ? undefined : FIRST).map((r, i) => (
        <ChangeRow key={i} row={r} both={both} most={most} />
      ))}
      {rows.length > FIRST && !all ? (
        <div class="pad">
          <button type="button" class="link" onClick={() => setAll(true)}>
            {c("program_more", { n: rows.length - FIRST })}
          </button>
        </div>
      ) : null}
    </Panel>
  );
}

function ChangeRow({ row: r, both, most }: { row: Changed; both: Both; most: number }) {
  return (
    <div class="advice cause">
      <span class="cause-kind">
        <b>{cOr(`program_${r.status}`, String(r.status))}</b>
        <span class="t3">{cOr(`kind_${r.kind}`, String(r.kind).replace(/_/g, " "))}</span>
      </span>
      <div class="advice-text">
        <div class="advice-title">
          <WithCode text={r.title ?? ""} />
        </div>
      </div>
      <SideLinks row={r} both={both} />
      <span class="cause-change">
        <RampCell value={r.change} most={most}>
          <b>{signed(r.change, "ns")}</b>
        </RampCell>
      </span>
    </div>
  );
}
