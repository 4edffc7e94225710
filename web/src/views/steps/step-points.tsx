// The two operators around forward and backward, as chips that can be changed: gap, forward + backward
// and tail are computed again at once. The choice is in the address.
import type { Query } from "../../api/transport.ts";
import type { ApiError } from "../../api/types.ts";
import { t } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import { analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Menu } from "../../widgets/menu.tsx";

const LISTED = 400;

export interface StepPoints {
  query: Query; // of every question about steps
  rows: readonly Row<"steps", "points">[];
  refused: ApiError | undefined; // why the chosen ones cannot be used
}

/** The points in use. Where those of the address are refused, the steps are shown as recorded. */
export function stepPoints(): StepPoints {
  const wanted = { "fp-point": param("fp") || undefined, "bp-point": param("bp") || undefined };
  const asked = analysis("steps", { ...WHOLE_TRACE, ...wanted, table: "points", limit: 0 }, "steps-points");
  const chosen = param("fp") || param("bp");
  const refused = chosen ? asked.error : undefined;
  return { query: refused ? {} : wanted, rows: rowsOf(asked.value?.tables.points), refused };
}

const KINDS = [
  ["forward_start", "fp", "FP"],
  ["backward_end", "bp", "BP"],
] as const;

/** Names that can be chosen: those of the operators, the most expensive first. */
function useNames(): string[] {
  const answer = analysis("operators", { ...WHOLE_TRACE, table: "operators", limit: LISTED }, "points-operators").value;
  const names = rowsOf(answer?.tables.operators).map((r) => String(r.full_name ?? r.name));
  return [...new Set(names)];
}

export function PointChips({ points: p }: { points: StepPoints }) {
  const names = useNames();
  if (names.length === 0 && p.rows.length === 0) return null;
  return (
    <>
      {KINDS.map(([point, key, word]) => {
        const row = p.rows.find((r) => r.point === point);
        const given = param(key);
        const now = String((p.refused ? given : row?.name) ?? "");
        // The producer's own point may be missing among the operators.
        const choices = row && !names.includes(String(row.name)) ? [String(row.name), ...names] : names;
        return (
          <Menu
            key={point}
            class={`point ${given ? "point-own" : ""} ${p.refused && given ? "point-refused" : ""}`}
            name={t(`point_${key}`)}
            bare
            label={
              <>
                <b>{word}</b> <code>{now || t("not_known")}</code>
              </>
            }
            filter={t("point_filter")}
            items={[
              ...(given ? [{ id: "", label: t("point_reset"), checked: false }] : []),
              ...choices.map((n) => ({ id: n, label: n, checked: n === now })),
            ]}
            onChoose={(id) => go({ params: { [key]: id || undefined } })}
          />
        );
      })}
    </>
  );
}

/** Why the chosen points cannot be used, and the way back. */
export function Refusal({ points: p }: { points: StepPoints }) {
  if (!p.refused) return null;
  return (
    <p class="refusal" role="alert">
      {p.refused.msg}{" "}
      <button type="button" class="link" onClick={() => go({ params: { fp: undefined, bp: undefined } })}>
        {t("point_reset")}
      </button>
    </p>
  );
}
