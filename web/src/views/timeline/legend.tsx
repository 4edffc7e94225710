// What the colors of the timeline mean, for those that have a meaning.
import { STAGE_TOKENS } from "../../draw/timeline/colors.ts";
import { type Key, t } from "../../model/language.ts";
import { colorBy } from "../../model/timeline/state.ts";
import { countOf } from "../../model/trace.ts";
import { Legend } from "../../widgets/controls.tsx";

type Item = { label: string; color: string };

/** Kinds of events that share a color. */
const KINDS: readonly { word: Key; token: string; kinds: readonly string[] }[] = [
  { word: "cat_kernel", token: "kernel", kinds: ["kernel"] },
  { word: "cat_communication", token: "communication", kinds: ["collective"] },
  { word: "cat_memcpy", token: "memcpy", kinds: ["memcpy"] },
  { word: "cat_memset", token: "memset", kinds: ["memset"] },
  { word: "tl_legend_ops", token: "cpu_exec", kinds: ["op", "forward", "backward", "optimizer", "annotation"] },
  { word: "cat_runtime", token: "runtime", kinds: ["runtime", "driver", "sync"] },
  { word: "cat_data_loader", token: "data_loader", kinds: ["data_loading"] },
  { word: "tl_python", token: "other", kinds: ["python", "module"] },
];

const STAGES = ["stage_data_loading", "stage_forward", "stage_backward", "stage_optimizer"] as const;

function byKind(): Item[] {
  const there = KINDS.filter((k) => (countOf(...k.kinds) ?? 1) > 0);
  const list = there.map((k) => ({ label: t(k.word), color: `var(--${k.token})` }));
  return countOf("kernel") ? [...list, { label: t("tl_legend_idle"), color: "url(#hatch)" }] : list;
}

const byStage = (): Item[] => STAGES.map((key, i) => ({ label: t(key), color: `var(--${STAGE_TOKENS[i + 1]})` }));

const bySlowness = (): Item[] => [
  { label: t("tl_legend_usual"), color: "var(--h1)" },
  { label: "2×", color: "var(--h4)" },
  { label: "≥ 4×", color: "var(--h6)" },
];

/** Colors by name, module and track only distinguish things: there is nothing to explain. */
export function TimelineLegend() {
  const by = colorBy.value;
  const items = by === "kind" ? byKind() : by === "stage" ? byStage() : by === "slow" ? bySlowness() : [];
  return items.length ? (
    <div class="tl-legend" role="note" aria-label={t("tl_legend")}>
      <Legend items={items} />
    </div>
  ) : null;
}
