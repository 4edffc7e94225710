// The address map of the memory view: time × address of every block, with zoom, a legend, and what is known of the
// block under the pointer. Without operators (MegEngine's memory flow) colors stand for sizes.
import { useMemo, useState } from "preact/hooks";
import { largestFirst } from "../../base/aggregate.ts";
import { short } from "../../base/format.ts";
import { AddressMap, type Block, type Zoom } from "../../draw/charts/address-map.tsx";
import { nth } from "../../draw/patterns.tsx";
import { ask } from "../../model/answers.ts";
import { showPlace } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { go, param, traceQuery } from "../../model/route.ts";
import { tape, windowRange } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, type Row, rowsOf } from "../../model/trace.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { colorPlaces, holdersAtPeak } from "./memory-colors.ts";
import { onDevice, rangeQuery } from "./memory-query.ts";

const MOST = 20_000; // blocks drawn: the largest
const NAMED = 12;
const SIZES = [2 ** 28, 2 ** 24, 2 ** 20, 2 ** 16, 2 ** 12, 2 ** 8, 0];

/** The range of the curve, else the window, in time. */
function rangeOf(window: { from: number; to: number }): { from: number; to: number } {
  const [from, to] = param("range").split("..");
  return from && to ? { from: Number(from), to: Number(to) } : window;
}

function addressRange(): readonly [number, number] | undefined {
  const [low, high] = param("addresses").split("..");
  return low && high ? [Number(low), Number(high)] : undefined;
}

/** Zooms to a rectangle: the time is the range of the whole view, the addresses are the map's own. */
export function zoomTo(zoom: Zoom | undefined): void {
  go({
    params: {
      range: zoom && `${Math.round(zoom.from)}..${Math.round(zoom.to)}`,
      addresses: zoom && `${Math.floor(zoom.low)}..${Math.ceil(zoom.high)}`,
    },
  });
}

/** The call stack of the allocation under the pointer, once it is known. */
function BlockStack({ slice }: { slice: number | null }) {
  if (slice === null) return null;
  const asked = ask<{ stack?: { name: string; file?: string; line?: number }[] }>("memory-stack", "slice", {
    ...traceQuery.value,
    id: slice,
  });
  const frames = asked.old ? [] : (asked.value?.stack ?? []);
  return (
    <>
      {frames.slice(0, 5).map((f, i) => (
        <code key={i}>{f.file ? `${f.name} ${f.file}:${f.line ?? 0}` : f.name}</code>
      ))}
    </>
  );
}

type Event = Row<"memory", "events">;

/** Shows the call that allocated a block; where none is known, its life. */
function showBlock(r: Event | undefined): void {
  const life = { slice: r?.slice, from: r?.allocated_at, to: r?.released_at ?? r?.allocated_at };
  if (r) showPlace(life, `${r.op || t("address_map")} ${short(r.bytes, "bytes")}`);
}

interface Coloring {
  names: readonly string[]; // of the legend, in the order of colors
  bytes: readonly number[];
  places: readonly number[]; // of their colors
  of: (row: Event) => number; // the place of its color; -1: others
}

/** Colors by operator, the one with the most bytes first; by size where no operator is known. */
function coloring(rows: readonly Event[], first: readonly string[]): Coloring {
  const bySize = rows.every((r) => !r.op);
  const key = (r: Event) => (bySize ? String(SIZES.find((s) => (r.bytes ?? 0) >= s)) : (r.op ?? ""));
  const sums = new Map<string, number>();
  for (const r of rows) sums.set(key(r), (sums.get(key(r)) ?? 0) + (r.bytes ?? 0));
  const order = [...sums].sort(largestFirst(([name, bytes]) => (bySize ? Number(name) : bytes))).slice(0, NAMED);
  const named = order.map(([name]) => name);
  const all = colorPlaces(bySize ? [] : first, named);
  const place = new Map(named.map((name) => [name, all.get(name) ?? 0]));
  const word = (k: string) =>
    bySize
      ? k === "0"
        ? `< ${short(256, "bytes")}`
        : `≥ ${short(Number(k), "bytes").replace(/\.0+/, "")}`
      : k || t("outside_operators");
  return {
    names: named.map(word),
    bytes: order.map(([, b]) => b),
    places: named.map((name) => place.get(name) ?? 0),
    of: (r) => place.get(key(r)) ?? -1,
  };
}

/** Without zeros after the point. */
const brief = (text: string): string => text.replace(/(\.\d*?)0+(?=\u2009)/, "$1").replace(/\.(?=\u2009)/, "");

export function MemoryMap({ device }: { device: string }) {
  const [at, setAt] = useState<{ block: number; x: number; y: number } | undefined>(undefined);
  const [only, setOnly] = useState<number | undefined>(undefined);
  const filter = onDevice(device, "kind:allocation");
  const query = { ...rangeQuery(), table: "events", limit: MOST, sort: "bytes:desc", filter };
  const table = analysis("memory", query, "memory-map").value;
  const end = table?.trace.duration_ns ?? 1;
  const [low, high] = addressRange() ?? [0, Number.POSITIVE_INFINITY];
  const rows = useMemo(
    () =>
      rowsOf(table?.tables.events).filter((r) => {
        if (r.device !== device || r.kind !== "allocation" || r.address === null) return false;
        return Number(r.address) < high && Number(r.address) + (r.bytes ?? 0) > low;
      }),
    [table, device, low, high],
  );
  const first = holdersAtPeak(device);
  const colors = useMemo(() => coloring(rows, first), [rows, first.join()]);
  const blocks = useMemo(
    () =>
      // Addresses exceed 2^53 only in their low bits' worth of nothing: pictures need no more.
      rows.map(
        (r): Block => ({
          from: r.allocated_at ?? 0,
          to: r.released_at ?? end,
          address: Number(r.address),
          bytes: r.bytes ?? 0,
          color: colors.of(r),
        }),
      ),
    [rows, end, colors],
  );
  const hit = at && rows[at.block];
  const strip = tape();
  const { from, to } = rangeOf(strip ? windowRange(strip) : { from: 0, to: end });
  const total = table?.tables.events?.total_rows ?? 0;
  return (
    <div class="map-box">
      <AddressMap
        blocks={blocks}
        from={from}
        to={to}
        height={264}
        version={themeVersion.value}
        label={t("address_map")}
        only={only}
        time={(ns) => brief(short(ns, "ns"))}
        size={(b) => brief(short(b, "bytes"))}
        onBlock={(block, x, y) => setAt(block === undefined ? undefined : { block, x, y })}
        onZoom={zoomTo}
        onShow={(i) => showBlock(rows[i])}
      />
      <ul class="map-legend">
        {colors.names.map((name, i) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={only === colors.places[i]}
              onClick={() => setOnly(only === colors.places[i] ? undefined : colors.places[i])}
              title={short(colors.bytes[i] ?? 0, "bytes")}
            >
              <Swatch color={nth(colors.places[i] ?? 0)} /> <code>{name}</code>
            </button>
          </li>
        ))}
        {total > MOST ? <li class="t3">{t("map_largest", { n: MOST })}</li> : null}
      </ul>
      {hit ? (
        <div class="tip map-card" style={{ left: `${Math.min(at.x + 14, 480)}px`, top: `${Math.min(at.y + 10, 180)}px` }}>
          <b>{hit.op || t(hit.op === null ? "not_recorded" : "outside_operators")}</b>
          <p>
            {short(hit.bytes, "bytes")} · 0x{BigInt(String(hit.address)).toString(16)}
          </p>
          <p>
            {short(hit.allocated_at, "ns")} – {hit.released_at === null ? "…" : short(hit.released_at, "ns")} · {t("map_alive")}{" "}
            {short((hit.released_at ?? end) - (hit.allocated_at ?? 0), "ns")}
          </p>
          <BlockStack slice={hit.slice} />
        </div>
      ) : null}
    </div>
  );
}
