// Is the page on its way to paper? Firefox says it only by its events, a window shown as paper (developer tools, a browser
// without a window) only by its media.
import { computed, signal } from "@preact/signals";

const media = globalThis.matchMedia?.("print");
const printing = signal(false);
const shownAsPaper = signal(media?.matches ?? false);
media?.addEventListener("change", () => {
  shownAsPaper.value = media.matches;
});
globalThis.addEventListener?.("beforeprint", () => {
  printing.value = true;
});
globalThis.addEventListener?.("afterprint", () => {
  printing.value = false;
});

export const paper = computed(() => printing.value || shownAsPaper.value);
