// Memory: does it fit, does it grow, what holds it.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { exact, percent, type Scale, scaleOf, short, thousands } from "../../base/format.ts";
import { Curve, type CurveData } from "../../draw/charts/curve.tsx";
import { Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { language, t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { tape } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, num, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch, Value } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { columns, defined, source } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { MemoryMap } from "./memory-map.tsx";
import { onDevice, rangeQuery } from "./memory-query.ts";

/** The block of the row under the pointer: its life is marked on the curve. */
const hovered = signal<{ from: number; to: number } | undefined>(undefined);

const POINTS = 3000; // of the curve: more than a screen has pixels

export function Memory() {
  const asked = analysis("memory", { ...rangeQuery(), table: "peaks" }, "memory-peaks");
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
  const query = { ...rangeQuery(), table: "curve", limit: 0, points: POINTS, filter: onDevice(device) };
  const asked = analysis("memory", query, "memory-curve");
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
  const at = param("at");
  const most = Math.max(num(peak?.allocated), ...(data.reserved?.subarray(-1) ?? []));
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
    mark: hovered.value,
    at: at ? { time: Number(at), label: short(Number(at), "ns") } : undefined,
  };
  return { asked, curve, scale: scaleOf("bytes", most) };
}

function MemoryCurve({ peaks, device }: { peaks: readonly Row[]; device: string }) {
  const [form, setForm] = choice("picture", "curve");
  const { asked, curve, scale } = useCurve(
    device,
    peaks.find((p) => p.device === device),
  );
  const chosen = param("range") !== "";
  const title = t(/^cpu/i.test(device) ? "memory_over_time" : "device_memory_over_time");
  return (
    <Panel
      span="w8"
      name={title}
      title={title}
      words={form === "map" ? t("map_zoom_words") : `${scale.unit} · ${t("memory_words")}`}
      define={defined(asked.value, "curve", "allocated")}
      csv={csvUrl("memory", "curve", { ...rangeQuery(), filter: onDevice(device) })}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={256}
      figure={asked.value?.verdict?.text[language.value]}
      controls={
        <>
          {chosen ? (
            <button type="button" class="button" onClick={() => go({ params: { range: undefined, addresses: undefined } })}>
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
            onChoose={(id) => go({ params: { device: id, at: undefined } })}
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
            scale={scale}
            words={{ allocated: t("allocated"), reserved: t("reserved"), capacity: t("capacity") }}
            onRange={(from, to) => go({ params: { range: `${Math.round(from)}..${Math.round(to)}`, at: undefined } })}
            onReset={() => go({ params: { range: undefined, at: undefined } })}
            onTime={(time) => go({ params: { at: String(Math.max(0, Math.round(time))) } })}
          />
        )}
      </div>
    </Panel>
  );
}

const HOLDERS = ["op", "module", "size"] as const;

function Alive({ device }: { device: string }) {
  const [by, setBy] = choice("holders", "op");
  const at = param("at");
  const query = { ...rangeQuery(), table: "contents", limit: 0, by, at: at || undefined, filter: onDevice(device) };
  const asked = analysis("memory", query, "memory-alive");
  themeVersion.value;
  const rows = rowsOf(asked.value?.tables.contents)
    .filter((r) => r.device === device)
    .sort((a, b) => num(b.bytes) - num(a.bytes));
  const total = rows.reduce((s, r) => s + num(r.bytes), 0);
  const nameOf = (r: Row) =>
    r.name === null
      ? t("before_recording")
      : r.name === ""
        ? t(`outside_${by === "module" ? "modules" : "operators"}`)
        : String(r.name);
  const fill = (r: Row, i: number) => (r.name === null ? "url(#hatch)" : nth(i));
  const title = at ? t("alive_at", { v: short(Number(at), "ns") }) : t("alive");
  return (
    <Panel
      span="w4"
      name={t("alive")}
      title={title}
      define={defined(asked.value, "contents", "bytes")}
      csv={csvUrl("memory", "contents", query)}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={200}
      controls={
        <>
          {at ? (
            <button type="button" class="link" onClick={() => go({ params: { at: undefined } })}>
              {t("to_peak")}
            </button>
          ) : null}
          <Segmented
            label={t("group_by")}
            chosen={by}
            onChoose={setBy}
            choices={HOLDERS.map((id) => ({ id, label: t(`holders_${id}`) }))}
          />
        </>
      }
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
          label={title}
        />
      </div>
      <ul class="alive">
        {rows.map((r, i) => (
          <li key={nameOf(r)}>
            <Swatch colour={fill(r, i)} />
            {r.name ? <code title={String(r.name)}>{nameOf(r)}</code> : <span>{nameOf(r)}</span>}
            <span title={exact(num(r.bytes), "bytes")}>
              <Value text={short(num(r.bytes), "bytes")} />
            </span>
            <span class="t3">{short(total ? num(r.bytes) / total : 0, "share")}</span>
          </li>
        ))}
        <li class="alive-total">
          <i class="swatch" />
          <b>{t("total")}</b>
          <b title={exact(total, "bytes")}>
            <Value text={short(total, "bytes")} />
          </b>
          <span class="t3">{percent(1, 0)}</span>
        </li>
      </ul>
    </Panel>
  );
}

const SIZES = [0, 2 ** 20, 4 * 2 ** 20, 16 * 2 ** 20, 64 * 2 ** 20];

function SizeMenu({ least }: { least: number }) {
  const word = (n: number) => (n ? `≥ ${short(n, "bytes").replace(/\.0+/, "")}` : t("any_size"));
  return (
    <Menu
      class="small-menu"
      right
      name={t("col_bytes")}
      label={
        <>
          {t("col_bytes")} <b>{word(least)}</b>
        </>
      }
      items={SIZES.map((n) => ({ id: String(n), label: word(n), checked: n === least }))}
      onChoose={(id) => go({ params: { least: id === "0" ? undefined : id } })}
    />
  );
}

function Allocations({ device }: { device: string }) {
  const sort = param("sort") || "bytes:desc";
  const least = Number(param("least") || 0);
  const words = [least ? `bytes>=${least}` : "", param("q")].filter(Boolean).join(" ");
  const s = source(
    "memory",
    "events",
    { ...rangeQuery(), sort, filter: onDevice(device, words) },
    (r, i) => `${r.cell("address")} ${i}`,
    "memory.events",
  );
  const end = s.answer?.trace.duration_ns ?? 0;
  const scale: Scale = { ...scaleOf("ns", end), digits: 3 };
  return (
    <Panel
      span="w7"
      name={t("allocations")}
      title={t("allocations")}
      words={t(sort === "bytes:desc" ? "allocations_words" : "allocations_n", { n: thousands(s.total) })}
      define={defined(s.answer, "events", "kind")}
      csv={s.csv}
      old={s.old}
      error={s.error}
      busy={!s.table}
      height={360}
      controls={
        <>
          <Filter label={t("filter")} />
          <SizeMenu least={least} />
        </>
      }
    >
      <Table
        name={t("allocations")}
        total={s.total}
        row={(i) => named(s.row(i))}
        height={392}
        sort={sort}
        onSort={(next) => go({ params: { sort: next } })}
        onHover={(r) => {
          hovered.value = r && !r.missing ? lifeOf(r, end) : undefined;
        }}
        onRow={(r) => {
          const born = r.cell("allocated_at");
          if (typeof born === "number") go({ params: { at: String(born) } });
        }}
        empty={t("no_rows")}
        columns={columns(s, "memory.events", [
          ["op", { title: t("operator"), text: true, mono: true }],
          ["bytes", { bar: "var(--c1)", width: 140 }],
          ["allocated_at", { width: 110, scale }],
          ["released_at", { width: 110, scale }],
          ["duration", { width: 100, title: t("life"), scale }],
        ])}
      />
    </Panel>
  );
}

/** From birth to death; what was not seen lies at the ends. */
function lifeOf(r: TableRow, end: number): { from: number; to: number } {
  const [born, gone] = [r.cell("allocated_at"), r.cell("released_at")];
  return { from: typeof born === "number" ? born : 0, to: typeof gone === "number" ? gone : end };
}

const named = (r: TableRow): TableRow => (r.cell("op") ? r : { ...r, label: <span class="t3">{t(nobody(r))}</span> });

/** Why no operator is named: it ran outside, before the recording began, or the producer names none. */
const nobody = (r: TableRow) =>
  r.cell("op") === "" ? "outside_operators" : r.cell("allocated_at") === null ? "before_recording" : "not_recorded";

function ByOperator({ device }: { device: string }) {
  const sort = param("osort") || "self_allocation_bytes:desc";
  const s = source(
    "memory",
    "statistics",
    { ...rangeQuery(), sort, filter: onDevice(device) },
    (r, i) => `${r.cell("op")} ${i}`,
    "memory.statistics",
  );
  return (
    <Panel
      span="w5"
      name={t("by_operator")}
      title={t("by_operator")}
      words={param("range") ? t("chosen_range") : t("whole_window")}
      define={defined(s.answer, "statistics", "self_allocation_bytes")}
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
        empty={t("not_recorded")}
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
