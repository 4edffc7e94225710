// The steps of B, where they are not those of A: a run against itself, the first steps against the last ones.
import { short } from "../../base/format.ts";
import { c, type Side } from "../../model/compare.ts";
import { go, param } from "../../model/route.ts";
import { Menu } from "../../widgets/menu.tsx";
import { askTracks } from "./pair-timeline.tsx";

const MOST = 200; // in the menu; a link may name any

export function OwnSteps({ side }: { side: Side }) {
  const steps = askTracks(side).value?.steps;
  const chosen = param("other_step");
  if (!steps || steps.number.length < 2) return null;
  const word = chosen === "" ? c("own_steps_same") : chosen === "0.." ? c("own_steps_all") : chosen;
  return (
    <Menu
      class="small-menu"
      right
      name={c("own_steps")}
      label={
        <>
          {c("own_steps")} <b>{word}</b>
        </>
      }
      items={[
        { id: "", label: c("own_steps_same"), checked: chosen === "" },
        { id: "0..", label: c("own_steps_all"), checked: chosen === "0.." },
        ...steps.number.slice(0, MOST).map((n, i) => ({
          id: String(n),
          label: c("step_n", { n }),
          detail: short((steps.end[i] as number) - (steps.start[i] as number), "ns"),
          checked: chosen === String(n),
          separator: i === 0,
        })),
      ]}
      onChoose={(other_step) => go({ params: { other_step, pair: undefined, zoom: undefined } })}
    />
  );
}
