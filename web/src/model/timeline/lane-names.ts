// Names of lanes and groups as the reader's language has them.
import { short, thousands } from "../../base/format.ts";
import { FOUND_STEPS } from "../../draw/timeline/found-steps.ts";
import { ownLane } from "../../draw/timeline/together.ts";
import type { Group, Lane } from "../../draw/timeline/tracks.ts";
import { deviceWords } from "../device.ts";
import { t } from "../language.ts";

export function laneName(l: Lane): string {
  switch (l.kind) {
    case "steps":
      return t(ownLane(l.id) === FOUND_STEPS ? "tl_steps_found" : "tl_steps");
    case "utilization":
      return t("tl_utilization", { d: l.device_type ?? "GPU" });
    case "memory":
      return memoryName(l);
    case "counter":
      return l.series === "sm_efficiency" ? t("meter_sm_efficiency", { u: deviceWords().unit }) : l.name;
    case "stream":
      return l.stream === undefined ? l.name : t("tl_stream", { n: l.stream });
    case "ranges":
      return t("tl_ranges");
    case "calls":
      return t("tl_calls");
    case "python":
      return t("tl_python");
    case "instants":
      return t("tl_instants");
    case "work":
      return l.tid === undefined ? l.name : t("tl_thread", { n: l.tid });
    default:
      return l.name;
  }
}

function memoryName(l: Lane): string {
  const reserved = l.series === "reserved";
  if (l.side === "host" || (l.device ?? 0) < 0 || l.device_type === "CPU")
    return t(reserved ? "tl_host_memory_reserved" : "tl_host_memory");
  return t(reserved ? "tl_memory_reserved" : "tl_memory", { d: l.device_type ?? "GPU" });
}

/** The gray words after a lane's name. */
export function laneRole(l: Lane): string {
  if (l.kind === "work" && l.role === "autograd") return t("tl_autograd");
  if (l.kind === "work" && l.tid !== undefined && l.name && !/^thread \d+/.test(l.name) && l.name !== String(l.tid))
    return l.name;
  if (l.kind === "stream" && l.role === "communication") return t("tl_communication");
  if (l.kind === "stream" && l.role === "copy") return t("tl_copies");
  return "";
}

export function laneFact(l: Lane): string {
  if (l.kind === "utilization" || l.unit === "share") return short(1, "share");
  if (l.kind === "memory" || l.unit === "bytes") return l.max === undefined ? "" : short(l.max, "bytes");
  if (l.kind === "counter") return l.max === undefined ? "" : short(l.max, "plain");
  if (l.kind === "python") return t("tl_deep", { n: l.rows });
  if (l.kind === "work") return t("tl_ops");
  if (l.kind === "stream") return thousands(l.slices);
  return "";
}

/** The head of a group; `n`: how many lanes it has. */
export function groupName(g: Group, n = 0): string {
  if (g.kind === "streams") return t("tl_fold_streams", { n });
  if (g.kind === "counters") return t("tl_fold_counters", { n });
  if (g.kind === "nameless") return t("tl_fold_nameless");
  if (g.kind === "rank") return g.name;
  if (g.kind === "device") return g.name.replace(/^([A-Za-z]+)(\d+)$/, "$1 $2");
  const pid = String(g.pid ?? "");
  if (/^[1-9]\d*$/.test(pid)) return g.name || t("tl_group_process");
  return g.name || (/^-?\d*$/.test(pid) ? t("tl_group_other") : pid);
}

export function groupFact(g: Group): string {
  if (g.kind === "process" && /^\d+$/.test(String(g.pid ?? ""))) return t("tl_pid", { n: String(g.pid) });
  return g.detail ?? "";
}

/** A counter's value with its unit. */
export function counterValue(l: Lane, value: number): string {
  if (l.kind === "utilization" || l.unit === "share") return short(value, "share");
  if (l.kind === "memory" || l.unit === "bytes") return short(value, "bytes");
  return short(value, "plain");
}
