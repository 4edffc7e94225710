// Stages, the user's ranges, kinds of events in each stage, the configuration.
import { isKnown, largest, sum } from "../../base/aggregate.ts";
import { scaleOf, short } from "../../base/format.ts";
import { versionWord } from "../../base/version.ts";
import { Strip } from "../../draw/charts/strip.tsx";
import { nth } from "../../draw/patterns.tsx";
import { showKind } from "../../model/costliest.ts";
import { showPlace, showSlice } from "../../model/evidence.ts";
import { language, t, wordOr } from "../../model/language.ts";
import { choice } from "../../model/route.ts";
import { themeVersion } from "../../model/theme.ts";
import { type AskedFor, frameworkOf, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented, Swatch } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableRow } from "../../widgets/table-types.ts";
import { Card, stageFill, stageName } from "../shared/step-bars.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { columns, panelFor, wholeTable } from "../shared/table-source.ts";

interface Props {
  asked: AskedFor<"overview">;
}

/** A time of a stage in one step. On the device, a stage that takes no time is absent. */
function perStep(row: Row<"overview", "stages">, column: "host_time" | "device_time", steps: number): number | null {
  const time = row[column];
  if (!isKnown(time) || steps === 0) return null;
  return Math.round(time / steps) || (column === "device_time" ? null : 0);
}

export function Stages({ asked }: Props) {
  const stages = rowsOf(asked.value?.tables.stages);
  const steps = stages.find((r) => r.stage === "step")?.calls ?? 0;
  const rows = stages.filter((r) => r.stage !== "step");
  const scale = scaleOf("ns", steps ? largest(rows, (r) => r.host_time, 0) / steps : 0);
  const whole = wholeTable(asked.value, "stages", (r) => String(r.cell("stage")));
  return (
    <Panel
      span="w6"
      name={t("stages")}
      words={t(steps > 1 ? "stages_words" : "stages_words_one")}
      {...panelFor(asked, "overview", "stages", "stage")}
      height={160}
    >
      <Table
        name={t("stages")}
        total={rows.length}
        row={(i) => stageRow(rows[i] as (typeof rows)[number], steps)}
        onTimeline={(r) => showPlace(rows.find((s) => s.stage === r.key) ?? {}, stageName(r.key))}
        timelineLabel={t("show_costliest")}
        columns={columns(whole, [
          ["stage", { text: true, width: 150 }],
          ["calls", { width: 60, soft: true }],
          ["host_time", { bar: "var(--cpu_exec)", scale }],
          ["device_time", { bar: "var(--kernel)", scale }],
        ])}
      />
    </Panel>
  );
}

function stageRow(r: Row<"overview", "stages">, steps: number): TableRow {
  const stage = String(r.stage);
  const cells: Record<string, CellValue> = {
    stage,
    calls: r.calls,
    host_time: perStep(r, "host_time", steps),
    device_time: perStep(r, "device_time", steps),
  };
  return {
    key: stage,
    shows: isKnown(r.from),
    cell: (c) => cells[c],
    label: (
      <>
        <Swatch color={stageFill(stage)} /> {stageName(stage)}
      </>
    ),
  };
}

// How code is marked, by framework; without one that is known, none.
const MARKS: Record<string, string> = {
  PyTorch: 'torch.profiler.record_function("name")',
  Paddle: 'paddle.profiler.RecordEvent("name")',
  MegEngine: 'megengine.utils.profiler.scope("name")',
  JAX: 'jax.profiler.TraceAnnotation("name")',
  TensorFlow: 'tf.profiler.experimental.Trace("name")',
};

function rangesHint(format: string | undefined): string {
  const code = MARKS[frameworkOf(format ?? "")];
  return [t("no_user_ranges"), code ? t("mark_ranges", { code }) : ""].filter(Boolean).join(language.value === "zh" ? "" : " ");
}

export function UserRanges({ asked }: Props) {
  const rows = wholeTable(asked.value, "user_events", (r) => String(r.cell("name")));
  return (
    <TablePanel
      span="w6"
      name={t("user_ranges")}
      {...panelFor(asked, "overview", "user_events", "host_total")}
      height={160}
      rows={rows}
      table={{
        height: 260,
        empty: rangesHint(asked.value?.trace.format),
        onTimeline: (r) => showSlice(Number(r.cell("slice")), String(r.cell("name"))),
        timelineLabel: t("show_costliest"),
      }}
      list={[
        ["name", { text: true, mono: true }],
        ["calls", { width: 70 }],
        ["host_total", { width: 120 }],
        ["device_total", { width: 130 }],
      ]}
    />
  );
}

const kindName = (k: string) => wordOr(`kind_${k}`, k);

type Axis = "stage" | "kind";
const AXES: readonly Axis[] = ["stage", "kind"];

/** Small multiples: the kinds within each stage, or each kind by stage. */
export function EventKinds({ asked }: Props) {
  const [wantedSide, setSide] = choice("kinds", "host_time");
  const side = wantedSide === "device_time" ? "device_time" : "host_time";
  const [wanted, setAxis] = choice("multiples", "stage");
  themeVersion.value;
  const axis: Axis = wanted === "kind" ? "kind" : "stage";
  const rows = rowsOf(asked.value?.tables.stage_events);
  const kinds = [...new Set(rows.map((r) => String(r.kind)))];
  const some = rows.filter((r) => (r[side] ?? 0) > 0);
  const other: Axis = axis === "stage" ? "kind" : "stage";
  const lines = [...new Set(some.map((r) => String(r[axis])))];
  const parts = [...new Set(some.map((r) => String(r[other])))];
  const total = (line: string) =>
    sum(
      some.filter((r) => r[axis] === line),
      (r) => r[side],
    );
  const max = largest(lines, total, 1);
  const nameOf = (a: Axis, id: string) => (a === "stage" ? stageName(id) : kindName(id));
  const fill = (id: string) => (other === "stage" ? stageFill(id) : nth(kinds.indexOf(id)));
  return (
    <Panel
      name={t("event_kinds")}
      words={t("event_kinds_words")}
      {...panelFor(asked, "overview", "stage_events", side)}
      height={140}
      controls={
        <>
          <Legend items={parts.map((id) => ({ label: nameOf(other, id), color: fill(id) }))} />
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
            choices={{ host_time: t("host"), device_time: t("device") }}
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
              parts={own.map((r) => ({ id: String(r[other]), name: nameOf(other, String(r[other])), value: r[side] ?? 0 }))}
              max={max}
              fill={fill}
              onPart={(id) => {
                const [stage, kind] = axis === "stage" ? [line, id] : [id, line];
                const place = rowsOf(asked.value?.tables.stages).find((r) => r.stage === stage);
                showKind(kind, place ?? {}, `${stageName(stage)}, ${kindName(kind)}`);
              }}
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
  onPart: (id: string) => void;
}

function KindStrip({ title, parts, max, fill, onPart }: KindStripProps) {
  const total = sum(parts, (p) => p.value);
  const card = <Card title={title} parts={parts.map((p) => [p.name, p.value])} total={total} />;
  return (
    <div class="multiple">
      <span>{title}</span>
      <Strip
        height={18}
        total={max}
        label={title}
        onPart={onPart}
        parts={parts.map((p) => ({ id: p.id, value: p.value, fill: fill(p.id), label: short(p.value, "ns"), card }))}
      />
    </div>
  );
}

function valueWord(key: string, value: string): string {
  if (/^(record|with|profile)_/.test(key) && value === "1") return t("yes");
  if (key.endsWith("_cpu_use") && Number.isFinite(Number(value))) return short(Number(value), "share");
  return versionWord(key, value);
}

export function Configuration({ asked }: Props) {
  const rows = rowsOf(asked.value?.tables.configuration);
  const uses = rowsOf(asked.value?.tables.in_use);
  return (
    <Panel name={t("configuration")} {...panelFor(asked, "overview", "configuration", "key")} height={80}>
      <dl class="configuration">
        {rows.map((r) => (
          <div key={String(r.key)}>
            <dt>{wordOr(`conf_${r.key}`, String(r.key).replace(/_/g, " "))}</dt>
            <dd title={String(r.value)}>{valueWord(String(r.key), String(r.value))}</dd>
          </div>
        ))}
        {uses.map((r) => (
          <div key={`use ${r.what}`}>
            <dt>{wordOr(`use_${r.what}`, String(r.what).replace(/_/g, " "))}</dt>
            <dd title={String(r.evidence)}>{`${String(r.evidence)} × ${short(Number(r.count), "count")}`}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}
