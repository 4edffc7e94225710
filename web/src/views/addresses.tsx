// The address map of the memory view.
import { useMemo, useState } from "preact/hooks";
import { short } from "../base/format.ts";
import { AddressMap, type Block } from "../draw/addresses.tsx";
import { ask } from "../model/data.ts";
import { param, traceQuery } from "../model/place.ts";
import { tape, windowRange } from "../model/steps.ts";
import { themeVersion } from "../model/theme.ts";
import { analysis, num } from "../model/trace.ts";
import { t } from "../model/words.ts";
import { onDevice, rangeQuery } from "./memory.tsx";

const SLICE = 8; // column of the table events

/** The range of the curve, else the window, in time. */
function rangeOf(window: { from: number; to: number }): { from: number; to: number } {
  const [from, to] = param("range").split("..");
  return from && to ? { from: Number(from), to: Number(to) } : window;
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
    <p class="map-line t3">
      {frames.slice(0, 5).map((f, i) => (
        <code key={i}>{f.file ? `${f.name} ${f.file}:${f.line ?? 0}` : f.name}</code>
      ))}
    </p>
  );
}

export function MemoryMap({ device }: { device: string }) {
  const [at, setAt] = useState<number | undefined>(undefined);
  const query = {
    ...rangeQuery(),
    table: "events",
    limit: 20000,
    sort: "bytes:desc",
    filter: onDevice(device, "kind:allocation"),
  };
  const asked = analysis("memory", query, "memory-map");
  const answer = asked.value;
  const end = answer?.trace.duration_ns ?? 1;
  const rows = useMemo(
    () => (answer?.tables.events?.rows ?? []).filter((r) => r[1] === device && r[2] === "allocation" && r[3] !== null),
    [answer, device],
  );
  const blocks = useMemo(() => {
    const sums = new Map<string, number>();
    for (const r of rows) sums.set(String(r[0]), (sums.get(String(r[0])) ?? 0) + num(r[4]));
    const order = [...sums].sort((a, b) => b[1] - a[1]).map(([name]) => name);
    // Addresses exceed 2^53 only in their low bits' worth of nothing: pictures need no more.
    return rows.map((r): Block => {
      const colour = order.indexOf(String(r[0]));
      return {
        from: num(r[5]),
        to: r[6] === null ? end : num(r[6]),
        address: Number(r[3]),
        bytes: num(r[4]),
        colour: colour < 12 ? colour : -1,
      };
    });
  }, [rows, end]);
  const hit = at === undefined ? undefined : rows[at];
  const strip = tape();
  const { from, to } = rangeOf(strip ? windowRange(strip) : { from: 0, to: end });
  return (
    <>
      <AddressMap
        blocks={blocks}
        from={from}
        to={to}
        height={232}
        version={themeVersion.value}
        label={t("address_map")}
        onBlock={setAt}
      />
      <p class="map-line t3">
        {hit
          ? `${hit[0] ?? t("outside_operators")} · ${short(num(hit[4]), "bytes")} · ${short(num(hit[5]), "ns")} – ${hit[6] === null ? "…" : short(num(hit[6]), "ns")} · 0x${BigInt(String(hit[3])).toString(16)}`
          : `${short(from, "ns")} – ${short(to, "ns")} · ${t("map_hint")}`}
      </p>
      {hit ? <BlockStack slice={hit[SLICE]} /> : null}
    </>
  );
}
