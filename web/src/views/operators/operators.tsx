// Operators: which operator costs most, and what is odd about it.
import type { Answer } from "../../api/types.ts";
import { isKnown, largestFirst, shareOf, sum, total } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { operatorLabel } from "../../base/names.ts";
import { showName } from "../../model/costliest.ts";
import { deviceWords } from "../../model/device.ts";
import { showSlice } from "../../model/evidence.ts";
import { t } from "../../model/language.ts";
import { choice, go, param } from "../../model/route.ts";
import { selection } from "../../model/selection.ts";
import { type AskedFor, allRanks, analysis, rowsOf } from "../../model/trace.ts";
import { Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { lazy } from "../shared/lazy.tsx";
import { defined, panelFor } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { AcrossRanks } from "./across-ranks.tsx";
import { ShareBars, SharePie, ShareStrip, shareParts, TopMenu } from "./name-shares.tsx";
import { isGiven, type OperatorRow, OperatorTable, tellsTypes } from "./operator-table.tsx";
import { Phases } from "./phases.tsx";
import { OfSwitch, TypeShares } from "./type-shares.tsx";

const Calls = lazy(() => import("./single-calls.tsx").then((m) => m.SingleCalls));
const Flame = lazy(() => import("./operator-flame.tsx").then((m) => m.OperatorFlame));

export function Operators() {
  const asked = analysis("operators", { table: "operators", sort: "device_self:desc", limit: 0 }, "operators-all");
  const rows = rowsOf(asked.value?.tables.operators);
  const device = rows.some((r) => (r.device_self ?? 0) > 0 || (r.device_total ?? 0) > 0);
  const given = isGiven(rows);
  const best: Measure = `${device ? "device" : "host"}_${param("measure") === "total" || given ? "total" : "self"}`;
  const top = Number(param("top") || 9);
  const names = [...rows]
    .sort(largestFirst((r) => r[best]))
    .slice(0, top)
    .map((r) => String(r.name));
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("operators")}
        facts={factsOf(rows, device)}
        show={showNamed(asked.value, rows)}
      />
      <div class="grid">
        {ofWhat(rows) === "type" ? (
          <TypeShares asked={asked} />
        ) : (
          <Shares asked={asked} rows={rows} names={names} device={device} top={top} />
        )}
        {allRanks.value ? <AcrossRanks name="operators" /> : null}
        {asked.value ? <OperatorTable names={names} device={device} rows={rows} /> : null}
        {allRanks.value ? null : <Phases />}
        {allRanks.value || given || rows.length === 0 ? null : <CallsPanel />}
      </div>
    </>
  );
}

/** Single calls are asked for when the user wants them. */
function CallsPanel() {
  if (param("calls") === "1") return <Calls />;
  return (
    <p class="w12 one-rank">
      <button type="button" class="link" onClick={() => go({ params: { calls: "1" } })}>
        {t("single_calls_open")}
      </button>
    </p>
  );
}

/** The way to the operator that the verdict names. */
function showNamed(answer: Answer<"operators"> | undefined, rows: readonly OperatorRow[]): (() => void) | undefined {
  const { op } = answer?.verdict?.values ?? {};
  const slice = rows.find((r) => r.name === op)?.slice;
  if (isKnown(slice)) return () => showSlice(slice, String(op));
  return allRanks.value && typeof op === "string" ? () => showName("operators", op) : undefined;
}

function factsOf(rows: readonly OperatorRow[], device: boolean): (string | undefined)[] {
  const given = isGiven(rows);
  const time = (c: Measure) => {
    const all = total(rows, (r) => r[c]);
    return short(all, "ns");
  };
  const onDevice = sum(rows, (r) => r.device_self);
  const tensor = shareOf(
    sum(rows, (r) => (r.tensor_core_self_share ?? 0) * (r.device_self ?? 0)),
    onDevice,
  );
  return [
    t("fact_operators", { n: thousands(rows.length) }),
    t("fact_calls", { n: thousands(total(rows, (r) => r.calls)) }),
    device ? t("fact_device_self", { v: time(given ? "device_total" : "device_self") }) : undefined,
    given ? undefined : t("fact_host_self", { v: time("host_self") }),
    device && tensor ? t("fact_tensor", { m: deviceWords().matrix, v: short(tensor, "share") }) : undefined,
  ];
}

/** Operators or their types: where operators belong to a graph, readers begin with the types. */
const ofWhat = (rows: readonly OperatorRow[]): string =>
  allRanks.value ? "operator" : param("of") || (rows.some((r) => r.subgraph) ? "type" : "operator");

const FORMS = ["strips", "pies", "bars", "flame"] as const;
type Measure = "device_self" | "device_total" | "host_self" | "host_total";
const FOUR: readonly Measure[] = ["device_self", "device_total", "host_self", "host_total"];

interface SharesProps {
  asked: AskedFor<"operators">;
  rows: readonly OperatorRow[];
  names: readonly string[];
  device: boolean;
  top: number;
}

function Shares(props: SharesProps) {
  const [form, setForm] = choice("form", "strips");
  const given = isGiven(props.rows);
  const [measure, setMeasure] = choice("measure", given ? "total" : "self");
  const [side, setSide] = choice("side", props.device ? "device" : "host");
  const chart = form === "strips" || form === "bars";
  const by = `${props.device ? "device" : "host"}_${measure}` as Measure;
  return (
    <Panel
      name={t("share_of_time")}
      words={
        form === "flame"
          ? undefined
          : t(props.device && form === "strips" ? "share_words" : "share_words_one", {
              n: Math.min(props.top, props.names.length),
              by: t(`col_${by}`).toLowerCase(),
            })
      }
      {...panelFor(props.asked, "operators", "operators", by)}
      height={64}
      controls={
        <>
          {allRanks.value || !tellsTypes(props.rows) ? null : <OfSwitch chosen="operator" />}
          {form === "flame" ? null : <TopMenu n={props.top} onChoose={(n) => go({ params: { top: String(n) } })} />}
          {chart && !given ? <Pick label={t("measure")} ids={["self", "total"]} chosen={measure} onChoose={setMeasure} /> : null}
          {form === "bars" && props.device ? (
            <Pick label={t("side")} ids={["device", "host"]} chosen={side} onChoose={setSide} />
          ) : null}
          <Segmented
            label={t("form")}
            chosen={form}
            onChoose={setForm}
            choices={FORMS.filter((id) => id !== "flame" || !allRanks.value).map((id) => ({
              id,
              label: t(id === "flame" ? "flame_graph" : id),
            }))}
          />
        </>
      }
    >
      {form === "flame" ? (
        <div class="pad">
          <Flame />
        </div>
      ) : (
        <ShareCharts {...props} form={form} measure={measure} side={props.device ? side : "host"} />
      )}
    </Panel>
  );
}

const WORD = { self: "self", total: "total_time", device: "device", host: "host" } as const;

function Pick(props: { label: string; ids: readonly (keyof typeof WORD)[]; chosen: string; onChoose: (id: string) => void }) {
  return (
    <Segmented
      label={props.label}
      chosen={props.chosen}
      onChoose={props.onChoose}
      choices={props.ids.map((id) => ({ id, label: t(WORD[id]) }))}
    />
  );
}

function ShareCharts(props: SharesProps & { form: string; measure: string; side: string }) {
  const wanted =
    props.form === "pies"
      ? FOUR
      : props.form === "bars"
        ? [`${props.side}_${props.measure}`]
        : [`device_${props.measure}`, `host_${props.measure}`];
  const known = (m: Measure) => props.rows.some((r) => isKnown(r[m])) && (props.device || m.startsWith("host"));
  const measures = FOUR.filter((m) => wanted.includes(m) && known(m));
  const chosen = selection.value?.kind === "operator" ? selection.value.name : undefined;
  const pick = (id: string) => showName("operators", id);
  const charts = measures.map((m) => {
    const all = props.rows.map((r) => ({ name: String(r.name), label: operatorLabel(String(r.name)), value: r[m] ?? 0 }));
    const whole = sum(all, (r) => r.value);
    return { m, whole, title: t(`col_${m}`), define: defined(props.asked.value, "operators", m), all };
  });
  if (props.form === "bars") {
    const { all, whole, m } = charts[0] ?? { all: [], whole: 0, m: "host_self" as Measure };
    return <ShareBars all={all} total={whole} top={props.top} title={t(`col_${m}`)} chosen={chosen} onBar={pick} />;
  }
  const Form = props.form === "pies" ? SharePie : ShareStrip;
  return (
    <div class={props.form === "pies" ? "pies" : "shares"}>
      {charts.map(({ m, all, whole, title, define }) => (
        <Form
          key={m}
          title={title}
          define={define}
          total={whole}
          parts={shareParts(all, props.names, whole, all.length)}
          onPart={pick}
          chosen={chosen}
        />
      ))}
    </div>
  );
}
