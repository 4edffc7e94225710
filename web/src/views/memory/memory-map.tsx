// The address map of the memory view: time × address of every block, with zoom, a legend, and what is known of the
// block under the pointer. Without operators (MegEngine's memory flow) colours stand for sizes.
import { useMemo, useState } from "preact/hooks";
import type { Cell } from "../../api/types.ts";
import { short } from "../../base/format.ts";
import { AddressMap, type Block, type Zoom } from "../../draw/charts/address-map.tsx";
import { nth } from "../../draw/patterns.tsx";
import { ask } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, param, traceQuery } from "../../model/route.ts";
import { tape, windowRange } from "../../model/steps.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, num } from "../../model/trace.ts";
import { Swatch } from "../../widgets/controls.tsx";
import { onDevice, rangeQuery } from "./memory-query.ts";

const SLICE = 8; // column of the table events
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
function BlockStack({ slice }: { slice: unknown }) {
  if (typeof slice !== "number") return null;
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

interface Colouring {
  names: readonly string[]; // of the legend, in the order of colours
  bytes: readonly number[];
  of: (row: readonly Cell[]) => number; // -1: others
}

/** Colours by operator, the one with the most bytes first; by size where no operator is known. */
function colouring(rows: readonly (readonly Cell[])[]): Colouring {
  const bySize = rows.every((r) => !r[0]);
  const key = (r: readonly Cell[]) => (bySize ? String(SIZES.find((s) => num(r[4]) >= s)) : String(r[0] ?? ""));
  const sums = new Map<string, number>();
  for (const r of rows) sums.set(key(r), (sums.get(key(r)) ?? 0) + num(r[4]));
  const order = [...sums].sort((a, b) => (bySize ? Number(b[0]) - Number(a[0]) : b[1] - a[1])).slice(0, NAMED);
  const place = new Map(order.map(([name], i) => [name, i]));
  const word = (k: string) =>
    bySize
      ? k === "0"
        ? `< ${short(256, "bytes")}`
        : `≥ ${short(Number(k), "bytes").replace(/\.0+/, "")}`
      : k || t("outside_operators");
  return { names: order.map(([k]) => word(k)), bytes: order.map(([, b]) => b), of: (r) => place.get(key(r)) ?? -1 };
}

/** Without zeros behind the point. */
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
      (table?.tables.events?.rows ?? []).filter((r) => {
        if (r[1] !== device || r[2] !== "allocation" || r[3] === null) return false;
        return Number(r[3]) < high && Number(r[3]) + num(r[4]) > low;
      }),
    [table, device, low, high],
  );
  const colours = useMemo(() => colouring(rows), [rows]);
  const blocks = useMemo(
    () =>
      // Addresses exceed 2^53 only in their low bits' worth of nothing: pictures need no more.
      rows.map(
        (r): Block => ({
          from: num(r[5]),
          to: r[6] === null ? end : num(r[6]),
          address: Number(r[3]),
          bytes: num(r[4]),
          colour: colours.of(r),
        }),
      ),
    [rows, end, colours],
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
      />
      <ul class="map-legend">
        {colours.names.map((name, i) => (
          <li key={name}>
            <button
              type="button"
              aria-pressed={only === i}
              onClick={() => setOnly(only === i ? undefined : i)}
              title={short(colours.bytes[i] ?? 0, "bytes")}
            >
              <Swatch colour={nth(i)} /> <code>{name}</code>
            </button>
          </li>
        ))}
        {total > MOST ? <li class="t3">{t("map_largest", { n: MOST })}</li> : null}
      </ul>
      {hit ? (
        <div class="tip map-card" style={{ left: `${Math.min(at.x + 14, 480)}px`, top: `${Math.min(at.y + 10, 180)}px` }}>
          <b>{hit[0] || t(hit[0] === null ? "not_recorded" : "outside_operators")}</b>
          <p>
            {short(num(hit[4]), "bytes")} · 0x{BigInt(String(hit[3])).toString(16)}
          </p>
          <p>
            {short(num(hit[5]), "ns")} – {hit[6] === null ? "…" : short(num(hit[6]), "ns")} · {t("map_alive")}{" "}
            {short((hit[6] === null ? end : num(hit[6])) - num(hit[5]), "ns")}
          </p>
          <BlockStack slice={hit[SLICE]} />
        </div>
      ) : null}
    </div>
  );
}
