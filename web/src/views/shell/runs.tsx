// Runs: the start page when there is more than one. Two that are ticked can be compared.
import { useState } from "preact/hooks";
import type { RunInfo, SpanState } from "../../api/types.ts";
import { runs } from "../../model/answers.ts";
import { language, t } from "../../model/language.ts";
import { liveOf } from "../../model/live.ts";
import { go, param, view } from "../../model/route.ts";
import { frameworkOf, isJob, ranksOf } from "../../model/trace.ts";
import { SeverityMark } from "../../widgets/icons.tsx";
import { Ends } from "../../widgets/long-name.tsx";
import { Panel } from "../../widgets/panel.tsx";
import { sortKeys } from "../../widgets/sort.ts";
import { Table } from "../../widgets/table.tsx";
import type { CellValue, TableColumn, TableRow } from "../../widgets/table-types.ts";
import { Headline } from "../shared/verdict.tsx";
import { OpenFiles } from "./drop-zone.tsx";

function stateOf(run: RunInfo): SpanState {
  const states = run.workers.flatMap((w) => w.spans.map((s) => s.state));
  return (["loading", "waiting", "growing", "failed"] as const).find((s) => states.includes(s)) ?? states[0] ?? "waiting";
}

/** How much of a run's bytes are read, as its spans tell. */
function loadingWords(run: RunInfo): string {
  const spans = run.workers.flatMap((w) => w.spans);
  const bytes = spans.reduce((s, x) => s + x.bytes, 0) || 1;
  const read = spans.reduce((s, x) => s + x.bytes * (x.facts ? 1 : x.share), 0);
  return `${t("state_loading")} ${Math.floor((read / bytes) * 100)} %`;
}

const dateText = (ns: string) => {
  const date = new Date(Number(BigInt(ns) / 1_000_000n));
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
};

interface Ticks {
  names: readonly string[];
  turn: (name: string) => void;
}

/** At most two: a third takes the place of the one ticked first. */
function useTicks(): Ticks {
  const [names, setNames] = useState<readonly string[]>([]);
  const turn = (name: string) => setNames(names.includes(name) ? names.filter((n) => n !== name) : [...names, name].slice(-2));
  return { names, turn };
}

/** The older run is A: what a change was made to. */
function compare(names: readonly string[]): void {
  const both = (runs.value?.runs ?? []).filter((r) => names.includes(r.name));
  const [a, b] = both.sort((x, y) => Number(BigInt(x.date) - BigInt(y.date)));
  if (a && b)
    go({
      view: "compare",
      params: { run: a.name, worker: isJob(a) ? "*" : undefined, other: b.name, q: undefined, sort: undefined },
    });
}

function rowOf(run: RunInfo, ticks: Ticks): TableRow {
  const facts = run.workers
    .flatMap((w) => w.spans)
    .map((s) => s.facts)
    .filter((f) => f !== null);
  // All numbers are of the trace that the verdict is about: others of the folder may be of another job.
  const first = facts.find((f) => f.verdict) ?? facts[0];
  const verdict = first?.verdict;
  const state = stateOf(run);
  const live = liveOf(run);
  const damaged = facts.some((f) => f.damaged);
  const failed = run.workers.flatMap((w) => w.spans).find((s) => s.error)?.error;
  const cells: Record<string, string | number | null> = {
    name: run.name,
    framework: first ? frameworkOf(first.format) : null,
    workers: ranksOf(run),
    steps: live?.steps ?? first?.steps ?? null,
    mean_step: first?.steps ? first.mean_step : null,
    date: dateText(run.date),
    state: live
      ? t(live.recorded ? "state_recording" : "state_growing")
      : damaged
        ? t("damaged")
        : state === "loading"
          ? loadingWords(run)
          : t(`state_${state}`),
    growing: live ? 1 : null,
    verdict: verdict?.text[language.value] ?? failed?.msg ?? null,
    severity: verdict?.severity ?? (failed ? "warning" : null),
  };
  const severity = cells.severity as "info" | null;
  const label = (
    <>
      <input
        type="checkbox"
        class="tick"
        aria-label={t("runs_tick", { name: run.name })}
        checked={ticks.names.includes(run.name)}
        onChange={() => ticks.turn(run.name)}
      />
      {severity ? <SeverityMark severity={severity} size={13} label={t(`sev_${severity}`)} /> : <i class="no-severity" />}
      <span class="run-verdict">{cells.verdict ?? "–"}</span>
    </>
  );
  return { key: run.name, cell: (c) => cells[c] ?? null, label };
}

const open = (r: TableRow) =>
  go({
    view: "overview",
    params: { run: r.key, worker: undefined, span: undefined, step: undefined, q: undefined, sort: undefined },
  });

/** Files of the folder that are not read: how many, and on a click which and why. */
function Passed() {
  const passed = runs.value?.passed ?? [];
  if (passed.length === 0) return null;
  return (
    <details class="passed">
      <summary>{t(passed.length === 1 ? "runs_passed_one" : "runs_passed", { n: passed.length })}</summary>
      <ul>
        {passed.map((p) => (
          <li key={p.path}>
            <code>{p.path}</code> {p.why ?? p.what}
          </li>
        ))}
      </ul>
    </details>
  );
}

/** A link to a run that does not exist says so, instead of showing the list as if nothing was
 * asked. */
function NoSuchRun() {
  const wanted = param("run");
  if (!wanted || view.value === "runs" || runs.value?.runs.some((r) => r.name === wanted)) return null;
  return (
    <p class="refusal" role="alert">
      {t("no_such_run", { name: wanted })}
    </p>
  );
}

/** Whether every word occurs; one after a minus must not. */
const hasWords = (text: string, words: string): boolean =>
  words
    .toLowerCase()
    .split(/\s+/)
    .every((w) =>
      w.length > 1 && w.startsWith("-") ? !text.toLowerCase().includes(w.slice(1)) : text.toLowerCase().includes(w),
    );

const PHONE = 600; // px: narrower, a sentence may take many lines

/** As wide as the longest name needs, in px, within reason: runs of one folder differ at the end of their names. */
const nameWidth = (all: readonly RunInfo[]): number =>
  Math.min(260, Math.max(120, 24 + 7.4 * Math.max(0, ...all.map((r) => r.name.length))));

export function RunsTable() {
  const text = param("q");
  const setText = (q: string) => go({ params: { q } }, true);
  const ticks = useTicks();
  const all = runs.value?.runs ?? [];
  const live = all.map(liveOf).filter((l) => l !== undefined);
  const recorded = live.filter((l) => l.recorded).length;
  const sort = param("sort") || "date:desc";
  const setSort = (s: string) => go({ params: { sort: s } });
  const { name: by, order } = sortKeys(sort)[0] ?? { name: "date", order: "desc" };
  const rows = all
    .map((r) => rowOf(r, ticks))
    .filter((r) => hasWords(`${r.cell("name")} ${r.cell("framework")} ${r.cell("verdict")} ${r.cell("state")}`, text))
    .sort((a, b) => {
      const [x, y] = [a.cell(by), b.cell(by)];
      const less =
        typeof x === "number" || typeof y === "number"
          ? Number(x ?? -1) - Number(y ?? -1)
          : String(x ?? "").localeCompare(String(y ?? ""));
      return order === "asc" ? less : -less;
    });
  const column = (name: string, extra: Partial<TableColumn> = {}): TableColumn => ({
    name,
    title: t(`runs_${name}` as "runs_name"),
    ...extra,
  });
  const some = (cell: string, usual: unknown) => rows.some((r) => r.cell(cell) !== usual);
  const columns: TableColumn[] = [
    column("verdict", { text: true, stays: true, least: innerWidth < PHONE ? 150 : 380 }),
    column("name", {
      text: true,
      width: nameWidth(all),
      show: (v) => (
        <b class="ends" title={String(v)}>
          <Ends text={String(v)} />
        </b>
      ),
    }),
    column("framework", { text: true, width: 92, leaves: 2 }),
    ...(some("workers", 1) ? [column("workers", { width: 74, leaves: 4 })] : []),
    column("steps", { width: 62, leaves: 3 }),
    column("mean_step", { unit: "ns", each: true, width: 96, leaves: 1 }),
    column("date", { width: 150, soft: true, leaves: 1 }),
    // Ready is what a run is: the column is there when one is not.
    ...(some("state", t("state_ready"))
      ? [
          column("state", {
            text: true,
            width: 108,
            show: (v: CellValue, row: TableRow) => (row.cell("growing") ? <span class="growing">{String(v)}</span> : String(v)),
          }),
        ]
      : []),
  ];
  return (
    <>
      <NoSuchRun />
      <Headline
        title={t("runs_title", { n: all.length })}
        facts={[
          recorded ? t("runs_recording", { n: recorded }) : undefined,
          live.length > recorded ? t("runs_growing", { n: live.length - recorded }) : undefined,
        ]}
        more={
          <>
            <span>{runs.value?.path}</span>
            <Passed />
          </>
        }
        controls={<OpenFiles />}
      />
      <div class="grid">
        <Panel
          name={t("runs")}
          words={t("runs_words")}
          controls={
            <>
              <button type="button" class="button" disabled={ticks.names.length < 2} onClick={() => compare(ticks.names)}>
                {t("compare")}
              </button>
              <label class="filter">
                <input
                  type="search"
                  data-filter
                  placeholder={t("filter")}
                  aria-label={t("filter")}
                  value={text}
                  onInput={(e) => setText(e.currentTarget.value)}
                />
                <kbd>/</kbd>
              </label>
            </>
          }
        >
          <Table
            name={t("runs")}
            total={rows.length}
            row={(i) => rows[i] as TableRow}
            columns={columns}
            sort={sort}
            onSort={setSort}
            rowHeight={44}
            height="max(420px, calc(100vh - 220px))"
            onRow={open}
            onEnter={open}
            empty={t("no_rows")}
          />
        </Panel>
      </div>
    </>
  );
}
