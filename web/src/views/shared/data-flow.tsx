// The way of a batch, from reading to the network: what works on it, and the queues in between. A part that
// may be the bottleneck says at how many steps; a queue says how many batches found it empty.
import { isKnown, shareOf } from "../../base/aggregate.ts";
import { thousands } from "../../base/format.ts";
import { Definition, tip } from "../../base/tip.tsx";
import { t, wordOr } from "../../model/language.ts";
import type { Row } from "../../model/trace.ts";

/** The same columns in the tables `flow` of the pipeline and `data_flow` of the overview. */
type Stage = Row<"pipeline", "flow">;

const isQueue = (r: Stage): boolean => String(r.stage).endsWith("_queue");

/** What a part of the way has to say. */
function wordsOf(r: Stage): string {
  if (isQueue(r)) {
    if (!isKnown(r.batches)) return t("not_recorded");
    return t("flow_empty", { n: thousands(r.empty), m: thousands(r.batches) });
  }
  return isKnown(r.steps) ? t("flow_step", { n: thousands(r.steps) }) : t("not_recorded");
}

interface Props {
  rows: readonly Stage[];
  help?: string | undefined;
  down?: boolean; // one below the other, where there is little room
}

export function DataFlow({ rows, help, down }: Props) {
  return (
    <ol class={down ? "flow flow-down" : "flow"}>
      {rows.map((r) => {
        const name = wordOr(`flow_${r.stage}`, String(r.stage));
        const late = r.status === "warning";
        const share = isQueue(r) ? (shareOf(r.empty, r.batches) ?? 0) : 0;
        return (
          <li
            key={String(r.stage)}
            class={`${isQueue(r) ? "flow-queue" : "flow-part"} ${late ? "flow-late" : ""}`}
            tabIndex={0}
            {...tip(<Definition title={name} help={help} path={`pipeline.flow.${r.stage}`} />, 200)}
          >
            <b>{name}</b>
            {isQueue(r) ? (
              <svg class="flow-fill" width="100%" height="6" aria-hidden="true">
                <rect width="100%" height="6" rx="3" fill="var(--track)" />
                <rect width={`${share * 100}%`} height="6" rx="3" fill="var(--data_loader)" />
              </svg>
            ) : null}
            <span>{wordsOf(r)}</span>
          </li>
        );
      })}
    </ol>
  );
}
