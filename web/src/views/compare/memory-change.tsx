// Memory of both runs over time, from the start of the first step of each.
import { isKnown, largest } from "../../base/aggregate.ts";
import { chartScale, short, tick } from "../../base/format.ts";
import { type Line, Lines, type Point } from "../../draw/charts/lines.tsx";
import { askSide, c, placeIn, type Side } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { showMoment } from "../../model/moments.ts";
import { choice, WHOLE_TRACE } from "../../model/route.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Rich, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { signed } from "./change.tsx";
import { askTracks, ofOne } from "./pair-timeline.tsx";

type Both = readonly [Side, Side];
type Sample = Row<"memory", "curve">;

const POINTS = 1200;
const COLORS = ["var(--c1)", "var(--c10)"] as const;

const askCurve = (side: Side): AskedFor<"memory"> =>
  askSide("memory", side, { ...WHOLE_TRACE, table: "curve", points: POINTS, limit: 0 });

/** Devices of both runs; memory of a device comes before that of the host. */
const devicesOf = (rows: readonly Sample[]): string[] =>
  [...new Set(rows.map((r) => r.device ?? ""))].sort(
    (x, y) => Number(/^cpu|^host/i.test(x)) - Number(/^cpu|^host/i.test(y)) || x.localeCompare(y),
  );

/** The samples of a device as a line that begins with the first step. */
export function lineOf(rows: readonly Sample[], device: string, start: number): Point[] {
  const own = rows.filter((r) => r.device === device && isKnown(r.time) && isKnown(r.allocated));
  const before = own.filter((r) => (r.time ?? 0) < start).pop();
  const after = own.filter((r) => (r.time ?? 0) >= start).map((r): Point => [(r.time ?? 0) - start, r.allocated]);
  return [[0, before?.allocated ?? null], ...after];
}

export function MemoryChange({ both }: { both: Both }) {
  const asked = both.map(askCurve);
  const starts = both.map((s) => askTracks(s).value?.steps.start[0] ?? 0);
  const samples = asked.map((a) => rowsOf(a.value?.tables.curve));
  const devices = devicesOf(samples.flat());
  const [wanted, setDevice] = choice("device", devices[0] ?? "");
  const device = devices.includes(wanted) ? wanted : (devices[0] ?? "");
  const lines = both.map(
    (s, i): Line => ({
      id: s.id,
      label: `${s.id} ${s.name}`,
      color: COLORS[i] as string,
      points: lineOf(samples[i] ?? [], device, starts[i] ?? 0),
      strong: true,
    }),
  );
  const peaks = lines.map((l) => largest(l.points, (p) => p[1], 0));
  const missing = both.filter((_, i) => asked[i]?.value && samples[i]?.length === 0);
  const scale = chartScale("bytes", Math.max(...peaks, 1));
  const time = chartScale(
    "ns",
    largest(
      lines.flatMap((l) => l.points),
      (p) => p[0],
      1,
    ),
  );
  const [a = 0, b = 0] = peaks;
  /** The moment in B; with Shift in A. */
  const show = (time: number, i: 0 | 1) => {
    const [side, at] = [both[i], time + (starts[i] ?? 0)];
    showMoment(at, device, `${side.id}: ${t("alive_at", { v: short(at, "ns") })}`, placeIn(side));
  };
  const label = c("memory_label", { a: short(a, "bytes"), b: short(b, "bytes") });
  return (
    <Panel
      name={t("memory")}
      words={missing.length ? undefined : (ofOne(both) ?? c("memory_words", { device, unit: scale.unit }))}
      busy={asked.some((x) => !x.value && !x.error)}
      height={320}
      figure={missing.length ? undefined : label}
      controls={
        devices.length > 1 ? (
          <Segmented
            label={t("device")}
            chosen={device}
            onChoose={setDevice}
            choices={devices.map((d) => ({ id: d, label: d }))}
          />
        ) : undefined
      }
    >
      {missing.length ? (
        <p class="empty">{c("no_memory", { names: missing.map((s) => s.name).join(", ") })}</p>
      ) : (
        <div class="pad">
          <p class="facts">
            <Rich text={c("memory_peaks", { a: short(a, "bytes"), b: short(b, "bytes"), v: signed(b - a, "bytes") })} />
          </p>
          <Lines
            lines={lines}
            height={260}
            label={label}
            top={1}
            steps
            x={(v) => (v ? `${tick(v, time)} ${time.unit}` : "0")}
            y={(v) => tick(v, scale)}
            unit={scale.factor}
            onPlace={(time, shift) => show(time, shift ? 0 : 1)}
          />
        </div>
      )}
    </Panel>
  );
}
