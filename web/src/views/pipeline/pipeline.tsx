// Input pipeline: what is late: reading, processing, transfer or the device. Queues where they were recorded, else
// what the trace holds about its loader.
import { hasQueues } from "../../model/trace.ts";
import { Waiting } from "../../widgets/panel.tsx";
import { Loader } from "./loader.tsx";
import { Queues } from "./queues.tsx";

export function InputPipeline() {
  const recorded = hasQueues();
  if (recorded === undefined) return <Waiting height={300} />;
  return recorded ? <Queues /> : <Loader />;
}
