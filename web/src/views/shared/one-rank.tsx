// Some views are of one rank. Where all were chosen they say which one is shown, and offer the others.
import { t } from "../../model/language.ts";
import { changeTrace } from "../../model/steps.ts";
import { allChosen, allRanks, currentRun, currentWorker } from "../../model/trace.ts";
import { Menu } from "../../widgets/menu.tsx";

/** The ranks of the job; choosing one shows it in all views. */
export function RankMenu({ label }: { label: string }) {
  const ranks = (currentRun.value?.workers ?? []).filter((w) => w.role === "rank");
  return (
    <Menu
      class="small-menu"
      name={t("worker")}
      filter={t("filter")}
      label={<b>{label}</b>}
      items={ranks.map((w) => ({ id: w.name, label: w.name }))}
      onChoose={(worker) => changeTrace({ worker, span: undefined })}
    />
  );
}

export function OneRank() {
  if (!allChosen.value || allRanks.value) return null;
  return (
    <div class="one-rank" role="status">
      {t("one_rank_only")} <RankMenu label={currentWorker.value?.name ?? ""} />
    </div>
  );
}
