// The path of the typical step as one strip: every piece by its kind, in order.
import { largestFirst, sum } from "../../base/aggregate.ts";
import { percent, short, THIN } from "../../base/format.ts";
import { PathStrip } from "../../draw/charts/path-strip.tsx";
import { stretch } from "../../model/evidence.ts";
import { go, place, writePlace } from "../../model/route.ts";
import { csvUrl, type Row } from "../../model/trace.ts";
import { askPath, kindFill, kindWord, type Piece, pathQuery, piecesOf, typicalStep, w } from "../../model/why.ts";
import { Legend } from "../../widgets/controls.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { defined } from "../shared/table-source.ts";

/** Before which work or operator a piece is, rather than in it. */
const BEFORE = ["between", "queue", "launch_latency"];

const nameOf = (p: Piece): string | undefined =>
  p.name === null ? undefined : BEFORE.includes(p.kind ?? "") ? w("before_name", { name: p.name }) : p.name;

/** Opens the timeline at a piece, with the path drawn. */
function showPiece(p: Piece): void {
  const [from, to] = [p.start ?? 0, (p.start ?? 0) + (p.duration ?? 0)];
  go({
    view: "timeline",
    params: {
      path: "1",
      piece: String(from),
      sel: p.slice === null ? undefined : `slice:${p.slice}`,
      view: stretch(from, to),
      top: undefined,
      area: undefined,
      claim: kindWord(p.kind ?? ""),
      back: writePlace(place.value),
    },
  });
}

/** The kinds of a path with their sums, the most first. */
function sumsOf(pieces: readonly Piece[]): { kind: string; ns: number }[] {
  const kinds = [...new Set(pieces.map((p) => p.kind ?? ""))];
  const all = kinds.map((kind) => ({ kind, ns: sum(pieces, (p) => (p.kind === kind ? p.duration : 0)) }));
  return all.sort(largestFirst((k) => k.ns));
}

type Steps = readonly Row<"whatif", "steps">[];

export function PathPanel({ steps }: { steps: Steps }) {
  const step = typicalStep(steps)?.step ?? undefined;
  return step === undefined ? <Panel name={w("path")} busy height={84} /> : <PathOf step={step} steps={steps} />;
}

function PathOf({ step, steps }: { step: number; steps: Steps }) {
  const query = pathQuery(step, steps);
  const asked = askPath(query);
  const pieces = piecesOf(asked, step);
  const from = pieces[0]?.start ?? 0;
  const total = sum(pieces, (p) => p.duration);
  const kinds = sumsOf(pieces);
  const label = w("path_label", {
    n: step,
    pieces: pieces.length,
    list: kinds.map((k) => `${kindWord(k.kind)} ${short(k.ns, "ns")}`).join(", "),
  });
  const describe = (i: number): string => {
    const p = pieces[i];
    if (!p) return "";
    const share = percent((p.duration ?? 0) / (total || 1));
    return [kindWord(p.kind ?? ""), nameOf(p), `${short(p.duration, "ns")} (${share})`, `+${short((p.start ?? 0) - from, "ns")}`]
      .filter((x) => x !== undefined)
      .join(` ·${THIN} `);
  };
  return (
    <Panel
      name={w("path")}
      words={w("path_words", { n: step, v: short(total, "ns") })}
      define={defined(asked.value, "path", "kind")}
      csv={csvUrl("critical", "path", query)}
      asked={asked}
      height={84}
      figure={label}
      controls={
        <button type="button" class="link" onClick={() => pieces[0] && showStep(from, total)}>
          {w("path_timeline")} →
        </button>
      }
    >
      <div class="pad">
        <PathStrip
          pieces={pieces.map((p) => ({ start: (p.start ?? 0) - from, duration: p.duration ?? 0, fill: kindFill(p.kind ?? "") }))}
          total={total}
          height={30}
          label={label}
          hint={w("path_hint")}
          describe={describe}
          onPiece={(i) => pieces[i] && showPiece(pieces[i])}
        />
        <Legend items={kinds.map((k) => ({ label: kindWord(k.kind), color: kindFill(k.kind) }))} />
      </div>
    </Panel>
  );
}

/** The whole step in the timeline, with its path. */
function showStep(from: number, total: number): void {
  const params = { path: "1", piece: undefined, sel: undefined, top: undefined, area: undefined };
  go({
    view: "timeline",
    params: { ...params, view: stretch(from, from + total), back: writePlace(place.value), claim: w("path") },
  });
}
