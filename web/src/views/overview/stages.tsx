// Stages, the user's ranges, kinds of events in each stage, the configuration.
import type { Answer } from "../../api/types.ts";
import { scaleOf, short } from "../../base/format.ts";
import { Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import type { Asked } from "../../model/answers.ts";
import { language, t, wordOr } from "../../model/language.ts";
import { choice } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { csvUrl, frameworkOf, num, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented, Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import { Card, stageFill, stageName } from "../shared/step-bars.tsx";
import { columns, defined, wholeTable } from "../shared/table-source.ts";

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
      words={t(steps > 1 ? "stages_words" : "stages_words_one")}
      define={defined(asked.value, "stages", "stage")}
      csv={csvUrl("overview", "stages")}
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

// How code is marked, by framework; without one that is known, none.
const MARKS: Record<string, string> = {
  PyTorch: 'torch.profiler.record_function("name")',
  Paddle: 'paddle.profiler.RecordEvent("name")',
  MegEngine: 'megengine.utils.profiler.scope("name")',
  JAX: 'jax.profiler.TraceAnnotation("name")',
};

function rangesHint(format: string | undefined): string {
  const code = MARKS[frameworkOf(format ?? "")];
  return [t("no_user_ranges"), code ? t("mark_ranges", { code }) : ""].filter(Boolean).join(language.value === "zh" ? "" : " ");
}

export function UserRanges({ asked }: { asked: Asked<Answer> }) {
  const table = asked.value?.tables.user_events;
  const rows = wholeTable(table, (r) => String(r.cell("name")));
  return (
    <Panel
      span="w6"
      name={t("user_ranges")}
      title={t("user_ranges")}
      define={defined(asked.value, "user_events", "host_total")}
      csv={csvUrl("overview", "user_events")}
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
        empty={rangesHint(asked.value?.trace.format)}
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

type Axis = "stage" | "kind";
const AXES: readonly Axis[] = ["stage", "kind"];

/** Small multiples: the kinds within each stage, or each kind by stage. */
export function EventKinds({ asked }: { asked: Asked<Answer> }) {
  const [side, setSide] = choice("kinds", "host_time");
  const [wanted, setAxis] = choice("multiples", "stage");
  themeVersion.value;
  const axis: Axis = wanted === "kind" ? "kind" : "stage";
  const rows = rowsOf(asked.value?.tables.stage_events);
  const kinds = [...new Set(rows.map((r) => String(r.kind)))];
  const some = rows.filter((r) => num(r[side]) > 0);
  const other: Axis = axis === "stage" ? "kind" : "stage";
  const lines = [...new Set(some.map((r) => String(r[axis])))];
  const parts = [...new Set(some.map((r) => String(r[other])))];
  const total = (line: string) => some.filter((r) => r[axis] === line).reduce((a, r) => a + num(r[side]), 0);
  const max = Math.max(...lines.map(total), 1);
  const nameOf = (a: Axis, id: string) => (a === "stage" ? stageName(id) : kindName(id));
  const fill = (id: string) => (other === "stage" ? stageFill(id) : nth(kinds.indexOf(id)));
  return (
    <Panel
      name={t("event_kinds")}
      title={t("event_kinds")}
      words={t("event_kinds_words")}
      define={defined(asked.value, "stage_events", side)}
      csv={csvUrl("overview", "stage_events")}
      old={asked.old}
      error={asked.error}
      busy={!asked.value}
      height={140}
      controls={
        <>
          <Legend items={parts.map((id) => ({ label: nameOf(other, id), colour: fill(id) }))} />
          <Segmented
            label={t("group_by")}
            chosen={axis}
            onChoose={setAxis}
            choices={AXES.map((id) => ({ id, label: t(id === "stage" ? "by_stage" : "by_kind") }))}
          />
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
        {lines.map((line) => {
          const own = some.filter((r) => r[axis] === line);
          return (
            <KindStrip
              key={line}
              title={nameOf(axis, line)}
              parts={own.map((r) => ({ id: String(r[other]), name: nameOf(other, String(r[other])), value: num(r[side]) }))}
              max={max}
              fill={fill}
            />
          );
        })}
        {some.length === 0 ? <p class="empty">{t("not_recorded")}</p> : null}
      </div>
    </Panel>
  );
}

interface KindStripProps {
  title: string;
  parts: readonly { id: string; name: string; value: number }[];
  max: number;
  fill: (id: string) => string;
}

function KindStrip({ title, parts, max, fill }: KindStripProps) {
  const total = parts.reduce((s, p) => s + p.value, 0);
  const card = <Card title={title} parts={parts.map((p) => [p.name, p.value])} total={total} />;
  return (
    <div class="multiple">
      <span>{title}</span>
      <Strip
        height={18}
        total={max}
        label={title}
        parts={parts.map((p) => ({ id: p.id, value: p.value, fill: fill(p.id), label: short(p.value, "ns"), card }))}
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
      define={defined(asked.value, "configuration", "key")}
      csv={csvUrl("overview", "configuration")}
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
