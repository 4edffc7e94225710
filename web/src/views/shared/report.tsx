// The report: what a reader takes along. Printing uses the page's own print style (css/shell.css).
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { short } from "../../base/format.ts";
import { paper } from "../../base/paper.ts";
import { saveFile } from "../../base/save.ts";
import { ask, server } from "../../model/answers.ts";
import { language, t } from "../../model/language.ts";
import { param } from "../../model/route.ts";
import { parseSteps, tape } from "../../model/steps.ts";
import { analysis, analysisQuery, currentRun, infoInView, type Row, rowsOf, whoseNumbers } from "../../model/trace.ts";
import { Menu } from "../../widgets/menu.tsx";

export function ReportMenu() {
  return (
    <Menu
      class="report"
      name={t("report")}
      label={t("report")}
      right
      items={[
        { id: "print", label: t("report_print") },
        { id: "markdown", label: t("report_markdown") },
        { id: "text", label: t("report_text"), separator: true },
        { id: "link", label: t("report_link") },
      ]}
      onChoose={choose}
    />
  );
}

function choose(id: string): void {
  if (id === "print") setTimeout(print, 50); // the menu closes first
  if (id === "markdown") void saveMarkdown();
  if (id === "link") void navigator.clipboard?.writeText(location.href);
  if (id === "text") void navigator.clipboard?.writeText(verdictText());
}

/** Messages end without a full stop. */
function sentences(...parts: unknown[]): string {
  const stop = language.peek() === "zh" ? "。" : ". ";
  return parts
    .filter((p) => p)
    .map((p) => `${p}${stop}`)
    .join("")
    .trim();
}

/** What a change saves, as in the advice; nothing where that is not known. */
const savingOf = (r: Row<"advise", "advice">): string =>
  r.saves ? ` (${t("saves")} ${short(r.saves, "ns")}, ${short(r.share, "share")})` : "";

/** Verdict and advice as plain lines. */
function verdictText(): string {
  const verdict = analysis("overview").value?.verdict?.text[language.value] ?? "";
  const advice = rowsOf(analysis("advise").value?.tables.advice).map(
    (r) => `- ${r.title}${savingOf(r)}: ${sentences(r.evidence, r.suggestion)}`,
  );
  return [headLine(), "", verdict, ...advice].join("\n");
}

// Tables of the report: analysis, table, title.
const PARTS = [
  ["overview", "breakdown", "average_step"],
  ["overview", "steps", "steps"],
  ["operators", "operators", "operators"],
  ["kernels", "kernels", "kernels"],
] as const;

async function saveMarkdown(): Promise<void> {
  const [run, worker] = [currentRun.peek()?.name ?? "trace", whoseNumbers()];
  const verdict = analysis("overview").value?.verdict?.text[language.value] ?? "";
  const advice = rowsOf(analysis("advise").value?.tables.advice).map(
    (r) => `- **${r.title}${savingOf(r)}.** ${sentences(r.evidence, r.suggestion)}`,
  );
  const parts = await Promise.all(
    PARTS.map(async ([name, table, title]) => {
      const asked = server().text(name, analysisQuery(name, { table, format: "md", limit: 20 }));
      const text = await asked.catch(() => undefined);
      return text === undefined ? "" : `## ${t(title)}\n\n${text.trim()}`;
    }),
  );
  const text = [`# ${headLine()}`, verdict, `## ${t("advice")}`, advice.join("\n"), ...parts.filter(Boolean), ""];
  saveFile(`${run}-${worker}.md`, new Blob([text.join("\n\n")], { type: "text/markdown" }));
}

function headLine(): string {
  const now = tape();
  const steps = now && parseSteps(param("step"), now.numbers);
  const version = ask<{ tacho: string }>("ping", "ping", {}).value?.tacho ?? "";
  return t("print_head", {
    run: currentRun.value?.name ?? "",
    worker: whoseNumbers(),
    window: steps ? t("print_steps", { a: steps[0], b: steps[1] }) : param("from") ? t("part") : t("print_whole"),
    version,
  });
}

const NARROW = 900; // px of a window whose panels lie one below the other
const PAPER = 970; // px: how wide the pages are, A4 or Letter on its side

/** Paper shows what the window shows, smaller: charts have been drawn for that width. */
function followPaper(): () => void {
  const root = document.documentElement;
  return effect(() => {
    const width = document.querySelector("main")?.clientWidth ?? PAPER;
    root.toggleAttribute("data-narrow", paper.value && innerWidth < NARROW);
    root.style.setProperty("--printed", paper.value ? `${width}px` : "");
    root.style.setProperty("--smaller", paper.value ? String(Math.min(1, PAPER / width)) : "");
  });
}

/** On paper only: what the pages belong to and what they are based on. */
export function PrintHead() {
  useEffect(followPaper, []);
  const quality = infoInView().value?.quality;
  const dropped = quality?.events_dropped.reduce((s, d) => s + (d.cause === "partial_overlap" ? 0 : d.count), 0) ?? 0;
  return (
    <header class="print-head">
      <b>{headLine()}</b>
      <span>
        {t("trust_read")} {quality?.events_read ?? "–"} · {t("trust_dropped")} {dropped}
      </span>
    </header>
  );
}
