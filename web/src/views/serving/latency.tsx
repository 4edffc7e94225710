// How long requests take: to the first token, for each further one, in all. Each bar leads to the slowest request in it.
import { largestFirst } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { type ColumnBar, Columns } from "../../draw/charts/columns.tsx";
import { choice, go } from "../../model/route.ts";
import { type Bin, binsOf, isHeldUp, MEASURES, type Measure, w } from "../../model/serving.ts";
import { type AskedFor, csvUrl, type Row, rowsOf } from "../../model/trace.ts";
import { Legend, Segmented } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";

const BINS = 32;
const HEIGHT = 190;

export function Latency({ asked, alone }: { asked: AskedFor<"requests">; alone: boolean }) {
  const rows = rowsOf(asked.value?.tables.requests);
  const measures = MEASURES.filter((m) => rows.some((r) => r[m] !== null));
  const [wanted, choose] = choice("latency", measures[0] ?? "latency");
  const measure = measures.find((m) => m === wanted) ?? "latency";
  const bins = binsOf(rows, measure, Math.min(BINS, Math.max(8, rows.length)));
  const percentiles = rowsOf(asked.value?.tables.latency).find((r) => r.metric === measure);
  const held = rows.some(isHeldUp);
  return (
    <Panel
      span={alone ? "w12" : "w6"}
      name={w("latency")}
      words={w("latency_words", { n: thousands(rows.length) })}
      define={defined(asked.value, "latency", "metric")}
      csv={csvUrl("requests", "latency")}
      asked={asked}
      height={HEIGHT + 40}
      controls={
        <Segmented
          label={w("measure")}
          choices={measures.map((id) => ({ id, label: w(`measure_${id}`) }))}
          chosen={measure}
          onChoose={choose}
        />
      }
    >
      <div class="pad">
        {held ? (
          <Legend
            items={[
              { label: w("legend_others"), color: "var(--kernel)" },
              { label: w("legend_held"), color: "var(--critical)" },
            ]}
          />
        ) : null}
        <Columns
          bars={bins.map(columnOf)}
          height={HEIGHT}
          factor={1}
          format={(v) => (Number.isInteger(v) ? thousands(v) : "")}
          label={w("latency")}
          onBar={(id) =>
            chooseSlowest(
              bins.find((b) => idOf(b) === id),
              measure,
            )
          }
        />
        <Percentiles row={percentiles} />
      </div>
    </Panel>
  );
}

const idOf = (b: Bin): string => short(b.from, "ns");

function columnOf(b: Bin): ColumnBar {
  const held = b.requests.filter(isHeldUp).length;
  return {
    id: idOf(b),
    total: b.requests.length,
    parts: [
      { id: "rest", value: b.requests.length - held, fill: "var(--kernel)" },
      { id: "held", value: held, fill: "var(--critical)" },
    ],
    card: (
      <>
        <b>{w("bin_card", { a: short(b.from, "ns"), b: short(b.to, "ns") })}</b>
        <dl class="card-list">
          <div>
            <dt>{w("bin_requests")}</dt>
            <dd>{thousands(b.requests.length)}</dd>
          </div>
          {held ? (
            <div>
              <dt>{w("bin_held")}</dt>
              <dd>{thousands(held)}</dd>
            </div>
          ) : null}
        </dl>
      </>
    ),
  };
}

const chooseRequest = (id: string | null): void => go({ params: { request: id ?? undefined } });

function chooseSlowest(bin: Bin | undefined, measure: Measure): void {
  const [slowest] = [...(bin?.requests ?? [])].sort(largestFirst((r) => r[measure]));
  if (slowest) chooseRequest(slowest.id);
}

/** Percentiles, each with the request that has it. */
function Percentiles({ row }: { row: Row<"requests", "latency"> | undefined }) {
  if (!row) return null;
  const list = [
    ["p50", row.p50, row.p50_request],
    ["p90", row.p90, row.p90_request],
    ["p99", row.p99, row.p99_request],
    ["max", row.max, row.max_request],
  ] as const;
  return (
    <p class="serving-percentiles">
      {list.map(([name, v, id]) => (
        <button type="button" class="link" key={name} title={String(id)} onClick={() => chooseRequest(id)}>
          {w("percentile", { name, v: short(v, "ns") })}
        </button>
      ))}
    </p>
  );
}
