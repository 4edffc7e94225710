// The answer above the evidence: one sentence, then three to five facts.
import type { ComponentChildren } from "preact";
import type { Answer } from "../../api/types.ts";
import { isKnown } from "../../base/aggregate.ts";
import { lineIn } from "../../base/frames.ts";
import { unmangled } from "../../base/names.ts";
import { showSlice } from "../../model/evidence.ts";
import { language, t } from "../../model/language.ts";
import { view } from "../../model/route.ts";
import { isSummary } from "../../model/trace.ts";
import { Rich } from "../../widgets/controls.tsx";
import { CodeLink } from "./code-link.tsx";

const NUMBER = /\d[\d,.]*[\s\u2009]?(?:%|ms|µs|ns|s\b|×|GiB|MiB|KiB|GB|MB)|[Rr]ank \d+/;
const UNIT = /(\d) (?=[%×]|[mnµ]?s\b|[KMGT]?i?B\b)/g;
const NAME = /(\w+::[\w:]*\w)/;

/** The key number in the severity's color, names in mono. */
function Sentence({ text: said, severity }: { text: string; severity: string }) {
  const text = said.replace(UNIT, "$1\u00a0"); // a number and its unit stay on one line
  const found = severity === "critical" || severity === "warning" ? text.match(NUMBER) : null;
  const names = (s: string) => s.split(NAME).map((p, i) => (i % 2 === 1 ? <code key={i}>{p}</code> : p));
  if (!found || found.index === undefined) return <>{names(text)}</>;
  const end = found.index + found[0].length;
  return (
    <>
      {names(text.slice(0, found.index))}
      <em class={severity}>{found[0]}</em>
      {names(text.slice(end))}
    </>
  );
}

interface HeadProps {
  answer: Answer | undefined;
  otherwise: string; // when no rule matched
  facts?: readonly (string | undefined)[];
  more?: ComponentChildren; // after the facts
  controls?: ComponentChildren;
  show?: (() => void) | undefined; // its evidence
}

export function Verdict({ answer, otherwise, facts = [], more, controls, show }: HeadProps) {
  const verdict = answer?.verdict;
  const said = verdict && unmangled(verdict.text[language.value], verdict.values);
  const title = verdict ? <Sentence text={said ?? ""} severity={verdict.severity} /> : otherwise;
  const lead = isSummary() ? undefined : (show ?? showNamed(verdict?.values));
  // Without an answer every number would be a zero that was not measured.
  const beside = (
    <>
      {verdict && lead ? <ShowIt show={lead} /> : null}
      {said && lineIn(said) && view.value !== "code" ? (
        <span>
          <CodeLink text={said} />
        </span>
      ) : null}
      {answer ? more : null}
    </>
  );
  return <Headline title={title} facts={answer ? facts : []} more={beside} controls={controls} />;
}

// Values of a verdict that say what its event is.
const NOUNS = ["kernel", "op", "module", "collective", "call", "name", "before"];

/** The way to the event that a verdict names, where its values hold one. */
function showNamed(values: Record<string, unknown> | undefined): (() => void) | undefined {
  const slice = values?.slice;
  const noun = NOUNS.map((n) => values?.[n]).find((v) => typeof v === "string");
  return isKnown(slice) ? () => showSlice(slice, String(noun ?? "")) : undefined;
}

export const ShowIt = ({ show }: { show: () => void }) => (
  <span>
    <button type="button" class="link" onClick={show}>
      {t("show_in_timeline")}
    </button>
  </span>
);

interface HeadlineProps {
  title: ComponentChildren;
  facts: readonly (string | undefined)[];
  more?: ComponentChildren; // after the facts
  controls?: ComponentChildren;
}

/** One sentence and the facts below it. */
export function Headline({ title, facts, more, controls }: HeadlineProps) {
  return (
    <div class="verdict">
      <div>
        <h1>{title}</h1>
        <p class="facts">
          {facts.map((f, i) =>
            f === undefined ? null : (
              <span key={i}>
                <Rich text={f} />
              </span>
            ),
          )}
          {more}
        </p>
      </div>
      {controls}
    </div>
  );
}
