// The toolbar of the timeline: search, pan and zoom, coloring, tracks, switches, window, saving.
import { useEffect, useRef } from "preact/hooks";
import { thousands } from "../../base/format.ts";
import { COLOR_BY } from "../../draw/timeline/colors.ts";
import { isCounter, isFaint } from "../../draw/timeline/folds.ts";
import { isShown } from "../../draw/timeline/lanes.ts";
import type { Tracks } from "../../draw/timeline/tracks.ts";
import { server } from "../../model/answers.ts";
import { type Key, t } from "../../model/language.ts";
import { go, param, traceQuery, windowQuery } from "../../model/route.ts";
import { tape, windowRange } from "../../model/steps.ts";
import { act, clearFilter, fit, pan, zoom } from "../../model/timeline/actions.ts";
import { groupName, laneName } from "../../model/timeline/lane-names.ts";
import { goToPiece, isPathFar, pieceNow, shownPath, showPath, togglePath } from "../../model/timeline/path.ts";
import { askSearch, goToHit, hitsInView, search, searchMistake, sought } from "../../model/timeline/search.ts";
import { choices, colorBy, exportUrl, showFlows, stage, toggle } from "../../model/timeline/state.ts";
import { isTogether } from "../../model/timeline/together.ts";
import { hasNoSteps } from "../../model/trace.ts";
import { type Range, viewport } from "../../model/viewport.ts";
import { Icon } from "../../widgets/icons.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Toolbar as Bar, type ToolItem } from "../../widgets/toolbar.tsx";
import { savePicture } from "./save.ts";

export function Toolbar({ tracks }: { tracks: Tracks }) {
  const pieces = showPath.value && !hasNoSteps();
  const items: ToolItem[] = [
    { id: "search", node: <Search />, grows: true },
    { id: "moves", node: <Moves />, leaves: 1 },
    { id: "color", node: <Coloring />, leaves: 4 },
    { id: "filter", node: choices.value.filter ? <Filtered /> : null },
    { id: "tracks", node: <TrackMenu tracks={tracks} />, leaves: 3 },
    { id: "frames", node: <Switch name="frames" on={choices.value.frames} label={t("tl_python")} />, leaves: 6 },
    { id: "flows", node: <Switch name="flows" on={showFlows.value} label={t("tl_flows")} />, leaves: 7 },
    { id: "path", node: hasNoSteps() ? null : <PathSwitch />, leaves: 5 },
    { id: "pieces", node: pieces ? <PathPieces /> : null },
    { id: "use", node: <UseView />, leaves: 8 },
    { id: "save", node: <Save />, leaves: 2 },
  ];
  return <Bar class="tl-bar" label={t("tl_toolbar")} more={t("tl_more")} items={items} />;
}

const UseView = () => (
  <button type="button" class="button" onClick={() => act("use")}>
    {t("tl_use")} <kbd>Enter</kbd>
  </button>
);

const Filtered = () => (
  <button type="button" class="button tl-filtered" onClick={clearFilter}>
    {choices.value.filter} ×
  </button>
);

/** The field, and in it how many hits there are and the ways between them: its width does not depend on them. */
function Search() {
  const field = useRef<HTMLInputElement>(null);
  const q = sought.value;
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q;
  }, [q]);
  const all = askSearch();
  const wrong = q ? searchMistake() : undefined;
  const here = hitsInView();
  const keys = (e: KeyboardEvent) => {
    if (e.key === "Enter") goToHit(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") {
      e.stopPropagation();
      field.current?.blur();
    }
  };
  return (
    <div class={wrong ? "tl-find wrong" : "tl-find"}>
      <Icon name="search" />
      <input
        id="tl-find"
        ref={field}
        type="text"
        placeholder={t("tl_find")}
        aria-label={t("tl_find")}
        title={t("tl_find_help")}
        spellcheck={false}
        onInput={(e) => search(e.currentTarget.value)}
        onKeyDown={keys}
      />
      {wrong ? (
        <span class="tl-hits critical" role="status" title={wrong}>
          {wrong}
        </span>
      ) : q && all ? (
        <span class="tl-hits" role="status">
          {all.total === 0
            ? t("tl_no_hits")
            : t("tl_hits", { n: here === undefined ? "…" : thousands(here), all: thousands(all.total) })}
          <button type="button" class="tl-bare" aria-label={t("tl_hit_previous")} onClick={() => goToHit(-1)}>
            ‹
          </button>
          <button type="button" class="tl-bare" aria-label={t("tl_hit_next")} onClick={() => goToHit(1)}>
            ›
          </button>
        </span>
      ) : (
        <kbd>/</kbd>
      )}
    </div>
  );
}

const MOVES: readonly { key: Key; sign: string; run: () => void }[] = [
  { key: "tl_left", sign: "←", run: () => pan(-0.4) },
  { key: "tl_out", sign: "−", run: () => zoom(2, middle()) },
  { key: "tl_in", sign: "+", run: () => zoom(0.5, middle()) },
  { key: "tl_right", sign: "→", run: () => pan(0.4) },
  { key: "tl_fit", sign: "⤢", run: fit },
];

const middle = () => (stage.range.from + stage.range.to) / 2;

function Moves() {
  return (
    <div class="tl-moves" role="group" aria-label={t("tl_moves")}>
      {MOVES.map((m) => (
        <button type="button" key={m.key} title={t(m.key)} aria-label={t(m.key)} onClick={m.run}>
          {m.sign}
        </button>
      ))}
    </div>
  );
}

function Coloring() {
  const now = colorBy.value;
  return (
    <Menu
      name={t("tl_color")}
      label={
        <>
          <span class="t2">{t("tl_color")}</span> <b>{t(`tl_color_${now}`)}</b>
        </>
      }
      items={COLOR_BY.map((c) => ({ id: c, label: t(`tl_color_${c}`), checked: c === now }))}
      onChoose={(c) => go({ params: { color: c === "kind" ? undefined : c } })}
    />
  );
}

function TrackMenu({ tracks }: { tracks: Tracks }) {
  const groups = new Map(tracks.groups.map((g) => [g.id, groupName(g)]));
  const shown = tracks.lanes.filter((l) => isShown(l, choices.value)).length;
  const items = tracks.lanes.map((l) => ({
    id: String(l.id),
    label: l.group ? `${groups.get(l.group) ?? ""} · ${laneName(l)}` : laneName(l),
    checked: isShown(l, choices.value),
  }));
  const all = { id: "all", label: t("tl_tracks_all"), separator: true };
  return (
    <Menu
      name={t("tl_tracks")}
      label={
        <>
          <span class="t2">{t("tl_tracks")}</span> <b>{t("tl_tracks_n", { n: shown, all: tracks.lanes.length })}</b>
        </>
      }
      items={[...items, all]}
      filter={t("tl_tracks_filter")}
      stay
      right
      onChoose={(id) => (id === "all" ? clearFilter() : showOrHide(tracks, Number(id)))}
    />
  );
}

function showOrHide(tracks: Tracks, id: number): void {
  const lane = tracks.lanes.find((l) => l.id === id);
  const waits = lane && ((lane.closed && isCounter(lane.kind)) || (lane.kind === "ranges" && isFaint(lane)));
  toggle(waits ? "open" : "hide", id);
}

function Switch({ name, on, label }: { name: string; on: boolean; label: string }) {
  return (
    <button
      type="button"
      class={on ? "button tl-switch tl-on" : "button tl-switch"}
      aria-pressed={on}
      onClick={() => go({ params: { [name]: on ? "0" : undefined } })}
    >
      {label}
    </button>
  );
}

/** The critical path: on or off. */
function PathSwitch() {
  const on = showPath.value;
  return (
    <button
      type="button"
      class={on ? "button tl-switch tl-on" : "button tl-switch"}
      aria-pressed={on}
      title={t("tl_path_words")}
      onClick={togglePath}
    >
      {t("tl_path")}
    </button>
  );
}

function PathPieces() {
  const { pieces } = shownPath.value;
  const now = pieces[pieceNow()];
  const own = now ? pieces.filter((p) => p.step === now.step) : []; // what else is in view does not change the number
  const n = pieces.length;
  return (
    <span class="tl-hits" role="status" title={t("tl_path_n", { n: thousands(n) })}>
      {isPathFar() ? t("tl_path_far") : now ? `${thousands(own.indexOf(now) + 1)} / ${thousands(own.length)}` : null}
      <button type="button" class="tl-bare" aria-label={t("tl_path_previous")} disabled={n === 0} onClick={() => goToPiece(-1)}>
        ‹
      </button>
      <button type="button" class="tl-bare" aria-label={t("tl_path_next")} disabled={n === 0} onClick={() => goToPiece(1)}>
        ›
      </button>
    </span>
  );
}

function Save() {
  const w = windowQuery.value;
  const window = w.step || w.from || w.to ? windowInTime() : undefined;
  const pictures = [
    { id: "png", label: t("tl_save_png"), separator: !isTogether.value },
    { id: "svg", label: t("tl_save_svg") },
  ];
  // A file of events is one of one trace.
  const items = isTogether.value
    ? pictures
    : [
        { id: "view", label: t("tl_save_view"), href: exportUrl("chrome", viewport.value ?? stage.range) },
        ...(window ? [{ id: "window", label: t("tl_save_window"), href: exportUrl("chrome", window) }] : []),
        { id: "whole", label: t("tl_save_whole"), href: exportUrl("chrome", undefined) },
        ...pictures,
        { id: "perfetto", label: t("tl_perfetto"), detail: "ui.perfetto.dev", separator: true },
      ];
  return (
    <Menu
      name={t("tl_save")}
      label={t("tl_save")}
      right
      items={items}
      onChoose={(id) => {
        if (id === "perfetto") void openInPerfetto();
        if (id === "png" || id === "svg") savePicture(id);
      }}
    />
  );
}

/** The window as times: an export knows no steps. */
function windowInTime(): Range | undefined {
  const now = tape();
  return now && windowRange(now);
}

const PERFETTO = "https://ui.perfetto.dev";

/**
 * Hands the view to Perfetto in a separate window, from window to window: nothing is uploaded, and nothing
 * at all happens before the reader chooses it.
 */
async function openInPerfetto(): Promise<void> {
  const other = window.open(PERFETTO);
  if (!other) return;
  const { from, to } = stage.range;
  const query = {
    ...traceQuery.peek(),
    form: "perfetto",
    from: Math.max(0, Math.round(from)),
    to: Math.round(Math.min(stage.whole, to)),
  };
  const buffer = await (await fetch(server().url("export", query))).arrayBuffer();
  const title = `${stage.tracks?.trace.run ?? ""} ${param("worker")}`.trim();
  const ready = (e: MessageEvent) => {
    if (e.source !== other || e.data !== "PONG") return;
    clearInterval(timer);
    removeEventListener("message", ready);
    other.postMessage({ perfetto: { buffer, title } }, PERFETTO, [buffer]);
  };
  addEventListener("message", ready);
  const timer = setInterval(() => (other.closed ? clearInterval(timer) : other.postMessage("PING", PERFETTO)), 50);
}
