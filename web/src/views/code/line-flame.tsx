// Who calls the chosen line, and what it calls: a flame graph of the call stacks through it, callers at the top.
import { isKnown, largestFirst, type Maybe } from "../../base/aggregate.ts";
import { short, thousands } from "../../base/format.ts";
import { Definition } from "../../base/tip.tsx";
import { Icicle, type Node } from "../../draw/charts/icicle.tsx";
import {
  askStacks,
  baseName,
  c,
  chooseLine,
  type FlameValue,
  type Frame,
  flameValue,
  framesOf,
  type Neighbor,
  neighborsOf,
} from "../../model/code.ts";
import { themeVersion } from "../../model/theme.ts";
import { rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";

const FILLS: Record<string, string> = { own: "var(--cpu_exec)", package: "var(--other)", stdlib: "var(--other)" };
const DEEPEST = 40; // rows: deeper ones are seen by choosing a line further in

type Said = (value: Maybe) => string;

const labelOf = ({ row }: Frame): string =>
  row.file === null ? (row.function ?? c("unknown")) : `${baseName(row.file)}:${row.line} ${row.function ?? ""}`;

function nodeOf(f: Frame, by: FlameValue, said: Said, depth = 0): Node {
  const kids = depth < DEEPEST ? [...f.kids].sort(largestFirst((k) => k.row[by])) : [];
  return {
    id: String(f.id),
    label: labelOf(f),
    value: f.row[by] ?? 0,
    fill: FILLS[f.row.owner ?? ""] ?? "var(--other)",
    kids: kids.map((k) => nodeOf(k, by, said, depth + 1)),
    card: <Definition title={labelOf(f)} help={said(f.row[by])} path={f.row.file ?? undefined} />,
  };
}

const findFrame = (frames: readonly Frame[], is: (f: Frame) => boolean): Frame | undefined => {
  for (const f of frames) {
    const found = is(f) ? f : findFrame(f.kids, is);
    if (found) return found;
  }
  return undefined;
};

export function LineFlame({ file, line, steps }: { file: string; line: number; steps: number }) {
  themeVersion.value; // text on fills follows the theme
  const asked = askStacks(file, line);
  const rows = rowsOf(asked.value?.tables.stacks);
  const by = flameValue(rows);
  // As the other numbers of the view: a mean over the steps. Samples are counted.
  const said: Said = (v) => (by === "samples" ? thousands(v) : short(isKnown(v) ? v / (steps || 1) : v, "ns"));
  const frames = framesOf(rows);
  const around = neighborsOf(frames, file, line, by);
  const chosen = findFrame(frames, (f) => f.row.file === file && f.row.line === line);
  const words = c(by === "samples" ? "flame_samples" : by === "gpu_ns" ? "flame_gpu" : "flame_cpu");
  const show = (id: string) => {
    const row = findFrame(frames, (f) => String(f.id) === id)?.row;
    if (row?.file && row.line) chooseLine(row.file, row.line);
  };
  return (
    <Panel name={c("flame")} words={rows.length ? words : undefined} asked={asked} height={140} span="code-flame">
      {rows.length === 0 ? (
        <p class="empty">{c("flame_none")}</p>
      ) : (
        <div class="pad">
          <Icicle
            nodes={frames.sort(largestFirst((f) => f.row[by])).map((f) => nodeOf(f, by, said))}
            label={c("flame")}
            chosen={chosen ? String(chosen.id) : undefined}
            onNode={show}
          />
          <Neighbors title={c("called_by")} list={around.callers} said={said} />
          <Neighbors title={c("calls_to")} list={around.callees} said={said} />
        </div>
      )}
    </Panel>
  );
}

const Neighbors = ({ title, list, said }: { title: string; list: readonly Neighbor[]; said: Said }) =>
  list.length ? (
    <div class="code-around">
      <h3>{title}</h3>
      <ul>
        {list.map((n) => (
          <li key={`${n.file}:${n.line}`}>
            <button type="button" class="link" title={n.file} onClick={() => chooseLine(n.file, n.line)}>
              <code>
                {baseName(n.file)}:{n.line}
              </code>
            </button>
            <span class="t3">{n.name}</span>
            <span>{said(n.value)}</span>
          </li>
        ))}
      </ul>
    </div>
  ) : null;
