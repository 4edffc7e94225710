// A step of all ranks on one axis: what each did when, and whom it waited for. Those the others wait for come first.
import { useMemo } from "preact/hooks";
import { largest, largestFirst, sum } from "../../base/aggregate.ts";
import { chartScale, short, thousands } from "../../base/format.ts";
import { tip } from "../../base/tip.tsx";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { useWidth } from "../../draw/width.ts";
import { showCall, showWork } from "../../model/costliest.ts";
import { t, wordOr } from "../../model/language.ts";
import type { Call } from "../../model/ranks.ts";
import { choice } from "../../model/route.ts";
import { setSteps } from "../../model/steps.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Card, STAGES, stageFill, stageName } from "../shared/step-bars.tsx";
import { defined } from "../shared/table-source.ts";
import { rankWord } from "./rank-heat.tsx";
import { ranksCsv } from "./rank-tables.tsx";

type Asked = AskedFor<"distributed">;
type Lane = Row<"distributed", "lanes">;

const FILL: Record<string, string> = {
  device: "var(--kernel)",
  transfer: "var(--communication)",
  wait: "url(#waiting)",
};
const BLOCKED = "url(#blocked)"; // waits for the rank that the verdict names
export const KINDS = [...STAGES, "device", "transfer", "wait"] as const;

export const laneFill = (kind: string | null): string =>
  FILL[kind ?? ""] ?? (kind === "other" ? "var(--track)" : stageFill(kind ?? ""));
export const laneWord = (kind: string | null): string => wordOr(`lane_${kind}`, stageName(kind ?? ""));

interface RankLanes {
  id: number | string;
  worker: string;
  stage: number;
  lanes: Lane[];
  waits: number;
}

/** Ranks in the order of the answer: by what others wait for them. */
function ranksOf(rows: readonly Lane[]): RankLanes[] {
  const found = new Map<string, RankLanes>();
  for (const r of rows) {
    const worker = r.worker ?? "";
    let one = found.get(worker);
    if (!one) {
      one = { id: r.rank ?? worker, worker, stage: r.stage ?? 0, lanes: [], waits: 0 };
      found.set(worker, one);
    }
    one.lanes.push(r);
  }
  return [...found.values()];
}

const byRank = (a: RankLanes, b: RankLanes) =>
  typeof a.id === "number" && typeof b.id === "number" ? a.id - b.id : a.worker.localeCompare(b.worker);
const ORDERS = {
  cost: undefined,
  rank: byRank,
  group: (a: RankLanes, b: RankLanes) => a.stage - b.stage || byRank(a, b),
};
type Order = keyof typeof ORDERS;

const said = (rank: number | string, lane: Lane): string => {
  const what = lane.kind === "wait" && lane.whom !== null ? t("lane_waits_for", { n: String(lane.whom) }) : laneWord(lane.kind);
  return `${rankWord(rank)}: ${what}, ${short(lane.duration, "ns")}`;
};

function LaneCard({ rank, lane }: { rank: number | string; lane: Lane }) {
  return (
    <>
      <b>{said(rank, lane)}</b>
      {lane.collective ? <code>{lane.collective}</code> : null}
    </>
  );
}

interface RowProps {
  of: RankLanes;
  y: number;
  height: number;
  left: number;
  scale: number;
  worst: number;
  onLane: (lane: Lane) => void;
}

const DENSE = 16; // px: of lower rows pieces of one color are one shape, so that many ranks are few elements

const fillOfLane = (v: Lane, worst: number): string => (v.whom === worst && v.whom !== null ? BLOCKED : laneFill(v.kind));

function DenseLanes({ of, y, height, left, scale, worst, onLane }: RowProps) {
  const shapes = new Map<string, string>();
  for (const v of of.lanes) {
    const fill = fillOfLane(v, worst);
    const x = (left + (v.start ?? 0) * scale).toFixed(1);
    const w = Math.max(0.6, (v.duration ?? 0) * scale - 0.5).toFixed(1);
    shapes.set(fill, `${shapes.get(fill) ?? ""}M${x} ${y}h${w}v${height - 2}h-${w}z`);
  }
  const click = (e: MouseEvent) => {
    const box = (e.currentTarget as SVGElement).ownerSVGElement?.getBoundingClientRect();
    const at = (e.clientX - (box?.left ?? 0) - left) / scale;
    const found = of.lanes.find((v) => (v.start ?? 0) <= at && at < (v.start ?? 0) + (v.duration ?? 0));
    if (found) onLane(found);
  };
  return (
    <g class="part" onClick={click}>
      {[...shapes].map(([fill, d]) => (
        <path key={fill} d={d} fill={fill} />
      ))}
    </g>
  );
}

function RankRow({ of, y, height, left, scale, worst, onLane }: RowProps) {
  return (
    <g>
      {height >= 11 ? (
        <text x={0} y={y + height / 2 + 4} class={of.id === worst ? "lane-name worst" : "lane-name"}>
          {rankWord(of.id)}
        </text>
      ) : null}
      {height < DENSE ? (
        <DenseLanes of={of} y={y} height={height} left={left} scale={scale} worst={worst} onLane={onLane} />
      ) : (
        of.lanes.map((v) => (
          <rect
            key={`${v.start} ${v.kind}`}
            class="part"
            x={left + (v.start ?? 0) * scale}
            y={y}
            width={Math.max(0.6, (v.duration ?? 0) * scale - 0.5)}
            height={height - 2}
            rx="1.5"
            fill={fillOfLane(v, worst)}
            onClick={() => onLane(v)}
            {...tip(<LaneCard rank={of.id} lane={v} />, 120)}
          />
        ))
      )}
    </g>
  );
}

/** What this rank did then: the collective it waited in, or its longest work of the step. */
function showLane(calls: readonly Call[], of: RankLanes, lane: Lane): void {
  const words = said(of.id, lane);
  const own = calls.filter((c) => c.step === lane.step && c.name === lane.collective);
  if (lane.collective && typeof of.id === "number" && showCall(own, of.id, "waiting", () => words)) return;
  showWork(words, { worker: of.worker, step: lane.step ?? undefined });
}

interface RowsProps {
  ranks: readonly RankLanes[];
  end: number;
  worst: number;
  onLane: (of: RankLanes, lane: Lane) => void;
}

/** Drawn when there is something to draw: only then its width can be measured. */
function Rows({ ranks, end, worst, onLane }: RowsProps) {
  const [box, width] = useWidth(760);
  const height = ranks.length <= 8 ? 32 : ranks.length <= 24 ? 22 : 13;
  const left = 66;
  return (
    <div class="chart" ref={box}>
      <svg data-chart width={width} height={ranks.length * height} role="img" aria-label={t("step_picture")}>
        {ranks.map((r, i) => (
          <RankRow
            key={r.worker}
            of={r}
            y={i * height}
            height={height}
            left={left}
            scale={(width - left) / end}
            worst={worst}
            onLane={(v) => onLane(r, v)}
          />
        ))}
      </svg>
    </div>
  );
}

export function StepPicture({
  asked,
  calls,
  worst,
  ranks,
}: {
  asked: Asked;
  calls: readonly Call[];
  worst: number;
  ranks: number;
}) {
  const table = asked.value?.tables.lanes;
  const rows = useMemo(() => rowsOf(table), [table]);
  const [order, setOrder] = choice("picture", "cost");
  const all = useMemo(() => ranksOf(rows), [rows]);
  if (asked.value && all.length < 2) return null;
  const compare = ORDERS[order as Order];
  const shown = compare ? [...all].sort(compare) : all;
  const end = largest(rows, (r) => (r.start ?? 0) + (r.duration ?? 0), 1);
  const kinds = KINDS.filter((k) => rows.some((r) => r.kind === k));
  const blocked = worst >= 0 && rows.some((r) => r.whom === worst);
  const words = `${t("step_n", { n: String(rows[0]?.step ?? "") })} · ${t("step_picture_words")}`;
  return (
    <Panel
      name={t("step_picture")}
      words={all.length < ranks ? `${words} · ${t("more_ranks", { n: thousands(ranks - all.length) })}` : words}
      define={defined(asked.value, "lanes", "kind")}
      csv={ranksCsv("lanes")}
      asked={asked}
      height={220}
      controls={
        <Segmented
          label={t("order")}
          chosen={order}
          onChoose={setOrder}
          choices={{
            cost: t("by_cost"),
            rank: t("by_rank"),
            ...(rows.some((r) => r.stage !== null) ? { group: t("by_stage") } : {}),
          }}
        />
      }
    >
      <div class="pad picture">
        <Rows ranks={shown} end={end} worst={worst} onLane={(of, v) => showLane(calls, of, v)} />
        <Legend
          items={[
            ...kinds.map((k) => ({ label: laneWord(k), color: laneFill(k) })),
            ...(blocked ? [{ label: t("lane_waits_for", { n: String(worst) }), color: BLOCKED }] : []),
          ]}
        />
      </div>
    </Panel>
  );
}

/** The longest chain of waiting: who was late by what, and who waited for it, until the end of the step. */
export function Chain({ asked, calls }: { asked: Asked; calls: readonly Call[] }) {
  const table = asked.value?.tables.chain;
  const rows = rowsOf(table);
  if (asked.value && rows.length === 0) return null;
  const most = largest(rows, (r) => r.duration, 1);
  const show = (r: (typeof rows)[number], i: number) => {
    const next = rows[i + 1];
    const own = calls.filter((c) => c.step === r.step && c.name === r.collective);
    const words = `${rankWord(r.rank ?? r.worker ?? "")}, ${laneWord(r.kind)}: ${short(r.time, "ns")}`;
    if (next && next.rank !== null && showCall(own, next.rank, "waiting", () => words)) return;
    showWork(words, { worker: r.worker, step: r.step ?? undefined });
  };
  return (
    <Panel
      name={t("chain")}
      words={t("step_n", { n: String(rows[0]?.step ?? "") })}
      define={defined(asked.value, "chain", "duration")}
      csv={ranksCsv("chain")}
      asked={asked}
      height={180}
    >
      <ol class="chain">
        {rows.map((r, i) => (
          <li key={i}>
            <button type="button" onClick={() => show(r, i)}>
              <span class="chain-who">
                {i > 0 ? "→ " : ""}
                <b>{rankWord(r.rank ?? r.worker ?? "")}</b> {laneWord(r.kind)}
                <i style={{ width: `${(100 * (r.time ?? 0)) / most}%`, background: laneFill(r.kind) }} />
              </span>
              <span class="chain-cost">
                {short(r.duration, "ns")}
                {r.waiting ? <small>{t("chain_waits", { n: r.waiting, v: short(r.waited, "ns") })}</small> : null}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

type Origin = Row<"distributed", "origins">;

interface OriginSum {
  key: string;
  rank: number | null;
  worker: string | null;
  place: string;
  cause: string;
  cost: number;
  steps: number;
  file: string | null;
  line: number | null;
}

/** The rows of each origin together: they are by step. */
export function originSums(rows: readonly Origin[]): OriginSum[] {
  const sums = new Map<string, OriginSum>();
  for (const r of rows) {
    const key = `${r.worker ?? ""} ${r.place} ${r.cause}`;
    let one = sums.get(key);
    if (!one) {
      const { rank, worker, file, line } = r;
      one = { key, rank, worker, place: r.place ?? "", cause: r.cause ?? "", cost: 0, steps: 0, file, line };
      sums.set(key, one);
    }
    one.cost += r.cost ?? 0;
    one.steps += 1;
  }
  return [...sums.values()].sort(largestFirst((o) => o.cost));
}

export const originName = (o: { rank: number | null; worker: string | null; cause: string }): string =>
  o.rank !== null || o.worker
    ? rankWord(o.rank ?? o.worker ?? "")
    : t(o.cause === "pipeline" ? "origin_pipeline" : "origin_nobody");

/** Where the waiting comes from, per step: its rows add up to it. */
export function Origins({
  asked,
  worst,
  openLine,
}: {
  asked: Asked;
  worst: number;
  openLine: (file: string, line: number) => void;
}) {
  const rows = rowsOf(asked.value?.tables.origins);
  const steps = new Set(rowsOf(asked.value?.tables.heat_map).map((r) => r.step)).size || 1;
  const sums = originSums(rows);
  if (asked.value && sums.length === 0) return null;
  const all = sum(sums, (o) => o.cost) / steps;
  const most = largest(sums, (o) => o.cost, 1);
  return (
    <Panel
      name={t("origins")}
      words={t("origins_words", { v: short(all, "ns") })}
      define={defined(asked.value, "origins", "cost")}
      csv={ranksCsv("origins")}
      asked={asked}
      height={180}
    >
      <ul class="origins">
        {sums.slice(0, 12).map((o) => {
          const { file, line } = o;
          return (
            <li key={o.key} class={o.rank === worst ? "strong" : ""}>
              <span class="origin-name">
                {originName(o)}
                <small>
                  {o.worker ? wordOr(`place_${o.place}`, o.place) : ""}
                  {o.worker ? ` · ${wordOr(`cause_${o.cause}`, o.cause)}` : ""}
                  {file && line !== null ? (
                    <button type="button" class="link" title={`${file}:${line}`} onClick={() => openLine(file, line)}>
                      {t("show_code")}
                    </button>
                  ) : null}
                </small>
              </span>
              <i>
                <i style={{ width: `${(100 * o.cost) / most}%` }} class={o.worker ? "" : "nobody"} />
              </i>
              <b>{short(o.cost / steps, "ns")}</b>
            </li>
          );
        })}
      </ul>
    </Panel>
  );
}

const SHOWN = 5; // origins with a color of their own
const originFill = (o: OriginSum, i: number, worst: number): string =>
  !o.worker ? "var(--track)" : o.rank === worst ? "var(--critical)" : i < SHOWN ? `var(--c${(i % 12) + 1})` : "url(#hatch)";

/** What each origin cost, step by step; what belongs to no rank is spread over all steps. */
export function OverRun({ asked, worst }: { asked: Asked; worst: number }) {
  const rows = rowsOf(asked.value?.tables.origins);
  const steps = [...new Set(rowsOf(asked.value?.tables.heat_map).map((r) => r.step ?? 0))].sort((a, b) => a - b);
  const sums = originSums(rows);
  if (asked.value && (steps.length < 2 || sums.every((o) => !o.worker))) return null;
  const costs = new Map<string, number>();
  for (const r of rows) {
    const key = `${r.worker ?? ""} ${r.place} ${r.cause} ${r.step ?? ""}`;
    costs.set(key, (costs.get(key) ?? 0) + (r.cost ?? 0));
  }
  const costOf = (o: OriginSum, step: number) => (o.worker ? (costs.get(`${o.key} ${step}`) ?? 0) : o.cost / steps.length);
  const ordered = [...sums.filter((o) => !o.worker), ...sums.filter((o) => o.worker)];
  const bars = steps.map((step): ColumnBar => {
    const parts = ordered.map((o) => ({ id: o.key, value: costOf(o, step), fill: originFill(o, sums.indexOf(o), worst) }));
    const total = sum(parts, (p) => p.value);
    const words = ordered.map((o): [string, number] => [originName(o), costOf(o, step)]);
    return { id: String(step), parts, total, card: <Card title={t("step_n", { n: step })} parts={words} total={total} /> };
  });
  const scale = chartScale(
    "ns",
    largest(bars, (b) => b.total, 1),
  );
  return (
    <Panel
      name={t("over_run")}
      words={`${scale.unit} · ${t("over_run_words")}`}
      define={defined(asked.value, "origins", "cost")}
      csv={ranksCsv("origins")}
      asked={asked}
      height={190}
      controls={
        <Legend
          items={sums.slice(0, SHOWN).map((o) => ({ label: originName(o), color: originFill(o, sums.indexOf(o), worst) }))}
        />
      }
    >
      <div class="pad">
        <Columns
          bars={bars}
          height={180}
          factor={scale.factor}
          format={(v) => Number(v.toPrecision(3)).toString()}
          label={t("over_run")}
          onBar={(id) => setSteps(Number(id), Number(id))}
        />
      </div>
    </Panel>
  );
}
