// Shares of the types of operators, or of kernels by their mean: the first twenty (fifteen), the rest as others.
// A click goes down from a type to its operators.
import type { Answer } from "../../api/types.ts";
import { percent, short, THIN, thousands } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Bars } from "../../draw/charts/bars.tsx";
import { Donut, type Part } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import type { Asked } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { defined, quoted, sideWord } from "../shared/table-source.ts";

const TYPES = 20;

export interface TopRow {
  name: string;
  label: string;
  side: string;
  calls: number;
  value: number;
  rest: boolean; // the sum of all others
}

const isRest = (r: Row): boolean => r.name === "Others" && (r.side === null || r.side === undefined);

export const topRows = (rows: readonly Row[], measure: "mean" | "total", label = (n: string) => n): TopRow[] =>
  rows.map((r) => ({
    name: isRest(r) ? "" : String(r.name),
    label: isRest(r) ? t("others") : label(String(r.name)),
    side: String(r.side ?? ""),
    calls: num(r.calls),
    value: num(r[measure]),
    rest: isRest(r),
  }));

/** Types by the time of all their executions: the first N, the rest added up. */
function byTotal(rows: readonly Row[]): TopRow[] {
  const time = (r: Row) => num(r.device_total) || num(r.host_total);
  const sorted = [...rows].sort((a, b) => time(b) - time(a));
  const made = sorted.slice(0, TYPES).map((r) => ({
    name: String(r.type),
    label: String(r.type),
    side: String(r.side ?? ""),
    calls: num(r.calls),
    value: time(r),
    rest: false,
  }));
  const rest = sorted.slice(TYPES);
  const sum = (f: (r: Row) => number) => rest.reduce((s, r) => s + f(r), 0);
  const others = { name: "", label: t("others"), side: "", calls: sum((r) => num(r.calls)), value: sum(time), rest: true };
  return rest.length ? [...made, others] : made;
}

/** Operators or their types: the switch stands in both panels. */
export function OfSwitch({ chosen }: { chosen: string }) {
  return (
    <Segmented
      label={t("of_what")}
      chosen={chosen}
      onChoose={(of) => go({ params: { of } })}
      choices={[
        { id: "operator", label: t("of_operator") },
        { id: "type", label: t("of_type") },
      ]}
    />
  );
}

/** The type the table below is narrowed to, if it is. */
export const drilled = (): string => /(?:^| )type="([^"]*)"/.exec(param("q"))?.[1] ?? "";

/** Narrows the table to a type, or widens it again; other words of the filter stay. */
export function drill(type: string): void {
  const others = param("q")
    .replace(/(?:^| )type="[^"]*"/, "")
    .trim();
  const words = type && type !== drilled() ? `type=${quoted(type)}` : "";
  go({ params: { q: [words, others].filter(Boolean).join(" "), group: undefined } });
}

export function TypeShares({ asked }: { asked: Asked<Answer> }) {
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
      title={t("operator_types")}
      words={t(named < rows.length ? "types_words" : "types_all_words", {
        n: named,
        by: t(mean ? "by_mean" : "total_time").toLowerCase(),
      })}
      define={mean ? defined(top.value, "top", "mean") : defined(all.value, "operators", "device_total")}
      csv={csvUrl("operators", "top")}
      old={top.old || asked.old}
      error={top.error}
      busy={!top.value}
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
            choices={[
              { id: "mean", label: t("by_mean") },
              { id: "total", label: t("total_time") },
            ]}
          />
          <Segmented
            label={t("form")}
            chosen={form === "bars" ? "bars" : "pies"}
            onChoose={setForm}
            choices={[
              { id: "pies", label: t("pies") },
              { id: "bars", label: t("bars") },
            ]}
          />
        </>
      }
    >
      <TopChart rows={rows} form={form} chosen={drilled()} title={t("operator_types")} onName={drill} />
    </Panel>
  );
}

interface ChartProps {
  rows: readonly TopRow[];
  form: string;
  chosen: string;
  title: string;
  onName: (name: string) => void;
}

/** A donut with its list, or bars: each with time and share. */
export function TopChart({ rows, form, chosen, title, onName }: ChartProps) {
  themeVersion.value;
  const total = rows.reduce((s, r) => s + r.value, 0);
  const words = (r: TopRow) => `${short(r.value, "ns")} · ${percent(total > 0 ? r.value / total : 0)}`;
  const fill = (r: TopRow, i: number) => (r.rest ? "var(--track)" : nth(i));
  const card = (r: TopRow) => (
    <Definition title={r.label} help={`${words(r)} · × ${thousands(r.calls)}`} path={r.side || r.name} />
  );
  if (form === "bars")
    return (
      <div class="pad">
        <Bars
          label={title}
          chosen={chosen}
          onBar={(id) => (id ? onName(id) : undefined)}
          items={rows.map((r, i) => ({
            id: r.name,
            label: r.label,
            value: r.value,
            text: words(r),
            fill: fill(r, i),
            card: card(r),
          }))}
        />
      </div>
    );
  const parts = rows.map((r, i): Part => ({ id: r.name, value: r.value, fill: fill(r, i), card: card(r) }));
  const [number = "", unit = ""] = short(total, "ns").split(THIN);
  return (
    <div class="types">
      <Donut
        parts={parts}
        radius={84}
        middle={number}
        below={unit}
        label={`${title} ${short(total, "ns")}`}
        onPart={(id) => (id ? onName(id) : undefined)}
      />
      <ol class="types-list types-many">
        {rows.map((r, i) => (
          <li key={r.name} class={chosen && chosen === r.name ? "chosen" : ""}>
            <Swatch colour={fill(r, i)} />
            {r.rest ? (
              <span class="t3">{r.label}</span>
            ) : (
              <button type="button" class="link" title={r.name} onClick={() => onName(r.name)}>
                <code>{r.label}</code>
              </button>
            )}
            <span class="t3">{sideWord(r.side)}</span>
            <span class="t3">× {thousands(r.calls)}</span>
            <b>
              <Value text={short(r.value, "ns")} />
            </b>
            <span class="t3">{percent(total > 0 ? r.value / total : 0)}</span>
          </li>
        ))}
      </ol>
    </div>
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
export function whatItIs(r: TableRow): TableRow[] {
  return ["full_name", "info"].flatMap((c): TableRow[] => {
    const text = r.cell(c);
    if (!text) return [];
    return [
      { key: `${r.key}/${c}`, depth: 1, faded: true, wide: true, cell: () => undefined, label: <code>{String(text)}</code> },
    ];
  });
}

/** The operators of a type or a sub-graph, below its row. */
export function within(rows: readonly Row[], column: "type" | "subgraph", own: string): TableRow[] {
  return rows
    .filter((r) => r[column] === own)
    .map((r, i) => ({
      key: `${own}/${r.name} ${i}`,
      depth: 1,
      faded: true,
      cell: (c) => r[c] ?? null,
      label: <code>{String(r.name)}</code>,
    }));
}
