// A run whose file cannot be read: said once, instead of in every panel.
import type { ApiError } from "../../api/types.ts";
import { t } from "../../model/language.ts";
import { go } from "../../model/route.ts";
import { allRanks, currentRun, currentSpan, currentWorker } from "../../model/trace.ts";

/** Why nothing of what is chosen can be shown: the file failed, or those of all ranks did. */
export function failureInView(): ApiError | undefined {
  const spans = allRanks.value ? (currentRun.value?.workers.flatMap((w) => w.spans) ?? []) : [currentSpan.value];
  const errors = spans.map((s) => (s?.state === "failed" ? s.error : null));
  return errors.length > 0 && errors.every((e) => e !== null) ? (errors[0] ?? undefined) : undefined;
}

export function Unreadable({ error }: { error: ApiError }) {
  const name = [currentRun.value?.name, currentWorker.value?.name].filter(Boolean).join(" / ");
  return (
    <div class="missing">
      <h1>{t("unreadable", { name })}</h1>
      <p class="facts" role="alert">
        {error.msg}
        {error.offset === null ? "" : ` · ${error.offset.toLocaleString("en")} B`}
      </p>
      <p class="facts">{t("unreadable_watch")}</p>
      <p class="links">
        <button type="button" class="button" onClick={() => void navigator.clipboard?.writeText(JSON.stringify(error, null, 1))}>
          {t("copy_details")}
        </button>
        <button type="button" class="button" onClick={() => go({ view: "runs", params: { run: undefined, worker: undefined } })}>
          {t("all_runs")}
        </button>
      </p>
    </div>
  );
}
