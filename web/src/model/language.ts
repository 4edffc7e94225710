// The language of the page: every string by its key, one table per language. A choice made by hand is
// stored and is part of the address; a link with a language does not change what its reader has stored.
import { computed, signal } from "@preact/signals";
import { en } from "../text/en.ts";
import { fill } from "../text/fill.ts";
import { zh } from "../text/zh.ts";
import { go, param } from "./route.ts";

type Language = "en" | "zh";
export type Key = keyof typeof en;

const TABLES: Record<Language, Record<Key, string>> = { en, zh };

const languageOf = (text: string | null | undefined) => (text === "en" || text === "zh" ? text : undefined);

const kept = signal<Language>(
  languageOf(globalThis.localStorage?.getItem("tacho.language")) ??
    (globalThis.navigator?.language?.startsWith("zh") ? "zh" : "en"),
);

export const language = computed<Language>(() => languageOf(param("lang")) ?? kept.value);

export function chooseLanguage(l: Language): void {
  kept.value = l;
  localStorage.setItem("tacho.language", l);
  go({ params: { lang: l } }, true);
}

/** The sentence of a key, with its values and plurals filled in. */
export function t(key: Key, values?: Record<string, string | number>): string {
  const text = TABLES[language.value][key];
  return values ? fill(text, values) : text;
}

/** The word of a key made at run time, or the given one if there is none. */
export function wordOr(key: string, otherwise: string): string {
  const table: Record<string, string> = TABLES[language.value];
  return table[key] ?? otherwise;
}
