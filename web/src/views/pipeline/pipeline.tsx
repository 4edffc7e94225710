// Input pipeline: who is late: reading, processing, transfer or the device. Queues where they were recorded, else
// what the trace holds about its loader.
import { hasQueues } from "../../model/trace.ts";
import { Loader } from "./loader.tsx";
import { Queues } from "./queues.tsx";

export function InputPipeline() {
  return hasQueues() ? <Queues /> : <Loader />;
}
