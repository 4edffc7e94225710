// The palette: operators, kernels, modules, runs, views, commands, found by fuzzy search.
import { useMemo, useRef, useState } from "preact/hooks";
import { short, thousands } from "../../base/format.ts";
import { abbreviates } from "../../base/fuzzy.ts";
import { foldKernel } from "../../base/names.ts";
import { laneIn } from "../../draw/timeline/together.ts";
import type { Tracks } from "../../draw/timeline/tracks.ts";
import { ask, runs, server } from "../../model/answers.ts";
import { chooseLanguage, type Key, language, t, wordOr } from "../../model/language.ts";
import { turnRail } from "../../model/rail.ts";
import { go, param, traceQuery, VIEWS } from "../../model/route.ts";
import { changeTrace, setSteps, setWindow, tape, windowRange } from "../../model/steps.ts";
import { nextTheme } from "../../model/theme.ts";
import { groupName, laneName, laneRole } from "../../model/timeline/lane-names.ts";
import { allChosen, analysis, rowsOf } from "../../model/trace.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { closeLayer, openLayer } from "./overlays.ts";

interface Entry {
  group: Key;
  name: string; // matched and shown
  mono?: boolean;
  detail?: string;
  also?: readonly string[]; // words people use for it
  key?: string; // that does the same
  open: () => void;
  show?: () => void; // in the timeline
}

const GROUPS: readonly Key[] = ["operators", "kernels", "modules", "runs", "views", "window", "tracks", "commands"];
/** How many of a group are listed when everything is searched; a prefix lists all that fit. */
const EACH: Partial<Record<Key, number>> = { operators: 5, kernels: 4, modules: 3, runs: 4, views: 20, commands: 12 };
const EACH_OF_ONE = 60;

const toTimeline = (q: string, sel?: string) => () => go({ view: "timeline", params: { find: q, q: undefined, sel } });

/** What names are found in; each comes when it is there. */
const answers = () =>
  [
    analysis("operators", { limit: 1000, table: "operators" }, "palette-operators").value,
    analysis("kernels", { limit: 1000, table: "kernels" }, "palette-kernels").value,
    analysis("modules", { limit: 1000, table: "modules" }, "palette-modules").value,
  ] as const;

function things(): Entry[] {
  const [o, k, m] = answers();
  const [ops, kernels, modules] = [rowsOf(o?.tables.operators), rowsOf(k?.tables.kernels), rowsOf(m?.tables.modules)];
  const entry = (group: Key, view: string, kind: string, full: string, name: string, detail: string): Entry => ({
    group,
    name,
    mono: true,
    detail,
    open: () => go({ view, params: { q: full, sel: `${kind}:${full}`, sort: undefined } }),
    show: toTimeline(full, `${kind}:${full}`),
  });
  return [
    ...ops.map((r) =>
      entry("operators", "operators", "operator", String(r.name), String(r.name), t("n_calls", { n: thousands(r.calls) })),
    ),
    ...kernels.map((r) =>
      entry(
        "kernels",
        "kernels",
        "kernel",
        String(r.name),
        foldKernel(String(r.name)),
        `${thousands(r.calls)} · ${short(r.total, "ns")}`,
      ),
    ),
    ...modules.map((r) => entry("modules", "modules", "module", String(r.module), String(r.module), short(r.host_total, "ns"))),
  ];
}

function places(): Entry[] {
  return [
    ...(runs.value?.runs ?? []).map(
      (r): Entry => ({
        group: "runs",
        name: r.name,
        open: () => changeTrace({ run: r.name, worker: undefined, span: undefined }, "overview"),
      }),
    ),
    ...VIEWS.map(
      (v): Entry => ({
        group: "views",
        name: t(v),
        also: wordOr(`also_${v}`, "").split(/[,，、] ?/),
        open: () => go({ view: v, params: { sort: undefined, q: undefined } }),
      }),
    ),
  ];
}

function commands(): Entry[] {
  const one = (name: Key, open: () => void, key = ""): Entry => ({ group: "commands", name: t(name), open, key });
  return [
    one("cmd_all_steps", () => setWindow(undefined), "0"),
    one("cmd_language", () => chooseLanguage(language.value === "en" ? "zh" : "en"), "L"),
    one("cmd_theme", nextTheme, "Shift D"),
    one("cmd_rail", turnRail, "\\"),
    one("cmd_trust", () => openLayer("trust"), "T"),
    one("cmd_keys", () => openLayer("keys"), "?"),
    one("range_title", () => openLayer("range")),
    one("cmd_link", () => void navigator.clipboard?.writeText(location.href)),
    one("report_print", () => setTimeout(print, 50)),
    one("cmd_export", () => location.assign(server().url("export", { ...traceQuery.value, ...windowTimes(), form: "chrome" }))),
  ];
}

function steps(): Entry[] {
  return Array.from(
    tape()?.numbers ?? [],
    (n): Entry => ({ group: "window", name: t("step_n", { n }), open: () => setSteps(n, n) }),
  );
}

/** The window as times: an export knows no steps. */
function windowTimes(): { from?: number; to?: number } {
  const now = tape();
  if (!now || !(param("step") || param("from") || param("to"))) return {};
  const { from, to } = windowRange(now);
  return { from: Math.round(from), to: Math.round(to) };
}

/** Tracks of the timeline; choosing one scrolls to it. */
function tracks(): Entry[] {
  const answer = ask<Tracks>("tracks", "tracks", { ...traceQuery.value, lang: language.value }).value;
  const groups = new Map(answer?.groups.map((g) => [g.id, groupName(g)]));
  const place = allChosen.value ? 1 : 0; // of all ranks those of the first are listed
  return (answer?.lanes ?? []).map((l): Entry => {
    const name = [groups.get(l.group), `${laneName(l)} ${laneRole(l)}`.trim()].filter(Boolean).join(" · ");
    const id = laneIn(place, l.id);
    const open = () => go({ view: "timeline", params: { top: String(id), hide: without(param("hide"), id) } });
    return { group: "tracks", name, detail: l.slices ? thousands(l.slices) : "", open };
  });
}

const without = (list: string, id: number) =>
  list
    .split(",")
    .filter((i) => i !== String(id))
    .join(",");

/** Whether words are meant that begin so; Chinese words have no blanks between them. */
const isCalled = (words: string, query: string): boolean => {
  const at = words.toLowerCase().indexOf(query.toLowerCase());
  return at === 0 || (at > 0 && !/[a-z0-9]/i.test(words[at - 1] as string));
};

function find(text: string): { entry: Entry; at: number[] }[] {
  const prefix = text[0] ?? "";
  const query = ">#@".includes(prefix) && prefix ? text.slice(1).trim() : text.trim();
  const pool =
    prefix === ">"
      ? commands()
      : prefix === "#"
        ? steps()
        : prefix === "@"
          ? tracks()
          : query === ""
            ? [...places(), ...commands()]
            : [...things(), ...places(), ...commands()];
  const found = pool.flatMap((entry) => {
    const m = abbreviates(query, entry.name);
    if (m) return [{ entry, at: m.at, score: m.score }];
    const word = query && entry.also?.find((w) => isCalled(w, query));
    return word ? [{ entry: { ...entry, detail: word }, at: [], score: 0 }] : [];
  });
  const best = found.sort((a, b) => b.score - a.score);
  // Nothing typed yet: Enter must not lead to another run by accident.
  const order = query === "" ? [...GROUPS.filter((g) => g !== "runs"), "runs" as const] : viewsFirst(best);
  const list = order.flatMap((g) =>
    best.filter((f) => f.entry.group === g).slice(0, ">#@".includes(prefix) && prefix ? EACH_OF_ONE : (EACH[g] ?? 6)),
  );
  if (query && !">#@".includes(prefix)) {
    const entry: Entry = { group: "commands", name: t("cmd_search_timeline", { q: query }), key: "/", open: toTimeline(query) };
    const first = list.findIndex((f) => f.entry.group === "commands");
    list.splice(first < 0 ? list.length : first, 0, { entry, at: [], score: 0 });
  }
  return list;
}

/** Where a view is called just so, it comes before the operators whose names hold the same letters. */
function viewsFirst(best: readonly { entry: Entry; at: readonly number[] }[]): readonly Key[] {
  const names = best.some((f) => f.entry.group === "views" && (f.at.length === 0 || f.at[0] === 0));
  return names ? ["views", ...GROUPS.filter((g) => g !== "views")] : GROUPS;
}

function Marked({ text, at }: { text: string; at: readonly number[] }) {
  const hit = new Set(at);
  return <>{[...text].map((c, i) => (hit.has(i) ? <em key={i}>{c}</em> : c))}</>;
}

export function Palette() {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const [ops, kernels, modules] = answers();
  const lanes = text.startsWith("@") ? ask("tracks", "tracks", { ...traceQuery.value, lang: language.value }).value : undefined;
  const found = useMemo(() => find(text), [text, ops, kernels, modules, lanes, language.value]);
  const run = (i: number, shift: boolean) => {
    const entry = found[i]?.entry;
    if (!entry) return;
    closeLayer();
    (shift && entry.show ? entry.show : entry.open)();
  };
  const keys = (e: KeyboardEvent) => {
    const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (by) {
      e.preventDefault();
      const next = Math.max(0, Math.min(found.length - 1, at + by));
      setAt(next);
      list.current?.querySelectorAll("[role=option]")[next]?.scrollIntoView({ block: "nearest" });
    } else if (e.key === "Enter") {
      e.preventDefault();
      run(at, e.shiftKey);
    }
  };
  return (
    <Dialog class="palette" label={t("search_or_run")} onClose={closeLayer}>
      <input
        data-first
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length ? `palette-${at}` : undefined}
        aria-label={t("search_or_run")}
        placeholder={t("search_or_run")}
        value={text}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <div class="palette-list" id="palette-list" role="listbox" aria-label={t("results")} ref={list}>
        {found.map(({ entry, at: hits }, i) => (
          <>
            {i === 0 || found[i - 1]?.entry.group !== entry.group ? (
              <div class="palette-group" role="presentation" key={`g${entry.group}${i}`}>
                {t(entry.group)}
              </div>
            ) : null}
            <div
              key={`${entry.group}${i}`}
              id={`palette-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === at}
              class={`palette-entry ${entry.mono ? "mono" : ""}`}
              onMouseMove={() => i !== at && setAt(i)}
              onClick={(e) => run(i, e.shiftKey)}
              onKeyDown={() => {}}
            >
              <span class="palette-name">
                <Marked text={entry.name} at={hits} />
              </span>
              {entry.detail ? <span class="t3">{entry.detail}</span> : null}
              {entry.key ? <kbd>{entry.key}</kbd> : null}
            </div>
          </>
        ))}
        {found.length === 0 ? <p class="empty">{t("nothing_found")}</p> : null}
      </div>
      <footer class="palette-foot">{t("palette_foot")}</footer>
    </Dialog>
  );
}
