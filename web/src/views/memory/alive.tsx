// What is alive at the peak, or at a chosen moment: who holds how much, and the way to the call that allocated it.
import { useState } from "preact/hooks";
import { isKnown, largestFirst, shareOf, sum } from "../../base/aggregate.ts";
import { exact, percent, short } from "../../base/format.ts";
import { Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { showSlice } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { showMoment } from "../../model/moments.ts";
import { choice, go, param } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { analysis, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Segmented, Swatch, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";
import { colorPlaces, holdersAtPeak } from "./memory-colors.ts";
import { onDevice, rangeQuery } from "./memory-query.ts";

type Holder = Row<"memory", "contents">;
const LISTED = 7; // holders next to the curve; the others on a click
const HOLDERS = ["op", "module", "size"] as const;

export function Alive({ device }: { device: string }) {
  const [by, setBy] = choice("holders", "op");
  const at = param("at");
  const query = { ...rangeQuery(), table: "contents", limit: 0, by, at: at || undefined, filter: onDevice(device) };
  const asked = analysis("memory", query, "memory-alive");
  themeVersion.value;
  const rows = rowsOf(asked.value?.tables.contents)
    .filter((r) => r.device === device)
    .sort(largestFirst((r) => r.bytes));
  const total = sum(rows, (r) => r.bytes);
  const nameOf = (r: Holder) =>
    r.name === null
      ? t("before_recording")
      : r.name === ""
        ? t(`outside_${by === "module" ? "modules" : "operators"}`)
        : String(r.name);
  const names = rows.flatMap((r) => (r.name === null ? [] : [String(r.name)]));
  const isUsual = !at && !param("range"); // then the largest holders are those of its own answer
  const places = colorPlaces(by === "op" && !isUsual ? holdersAtPeak(device) : [], names);
  const fill = (r: Holder) => (r.name === null ? "var(--other)" : nth(places.get(String(r.name)) ?? 0));
  const [all, setAll] = useState(false);
  const listed = all || rows.length <= LISTED + 1 ? rows : rows.slice(0, LISTED);
  const title = at ? t("alive_at", { v: short(Number(at), "ns") }) : t("alive");
  return (
    <Panel
      span="w4"
      name={t("alive")}
      title={title}
      define={defined(asked.value, "contents", "bytes")}
      csv={csvUrl("memory", "contents", query)}
      asked={asked}
      height={200}
      controls={
        <>
          {at ? (
            <>
              <button type="button" class="link" onClick={() => showAt(Number(at), device)}>
                {t("show_in_timeline")}
              </button>
              <button type="button" class="link" onClick={() => go({ params: { at: undefined } })}>
                {t("to_peak")}
              </button>
            </>
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
          parts={rows.map((r) => ({
            id: nameOf(r),
            value: r.bytes ?? 0,
            fill: fill(r),
            card: `${nameOf(r)} · ${short(r.bytes, "bytes")}`,
          }))}
          total={total}
          height={18}
          label={title}
          onPart={(id) =>
            showRow(
              rows.find((r) => nameOf(r) === id),
              id,
            )
          }
        />
      </div>
      <ul class="alive">
        {listed.map((r) => (
          <li key={nameOf(r)}>
            <Swatch color={fill(r)} />
            <HolderName row={r} name={nameOf(r)} />
            <span title={exact(r.bytes, "bytes")}>
              <Value text={short(r.bytes, "bytes")} />
            </span>
            <span class="t3">{short(shareOf(r.bytes, total), "share")}</span>
          </li>
        ))}
        {listed.length < rows.length ? (
          <li class="alive-more">
            <button type="button" class="link" onClick={() => setAll(true)}>
              {t("n_more", { n: rows.length - listed.length })}
            </button>
          </li>
        ) : null}
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

/** Shows the allocation that made memory what it is at a moment. */
export const showAt = (time: number, device: string): void => showMoment(time, device, t("alive_at", { v: short(time, "ns") }));

function showRow(row: Holder | undefined, name: string): void {
  if (isKnown(row?.slice)) showSlice(row.slice, name);
}

/** Who holds it, and the way to the call that allocated the largest block. */
function HolderName({ row, name }: { row: Holder; name: string }) {
  const { slice } = row;
  const shown = row.name ? <code title={String(row.name)}>{name}</code> : <span title={name}>{name}</span>;
  if (!isKnown(slice)) return shown;
  return (
    <button type="button" class="holder" title={t("show_costliest")} onClick={() => showSlice(slice, name)}>
      {shown}
    </button>
  );
}
