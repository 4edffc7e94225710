// Keys that work everywhere, and the sheet that lists them.
import { chooseLanguage, type Key, language, t } from "../../model/language.ts";
import { go, type VIEWS, view } from "../../model/route.ts";
import { dropSelection, selection } from "../../model/selection.ts";
import { moveStep, setSteps, setWindow, tape } from "../../model/steps.ts";
import { nextTheme } from "../../model/theme.ts";
import { Dialog } from "../../widgets/dialog.tsx";
import { closeLayer, layer, openLayer } from "./overlays.ts";

const VIEW_KEYS: Record<string, (typeof VIEWS)[number]> = {
  o: "overview",
  t: "timeline",
  p: "operators",
  k: "kernels",
  f: "roofline",
  m: "modules",
  e: "memory",
  s: "steps",
  i: "pipeline",
  d: "distributed",
  r: "runs",
};

let awaiting = 0; // until when the letter after g counts

const typing = (e: KeyboardEvent) => (e.target as Element | null)?.closest?.("input,textarea,select,[contenteditable]") != null;

function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    openLayer("palette");
    return;
  }
  if (e.key === "Escape") {
    oneLevelBack();
    return;
  }
  if (typing(e) || layer.value || e.ctrlKey || e.metaKey) return;
  if (e.altKey) {
    if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
    e.preventDefault();
    moveStep(e.key === "ArrowRight" ? 1 : -1);
    return;
  }
  if (performance.now() < awaiting) {
    awaiting = 0;
    const to = VIEW_KEYS[e.key];
    if (to) {
      e.preventDefault();
      e.stopImmediatePropagation();
      go({ view: to, params: { sort: undefined, q: undefined } });
      return;
    }
  }
  if (plainKey(e)) e.preventDefault();
}

function plainKey(e: KeyboardEvent): boolean {
  switch (e.key) {
    case "g":
      awaiting = performance.now() + 1200;
      return true;
    case "?":
      openLayer("keys");
      return true;
    case "T":
    case "t":
      openLayer("trust");
      return true;
    case "L":
    case "l":
      chooseLanguage(language.value === "en" ? "zh" : "en");
      return true;
    case "D":
      nextTheme();
      return true;
    case "Enter":
      if (!e.shiftKey || !selection.value || view.value === "timeline" || e.defaultPrevented) return false;
      go({ view: "timeline" });
      return true;
    case "r":
    case "w":
      if (e.key === "w" && view.value === "timeline") return false; // zooms there
      document.querySelector<HTMLElement>(`[data-open=${e.key}]`)?.click();
      return true;
    case "/":
      if (view.value === "timeline") return false;
      document.querySelector<HTMLInputElement>("main input[data-filter]")?.focus();
      return true;
    case "0":
      setWindow(undefined);
      return true;
    default:
      return /^[1-9]$/.test(e.key) && chooseStep(Number(e.key));
  }
}

/** The step with this number; where none has it, the key means nothing. */
function chooseStep(n: number): boolean {
  if (!Array.from(tape()?.numbers ?? []).includes(n)) return false;
  setSteps(n, n);
  return true;
}

function oneLevelBack(): void {
  if (layer.value) closeLayer();
  else if (selection.value) dropSelection();
}

export function listenToKeys(): void {
  addEventListener("keydown", onKey);
}

const SHEET: readonly (readonly [string, Key])[] = [
  ["Ctrl K", "key_palette"],
  ["g", "key_views"],
  ["o t p k m e s i d r", "key_which"],
  ["1 … 9", "key_steps"],
  ["0", "key_all"],
  ["Alt ← →", "key_step"],
  ["r w", "key_menus"],
  ["/", "key_filter"],
  ["Shift Enter", "key_timeline"],
  ["T", "key_trust"],
  ["L", "key_language"],
  ["Shift D", "key_theme"],
  ["?", "keys"],
  ["Esc", "key_back"],
];
const TABLE: readonly (readonly [string, Key])[] = [
  ["↑ ↓", "key_rows"],
  ["Enter", "key_open"],
  ["← →", "key_expand"],
  ["c", "key_copy"],
  ["x", "key_filter_row"],
  ["Shift E", "key_export"],
  ["Shift F10", "key_menu"],
  ["Shift ← →", "key_widen"],
  ["Alt Shift ← →", "key_move"],
  ["=", "key_fit_column"],
];
const TIMELINE: readonly (readonly [string, Key])[] = [
  ["W S", "key_zoom"],
  ["A D", "key_pan"],
  ["F", "key_fit"],
  [". ,", "key_next"],
  ["↑ ↓ ← →", "key_select"],
  ["] [", "key_flow"],
  ["/ n N", "key_search"],
  ["M P E Q", "key_marks"],
  ["j k", "key_evidence"],
  ["J K", "key_advice"],
  ["b", "key_came"],
  ["Enter", "key_window"],
  ["Alt", "key_others"],
];
const POINTER: readonly (readonly [Key, Key])[] = [
  ["key_drag_keys", "key_drag"],
  ["key_wheel_keys", "key_wheel"],
];

export function KeySheet() {
  const part = (title: string, list: readonly (readonly [string, Key])[]) => (
    <section>
      <h3>{title}</h3>
      <dl>
        {list.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((k) => (
                <kbd key={k}>{k}</kbd>
              ))}
            </dt>
            <dd>{t(what)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
  return (
    <Dialog class="sheet" label={t("keys")} onClose={closeLayer}>
      <header class="drawer-head">
        <h2>{t("keys")}</h2>
        <button type="button" class="keycap" onClick={closeLayer}>
          Esc
        </button>
      </header>
      <div class="sheet-parts">
        {part(t("everywhere"), SHEET)}
        {part(t("tables"), TABLE)}
        {part(t("timeline"), [...TIMELINE, ...POINTER.map(([keys, what]) => [t(keys), what] as const)])}
      </div>
    </Dialog>
  );
}
