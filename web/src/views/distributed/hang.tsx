// Hang: which collective of a job that hangs did not complete, which ranks never reached it, and where each rank is.
// Made of the dumps of the flight recorder.
import { ABSENT, thousands } from "../../base/format.ts";
import { parseFrame } from "../../base/frames.ts";
import { t, wordOr } from "../../model/language.ts";
import { type AskedFor, analysis, currentRun, type Row, ranksOf, rowsOf } from "../../model/trace.ts";
import { Panel } from "../../widgets/panel.tsx";
import type { CellValue, TableRow } from "../../widgets/table-types.ts";
import { EditorMenu, Frames } from "../shared/stack-frames.tsx";
import { TablePanel } from "../shared/table-panel.tsx";
import { defined, wholeTable } from "../shared/table-source.ts";
import { Verdict } from "../shared/verdict.tsx";
import { ranksQuery } from "./rank-tables.tsx";

type Member = Row<"hang", "members">;

const causeWord = (v: CellValue): string => (typeof v === "string" ? wordOr(`hang_cause_${v}`, v) : ABSENT);
const stateWord = (v: CellValue): string => (typeof v === "string" ? wordOr(`hang_state_${v}`, v) : ABSENT);

/** Ranks that are not in the collective the others wait in. */
const isAway = (state: CellValue): boolean => state === "missing" || state === "no_dump";

export function Hang() {
  const asked = analysis("hang", { ...ranksQuery(), limit: 0 }, "hang-all");
  const hangs = rowsOf(asked.value?.tables.hangs);
  const members = rowsOf(asked.value?.tables.members);
  return (
    <>
      <Verdict
        answer={asked.value}
        otherwise={t("hang_none")}
        facts={[
          t("hang_fact_dumps", { n: ranksOf(currentRun.value) }),
          hangs.length ? t("hang_fact_open", { n: hangs.length }) : undefined,
          t("hang_fact_calls", { n: thousands(asked.value?.quality.events_read) }),
        ]}
      />
      <div class="grid">
        {hangs.length ? <Open asked={asked} /> : null}
        {members.length ? <Members asked={asked} /> : null}
        {members.some((m) => m.called_from) ? <Lines members={members} /> : null}
      </div>
    </>
  );
}

/** The collectives that did not complete; one that only waits for another comes after it. */
function Open({ asked }: { asked: AskedFor<"hang"> }) {
  const rows = wholeTable(asked.value, "hangs", (r) => `${r.cell("group")} ${r.cell("sequence")}`);
  return (
    <TablePanel
      span="w12"
      name={t("hang_open")}
      define={defined(asked.value, "hangs", "cause")}
      rows={rows}
      asked={asked}
      table={{ empty: t("no_rows") }}
      list={[
        ["name", { title: t("collective"), text: true, mono: true }],
        ["sequence", { title: t("hang_number"), text: true, width: 80 }],
        ["group", { title: t("hang_group"), text: true, width: 90, leaves: 3 }],
        ["description", { title: t("hang_group_words"), text: true, width: 130, leaves: 4 }],
        ["cause", { text: true, width: 180, show: causeWord, leaves: 2 }],
        ["culprits", { title: t("hang_culprits"), text: true, width: 120, stays: true }],
        ["waiting", { title: t("hang_waiting"), text: true, width: 120 }],
      ]}
    />
  );
}

/** Where each rank is: the last collective it reached. Those that never reached this one are
 * tinted. */
function Members({ asked }: { asked: AskedFor<"hang"> }) {
  const rows = wholeTable(asked.value, "members", (r) => `${r.cell("group")} ${r.cell("sequence")} ${r.cell("rank")}`);
  const row = (i: number): TableRow => {
    const r = rows.row(i);
    return { ...r, tinted: isAway(r.cell("state")) };
  };
  return (
    <TablePanel
      span="w12"
      name={t("hang_ranks")}
      define={defined(asked.value, "members", "state")}
      rows={rows}
      row={row}
      asked={asked}
      table={{ height: 420, empty: t("no_rows") }}
      list={[
        ["rank", { width: 60 }],
        ["state", { title: t("hang_state"), text: true, width: 200, show: stateWord }],
        ["name", { title: t("collective"), text: true, mono: true }],
        ["sequence", { title: t("hang_number"), text: true, width: 80 }],
        ["group", { title: t("hang_group"), text: true, width: 90, leaves: 3 }],
        ["shapes", { title: t("hang_shapes"), text: true, mono: true, width: 140, leaves: 4 }],
        ["last_name", { title: t("hang_last"), text: true, mono: true, width: 130 }],
        ["last_sequence", { title: t("hang_last_number"), text: true, width: 90, leaves: 2 }],
      ]}
    />
  );
}

/** Ranks by the line of the program they are at, those that never reached it first. */
function places(members: readonly Member[]): { line: string; ranks: number[]; away: boolean }[] {
  const found = new Map<string, { line: string; ranks: number[]; away: boolean }>();
  for (const m of members) {
    if (!m.called_from || m.rank === null) continue;
    const away = isAway(m.state);
    const key = `${away} ${m.called_from}`;
    const place = found.get(key) ?? { line: m.called_from, ranks: [], away };
    if (!place.ranks.includes(m.rank)) place.ranks.push(m.rank);
    found.set(key, place);
  }
  return [...found.values()].sort((a, b) => Number(b.away) - Number(a.away));
}

function Lines({ members }: { members: readonly Member[] }) {
  const all = places(members);
  return (
    <Panel span="w12" name={t("hang_lines")} controls={all.some((p) => parseFrame(p.line)) ? <EditorMenu /> : null}>
      <ul class="hang-lines">
        {all.map((p) => (
          <li key={`${p.away} ${p.line}`}>
            <b>{t("hang_ranks_n", { n: p.ranks.length, ranks: p.ranks.join(", ") })}</b>{" "}
            <span class="t3">{p.away ? t("hang_line_before") : t("hang_line_in")}</span>
            <Frames frame={p.line} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}
