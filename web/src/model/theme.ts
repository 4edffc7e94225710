// Light, dark, or what the system says.
import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>((globalThis.localStorage?.getItem("tacho.theme") as Theme | null) ?? "system");
/** Grows when colours change: canvases read their colours again. */
export const themeVersion = signal(0);

export function nextTheme(): void {
  theme.value = ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] as Theme;
  localStorage.setItem("tacho.theme", theme.value);
}

export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = theme.value === "dark" || (theme.value === "system" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    themeVersion.value = themeVersion.peek() + 1;
  };
  system.addEventListener("change", apply);
  effect(apply);
}
