// The language of the page: every string by its key, one table per language. A choice made by hand is
// stored and is part of the address; a link with a language does not change what its reader has stored.
// The Chinese table is fetched when it is wanted; until it is there the page is in English.
import { computed, effect, signal } from "@preact/signals";
import { en } from "../text/en.ts";
import { fill } from "../text/fill.ts";
import { go, param } from "./route.ts";

type Language = "en" | "zh";
export type Key = keyof typeof en;

const chinese = signal<Record<Key, string> | undefined>(undefined);

const languageOf = (text: string | null | undefined) => (text === "en" || text === "zh" ? text : undefined);

const kept = signal<Language>(
  languageOf(globalThis.localStorage?.getItem("tacho.language")) ??
    (globalThis.navigator?.language?.startsWith("zh") ? "zh" : "en"),
);

const wanted = computed<Language>(() => languageOf(param("lang")) ?? kept.value);

export const language = computed<Language>(() => (chinese.value ? wanted.value : "en"));

const table = (): Record<Key, string> => (language.value === "zh" ? chinese.value : undefined) ?? en;

async function fetchChinese(): Promise<void> {
  if (wanted.peek() === "zh" && !chinese.peek()) chinese.value = (await import("../text/zh.ts")).zh;
}

/** Gets the words of the language that is wanted, now and whenever another one is. */
export async function followLanguage(): Promise<void> {
  await fetchChinese().catch(() => {});
  effect(() => {
    if (wanted.value === "zh") fetchChinese().catch(() => {}); // without a server: the choice stays, and so do the words
  });
}

export function chooseLanguage(l: Language): void {
  kept.value = l;
  localStorage.setItem("tacho.language", l);
  go({ params: { lang: l } }, true);
}

/** The sentence of a key, with its values and plurals filled in. */
export function t(key: Key, values?: Record<string, string | number>): string {
  const text = table()[key];
  return values ? fill(text, values) : text;
}

/** The word of a key made at run time, or the given one if there is none. */
export function wordOr(key: string, otherwise: string): string {
  const words: Record<string, string> = table();
  return words[key] ?? otherwise;
}

/** A cause of idle time, in the words that every view has for it. */
export const idleWord = (cause: string): string => wordOr(`idle_${cause}`, cause.replace(/_/g, " "));
