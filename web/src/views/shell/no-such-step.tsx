// Shown for a link to steps that the trace does not have: zeros would look like a good result.
import { t } from "../../model/language.ts";
import { go, param, WHOLE_TRACE } from "../../model/route.ts";
import type { stepsInstead } from "../../model/steps.ts";

export function NoSuchStep({ there }: { there: NonNullable<ReturnType<typeof stepsInstead>> }) {
  const asked = param("step").replace("..", "–");
  return (
    <div class="missing">
      <h1>{t("no_step", { n: asked })}</h1>
      <p class="facts" role="alert">
        {there.n === 0
          ? t("no_step_none")
          : there.n === 1
            ? t("no_step_one", { a: there.first })
            : t("no_step_has", { a: there.first, b: there.last })}
      </p>
      <p class="links">
        <button type="button" class="button" onClick={() => go({ params: WHOLE_TRACE })}>
          {t(there.n ? "no_step_all" : "no_step_whole")}
        </button>
      </p>
    </div>
  );
}
