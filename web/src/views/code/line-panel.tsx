// The chosen line: what it costs, its longest call, the way to its events and into the editor.
import type { ComponentChildren } from "preact";
import { isKnown, type Maybe, shareOf, sum } from "../../base/aggregate.ts";
import { exact, percent, short, thousands } from "../../base/format.ts";
import { ask } from "../../model/answers.ts";
import { baseName, c, type Line } from "../../model/code.ts";
import { showSlice } from "../../model/evidence.ts";
import { traceQuery } from "../../model/route.ts";
import { oneWorker } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import { EditorMenu, OpenInEditor } from "../shared/stack-frames.tsx";

interface Props {
  file: string;
  number: number;
  line: Line | undefined;
  all: readonly Line[];
  steps: number; // times are means over so many; 0: sums
}

/** Shows the longest call of a line in the timeline, with all of its calls found. */
export function showLine(line: Line): void {
  if (!isKnown(line.slice)) return;
  const claim = `${baseName(line.file ?? "")}:${line.line} ${line.function ?? ""}`.trim();
  showSlice(line.slice, claim, { find: `"${line.file}(${line.line})"` });
}

export function LinePanel({ file, number, line, all, steps }: Props) {
  return (
    <Panel
      name={c("line_n", { n: String(number) })}
      words={
        line ? (
          <>
            {isKnown(line.calls) ? c("calls", { n: thousands(line.calls) }) : null}
            {line.function ? <span class="code-in"> {c("in_function", { name: line.function })}</span> : null}
          </>
        ) : undefined
      }
      span="code-line"
    >
      {line ? <Facts line={line} all={all} steps={steps} /> : <p class="empty">{c("no_numbers")}</p>}
      <p class="code-links">
        {line && isKnown(line.slice) ? (
          <button type="button" class="link" onClick={() => showLine(line)}>
            {c("timeline")}
          </button>
        ) : null}
        <OpenInEditor file={file} line={number} label={c("editor")} />
        <EditorMenu />
      </p>
    </Panel>
  );
}

interface Called {
  slice: { duration: number };
}

/** How long the longest call is: its event knows. */
function longestCall(line: Line): Maybe {
  const asked = ask<Called>("code-longest", "slice", { ...traceQuery.value, ...oneWorker(), id: line.slice ?? 0 });
  return asked.old ? null : asked.value?.slice.duration;
}

function Facts({ line, all, steps }: { line: Line; all: readonly Line[]; steps: number }) {
  const each = (ns: Maybe) => (isKnown(ns) ? ns / (steps || 1) : ns);
  const path = sum(all, (l) => l.critical_ns);
  const idle = sum(all, (l) => l.idle_ns);
  const gpu = sum(all, (l) => l.gpu_self_ns);
  const longest = isKnown(line.slice) ? longestCall(line) : null;
  return (
    <dl class="code-facts">
      {path > 0 ? <Fact name={c("on_path")} ns={each(line.critical_ns)} more={percent(shareOf(line.critical_ns, path))} /> : null}
      {idle > 0 ? (
        <Fact name={c("idle_meanwhile")} ns={each(line.idle_ns)} more={c("of_all", { v: short(each(idle), "ns") })} />
      ) : null}
      <Fact
        name={c("cpu_time")}
        ns={each(line.cpu_ns)}
        more={
          <>
            {short(each(line.cpu_self_ns), "ns")} {c("cpu_self")}
          </>
        }
      />
      {gpu > 0 ? (
        <Fact
          name={c("gpu_time")}
          ns={each(line.gpu_ns)}
          more={
            line.backward_gpu_ns
              ? c("backward", { v: short(each(line.backward_gpu_ns), "ns") })
              : percent(shareOf(line.gpu_ns, gpu))
          }
        />
      ) : null}
      {isKnown(longest) ? <Fact name={c("longest")} ns={longest} /> : null}
      {line.peak_bytes ? (
        <Row name={c("peak")} value={short(line.peak_bytes, "bytes")} title={exact(line.peak_bytes, "bytes")} />
      ) : null}
      {line.syncs ? <Row name={c("syncs")} value={thousands(line.syncs)} /> : null}
      {line.samples ? <Row name={c("samples")} value={thousands(line.samples)} /> : null}
    </dl>
  );
}

const Fact = ({ name, ns, more }: { name: string; ns: Maybe; more?: ComponentChildren }) =>
  isKnown(ns) ? <Row name={name} value={short(ns, "ns")} title={exact(ns, "ns")} more={more} /> : null;

const Row = ({ name, value, title, more }: { name: string; value: string; title?: string; more?: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd title={title}>{value}</dd>
    <dd class="t3">{more}</dd>
  </div>
);
