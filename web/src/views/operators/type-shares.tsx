// Shares of the types of operators, or of kernels by their mean: the first twenty (fifteen), the rest as others.
// A click goes down from a type to its operators.
import { largestFirst, total } from "../../base/aggregate.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { type AskedFor, analysis, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { cellsOf, defined, quoted, type SourceRow, sideWord } from "../shared/table-source.ts";
import { TopChart, type TopRow } from "../shared/top-chart.tsx";

const TYPES = 20;

type Top = Row<"operators" | "kernels", "top">;
type Operator = Row<"operators", "operators">;

const isRest = (r: Top): boolean => r.name === "Others" && r.side === null;

export const topRows = (rows: readonly Top[], measure: "mean" | "total", label = (n: string) => n): TopRow[] =>
  rows.map((r) => ({
    name: isRest(r) ? "" : String(r.name),
    label: isRest(r) ? t("others") : label(String(r.name)),
    side: String(r.side ?? ""),
    calls: r.calls,
    value: r[measure],
    rest: isRest(r),
  }));

/** Types by the time of all their executions: the first N, the rest added up. */
function byTotal(rows: readonly Operator[]): TopRow[] {
  const time = (r: Operator) => r.device_total || r.host_total;
  const sorted = [...rows].sort(largestFirst(time));
  const made = sorted.slice(0, TYPES).map((r) => ({
    name: String(r.type),
    label: String(r.type),
    side: String(r.side ?? ""),
    calls: r.calls,
    value: time(r),
    rest: false,
  }));
  const rest = sorted.slice(TYPES);
  const calls = total(rest, (r) => r.calls);
  const others = { name: "", label: t("others"), side: "", calls, value: total(rest, time), rest: true };
  return rest.length ? [...made, others] : made;
}

/** Operators or their types: the switch is in both panels. */
export function OfSwitch({ chosen }: { chosen: string }) {
  return (
    <Segmented
      label={t("of_what")}
      chosen={chosen}
      onChoose={(of) => go({ params: { of } })}
      choices={{ operator: t("of_operator"), type: t("of_type") }}
    />
  );
}

/** The type the table below is narrowed to, if it is. */
const drilled = (): string => /(?:^| )type="([^"]*)"/.exec(param("q"))?.[1] ?? "";

/** Narrows the table to a type, or widens it again; other words of the filter stay. */
export function drill(type: string): void {
  const others = param("q")
    .replace(/(?:^| )type="[^"]*"/, "")
    .trim();
  const words = type && type !== drilled() ? `type=${quoted(type)}` : "";
  go({ params: { q: [words, others].filter(Boolean).join(" "), group: undefined } });
}

export function TypeShares({ asked }: { asked: AskedFor<"operators"> }) {
  const [measure, setMeasure] = choice("measure", "mean");
  const [form, setForm] = choice("form", "pies");
  const top = analysis("operators", { table: "top", limit: 0 }, "operators-top");
  const all = analysis("operators", { "group-by": "type", table: "operators", limit: 0 }, "operators-types");
  const mean = measure !== "total";
  const rows = mean ? topRows(rowsOf(top.value?.tables.top), "mean") : byTotal(rowsOf(all.value?.tables.operators));
  const named = rows.filter((r) => !r.rest).length;
  return (
    <Panel
      name={t("operator_types")}
      words={t(named < rows.length ? "types_words" : "types_all_words", {
        n: named,
        by: t(mean ? "by_mean" : "total_time").toLowerCase(),
      })}
      define={mean ? defined(top.value, "top", "mean") : defined(all.value, "operators", "device_total")}
      csv={csvUrl("operators", "top")}
      asked={{ ...top, old: top.old || asked.old }}
      height={200}
      controls={
        <>
          {drilled() ? (
            <button type="button" class="link" onClick={() => drill("")}>
              {t("drill_end")}
            </button>
          ) : null}
          <OfSwitch chosen="type" />
          <Segmented
            label={t("measure")}
            chosen={mean ? "mean" : "total"}
            onChoose={setMeasure}
            choices={{ mean: t("by_mean"), total: t("total_time") }}
          />
          <Segmented
            label={t("form")}
            chosen={form === "bars" ? "bars" : "pies"}
            onChoose={setForm}
            choices={{ pies: t("pies"), bars: t("bars") }}
          />
        </>
      }
    >
      <TopChart rows={rows} form={form} chosen={drilled()} title={t("operator_types")} onName={drill} />
    </Panel>
  );
}

/** The words of the filter, and the side that was chosen. */
export const sideFilter = (sides: readonly string[]): string | undefined =>
  [sides.includes(param("on")) ? `side=${quoted(param("on"))}` : "", param("q")].filter(Boolean).join(" ") || undefined;

/** AI Core, AI CPU, host where there are several; short or full names. */
export function Which({ sides, full, named }: { sides: readonly string[]; full: boolean; named: boolean }) {
  return (
    <>
      {sides.length > 1 ? (
        <Segmented
          label={t("side")}
          chosen={sides.includes(param("on")) ? param("on") : ""}
          onChoose={(on) => go({ params: { on } })}
          choices={[{ id: "", label: t("side_all") }, ...sides.map((id) => ({ id, label: sideWord(id) }))]}
        />
      ) : null}
      {named ? (
        <button
          type="button"
          class={full ? "button tl-switch tl-on" : "button tl-switch"}
          aria-pressed={full}
          onClick={() => go({ params: { names: full ? undefined : "full" } })}
        >
          {t("names_full")}
        </button>
      ) : null}
    </>
  );
}

/** What the producer says of an operator it added up: its full name and its inputs. */
export function whatItIs(r: SourceRow<Operator>): TableRow[] {
  return (["full_name", "info"] as const).flatMap((c): TableRow[] => {
    const text = r.cell(c);
    if (!text) return [];
    return [
      { key: `${r.key}/${c}`, depth: 1, faded: true, wide: true, cell: () => undefined, label: <code>{String(text)}</code> },
    ];
  });
}

/** The operators of a type or a sub-graph, below its row. */
export function within(rows: readonly Operator[], column: "type" | "subgraph", own: string): TableRow[] {
  return rows
    .filter((r) => r[column] === own)
    .map((r, i) => ({
      key: `${own}/${r.name} ${i}`,
      depth: 1,
      faded: true,
      cell: cellsOf(r),
      label: <code>{String(r.name)}</code>,
    }));
}
