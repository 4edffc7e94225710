// Single calls of operators with the filters of MegEngine's profile_analyze: by type, name, data type and time, one
// record for a group, in any order. The tables are those of `tacho top`.
import { isKnown } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { showLength } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { type AskedFor, analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Failure } from "../../widgets/panel.tsx";
import { Filter } from "../shared/filter.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, type ListedColumn, wholeTable } from "../shared/table-source.ts";

const UNITS: Record<string, number> = { ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3, s: 1 };

/** A time such as 5ms in seconds; what is not one goes to the server as it is. */
export function secondsOf(text: string): string | undefined {
  const [, number, unit = "s"] = /^\s*([\d.]+)\s*(ns|us|µs|ms|s)?\s*$/.exec(text) ?? [];
  if (number === undefined) return text.trim() || undefined;
  return String(Number((Number(number) * (UNITS[unit] ?? 1)).toPrecision(12)));
}

const COUNTS = ["10", "30", "100", "0"];
const SUMS = ["none", "max", "min", "sum", "mean"] as const;
const ORDERS = ["time", "computation", "memory", "flops", "bandwidth"] as const;

/** The filters as `tacho top` takes them. */
const query = (side: "device" | "host") => ({
  top: param("call-n") || "30",
  "opr-name": param("call-name") || undefined,
  type: param("call-type") || undefined,
  "input-dtype": param("call-dtype") || undefined,
  "min-time": secondsOf(param("call-min")),
  "max-time": secondsOf(param("call-max")),
  aggregate: param("call-sum") || undefined,
  "aggregate-by": param("call-sum") ? "type" : undefined,
  "top-end-key": param("call-key") || undefined,
  "order-by": param("call-order") || undefined,
  "show-host": side === "host" ? "yes" : undefined,
});

export function SingleCalls() {
  const [side, setSide] = choice("call-side", "device");
  const of = side === "host" ? "host" : "device";
  const asked = analysis("top", query(of), "top-calls");
  const s = wholeTable(asked.value, of, (r, i) => `${r.cell("id")} ${i}`);
  const whole = rowsOf(asked.value?.tables.summary).find((r) => r.what === `total_${of}_time`)?.time;
  return (
    <>
      <TablePanel
        name={t("single_calls")}
        words={t("single_calls_words", { n: thousands(s.total), v: short(whole, "ns") })}
        define={defined(asked.value, of, "time")}
        height={200}
        asked={{ ...asked, error: undefined }}
        controls={<Controls side={side} setSide={setSide} types={typesOf(asked, of)} />}
        rows={s}
        row={(i) => ({ ...s.row(i), shows: param("call-sum") === "" })} // a sum is not a call
        table={{
          height: 420,
          empty: t("no_rows"),
          onTimeline: (r) => void showLength(Number(r.cell("time")), String(r.cell("name"))),
          timelineLabel: t("show_call"),
        }}
        list={[
          ["name", { title: t("operator"), text: true, mono: true }],
          ["type", { text: true, soft: true, width: 130 }],
          ["time", { bar: of === "host" ? "var(--cpu_exec)" : "var(--kernel)", width: 150 }],
          ["share", { width: 76, soft: true }],
          ["cumulative_share", { width: 96, soft: true }],
          ["count", { width: 60 }],
          ...extraColumns(rowsOf(asked.value?.tables.device), of),
        ]}
      />
      {asked.error ? <Failure error={asked.error} /> : null}
    </>
  );
}

type Call = Row<"top", "device">;

/** What the device did in a call, where it is known of any. */
function extraColumns(rows: readonly Call[], of: "device" | "host"): ListedColumn<Call>[] {
  const known = (c: "computation" | "flops" | "memory" | "bandwidth") => of === "device" && rows.some((r) => isKnown(r[c]));
  const made: ListedColumn<Call>[] = [];
  if (known("computation")) made.push(["computation", { width: 110, each: true }]);
  if (known("flops")) made.push(["flops", { width: 110, each: true, title: "FLOP/s" }]);
  if (known("memory")) made.push(["memory", { width: 100, each: true }]);
  if (known("bandwidth")) made.push(["bandwidth", { width: 110, each: true }]);
  if (of === "device" && rows.some((r) => r.in_shapes))
    made.push(["in_shapes", { text: true, mono: true, soft: true, width: 180 }]);
  return made;
}

/** The types that can be chosen: those of the records without a filter of type. */
function typesOf(asked: AskedFor<"top">, of: "device" | "host"): string[] {
  const found = rowsOf(asked.value?.tables[of]).map((r) => String(r.type ?? ""));
  return [...new Set([...found, param("call-type")])].filter(Boolean).sort();
}

interface ControlProps {
  side: string;
  setSide: (id: string) => void;
  types: readonly string[];
}

/** A menu over a parameter of the address; the first choice is the usual one. */
function Choose({
  name,
  label,
  ids,
  word,
}: {
  name: string;
  label: string;
  ids: readonly string[];
  word: (id: string) => string;
}) {
  const now = param(name) || (ids[0] ?? "");
  return (
    <Menu
      class="small-menu"
      right
      name={label}
      value={word(now)}
      items={ids.map((id) => ({ id, label: word(id), checked: id === now }))}
      onChoose={(id) => go({ params: { [name]: id === ids[0] ? undefined : id } })}
    />
  );
}

function Controls({ side, setSide, types }: ControlProps) {
  return (
    <span class="call-filters">
      <Filter label={t("call_name")} name="call-name" />
      <Choose name="call-type" label={t("col_type")} ids={["", ...types]} word={(id) => id || t("call_any_type")} />
      <Short name="call-dtype" label={t("call_dtype")} />
      <Short name="call-min" label={t("call_min")} />
      <Short name="call-max" label={t("call_max")} />
      <Choose
        name="call-sum"
        label={t("call_sum")}
        ids={["", ...SUMS.slice(1)]}
        word={(id) => t(`call_sum_${id || "none"}` as "call_sum_none")}
      />
      <Choose name="call-order" label={t("call_order")} ids={ORDERS} word={(id) => t(`call_by_${id}` as "call_by_time")} />
      <Choose
        name="call-n"
        label={t("top")}
        ids={["30", ...COUNTS.filter((n) => n !== "30")]}
        word={(id) => (id === "0" ? t("call_all") : id)}
      />
      <Segmented
        label={t("call_key")}
        chosen={param("call-key") || "end"}
        onChoose={(id) => go({ params: { "call-key": id === "end" ? undefined : id } })}
        choices={{ end: t("call_key_end"), kern: t("call_key_kern") }}
      />
      <Segmented label={t("side")} chosen={side} onChoose={setSide} choices={{ device: t("device"), host: t("host") }} />
    </span>
  );
}

/** A short field over a parameter of the address, taken when it is left or Enter is pressed. */
const Short = ({ name, label }: { name: string; label: string }) => (
  <input
    class="call-field"
    type="text"
    placeholder={label}
    aria-label={label}
    value={param(name)}
    onChange={(e) => go({ params: { [name]: e.currentTarget.value.trim() || undefined } })}
    onKeyDown={(e) => {
      e.stopPropagation();
      if (e.key === "Enter") e.currentTarget.blur();
    }}
  />
);
