// Light, dark, or what the system says. Chosen by hand it is kept, and is in the address; a link with a
// theme shows it without changing what its reader has kept.
import { computed, effect, signal } from "@preact/signals";
import { paper } from "../base/paper.ts";
import { go, param } from "./route.ts";

export type Theme = "system" | "light" | "dark";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

const themeOf = (text: string | null | undefined) => ORDER.find((o) => o === text);
const kept = signal<Theme>(themeOf(globalThis.localStorage?.getItem("tacho.theme")) ?? "system");

export const theme = computed<Theme>(() => themeOf(param("theme")) ?? kept.value);
/** Grows when colors change: canvases read their colors again. */
export const themeVersion = signal(0);

export function nextTheme(): void {
  const next = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] as Theme;
  kept.value = next;
  localStorage.setItem("tacho.theme", next);
  go({ params: { theme: next === "system" ? undefined : next } }, true);
}

export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const wanted = theme.value === "dark" || (theme.value === "system" && system.matches);
    const dark = wanted && !paper.value; // paper is white
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    themeVersion.value = themeVersion.peek() + 1;
  };
  system.addEventListener("change", apply);
  effect(apply);
}
