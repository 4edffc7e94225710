// Memory: does it fit, does it grow, what holds it.
import { useMemo } from "preact/hooks";
import { short, thousands } from "../base/format.ts";
import { Curve, type CurveData } from "../draw/curve.tsx";
import { nth } from "../draw/patterns.tsx";
import { Strip } from "../draw/strip.tsx";
import { choice, go, param, windowQuery } from "../model/place.ts";
import { tape } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, num, type Row, rowsOf } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { Segmented, Swatch, Value } from "../widgets/controls.tsx";
import { Menu } from "../widgets/menu.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table, type TableRow } from "../widgets/table.tsx";
import { MemoryMap } from "./addresses.tsx";
import { Filter } from "./filter.tsx";
import { columns, source } from "./rows.ts";
import { Verdict } from "./verdict.tsx";

/** The range chosen on the curve, else the window. */
export function rangeQuery() {
  const [from, to] = param("range").split("..");
  return from && to ? { from, to, step: undefined } : windowQuery.value;
}

export function Memory() {
  const asked = analysis("memory", { table: "peaks" }, "memory-peaks");
  const peaks = rowsOf(asked.value?.tables.peaks);
  const device = param("device") || String(peaks[0]?.device ?? "");
  const peak = peaks.find((p) => p.device === device);
  const reserved = num(peak?.reserved);
  const allocated = num(peak?.allocated);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("memory")}
        facts={[
          peak ? t("fact_peak", { v: short(allocated, "bytes"), d: device }) : undefined,
          reserved ? t("fact_reserved", { v: short(reserved, "bytes"), p: short(1 - allocated / reserved, "share") }) : undefined,
          num(peak?.capacity) ? t("fact_capacity", { v: short(num(peak?.capacity), "bytes") }) : undefined,
        ]}
      />
      <div class="grid">
        <MemoryCurve peaks={peaks} device={device} />
        <Alive device={device} />
        <Allocations device={device} />
        <ByOperator device={device} />
      </div>
    </>
  );
}

function useCurve(device: string, peak: Row | undefined) {
  const asked = analysis("memory", { ...rangeQuery(), table: "curve", limit: 0 }, "memory-curve");
  const table = asked.value?.tables.curve;
  const data = useMemo(() => {
    const rows = (table?.rows ?? []).filter((r) => r[1] === device);
    const column = (i: number) => Float64Array.from(rows, (r) => num(r[i]));
    const reserved = column(3);
    return { time: column(0), allocated: column(2), reserved: reserved.some((v) => v > 0) ? reserved : undefined };
  }, [table, device]);
  const steps = tape();
  const borders = steps ? Array.from(steps.numbers, (n, i) => ({ number: n, start: steps.starts[i] as number })) : [];
  const capacity = num(peak?.capacity);
  const curve: CurveData = {
    ...data,
    capacity: capacity && capacity < num(peak?.allocated) * 2 ? capacity : undefined,
    steps: borders.length > 60 ? [] : borders,
    peak: peak
      ? {
          time: num(peak.time),
          value: num(peak.allocated),
          label: `${t("peak")} ${short(num(peak.allocated), "bytes")} · ${short(num(peak.time), "ns")}`,
        }
      : undefined,
    mark: undefined,
  };
  return { asked, curve };
}

function MemoryCurve({ peaks, device }: { peaks: readonly Row[]; device: string }) {
  const [form, setForm] = choice("picture", "curve");
  const { asked, curve } = useCurve(
    device,
    peaks.find((p) => p.device === device),
  );
  const chosen = param("range") !== "";
  return (
    <Panel
      span="w8"
      name={t("memory_over_time")}
      title={t("memory_over_time")}
      words={t("memory_words")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={256}
      figure={asked.value?.verdict?.text.en}
      controls={
        <>
          {chosen ? (
            <button type="button" class="button" onClick={() => go({ params: { range: undefined } })}>
              {t("reset")}
            </button>
          ) : null}
          <Menu
            class="small-menu"
            name={t("device")}
            label={
              <>
                {t("device")} <b>{device}</b>
              </>
            }
            items={peaks.map((p) => ({
              id: String(p.device),
              label: String(p.device),
              checked: p.device === device,
              detail: short(num(p.allocated), "bytes"),
            }))}
            onChoose={(id) => go({ params: { device: id } })}
          />
          <Segmented
            label={t("form")}
            chosen={form}
            onChoose={setForm}
            choices={[
              { id: "curve", label: t("curve") },
              { id: "map", label: t("address_map") },
            ]}
          />
        </>
      }
    >
      <div class="pad" data-curve>
        {form === "map" ? (
          <MemoryMap device={device} />
        ) : (
          <Curve
            data={curve}
            height={270}
            version={themeVersion.value}
            words={{ allocated: t("allocated"), reserved: t("reserved"), capacity: t("capacity") }}
            onRange={(from, to) => go({ params: { range: `${Math.round(from)}..${Math.round(to)}` } })}
            onReset={() => go({ params: { range: undefined } })}
            onTime={() => {}}
          />
        )}
      </div>
    </Panel>
  );
}

function Alive({ device }: { device: string }) {
  const asked = analysis("memory", { ...rangeQuery(), table: "peak_contents", limit: 0 }, "memory-alive");
  themeVersion.value;
  const rows = rowsOf(asked.value?.tables.peak_contents)
    .filter((r) => r.device === device)
    .sort((a, b) => num(b.bytes) - num(a.bytes));
  const total = rows.reduce((s, r) => s + num(r.bytes), 0);
  const nameOf = (r: Row) => (r.op === null ? t("before_recording") : r.op === "" ? t("outside_operators") : String(r.op));
  const fill = (r: Row, i: number) => (r.op === null ? "url(#hatch)" : nth(i));
  return (
    <Panel
      span="w4"
      name={t("alive")}
      title={t("alive")}
      words={device}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={200}
    >
      <div class="pad">
        <Strip
          parts={rows.map((r, i) => ({
            id: nameOf(r),
            value: num(r.bytes),
            fill: fill(r, i),
            card: `${nameOf(r)} · ${short(num(r.bytes), "bytes")}`,
          }))}
          total={total}
          height={18}
          label={t("alive")}
        />
      </div>
      <ul class="alive">
        {rows.slice(0, 8).map((r, i) => (
          <li key={nameOf(r)}>
            <Swatch colour={fill(r, i)} />
            {r.op ? <code title={String(r.op)}>{nameOf(r)}</code> : <span>{nameOf(r)}</span>}
            <span>
              <Value text={short(num(r.bytes), "bytes")} />
            </span>
            <span class="t3">{short(total ? num(r.bytes) / total : 0, "share")}</span>
          </li>
        ))}
        <li class="alive-total">
          <i class="swatch" />
          <b>{t("total")}</b>
          <b>
            <Value text={short(total, "bytes")} />
          </b>
          <span class="t3">100 %</span>
        </li>
      </ul>
    </Panel>
  );
}

function Allocations({ device }: { device: string }) {
  const sort = param("sort") || "bytes:desc";
  // The server searches all columns; the device's own rows are found by its name when nothing is typed.
  const s = source(
    "memory",
    "events",
    { ...rangeQuery(), sort, search: param("q") || device || undefined },
    (r, i) => `${r.cell("address")} ${i}`,
    "memory.events",
  );
  return (
    <Panel
      span="w7"
      name={t("allocations")}
      title={t("allocations")}
      words={t("allocations_words", { n: thousands(s.total) })}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={360}
      controls={<Filter label={t("filter")} />}
    >
      <Table
        name={t("allocations")}
        total={s.total}
        row={(i) => named(s.row(i))}
        height={392}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        empty={t("no_rows")}
        columns={columns(s, "memory.events", [
          ["op", { title: t("operator"), text: true, mono: true }],
          ["bytes", { bar: "var(--c1)", width: 140 }],
          ["allocated_at", { width: 110 }],
          ["released_at", { width: 110 }],
          ["duration", { width: 90, title: t("life") }],
        ])}
      />
    </Panel>
  );
}

const named = (r: TableRow): TableRow =>
  r.cell("op")
    ? r
    : { ...r, label: <span class="t3">{r.cell("op") === "" ? t("outside_operators") : t("before_recording")}</span> };

function ByOperator({ device }: { device: string }) {
  const sort = param("osort") || "self_allocation_bytes:desc";
  const s = source(
    "memory",
    "statistics",
    { ...rangeQuery(), sort, search: device || undefined },
    (r, i) => `${r.cell("op")} ${i}`,
    "memory.statistics",
  );
  return (
    <Panel
      span="w5"
      name={t("by_operator")}
      title={t("by_operator")}
      words={param("range") ? t("chosen_range") : t("whole_window")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={360}
    >
      <Table
        name={t("by_operator")}
        total={s.total}
        row={s.row}
        height={392}
        sort={sort}
        onSort={(next) => go({ params: { osort: next } })}
        columns={columns(s, "memory.statistics", [
          ["op", { title: t("operator"), text: true, mono: true }],
          ["self_allocations", { width: 90 }],
          ["self_allocation_bytes", { width: 120 }],
          ["self_size_increase", { width: 100 }],
        ])}
      />
    </Panel>
  );
}
