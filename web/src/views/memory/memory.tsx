// Memory: does it fit, does it grow, what holds it.
import { signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { isKnown, shareOf } from "../../base/aggregate.ts";
import { type Scale, scaleOf, short, thousands } from "../../base/format.ts";
import { Curve, type CurveData } from "../../draw/charts/curve.tsx";
import { showHolder } from "../../model/costliest.ts";
import { showSlice } from "../../model/evidence.ts";
import { language, t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { tape } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, analysis, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { LongName } from "../../widgets/long-name.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Panel } from "../../widgets/panel.tsx";
import type { TableRow } from "../../widgets/table-types.ts";
import { Filter } from "../shared/filter.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, source } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { Alive, showAt } from "./alive.tsx";
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
  const held = asked.value?.verdict?.values.op;
  const reserved = short(peak?.reserved, "bytes");
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("memory")}
        show={
          typeof held === "string" ? () => showHolder(held, { ...rangeQuery(), filter: onDevice(device), by: "op" }) : undefined
        }
        facts={[
          peak ? t("fact_peak", { v: short(peak.allocated, "bytes"), d: device }) : undefined,
          isKnown(peak?.unused)
            ? t("fact_reserved", { v: reserved, p: short(shareOf(peak?.unused, peak?.reserved), "share") })
            : isKnown(peak?.reserved) && peak.reserved >= (peak.allocated ?? 0) // less: it was taken before the recording
              ? t("fact_reserved_only", { v: reserved })
              : undefined,
          peak?.capacity ? t("fact_capacity", { v: short(peak?.capacity, "bytes") }) : undefined,
        ]}
      />
      <div class="grid">
        {device === "" && !asked.value ? (
          <Awaited asked={asked} />
        ) : (
          <>
            <MemoryCurve peaks={peaks} device={device} />
            <Alive device={device} />
            <Allocations device={device} />
            <ByOperator device={device} />
          </>
        )}
      </div>
    </>
  );
}

/** The panels before the device is known: asking without it would ask everything twice. */
function Awaited({ asked }: { asked: AskedFor<"memory"> }) {
  return (
    <>
      <Panel span="w8" name={t("memory_over_time")} asked={asked} height={256} />
      <Panel span="w4" name={t("alive")} asked={asked} height={200} />
      <Panel span="w7" name={t("allocations")} asked={asked} height={360} />
      <Panel span="w5" name={t("by_operator")} asked={asked} height={360} />
    </>
  );
}

type Peak = Row<"memory", "peaks">;

function useCurve(device: string, peak: Peak | undefined) {
  const query = { ...rangeQuery(), table: "curve", limit: 0, points: POINTS, filter: onDevice(device) };
  const asked = analysis("memory", query, "memory-curve");
  const table = asked.value?.tables.curve;
  const data = useMemo(() => {
    const rows = rowsOf(table).filter((r) => r.device === device);
    const column = (name: "time" | "allocated" | "reserved") => Float64Array.from(rows, (r) => r[name] ?? 0);
    const reserved = rows.some((r) => (r.reserved ?? 0) > 0) ? column("reserved") : undefined;
    return { time: column("time"), allocated: column("allocated"), reserved };
  }, [table, device]);
  const steps = tape();
  const borders = steps ? Array.from(steps.numbers, (n, i) => ({ number: n, start: steps.starts[i] as number })) : [];
  const [highest, capacity] = [peak?.allocated ?? 0, peak?.capacity ?? 0];
  const at = param("at");
  const most = Math.max(highest, data.reserved?.at(-1) ?? 0);
  const curve: CurveData = {
    ...data,
    capacity: capacity && capacity < highest * 2 ? capacity : undefined,
    steps: borders.length > 60 ? [] : borders,
    peak: peak
      ? {
          time: peak.time ?? 0,
          value: highest,
          label: `${t("peak")} ${short(peak.allocated, "bytes")} · ${short(peak.time, "ns")}`,
        }
      : undefined,
    mark: hovered.value,
    at: at ? { time: Number(at), label: short(Number(at), "ns") } : undefined,
  };
  return { asked, curve, scale: scaleOf("bytes", most) };
}

function MemoryCurve({ peaks, device }: { peaks: readonly Peak[]; device: string }) {
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
      words={form === "map" ? t("map_zoom_words") : `${scale.unit} · ${t("memory_words")}`}
      define={defined(asked.value, "curve", "allocated")}
      csv={csvUrl("memory", "curve", { ...rangeQuery(), filter: onDevice(device) })}
      asked={asked}
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
            value={device}
            items={peaks.map((p) => ({
              id: String(p.device),
              label: String(p.device),
              checked: p.device === device,
              detail: short(p.allocated, "bytes"),
            }))}
            onChoose={(id) => go({ params: { device: id, at: undefined } })}
          />
          <Segmented label={t("form")} chosen={form} onChoose={setForm} choices={{ curve: t("curve"), map: t("address_map") }} />
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
            onShow={(time) => showAt(Math.max(0, Math.round(time)), device)}
            onTime={(time) => go({ params: { at: String(Math.max(0, Math.round(time))) } })}
          />
        )}
      </div>
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
      value={word(least)}
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
    <TablePanel
      span="w7"
      name={t("allocations")}
      words={t(sort === "bytes:desc" ? "allocations_words" : "allocations_n", { n: thousands(s.total) })}
      define={defined(s.answer, "events", "kind")}
      height={360}
      controls={
        <>
          <Filter label={t("filter")} />
          <SizeMenu least={least} />
        </>
      }
      rows={s}
      row={(i) => named(s.row(i))}
      table={{
        height: 392,
        sort,
        onSort: (next) => go({ params: { sort: next } }),
        onHover: (r) => {
          hovered.value = r && !r.missing ? lifeOf(r, end) : undefined;
        },
        onRow: (r) => {
          const born = r.cell("allocated_at");
          if (isKnown(born)) go({ params: { at: String(born) } });
        },
        onTimeline: (r) => showSlice(Number(r.cell("slice")), `${r.cell("op") ?? ""} ${short(Number(r.cell("bytes")), "bytes")}`),
        timelineLabel: t("show_allocation"),
        empty: t("no_rows"),
      }}
      list={[
        ["op", { title: t("operator"), text: true, mono: true }],
        ["bytes", { bar: "var(--c1)", width: 140 }],
        ["allocated_at", { width: 110, scale }],
        ["released_at", { width: 110, scale }],
        ["duration", { width: 100, title: t("life"), scale }],
      ]}
    />
  );
}

/** From birth to death; what was not seen is at the ends. */
function lifeOf(r: TableRow, end: number): { from: number; to: number } {
  const [born, gone] = [r.cell("allocated_at"), r.cell("released_at")];
  return { from: isKnown(born) ? born : 0, to: isKnown(gone) ? gone : end };
}

/** A segment is what the allocator takes from the device: blocks of operators lie in it, so it is none of them. */
function named(r: TableRow): TableRow {
  const op = r.cell("op");
  if (!op) return { ...r, label: <span class="t3">{t(nobody(r))}</span> };
  if (!String(r.cell("kind")).startsWith("segment")) return r;
  return {
    ...r,
    label: (
      <>
        <LongName text={String(op)} /> <span class="t3">{t("memory_segment")}</span>
      </>
    ),
  };
}

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
    <TablePanel
      span="w5"
      name={t("by_operator")}
      words={param("range") ? t("chosen_range") : t("whole_window")}
      define={defined(s.answer, "statistics", "self_allocation_bytes")}
      height={360}
      rows={s}
      table={{
        height: 392,
        sort,
        onSort: (next) => go({ params: { osort: next } }),
        onTimeline: (r) => showSlice(Number(r.cell("slice")), String(r.cell("op"))),
        timelineLabel: t("show_costliest"),
        empty: t("not_recorded"),
      }}
      list={[
        ["op", { title: t("operator"), text: true, mono: true }],
        ["self_allocations", { width: 90 }],
        ["self_allocation_bytes", { width: 120 }],
        ["self_size_increase", { width: 100 }],
      ]}
    />
  );
}
