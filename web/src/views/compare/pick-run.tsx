// No second run yet: every trace that could be B, as buttons.
import { short } from "../../base/format.ts";
import { c, candidateOf, candidates, chooseSecond, sides } from "../../model/compare.ts";
import { t } from "../../model/language.ts";
import { param } from "../../model/route.ts";
import { currentRun, currentWorker } from "../../model/trace.ts";
import { Headline } from "../shared/verdict.tsx";
import { OwnSteps } from "./own-steps.tsx";

export function PickRun() {
  const [run, worker] = [currentRun.value?.name ?? "", currentWorker.value?.name ?? ""];
  const first = candidateOf({ run, worker });
  const others = candidates().filter((x) => x.id !== first?.id);
  const name = first?.label ?? run;
  const lost = param("other") !== "" && !sides.value;
  // The same trace on both sides: other steps of it can be compared.
  const steps = sides.value ? <OwnSteps side={sides.value[1]} /> : undefined;
  if (others.length === 0) return <Headline title={c("alone_title", { name })} facts={[c("alone_words")]} controls={steps} />;
  return (
    <>
      {lost ? (
        <p class="refusal" role="alert">
          {t("no_such_run", { name: param("other") })}
        </p>
      ) : null}
      <Headline title={c("pick_title", { name })} facts={[c("pick_words")]} controls={steps} />
      <div class="pick-runs">
        {others.map((x) => (
          <button type="button" key={x.id} class="button" onClick={() => chooseSecond(x.id)}>
            <b>{x.label}</b>
            {x.folder && x.folder !== run ? <span class="t3"> {x.folder}</span> : null}
            {x.step ? <span class="t3"> {short(x.step, "ns")}</span> : null}
          </button>
        ))}
      </div>
    </>
  );
}
