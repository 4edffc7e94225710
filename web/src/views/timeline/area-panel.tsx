// What an area holds: by name, per track, counters, idle time by cause, and its flame graph.
import { useState } from "preact/hooks";
import type { Answer, Cell, Table } from "../../api/types.ts";
import { exact, inScale, scaleOf, short, thousands } from "../../base/format.ts";
import { isCounter } from "../../draw/timeline/lanes.ts";
import { fitRange } from "../../draw/timeline/time-scale.ts";
import { ask } from "../../model/answers.ts";
import { language, t } from "../../model/language.ts";
import { traceQuery } from "../../model/route.ts";
import { act } from "../../model/timeline/actions.ts";
import { counterValue, laneName } from "../../model/timeline/lane-names.ts";
import { laneList } from "../../model/timeline/picture-store.ts";
import { search } from "../../model/timeline/search.ts";
import { type Area, area, show, stage } from "../../model/timeline/state.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { FlameGraph } from "../shared/flame.tsx";

type Part = "area" | "tracks" | "counters" | "idle" | "flame";
const PARTS: readonly Part[] = ["area", "tracks", "counters", "idle", "flame"];

export function AreaPanel() {
  const a = area.value;
  const [part, setPart] = useState<Part>("area");
  const [sort, setSort] = useState("total:desc");
  if (!a) return <p class="tl-none">{t("tl_area_none")}</p>;
  const query = {
    ...traceQuery.value,
    from: Math.round(a.from),
    to: Math.round(a.to),
    lanes: laneList(a.lanes.map((id) => ({ id, coarse: false }))),
    sort: part === "area" ? sort : undefined,
    table: part === "area" || part === "idle" ? part : undefined,
    limit: 500,
    lang: language.value,
  };
  const asked = ask<Answer>("tl_area", "area", part === "area" ? query : { ...query, limit: undefined });
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
        <span>
          <b>{short(a.to - a.from, "ns")}</b> · {t("tl_tracks_count", { n: a.lanes.length })}
        </span>
        <span class="grow" />
        <button type="button" class="tl-bare" onClick={() => show(fitRange(a.from, a.to, stage.whole, 0.05))}>
          {t("tl_key_fit")} <kbd>F</kbd>
        </button>
        <button type="button" class="tl-bare" onClick={() => act("use")}>
          {t("tl_area_window")} <kbd>Enter</kbd>
        </button>
      </div>
      {asked.error ? <p class="tl-none">{asked.error.msg}</p> : null}
      {part === "area" ? <ByName table={answer?.tables.area} sort={sort} onSort={setSort} /> : null}
      {part === "tracks" ? <ByTrack table={answer?.tables.tracks} /> : null}
      {part === "counters" ? <Counters table={answer?.tables.counters} /> : null}
      {part === "idle" ? <Idle table={answer?.tables.idle} /> : null}
      {part === "flame" ? <AreaFlame area={a} /> : null}
    </div>
  );
}

const num = (c: Cell | undefined) => (typeof c === "number" ? c : 0);

const TIMES = ["total", "self", "mean", "min", "max"] as const;

function ByName({ table, sort, onSort }: { table: Table | undefined; sort: string; onSort: (s: string) => void }) {
  if (!table) return null;
  const at = (name: string) => table.columns.findIndex((c) => c.name === name);
  const scales = TIMES.map((name) => scaleOf("ns", Math.max(0, ...table.rows.map((r) => num(r[at(name)])))));
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
          {head("share", t("tl_share"), "%")}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((r) => (
          <tr key={`${r[at("name")]} ${r[at("kind")]}`}>
            <td class="mono">
              <button type="button" class="tl-link" title={String(r[at("name")])} onClick={() => search(`"${r[at("name")]}"`)}>
                {String(r[at("name")])}
              </button>
            </td>
            <td class="num">{thousands(num(r[at("count")]))}</td>
            {TIMES.map((name, i) => (
              <td key={name} class="num" title={exact(num(r[at(name)]), "ns")}>
                {r[at(name)] === null ? "–" : inScale(num(r[at(name)]), scales[i] as ReturnType<typeof scaleOf>)}
              </td>
            ))}
            <td class="num">{(num(r[at("share")]) * 100).toFixed(1)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const laneOf = (id: Cell | undefined) => stage.tracks?.lanes.find((l) => l.id === Number(id));

function ByTrack({ table }: { table: Table | undefined }) {
  if (!table) return null;
  const at = (name: string) => table.columns.findIndex((c) => c.name === name);
  return (
    <table class="tl-table">
      <thead>
        <tr>
          <th>{t("tl_track")}</th>
          <th class="num">{t("tl_count")}</th>
          <th class="num">{t("tl_busy")}</th>
          <th class="num">{t("tl_share")}</th>
        </tr>
      </thead>
      <tbody>
        {table.rows.map((r) => {
          const lane = laneOf(r[at("lane")]);
          return (
            <tr key={String(r[at("lane")])}>
              <td>{lane ? laneName(lane) : String(r[at("name")])}</td>
              <td class="num">{thousands(num(r[at("count")]))}</td>
              <td class="num">{short(num(r[at("busy")]), "ns")}</td>
              <td class="num">{short(num(r[at("share")]), "share")}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

const VALUES = ["first", "last", "min", "max", "mean"] as const;

function Counters({ table }: { table: Table | undefined }) {
  if (!table) return null;
  if (table.rows.length === 0) return <p class="tl-none">{t("tl_counters_none")}</p>;
  const at = (name: string) => table.columns.findIndex((c) => c.name === name);
  return (
    <table class="tl-table">
      <thead>
        <tr>
          <th>{t("tl_track")}</th>
          {VALUES.map((v) => (
            <th key={v} class="num">
              {t(`tl_${v}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((r) => {
          const lane = laneOf(r[at("lane")]);
          return (
            <tr key={String(r[at("lane")])}>
              <td>{lane ? laneName(lane) : String(r[at("name")])}</td>
              {VALUES.map((v) => (
                <td key={v} class="num">
                  {r[at(v)] === null ? "–" : lane ? counterValue(lane, num(r[at(v)])) : String(r[at(v)])}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Idle({ table }: { table: Table | undefined }) {
  if (!table) return null;
  if (table.rows.length === 0) return <p class="tl-none">{t("tl_idle_none")}</p>;
  const at = (name: string) => table.columns.findIndex((c) => c.name === name);
  const help = table.columns[at("cause")]?.help ?? "";
  return (
    <table class="tl-table">
      <thead>
        <tr>
          <th title={help}>{t("tl_cause")}</th>
          <th class="num">{t("tl_total")}</th>
          <th class="num">{t("tl_share")}</th>
        </tr>
      </thead>
      <tbody>
        {table.rows.map((r) => (
          <tr key={String(r[at("cause")])}>
            <td>{t(`tl_idle_${r[at("cause")]}` as Parameters<typeof t>[0])}</td>
            <td class="num">{short(num(r[at("time")]), "ns")}</td>
            <td class="num">{short(num(r[at("share")]), "share")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function AreaFlame({ area: a }: { area: Area }) {
  const lanes = a.lanes.filter((id) => {
    const l = laneOf(id);
    return l && !isCounter(l.kind) && (l.kind === "work" || l.kind === "python" || l.kind === "stream" || l.kind === "ranges");
  });
  const work = lanes.filter((id) => laneOf(id)?.kind !== "python");
  return <FlameGraph from={a.from} to={a.to} lanes={work.length ? work : lanes} />;
}
