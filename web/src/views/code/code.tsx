// Code: the program's own files with what each of their lines costs.
import { useRef, useState } from "preact/hooks";
import { theReport } from "../../api/report.ts";
import { shareOf, sum } from "../../base/aggregate.ts";
import { percent } from "../../base/format.ts";
import { linesOf } from "../../base/highlight.ts";
import {
  askLines,
  askSource,
  baseName,
  c,
  chooseLine,
  chosenFile,
  chosenLine,
  heatIn,
  hotLines,
  type Line,
  linesOfFile,
} from "../../model/code.ts";
import { t } from "../../model/language.ts";
import { choice } from "../../model/route.ts";
import { tape, windowRange } from "../../model/steps.ts";
import { type AskedFor, csvUrl, currentRun, currentWorker, rowsOf } from "../../model/trace.ts";
import { Rich, Segmented } from "../../widgets/controls.tsx";
import { Icon } from "../../widgets/icons.tsx";
import { Panel, Waiting } from "../../widgets/panel.tsx";
import { Missing } from "../shared/missing.tsx";
import { Verdict } from "../shared/verdict.tsx";
import { columnsOf } from "./columns.ts";
import { FileChoice, Files } from "./files.tsx";
import { LineFlame } from "./line-flame.tsx";
import { LinePanel, showLine } from "./line-panel.tsx";
import { LineTable } from "./line-table.tsx";
import { matchesIn, SourceText } from "./source.tsx";

/** How many steps the window has: times are means over them; 0 without steps. */
function stepsInView(): number {
  const now = tape();
  return now ? windowRange(now).steps : 0;
}

/** The answer, unless it is still that of another run: its files have no meaning in this one. */
function askOwnLines(): AskedFor<"lines"> {
  const asked = askLines();
  const { run, worker } = asked.value?.trace ?? {};
  const other = run !== currentRun.value?.name || (asked.old && worker !== currentWorker.value?.name);
  return other ? { ...asked, value: undefined } : asked;
}

export function Code() {
  const asked = askOwnLines();
  const lines = rowsOf(asked.value?.tables.lines);
  const files = rowsOf(asked.value?.tables.files);
  const known = files.filter((f) => f.file !== null);
  if (asked.value && !known.length) return <Missing name="code" />;
  const heat = heatIn(files);
  const file = chosenFile(files, heat);
  const whole = sum(files, (f) => f[heat]);
  const unknown = sum(files, (f) => (f.file === null ? f[heat] : 0));
  const facts = [
    c("fact_lines", { n: lines.filter((l) => l.file !== null).length, m: known.length }),
    unknown > 0 ? c("fact_unknown", { v: percent(shareOf(unknown, whole)) }) : undefined,
  ];
  const number = file === undefined ? undefined : chosenLine(lines, file, heat);
  const line = file === undefined || number === undefined ? undefined : linesOfFile(lines, file).get(number);
  return (
    <>
      <Verdict answer={asked.value} otherwise={t("code")} facts={facts} />
      <div class="code-grid">
        <Files asked={asked} files={files} heat={heat} chosen={file} />
        {file === undefined ? null : (
          <SourcePanel key={file} asked={asked} lines={lines} file={file} number={number} files={files} />
        )}
        {file === undefined || number === undefined ? null : (
          <div class="code-side">
            <LinePanel file={file} number={number} line={line} all={lines} steps={stepsInView()} />
            {theReport() || !line ? null : <LineFlame file={file} line={number} steps={stepsInView()} />}
          </div>
        )}
      </div>
    </>
  );
}

interface PanelProps {
  asked: AskedFor<"lines">;
  lines: readonly Line[];
  files: Parameters<typeof FileChoice>[0]["files"];
  file: string;
  number: number | undefined;
}

function SourcePanel({ asked, lines, files, file, number }: PanelProps) {
  const [time, setTime] = choice("time", "calls");
  const [words, setWords] = useState("");
  const steps = stepsInView();
  const heat = heatIn(files);
  const own = linesOfFile(lines, file);
  const columns = columnsOf(lines, time === "self", steps);
  const source = theReport() ? undefined : askSource(file);
  const text = source?.old ? undefined : source?.value?.text;
  const shared = { file, lines: own, chosen: number, heat, onShow: showLine };
  const controls = (
    <>
      {text ? <Search text={text} file={file} number={number} words={words} onWords={setWords} /> : null}
      <Segmented label={c("which_time")} chosen={time} onChoose={setTime} choices={{ calls: c("with_calls"), self: c("self") }} />
    </>
  );
  return (
    <Panel
      name={c("source")}
      title={<code title={file}>{baseName(file)}</code>}
      words={<UnitWords columns={columns} steps={steps} />}
      csv={csvUrl("lines", "lines")}
      asked={asked}
      height={420}
      span="code-source"
      controls={controls}
    >
      <FileChoice files={files} heat={heat} chosen={file} />
      {source?.value?.note && !source.old ? <p class="code-note">{source.value.note}</p> : null}
      {theReport() ? <p class="code-note">{c("in_report")}</p> : null}
      {source && !source.error && (source.old || !source.value) ? (
        <Waiting height={420} />
      ) : text ? (
        <>
          <SourceText {...shared} text={text} columns={columns} hot={hotLines(lines, heat)} words={words} />
          <p class="code-hint">{c("hint")}</p>
        </>
      ) : (
        <>
          <LineTable {...shared} asked={asked} self={time === "self"} />
          {source ? (
            <p class="code-hint">
              <Rich text={c("without_root")} />
            </p>
          ) : null}
        </>
      )}
    </Panel>
  );
}

/** The units of the columns: one for the times, one for memory. */
function UnitWords({ columns, steps }: { columns: ReturnType<typeof columnsOf>; steps: number }) {
  const units = [...new Set(columns.filter((x) => x.id !== "memory").map((x) => x.scale.unit))].join(", ");
  const memory = columns.find((x) => x.id === "memory");
  const times = units ? (steps ? c("per_step", { unit: units, n: steps }) : c("in_all", { unit: units })) : "";
  return <>{[times, memory ? c("memory_words", { unit: memory.scale.unit }) : ""].filter(Boolean).join(" · ")}</>;
}

interface SearchProps {
  text: string;
  file: string;
  number: number | undefined;
  words: string;
  onWords: (words: string) => void;
}

/** Finds words in the file: Enter goes to the next match, Shift Enter to the one before. */
function Search({ text, file, number, words, onWords }: SearchProps) {
  const input = useRef<HTMLInputElement>(null);
  const all = matchesIn(linesOf(text), words);
  const at = all.indexOf(number ?? 0);
  const move = (by: 1 | -1) => {
    const now = number ?? 0;
    const next = by > 0 ? (all.find((n) => n > now) ?? all[0]) : (all.filter((n) => n < now).pop() ?? all[all.length - 1]);
    if (next) chooseLine(file, next, true);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Enter") move(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      onWords("");
      input.current?.blur();
    } else return;
    e.stopPropagation();
    e.preventDefault();
  };
  return (
    <label class="filter code-search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        data-filter
        placeholder={c("search")}
        aria-label={c("search")}
        value={words}
        onInput={(e) => onWords(e.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {words ? (
        <span class="t3" role="status">
          {all.length ? c("found", { at: at + 1, n: all.length }) : c("found_none")}
        </span>
      ) : (
        <kbd>/</kbd>
      )}
    </label>
  );
}
