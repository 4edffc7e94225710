// Serving: what limits the tokens of a server, and which requests wait for which. Only where the trace has iterations of a
// server, or a log of its requests.
import type { Answer } from "../../api/types.ts";
import { isKnown, largestFirst } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import {
  askRequests,
  askServing,
  type Iteration,
  type Request,
  showIteration,
  showRequest,
  w,
  waitOf,
} from "../../model/serving.ts";
import { type AskedFor, rowsOf } from "../../model/trace.ts";
import { Rich } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { Autopsy } from "./autopsy.tsx";
import { IterationParts } from "./iteration-parts.tsx";
import { Iterations } from "./iterations.tsx";
import { Latency } from "./latency.tsx";
import { SlowRequests } from "./slow-requests.tsx";

const RANK: Record<string, number> = { critical: 3, warning: 2, info: 1 };
const rankOf = (answer: Answer | undefined): number => RANK[answer?.verdict?.severity ?? ""] ?? 0;

export function Serving() {
  const served = askServing();
  const asked = askRequests();
  const iterations = rowsOf(served.value?.tables.iterations);
  const requests = rowsOf(asked.value?.tables.requests);
  const both = served.value && asked.value;
  // Without iterations the requests speak; with both, the one that found something.
  const aboutRequests = both && (iterations.length === 0 || (requests.length > 0 && rankOf(asked.value) > rankOf(served.value)));
  return (
    <>
      <Verdict
        answer={both ? (aboutRequests ? asked.value : served.value) : undefined}
        otherwise={w("none")}
        facts={factsOf(served, asked)}
        show={aboutRequests ? showSlowest(requests) : showWait(iterations)}
      />
      <div class="grid">
        {iterations.length ? <Iterations asked={served} requests={requests} /> : null}
        {iterations.length ? <IterationParts asked={served} /> : null}
        {requests.length ? <Latency asked={asked} alone={iterations.length === 0} /> : null}
        {requests.length ? <SlowRequests /> : null}
        {requests.length ? <Autopsy requests={requests} /> : null}
        {both && requests.length === 0 && iterations.length ? <NoLog /> : null}
      </div>
    </>
  );
}

const rounded = (v: number): string => (v >= 100 ? thousands(Math.round(v)) : Number(v.toPrecision(3)).toString());

function factsOf(served: AskedFor<"serving">, asked: AskedFor<"requests">): (string | undefined)[] {
  const [all] = rowsOf(served.value?.tables.serving);
  const latency = rowsOf(asked.value?.tables.latency);
  const of = (metric: string) => latency.find((r) => r.metric === metric);
  const said = (key: "fact_ttft" | "fact_latency" | "fact_per_token", metric: string) => {
    const row = of(metric);
    return row ? w(key, { p50: short(row.p50, "ns"), p99: short(row.p99, "ns") }) : undefined;
  };
  return [
    all ? w("fact_iterations", { n: thousands(all.iterations) }) : undefined,
    isKnown(all?.output_tokens_per_s) ? w("fact_output", { v: rounded(all.output_tokens_per_s) }) : undefined,
    all?.prompt_tokens_per_s ? w("fact_prompt", { v: rounded(all.prompt_tokens_per_s) }) : undefined,
    isKnown(all?.batch) ? w("fact_batch", { v: rounded(all.batch) }) : undefined,
    said("fact_ttft", "ttft") ?? said("fact_latency", "latency"),
    said("fact_per_token", "per_token"),
  ];
}

/** The way to the iteration that waits longest. */
function showWait(rows: readonly Iteration[]): (() => void) | undefined {
  const [worst] = [...rows].sort(largestFirst(waitOf));
  return worst ? () => showIteration(worst, w("iteration_n", { n: String(worst.step) })) : undefined;
}

function showSlowest(rows: readonly Request[]): (() => void) | undefined {
  const [worst] = [...rows].sort(largestFirst((r) => r.latency));
  return worst ? () => showRequest(worst) : undefined;
}

/** How to get the requests into the view. */
function NoLog() {
  return (
    <Panel span="w6" name={w("no_log")}>
      <p class="pad serving-note">
        <Rich text={w("no_log_words")} />
      </p>
    </Panel>
  );
}
