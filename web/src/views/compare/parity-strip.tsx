// What differs before anything is measured: one quiet line, and all of it on demand.
import { c, cOr, type Diff } from "../../model/compare.ts";
import { type Row, rowsOf } from "../../model/trace.ts";
import { SeverityMark } from "../../widgets/icons.tsx";

type Condition = Row<"diff", "parity">;

const keyWord = (r: Condition): string => cOr(`parity_${r.key}`, String(r.key).replace(/_/g, " "));
const valueWord = (v: string | null): string => v ?? c("parity_nothing");

export function ParityStrip({ asked }: { asked: Diff }) {
  const rows = rowsOf(asked.value?.tables.parity);
  if (rows.length === 0) return null;
  const differ = rows.filter((r) => r.same === false);
  const other = asked.value?.verdict?.id === "diff_other_workload";
  return (
    <section class="parity" aria-label={c("parity")}>
      <SeverityMark severity={other ? "warning" : differ.length ? "info" : "good"} size={14} label={c("parity")} />
      <div>
        {other ? <b>{c("parity_other")} </b> : null}
        {differ.length === 0 ? (
          <span>{c("parity_same")}</span>
        ) : (
          <>
            <span class="t2">{c("parity_differs", { n: differ.length, m: rows.length })}</span>{" "}
            {differ.map((r) => (
              <span key={r.key} class="rec">
                <span class="t3">{keyWord(r)}</span> {valueWord(r.a)} → {valueWord(r.b)}
              </span>
            ))}
          </>
        )}
        <details>
          <summary>{c("parity_all")}</summary>
          <dl class="configuration">
            {rows.map((r) => (
              <div key={r.key}>
                <dt>{keyWord(r)}</dt>
                <dd>{r.same ? valueWord(r.a) : `${valueWord(r.a)} → ${valueWord(r.b)}`}</dd>
              </div>
            ))}
          </dl>
        </details>
      </div>
    </section>
  );
}
