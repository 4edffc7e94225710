// Stages, the user's ranges, kinds of events in each stage, the configuration.
import type { Answer } from "../api/types.ts";
import { scaleOf, short } from "../base/format.ts";
import { nth } from "../draw/patterns.tsx";
import { Strip } from "../draw/strip.tsx";
import type { Asked } from "../model/data.ts";
import { choice } from "../model/place.ts";
import { themeVersion } from "../model/theme.ts";
import { num, type Row, rowsOf } from "../model/trace.ts";
import { t, wordOr } from "../model/words.ts";
import { Legend, Segmented, Swatch } from "../widgets/controls.tsx";
import { Panel } from "../widgets/panel.tsx";
import { Table } from "../widgets/table.tsx";
import { csvOf } from "./overview.tsx";
import { columns, wholeTable } from "./rows.ts";
import { Card, stageFill, stageName } from "./stepbars.tsx";

export function Stages({ asked }: { asked: Asked<Answer> }) {
  const table = asked.value?.tables.stages;
  const steps = num(rowsOf(table).find((r) => r.stage === "step")?.calls);
  const longest = Math.max(
    0,
    ...rowsOf(table)
      .filter((r) => r.stage !== "step")
      .map((r) => num(r.host_time)),
  );
  const scale = scaleOf("ns", steps ? longest / steps : 0);
  const rows = wholeTable(table && { ...table, rows: table.rows.filter((r) => r[0] !== "step") }, (r) => String(r.cell("stage")));
  return (
    <Panel
      span="w6"
      name={t("stages")}
      title={t("stages")}
      words={t("stages_words")}
      csv={csvOf("overview", "stages")}
      old={asked.old}
      error={asked.error}
      busy={!table}
      height={160}
    >
      <Table
        name={t("stages")}
        total={rows.total}
        row={(i) => {
          const r = rows.row(i);
          const stage = String(r.cell("stage"));
          const per = (name: string) =>
            typeof r.cell(name) === "number" && steps ? Math.round(num(r.cell(name) as number) / steps) : null;
          return {
            ...r,
            cell: (c) =>
              c === "host_time" || c === "device_time" ? (per(c) === 0 && c === "device_time" ? null : per(c)) : r.cell(c),
            label: (
              <>
                <Swatch colour={stageFill(stage)} /> {stageName(stage)}
              </>
            ),
          };
        }}
        columns={columns(rows, "overview.stages", [
          ["stage", { text: true, width: 150 }],
          ["calls", { width: 60, soft: true }],
          ["host_time", { bar: "var(--cpu_exec)", scale }],
          ["device_time", { bar: "var(--kernel)", scale }],
        ])}
      />
    </Panel>
  );
}

export function UserRanges({ asked }: { asked: Asked<Answer> }) {
  const table = asked.value?.tables.user_events;
  const rows = wholeTable(table, (r) => String(r.cell("name")));
  return (
    <Panel
      span="w6"
      name={t("user_ranges")}
      title={t("user_ranges")}
      csv={csvOf("overview", "user_events")}
      old={asked.old}
      error={asked.error}
      busy={!table}
      height={160}
    >
      <Table
        name={t("user_ranges")}
        total={rows.total}
        row={rows.row}
        height={260}
        empty={t("no_user_ranges")}
        columns={columns(rows, "overview.user_events", [
          ["name", { text: true, mono: true }],
          ["calls", { width: 70 }],
          ["host_total", { width: 120 }],
          ["device_total", { width: 130 }],
        ])}
      />
    </Panel>
  );
}

const kindName = (k: string) => wordOr(`kind_${k}`, k);

/** Small multiples: one strip for each stage, parts are kinds of events. */
export function EventKinds({ asked }: { asked: Asked<Answer> }) {
  const [side, setSide] = choice("kinds", "host_time");
  themeVersion.value;
  const rows = rowsOf(asked.value?.tables.stage_events);
  const kinds = [...new Set(rows.map((r) => String(r.kind)))];
  const stages = [...new Set(rows.map((r) => String(r.stage)))];
  const some = rows.filter((r) => num(r[side]) > 0);
  const shown = kinds.filter((k) => some.some((r) => r.kind === k));
  const totals = stages.map((s) => some.filter((r) => r.stage === s).reduce((a, r) => a + num(r[side]), 0));
  const max = Math.max(...totals, 1);
  return (
    <Panel
      name={t("event_kinds")}
      title={t("event_kinds")}
      words={t("event_kinds_words")}
      csv={csvOf("overview", "stage_events")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={140}
      controls={
        <>
          <Legend items={shown.map((k) => ({ label: kindName(k), colour: nth(kinds.indexOf(k)) }))} />
          <Segmented
            label={t("side")}
            chosen={side}
            onChoose={setSide}
            choices={[
              { id: "host_time", label: t("host") },
              { id: "device_time", label: t("device") },
            ]}
          />
        </>
      }
    >
      <div class="multiples">
        {stages.map((s, i) => (
          <StageStrip
            key={s}
            stage={s}
            rows={some.filter((r) => r.stage === s)}
            side={side}
            total={totals[i] ?? 0}
            max={max}
            kinds={kinds}
          />
        ))}
        {some.length === 0 ? <p class="empty">{t("not_recorded")}</p> : null}
      </div>
    </Panel>
  );
}

function StageStrip(props: {
  stage: string;
  rows: readonly Row[];
  side: string;
  total: number;
  max: number;
  kinds: readonly string[];
}) {
  if (props.rows.length === 0) return null;
  const card = (
    <Card
      title={stageName(props.stage)}
      parts={props.rows.map((r) => [kindName(String(r.kind)), num(r[props.side])])}
      total={props.total}
    />
  );
  return (
    <div class="multiple">
      <span>{stageName(props.stage)}</span>
      <Strip
        height={18}
        total={props.max}
        label={stageName(props.stage)}
        parts={props.rows.map((r) => ({
          id: String(r.kind),
          value: num(r[props.side]),
          fill: nth(props.kinds.indexOf(String(r.kind))),
          label: short(num(r[props.side]), "ns"),
          card,
        }))}
      />
    </div>
  );
}

export function Configuration({ asked }: { asked: Asked<Answer> }) {
  const rows = rowsOf(asked.value?.tables.configuration);
  return (
    <Panel
      name={t("configuration")}
      title={t("configuration")}
      csv={csvOf("overview", "configuration")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={80}
    >
      <dl class="configuration">
        {rows.map((r) => (
          <div key={String(r.key)}>
            <dt>{wordOr(`conf_${r.key}`, String(r.key).replace(/_/g, " "))}</dt>
            <dd>{/^(record|with|profile)_/.test(String(r.key)) && r.value === "1" ? t("yes") : String(r.value)}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
