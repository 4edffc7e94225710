// A step of all ranks on one axis: what each did when, and which rank it waited for. Those the others wait for come first.
import { useMemo } from "preact/hooks";
import { largest } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { tip } from "../../base/tip.tsx";
import { useWidth } from "../../draw/width.ts";
import { showCall, showWork } from "../../model/costliest.ts";
import { t, wordOr } from "../../model/language.ts";
import type { Call } from "../../model/ranks.ts";
import { choice } from "../../model/route.ts";
import { type AskedFor, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { STAGES, stageFill, stageName } from "../shared/step-bars.tsx";
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
  const what =
    lane.kind === "wait" && lane.waits_for !== null ? t("lane_waits_for", { n: String(lane.waits_for) }) : laneWord(lane.kind);
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

const fillOfLane = (v: Lane, worst: number): string =>
  v.waits_for === worst && v.waits_for !== null ? BLOCKED : laneFill(v.kind);

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
  const blocked = worst >= 0 && rows.some((r) => r.waits_for === worst);
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

/** The longest chain of waiting: what each rank did until the next one could continue, to the end of the step. */
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
