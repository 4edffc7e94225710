// A slice by where it is, and as a link that shows it.
import { shortName } from "../../draw/timeline/labels.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { t } from "../../model/language.ts";
import { laneName, laneRole } from "../../model/timeline/lane-names.ts";
import { chooseRef, stage } from "../../model/timeline/state.ts";

/** What the device of a lane is called: GPU, NPU, MLU … */
export function deviceWord(lane: number): string {
  return stage.tracks?.lanes.find((x) => x.id === lane)?.device_type ?? "GPU";
}

/** "thread 391", "stream 7": where a slice is. */
export function whereIs(lane: number): string {
  const l = stage.tracks?.lanes.find((x) => x.id === lane);
  if (!l) return "";
  if (l.kind === "calls" || l.kind === "python") return l.tid === undefined ? laneName(l) : t("tl_thread", { n: l.tid });
  return `${laneName(l)}${laneRole(l) ? ` ${laneRole(l)}` : ""}`;
}

export function Jump({ to, children }: { to: Ref; children?: string }) {
  return (
    <button type="button" class="tl-link" title={to.name} onClick={() => chooseRef(to)}>
      {children ?? shortName(to.name)}
    </button>
  );
}
