// No second run yet: every trace that could be B, as buttons.
import { c, candidates, chooseSecond } from "../../model/compare.ts";
import { currentRun, currentWorker } from "../../model/trace.ts";
import { Headline } from "../shared/verdict.tsx";

export function PickRun() {
  const [run, worker] = [currentRun.value?.name ?? "", currentWorker.value?.name ?? ""];
  const others = candidates().filter((x) => x.id !== `${run}\n${worker}` && x.id !== `${run}\n`);
  const name = candidates().some((x) => x.id === `${run}\n${worker}`) ? worker : run;
  if (others.length === 0) return <Headline title={c("alone_title", { name })} facts={[c("alone_words")]} />;
  return (
    <>
      <Headline title={c("pick_title", { name })} facts={[c("pick_words")]} />
      <div class="pick-runs">
        {others.map((x) => (
          <button type="button" key={x.id} class="button" onClick={() => chooseSecond(x.id)}>
            <b>{x.label}</b>
            {x.detail && x.detail !== run ? <span class="t3"> {x.detail}</span> : null}
          </button>
        ))}
      </div>
    </>
  );
}
