// The numbers people ask for first: how long a step is without the profiler, how busy the device is, how much of its peak is
// used, how much memory is needed.
import type { Answer } from "../../api/types.ts";
import { isKnown, largest, mean } from "../../base/aggregate.ts";
import { exact, short } from "../../base/format.ts";
import { tip } from "../../base/tip.tsx";
import { deviceWords } from "../../model/device.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { type AskedFor, analysis, countOf, hasNoSteps, rowsOf } from "../../model/trace.ts";
import { Meter, Value } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { panelFor } from "../shared/table-source.ts";
import { countedOf, deviceWord } from "./steps.ts";

const METERS = ["utilization", "mfu", "sm_efficiency", "occupancy", "tensor_core_share"] as const;

export function Figures({ asked }: { asked: AskedFor<"overview"> }) {
  const answer = asked.value;
  const table = answer?.tables.devices;
  const devices = rowsOf(table);
  const words = deviceWords();
  // What no device of the run has is not a number of it: it is listed with what was recorded.
  const known = METERS.filter((m) => devices.some((d) => isKnown(d[m])));
  return (
    <Panel
      span="w12 meters"
      name={t("device_meters")}
      title={devices.length === 1 ? t("device_meters") : t("devices")}
      {...panelFor(asked, "overview", "devices", "utilization")}
    >
      <div class="meter-grid">
        <StepFigure answer={answer} />
        <PeakFigure />
        {devices.length === 1 ? known.map((m) => <DeviceMeter key={m} of={m} />) : null}
      </div>
      {devices.length < 2
        ? null
        : devices.map((d) => (
            <div key={String(d.device)} class="meter-grid">
              <b class="meter-device">
                {deviceWord(answer)} {d.device}
              </b>
              {known.map((m) => (
                <DeviceMeter key={m} of={m} device={d.device} />
              ))}
            </div>
          ))}
    </Panel>
  );

  function DeviceMeter({ of, device }: { of: (typeof METERS)[number]; device?: number | null }) {
    const row = device === undefined ? devices[0] : devices.find((d) => d.device === device);
    return (
      <Meter
        title={t(`meter_${of}`, { d: deviceWord(answer), u: words.unit, m: words.matrix })}
        help={table?.columns.find((c) => c.name === of)?.help}
        path={`overview.devices.${of}`}
        value={row?.[of] ?? null}
        missing={t("not_recorded")}
      />
    );
  }
}

interface FigureProps {
  value: string;
  words: string;
  title: string; // on hover: the number in full, and what it is
  open?: () => void;
}

const Figure = ({ value, words, title, open }: FigureProps) => (
  <div class="figure-tile" {...tip(<p>{title}</p>)}>
    <b>
      <Value text={value} />
    </b>
    {open ? (
      <button type="button" class="link" onClick={open}>
        {words}
      </button>
    ) : (
      <span>{words}</span>
    )}
  </div>
);

/** A step without the profiler, where that is estimated, else as it was recorded. */
function StepFigure({ answer }: { answer: Answer<"overview"> | undefined }) {
  const steps = countedOf(rowsOf(answer?.tables.steps));
  const recorded = mean(steps, (s) => s.total);
  const bare = rowsOf(answer?.tables.unprofiled)[0];
  if (!isKnown(recorded)) return null;
  const open = () => go({ view: "steps" });
  if (isKnown(bare?.step))
    return (
      <Figure
        value={short(bare.step, "ns")}
        words={t("figure_bare")}
        title={t("figure_bare_help", { least: short(bare.least, "ns"), most: short(bare.most, "ns"), v: short(recorded, "ns") })}
        open={open}
      />
    );
  const words = t(hasNoSteps() ? "figure_whole" : "figure_step");
  return <Figure value={short(recorded, "ns")} words={words} title={exact(recorded, "ns")} {...(hasNoSteps() ? {} : { open })} />;
}

/** The device whose allocations reach highest; a processor only where there is nothing else. */
function PeakFigure() {
  const some = (countOf("memory") ?? 0) > 0;
  const asked = some ? analysis("memory", { table: "peaks", limit: 0 }, "overview-peaks") : undefined;
  const rows = rowsOf(asked?.value?.tables.peaks);
  const devices = rows.filter((r) => !/^CPU/i.test(String(r.device)));
  const most = largest(devices, (r) => r.allocated, 0);
  const row = devices.find((r) => r.allocated === most);
  if (!row || most === 0) return null;
  const of = isKnown(row.capacity) ? t("figure_peak_of", { v: short(row.capacity, "bytes") }) : t("figure_peak");
  return (
    <Figure
      value={short(most, "bytes")}
      words={of}
      title={`${row.device}: ${exact(most, "bytes")}`}
      open={() => go({ view: "memory" })}
    />
  );
}
