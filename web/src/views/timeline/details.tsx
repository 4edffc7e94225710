// The panel below the stage: selection, area, flow, search, notes.
import { ABSENT, short, thousands } from "../../base/format.ts";
import type { Meeting } from "../../draw/timeline/meetings.ts";
import { fitRange } from "../../draw/timeline/time-scale.ts";
import { t } from "../../model/language.ts";
import { newNote } from "../../model/timeline/actions.ts";
import { chosenMeeting, goToArrival, isShownRank } from "../../model/timeline/meetings.ts";
import { notes, setNotes } from "../../model/timeline/notes.ts";
import { askSearch, HITS_LISTED, search, sought } from "../../model/timeline/search.ts";
import { chosen, detail, flows, openDetails, setTab, show, stage, type Tab, tab } from "../../model/timeline/state.ts";
import { AreaPanel } from "./area-panel.tsx";
import { Jump, whereIs } from "./lane-links.tsx";
import { TimelineLegend } from "./legend.tsx";
import { SelectionPanel } from "./selection-panel.tsx";
import { mono, number, SmallTable, words } from "./small-table.tsx";

const TABS: readonly Tab[] = ["selection", "area", "flow", "search", "notes"];

function countOf(id: Tab): string {
  if (id === "flow") {
    const n = flows.value.length + (chosenMeeting.value?.arrivals.length ?? 0);
    return n ? thousands(n) : "";
  }
  if (id === "search") return sought.value ? thousands(askSearch()?.total ?? 0) : "";
  if (id === "notes") return notes.value.length ? String(notes.value.length) : "";
  return "";
}

export function Details() {
  const now = tab.value;
  const move = (e: KeyboardEvent) => {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    e.preventDefault();
    e.stopPropagation();
    setTab(TABS[(TABS.indexOf(now) + by + TABS.length) % TABS.length] as Tab);
    document.getElementById(`tl-tab-${tab.peek()}`)?.focus();
  };
  return (
    <section class="tl-details" aria-label={t("tl_details")}>
      <div class="tl-tabs">
        <div role="tablist" aria-label={t("tl_details")} onKeyDown={move}>
          {TABS.map((id) => (
            <button
              type="button"
              key={id}
              id={`tl-tab-${id}`}
              role="tab"
              aria-selected={id === now}
              aria-controls="tl-panel"
              tabIndex={id === now ? 0 : -1}
              onClick={() => {
                setTab(id);
              }}
            >
              {t(`tl_tab_${id}`)} {countOf(id)}
            </button>
          ))}
        </div>
        <span class="grow" />
        <TimelineLegend />
        <Hint word={t("tl_key_fit")} sign="F" />
        <Hint word={t("tl_key_next")} sign="." />
        <Hint word={t("tl_key_flow")} sign="]" />
        <button
          type="button"
          class="tl-bare"
          onClick={() => {
            openDetails(false);
          }}
        >
          {t("tl_key_close")} <kbd>Q</kbd>
        </button>
      </div>
      <div class="tl-panel" id="tl-panel" role="tabpanel" aria-labelledby={`tl-tab-${now}`}>
        {now === "selection" ? <SelectionPanel /> : null}
        {now === "area" ? <AreaPanel /> : null}
        {now === "flow" ? <FlowPanel /> : null}
        {now === "search" ? <SearchPanel /> : null}
        {now === "notes" ? <NotesPanel /> : null}
      </div>
    </section>
  );
}

function Hint({ word, sign }: { word: string; sign: string }) {
  return (
    <span class="tl-hint">
      {word} <kbd>{sign}</kbd>
    </span>
  );
}

function FlowPanel() {
  const meeting = chosenMeeting.value;
  if (!meeting) return <Flows />;
  return flows.value.length === 0 ? (
    <MeetingTable meeting={meeting} />
  ) : (
    <div class="tl-two">
      <MeetingTable meeting={meeting} />
      <Flows />
    </div>
  );
}

/** The chosen collective on every rank: who came when, and how long the others waited. */
function MeetingTable({ meeting }: { meeting: Meeting }) {
  const latest = meeting.first + meeting.span;
  const rows = [...meeting.arrivals].sort((a, b) => a.rank - b.rank);
  return (
    <SmallTable
      columns={[
        words(t("col_rank")),
        number(t("tl_start")),
        number(t("col_late")),
        number(t("col_waiting")),
        number(t("tl_duration")),
      ]}
      rows={rows.map((a) => ({
        key: a.rank,
        cells: [
          isShownRank(a.rank) ? (
            <button key="rank" type="button" class="tl-link" onClick={() => void goToArrival(meeting, a.rank)}>
              {t("rank_n", { n: a.rank })}
            </button>
          ) : (
            t("rank_n", { n: a.rank })
          ),
          short(a.start, "ns"),
          short(a.start - meeting.first, "ns"),
          short(latest - a.start, "ns"),
          short(a.end - a.start, "ns"),
        ],
      }))}
    />
  );
}

function Flows() {
  const own = detail.value?.slice.id;
  if (!chosen.value) return <p class="tl-none">{t("tl_flow_none")}</p>;
  if (flows.value.length === 0) return <p class="tl-none">{t("tl_flow_no")}</p>;
  return (
    <SmallTable
      columns={[
        words(t("tl_flow_kind")),
        mono(t("tl_flow_to")),
        words(t("tl_track")),
        number(t("tl_flow_delay")),
        number(t("tl_duration")),
      ]}
      rows={flows.value.map((f) => {
        const out = f.from.id === own;
        const other = out ? f.to : f.from;
        const delay = Math.max(0, f.to.start - (f.from.start + (f.dashed ? f.from.duration : 0)));
        const kind = `${out ? "→" : "←"} ${f.dashed ? t("tl_flow_autograd") : t("tl_flow_launch")}`;
        return {
          key: `${f.from.id} ${f.to.id}`,
          cells: [kind, <Jump key="to" to={other} />, whereIs(other.lane), short(delay, "ns"), short(other.duration, "ns")],
        };
      })}
    />
  );
}

function SearchPanel() {
  const answer = askSearch();
  if (!sought.value) return <p class="tl-none">{t("tl_search_none")}</p>;
  if (!answer) return null;
  const listed = answer.total > HITS_LISTED ? t("tl_first_hits", { n: HITS_LISTED }) : t("tl_all_hits");
  return (
    <div class="tl-two">
      <SmallTable
        columns={[mono(t("tl_name")), number(t("tl_count")), number(t("tl_total")), number(t("tl_longest_one"))]}
        rows={answer.names.map((n) => ({
          key: `${n.name} ${n.kind}`,
          cells: [
            <button key="name" type="button" class="tl-link" title={n.name} onClick={() => search(`"${n.name}"`)}>
              {n.name}
            </button>,
            thousands(n.count),
            short(n.total, "ns"),
            <Jump key="longest" to={n.longest}>
              {short(n.longest.duration, "ns")}
            </Jump>,
          ],
        }))}
      />
      <SmallTable
        columns={[mono(listed), words(t("tl_track")), number(t("tl_start")), number(t("tl_duration"))]}
        rows={answer.hits.map((h) => ({
          key: h.id,
          cells: [<Jump key="hit" to={h} />, whereIs(h.lane), short(h.start, "ns"), short(h.duration, "ns")],
        }))}
      />
    </div>
  );
}

/** A note that was just made waits for its words; until it has them, Esc drops it. */
function focusNew(el: HTMLInputElement | null, last: boolean): void {
  if (!el || !last || !newNote.peek()) return;
  newNote.value = false;
  el.dataset.new = "";
  el.focus();
  el.select();
}

/** Enter keeps what is written, Esc what was there before: of a new note nothing. */
function noteKeys(e: KeyboardEvent & { currentTarget: HTMLInputElement }, i: number): void {
  if (e.key !== "Enter" && e.key !== "Escape") return;
  e.stopPropagation();
  const field = e.currentTarget;
  const list = notes.peek();
  const drops = e.key === "Escape" && field.dataset.new !== undefined;
  if (e.key === "Escape") field.value = list[i]?.text ?? "";
  delete field.dataset.new;
  field.blur();
  if (drops) setNotes(list.filter((_, k) => k !== i));
  document.querySelector<HTMLElement>(".tl-stage")?.focus();
}

function NotesPanel() {
  const list = notes.value;
  if (list.length === 0) return <p class="tl-none">{t("tl_notes_none")}</p>;
  return (
    <table class="tl-table tl-notes">
      <thead>
        <tr>
          <th class="num">{t("tl_start")}</th>
          <th class="num">{t("tl_duration")}</th>
          <th>{t("tl_note_text")}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {list.map((n, i) => (
          <tr key={`${n.time} ${i}`}>
            <td class="num">
              <button
                type="button"
                class="tl-link"
                onClick={() => show(fitRange(n.time, Math.max(n.end, n.time + 1000), stage.whole))}
              >
                {short(n.time, "ns")}
              </button>
            </td>
            <td class="num">{n.end > n.time ? short(n.end - n.time, "ns") : ABSENT}</td>
            <td>
              <input
                type="text"
                class="tl-note"
                ref={(el) => focusNew(el, i === list.length - 1)}
                aria-label={t("tl_note_text")}
                value={n.text}
                onKeyDown={(e) => noteKeys(e, i)}
                onChange={(e) => setNotes(list.map((o, k) => (k === i ? { ...o, text: e.currentTarget.value } : o)))}
              />
            </td>
            <td>
              <button
                type="button"
                class="tl-bare"
                aria-label={t("tl_note_remove")}
                onClick={() => setNotes(list.filter((_, k) => k !== i))}
              >
                ×
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
