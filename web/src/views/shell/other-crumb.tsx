// The second run of a comparison, after the first one in the top bar. Fetched with the Compare view.
import { short } from "../../base/format.ts";
import { runs } from "../../model/answers.ts";
import { c, candidateOf, candidates, chooseSecond, type Side, sides, swapSides } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { allRanks } from "../../model/trace.ts";
import { Menu } from "../../widgets/menu.tsx";

export function OtherCrumb() {
  const second = sides.value?.[1];
  const now = second && candidateOf(second);
  return (
    <>
      <i class="slash">→</i>
      <i class="side-mark">B</i>
      <Menu
        class="crumb"
        name={c("second")}
        filter={t("filter")}
        label={<b>{now?.label ?? c("pick")}</b>}
        items={candidates().map((x) => ({
          id: x.id,
          label: x.label,
          detail: [x.folder, x.step ? short(x.step, "ns") : ""].filter(Boolean).join(" "),
          checked: x.id === now?.id,
        }))}
        onChoose={chooseSecond}
      />
      {second ? <RankOfOther side={second} /> : null}
      {second ? (
        <button type="button" class="iconic" onClick={swapSides} aria-label={c("swap")} title={c("swap")}>
          ⇄
        </button>
      ) : null}
    </>
  );
}

/** The rank of a job, unless all of them are compared. */
function RankOfOther({ side }: { side: Side }) {
  const workers = runs.value?.runs.find((r) => r.name === side.run)?.workers.filter((w) => w.role === "rank") ?? [];
  if (workers.length < 2 || allRanks.value) return null;
  return (
    <>
      <i class="slash">/</i>
      <Menu
        class="crumb"
        name={c("worker_of", { side: "B" })}
        filter={t("filter")}
        label={<b>{side.worker}</b>}
        items={workers.map((w) => ({ id: w.name, label: w.name, checked: w.name === side.worker }))}
        onChoose={(other_worker) => go({ params: { other_worker } })}
      />
    </>
  );
}
