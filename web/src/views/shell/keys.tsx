// Keys that work everywhere; key-sheet.tsx lists them.
import { chooseLanguage, language } from "../../model/language.ts";
import { turnRail } from "../../model/rail.ts";
import { go, type VIEWS, view } from "../../model/route.ts";
import { dropSelection, selection } from "../../model/selection.ts";
import { moveStep, setSteps, setWindow, tape } from "../../model/steps.ts";
import { nextTheme } from "../../model/theme.ts";
import { closeLayer, layer, openLayer } from "./overlays.ts";

const VIEW_KEYS: Record<string, (typeof VIEWS)[number]> = {
  o: "overview",
  y: "why",
  l: "code",
  t: "timeline",
  p: "operators",
  k: "kernels",
  f: "roofline",
  m: "modules",
  e: "memory",
  s: "steps",
  i: "pipeline",
  v: "serving",
  d: "distributed",
  b: "hang",
  c: "compare",
  h: "history",
  q: "query",
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
    case "\\":
      turnRail();
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
