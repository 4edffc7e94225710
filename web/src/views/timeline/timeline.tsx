// The timeline: toolbar, stage, details.
import { effect } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { Table } from "../../api/types.ts";
import { short } from "../../base/format.ts";
import { refOnClock } from "../../draw/timeline/together.ts";
import type { Ref } from "../../draw/timeline/tracks.ts";
import { counted, server } from "../../model/answers.ts";
import { t } from "../../model/language.ts";
import { go, param, place, traceQuery } from "../../model/route.ts";
import { adopt, closeUp, speak, stepAround } from "../../model/timeline/actions.ts";
import { pieceNow, shownPath } from "../../model/timeline/path.ts";
import { publishHits } from "../../model/timeline/search.ts";
import {
  askTracks,
  choices,
  chosen,
  coarseness,
  detail,
  firstRange,
  layOut,
  nameOf,
  parseRange,
  redraw,
  scrollToLane,
  show,
  showDetails,
  spoken,
  stage,
  stopPublishing,
} from "../../model/timeline/state.ts";
import { isTogether, leaveTogether, type Member, memberOfRank, members } from "../../model/timeline/together.ts";
import type { SearchAnswer, SliceAnswer } from "../../model/timeline/types.ts";
import { analysisQuery } from "../../model/trace.ts";
import { panViewport } from "../../model/viewport.ts";
import { Details } from "./details.tsx";
import { EvidenceStrip } from "./evidence-strip.tsx";
import { RankBar } from "./rank-bar.tsx";
import { Stage, TrackFilter } from "./stage.tsx";
import { Toolbar } from "./toolbar.tsx";

export function Timeline() {
  const { value: tracks, error, reading } = askTracks();
  void choices.value;
  if (tracks) layOut(tracks);
  const ready = tracks !== undefined;
  useLayoutEffect(() => (ready ? follow() : undefined), [ready]);
  if (error && !tracks)
    return (
      <div class="tl-message" role="alert">
        <h1>{error.msg}</h1>
      </div>
    );
  if (!tracks)
    return (
      <div class="tl-message" aria-busy="true">
        <h1 class="tl-title">{t("timeline")}</h1>
        {reading?.total ? t("tl_reading", { n: reading.done, all: reading.total }) : null}
      </div>
    );
  if (tracks.lanes.length === 0)
    return (
      <div class="tl-message">
        <h1>{t("tl_empty")}</h1>
      </div>
    );
  return (
    <div class="tl-frame">
      <EvidenceStrip />
      {coarseness.value ? (
        <p class="not-inside" role="status">
          {t("inside_coarse", { bucket: short(coarseness.value, "ns") })}
        </p>
      ) : null}
      {tracks.left_out ? (
        <p class="not-inside" role="status">
          {t("tl_left_out", { n: tracks.left_out })}
        </p>
      ) : null}
      <div class={`tl ${showDetails.value ? "" : "tl-without"} ${isTogether.value ? "tl-ranked" : ""}`}>
        <h1 class="tl-title">{t("timeline")}</h1>
        <Toolbar tracks={tracks} />
        {isTogether.value ? <RankBar reading={reading} /> : null}
        <TrackFilter />
        <Stage tracks={tracks} layout={stage.layout} />
        {showDetails.value ? <Details /> : null}
        <div id="tl-spoken" class="tl-spoken" aria-live="polite">
          {spoken.value}
        </div>
      </div>
    </div>
  );
}

/** Keeps tape, address and selection in step while the timeline is on the screen. */
function follow(): () => void {
  panViewport.value = (r) => show({ from: r.from + stage.origin, to: r.to + stage.origin });
  if (!param("view") && stage.tracks) show(firstRange(stage.tracks));
  let taken = "";
  const stops = [
    effect(publishHits),
    effect(speak),
    effect(() => {
      void shownPath.value;
      void pieceNow();
      redraw();
    }),
    effect(() => {
      const d = detail.value;
      if (d) refine(d);
    }),
    effect(() => {
      const sel = place.value.params.get("sel") ?? "";
      const trace = JSON.stringify(traceQuery.value);
      if (`${trace}${sel}` === taken) return;
      taken = `${trace}${sel}`;
      if (!sel) chosen.value = undefined;
      else void counted(adoptSelection(sel, param("claim") !== "" && !param("view")));
    }),
    effect(() => {
      if (param("top")) scrollToLane(Number(param("top")));
    }),
    effect(() => {
      const wanted = parseRange(param("view"));
      const r = stage.range;
      if (wanted && Math.abs(wanted.from - Math.max(0, r.from)) + Math.abs(wanted.to - r.to) > 4 + (r.to - r.from) * 0.04)
        show(wanted);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
    panViewport.value = undefined;
    stopPublishing();
    leaveTogether();
  };
}

/** The exact place of the chosen box: a box of several slices only knew the stretch of all of them. */
function refine({ slice: s }: SliceAnswer): void {
  const c = chosen.peek();
  if (c && (c.start !== s.start || c.duration !== s.duration || c.lane !== s.lane || c.row !== s.row))
    chosen.value = { ...c, start: s.start, duration: s.duration, lane: s.lane, row: s.row, name: s.name };
}

/** A selection made elsewhere, by which one may just have `arrived`: a slice by its number, the longest slice of a name, a step. */
async function adoptSelection(sel: string, arrived: boolean): Promise<void> {
  const colon = sel.indexOf(":");
  const [kind, name] = [sel.slice(0, colon), sel.slice(colon + 1)];
  const now = chosen.peek();
  if (now && sel === nameOf(now)) return;
  try {
    if (kind === "slice" || kind === "instant") {
      const [id = "", rank] = name.split("@");
      const m = isTogether.peek() ? (rank === undefined ? members()[0] : memberOfRank(Number(rank))) : undefined;
      const which = kind === "slice" ? { id } : { instant: id };
      const query = { ...traceQuery.peek(), ...(m ? { worker: m.worker } : {}), ...which };
      const { slice: s } = await server().json<SliceAnswer>("slice", query);
      const found = { ...s, track: s.track?.id ?? 0 };
      const shown = m ? refOnClock(found, m) : found;
      adopt(shown, false);
      if (arrived) closeUp(shown);
    } else if (kind === "step") {
      const i = stage.tracks?.steps.number.indexOf(Number(name)) ?? -1;
      const step = i < 0 ? undefined : stepAround((stage.tracks?.steps.start[i] ?? 0) + 1);
      if (step) show(step);
    } else if (kind === "kernel" || kind === "operator" || kind === "module") {
      const costliest = isTogether.peek() ? undefined : await costliestOf(kind, name);
      if (costliest !== undefined) go({ params: { sel: `slice:${costliest}`, claim: name } }, true);
      else {
        const longest = await longestOf(name);
        if (longest) adopt(longest, true);
      }
    }
  } catch {
    chosen.value = undefined; // the selection does not exist in this trace
  }
}

const TABLES = { kernel: "kernels", operator: "operators", module: "modules" } as const;

/** The event where an operator, a kernel or a module costs most: of an operator the device work, not the call. */
async function costliestOf(kind: keyof typeof TABLES, name: string): Promise<number | undefined> {
  const table = TABLES[kind];
  const column = kind === "module" ? "module" : "name";
  const filter = `${column}:"${name.replace(/"/g, "")}"`;
  const query = analysisQuery(table, { evidence: "yes", table, filter, limit: 100 });
  const answer = await server().json<{ tables: Record<string, Table> }>(table, query);
  const [at, slice] = [column, "slice"].map((c) => answer.tables[table]?.columns.findIndex((x) => x.name === c) ?? -1);
  const found = answer.tables[table]?.rows.find((r) => r[at ?? -1] === name)?.[slice ?? -1];
  return typeof found === "number" ? found : undefined;
}

/** The longest slice of a name; of several ranks the longest of all. */
async function longestOf(name: string): Promise<Ref | undefined> {
  const q = `"${name.replace(/"/g, "")}"`;
  const list: (Member | undefined)[] = isTogether.peek() ? [...members()] : [undefined];
  const each = await Promise.all(
    list.map(async (m) => {
      const query = { ...traceQuery.peek(), ...(m ? { worker: m.worker } : {}), q, limit: 1 };
      const found = await server().json<SearchAnswer>("search", query);
      const longest = (found.names.find((n) => n.name === name) ?? found.names[0])?.longest;
      return longest && m ? refOnClock(longest, m) : longest;
    }),
  );
  return each.filter((r) => r !== undefined).sort((a, b) => b.duration - a.duration)[0];
}
