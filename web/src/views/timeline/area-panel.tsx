// What an area holds: by name, per track, counters, idle time by cause, and its flame graph.
import { useState } from "preact/hooks";
import type { Table } from "../../api/types.ts";
import { isKnown, largest, sum } from "../../base/aggregate.ts";
import { ABSENT, exact, inScale, scaleOf, short, thousands } from "../../base/format.ts";
import { fitRange } from "../../draw/timeline/time-scale.ts";
import { laneIn } from "../../draw/timeline/together.ts";
import type { Lane } from "../../draw/timeline/tracks.ts";
import { idleWord, t } from "../../model/language.ts";
import { act } from "../../model/timeline/actions.ts";
import { AREA_KINDS, type AreaKind, areaCsv, areaInView, askArea, partsOf } from "../../model/timeline/area.ts";
import { counterValue, laneName } from "../../model/timeline/lane-names.ts";
import { search } from "../../model/timeline/search.ts";
import { type Area, area, show, stage } from "../../model/timeline/state.ts";
import { memberAt } from "../../model/timeline/together.ts";
import type { AreaTables } from "../../model/timeline/types.ts";
import { rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { FlameGraph } from "../shared/flame.tsx";
import { number, SmallTable, words } from "./small-table.tsx";

type TableOf<T extends keyof AreaTables> = Table<AreaTables[T]> | undefined;
type Part = "area" | "kernels" | "tracks" | "counters" | "idle" | "flame";
const PARTS: readonly Part[] = ["area", "kernels", "tracks", "counters", "idle", "flame"];

export function AreaPanel() {
  const own = area.value;
  const a = own ?? areaInView("all");
  const [part, setPart] = useState<Part>("area");
  const [kind, setKind] = useState<AreaKind>("work");
  const [sort, setSort] = useState("self:desc");
  if (!a) return <p class="tl-none">{t("tl_area_none")}</p>;
  const byName = part === "area" || part === "kernels";
  const table = byName || part === "flame" ? "area" : part;
  const question = { table, kind: part === "kernels" ? "kernel" : kind, sort } as const;
  const asked = askArea(a, question);
  const csv = byName ? areaCsv(a, question) : undefined;
  const answer = asked.value;
  return (
    <div class="tl-area">
      <div class="tl-area-head">
        <Segmented
          label={t("tl_tab_area")}
          choices={PARTS.map((id) => ({ id, label: t(`tl_area_${id}`) }))}
          chosen={part}
          onChoose={(id) => setPart(id as Part)}
        />
        {part === "area" ? <KindMenu chosen={kind} onChoose={setKind} /> : null}
        <span>
          {own ? null : `${t("tl_area_in_view")} · `}
          <b>{short(a.to - a.from, "ns")}</b> · {t("tl_tracks_count", { n: a.lanes.length })}
        </span>
        <span class="grow" />
        {csv ? (
          <a class="tl-bare" href={csv} download>
            CSV
          </a>
        ) : null}
        <button type="button" class="tl-bare" onClick={() => show(fitRange(a.from, a.to, stage.whole, 0.05))}>
          {t("tl_key_fit")} <kbd>F</kbd>
        </button>
        <button type="button" class="tl-bare" onClick={() => act("use")}>
          {t("tl_area_window")} <kbd>Enter</kbd>
        </button>
      </div>
      {asked.error ? <p class="tl-none">{asked.error.msg}</p> : null}
      {byName ? <ByName table={answer?.tables.area} sort={sort} onSort={setSort} /> : null}
      {part === "tracks" ? <ByTrack table={answer?.tables.tracks} /> : null}
      {part === "counters" ? <Counters table={answer?.tables.counters} /> : null}
      {part === "idle" ? <Idle table={answer?.tables.idle} /> : null}
      {part === "flame" ? <AreaFlame area={a} /> : null}
    </div>
  );
}

/** Which events are listed; Python frames and ranges around the work only when asked for. */
function KindMenu({ chosen, onChoose }: { chosen: AreaKind; onChoose: (kind: AreaKind) => void }) {
  return (
    <Menu
      class="small-menu"
      name={t("tl_area_kind")}
      label={t(`tl_area_kind_${chosen}`)}
      items={AREA_KINDS.map((id) => ({ id, label: t(`tl_area_kind_${id}`), checked: id === chosen }))}
      onChoose={(id) => onChoose(id as AreaKind)}
    />
  );
}

const TIMES = ["total", "self", "mean", "min", "max"] as const;

function ByName({ table, sort, onSort }: { table: TableOf<"area">; sort: string; onSort: (s: string) => void }) {
  if (!table) return null;
  const rows = rowsOf(table);
  if (rows.length === 0) return <p class="tl-none">{t("tl_area_no_names")}</p>;
  const all = sum(rows, (r) => r.self);
  const scales = TIMES.map((name) =>
    scaleOf(
      "ns",
      largest(rows, (r) => r[name], 0),
    ),
  );
  const [key, way] = sort.split(":");
  const head = (name: string, label: string, unit = "") => (
    <th
      key={name}
      class={name === "name" ? "" : "num"}
      aria-sort={key === name ? (way === "desc" ? "descending" : "ascending") : "none"}
    >
      <button type="button" class="tl-head" onClick={() => onSort(`${name}:${key === name && way === "desc" ? "asc" : "desc"}`)}>
        {label} {unit ? <span class="t3">{unit}</span> : null} {key === name ? (way === "desc" ? "↓" : "↑") : ""}
      </button>
    </th>
  );
  return (
    <table class="tl-table">
      <thead>
        <tr>
          {head("name", t("tl_name"))}
          {head("count", t("tl_count"))}
          {TIMES.map((name, i) => head(name, t(`tl_${name}`), scales[i]?.unit ?? ""))}
          <th class="num" title={t("tl_share_listed")}>
            {t("tl_share")} <span class="t3">%</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={`${r.name} ${r.kind}`}>
            <td class="mono">
              <button type="button" class="tl-link" title={r.name} onClick={() => search(`"${r.name}"`)}>
                {r.name}
              </button>
            </td>
            <td class="num">{thousands(r.count)}</td>
            {TIMES.map((name, i) => (
              <td key={name} class="num" title={exact(r[name], "ns")}>
                {inScale(r[name], scales[i] as ReturnType<typeof scaleOf>)}
              </td>
            ))}
            <td class="num">{isKnown(r.self) && all > 0 ? ((r.self / all) * 100).toFixed(1) : ABSENT}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const laneOf = (id: number) => stage.tracks?.lanes.find((l) => l.id === id);

/** A track by the name the reader knows it by; of several ranks with its rank. */
const trackName = (r: { lane: number; name: string }): string => {
  const lane = laneOf(r.lane);
  const rank = memberAt(r.lane)?.name;
  return [rank, lane ? laneName(lane) : r.name].filter(Boolean).join(" · ");
};

function ByTrack({ table }: { table: TableOf<"tracks"> }) {
  if (!table) return null;
  return (
    <SmallTable
      columns={[words(t("tl_track")), number(t("tl_count")), number(t("tl_busy")), number(t("tl_share"))]}
      rows={rowsOf(table).map((r) => ({
        key: r.lane,
        cells: [trackName(r), thousands(r.count), short(r.busy, "ns"), short(r.share, "share")],
      }))}
    />
  );
}

const VALUES = ["first", "last", "min", "max", "mean"] as const;

function Counters({ table }: { table: TableOf<"counters"> }) {
  if (!table) return null;
  if (table.rows.length === 0) return <p class="tl-none">{t("tl_counters_none")}</p>;
  const value = (lane: Lane | undefined, v: number | null) => (!isKnown(v) ? ABSENT : lane ? counterValue(lane, v) : String(v));
  return (
    <SmallTable
      columns={[words(t("tl_track")), ...VALUES.map((v) => number(t(`tl_${v}`)))]}
      rows={rowsOf(table).map((r) => ({
        key: r.lane,
        cells: [trackName(r), ...VALUES.map((v) => value(laneOf(r.lane), r[v]))],
      }))}
    />
  );
}

function Idle({ table }: { table: TableOf<"idle"> }) {
  if (!table) return null;
  if (table.rows.length === 0) return <p class="tl-none">{t("tl_idle_none")}</p>;
  const help = table.columns.find((c) => c.name === "cause")?.help ?? "";
  return (
    <SmallTable
      columns={[{ title: t("tl_cause"), help }, number(t("tl_total")), number(t("tl_share"))]}
      rows={rowsOf(table).map((r) => ({
        key: r.cause,
        cells: [idleWord(r.cause), short(r.time, "ns"), short(r.share, "share")],
      }))}
    />
  );
}

const FLAME_LANES: readonly string[] = ["work", "python", "stream", "ranges"];

function AreaFlame({ area: a }: { area: Area }) {
  const part = partsOf(a)[0]; // calls of different ranks are not called by each other
  if (!part) return null;
  const kindOf = (id: number) => laneOf(part.of ? laneIn(part.of.place, id) : id)?.kind ?? "";
  const lanes = part.lanes.filter((id) => FLAME_LANES.includes(kindOf(id)));
  const work = lanes.filter((id) => kindOf(id) !== "python");
  return (
    <>
      {part.of ? <p class="tl-none">{t("tl_area_flame_of", { rank: part.of.name })}</p> : null}
      <FlameGraph from={part.from} to={part.to} lanes={work.length ? work : lanes} worker={part.of?.worker} />
    </>
  );
}
