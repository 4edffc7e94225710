// The language of the page: every string by its key, one table a language.
import { computed, signal } from "@preact/signals";
import { en } from "../text/en.ts";
import { zh } from "../text/zh.ts";

export type Language = "en" | "zh";
export type Key = keyof typeof en;

const TABLES: Record<Language, Record<Key, string>> = { en, zh };

function firstLanguage(): Language {
  const kept = globalThis.localStorage?.getItem("tacho.language");
  if (kept === "en" || kept === "zh") return kept;
  return globalThis.navigator?.language?.startsWith("zh") ? "zh" : "en";
}

export const language = signal<Language>(firstLanguage());
export const isChinese = computed(() => language.value === "zh");

export function setLanguage(l: Language): void {
  language.value = l;
  localStorage.setItem("tacho.language", l);
}

/** The sentence of a key, `{name}` filled in. */
export function t(key: Key, values?: Record<string, string | number>): string {
  const text = TABLES[language.value][key];
  return values ? text.replace(/\{(\w+)\}/g, (all, name: string) => String(values[name] ?? all)) : text;
}

/** The word of a key made at run time, or what stands in for it. */
export function wordOr(key: string, otherwise: string): string {
  const table: Record<string, string> = TABLES[language.value];
  return table[key] ?? otherwise;
}
