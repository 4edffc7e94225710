// The one chosen thing: an operator, kernel, module, step or rank. Chosen anywhere, marked everywhere.
import { computed } from "@preact/signals";
import { go, param } from "./route.ts";

type SelectionKind = "operator" | "kernel" | "module" | "step" | "rank" | "slice" | "instant";

export interface Selection {
  kind: SelectionKind;
  name: string;
}

export const selection = computed<Selection | undefined>(() => {
  const text = param("sel");
  const colon = text.indexOf(":");
  return colon > 0 ? { kind: text.slice(0, colon) as SelectionKind, name: text.slice(colon + 1) } : undefined;
});

export function select(kind: SelectionKind, name: string): void {
  go({ params: { sel: `${kind}:${name}` } });
}

export const isSelected = (kind: SelectionKind, name: string): boolean =>
  selection.value?.kind === kind && selection.value.name === name;

export function dropSelection(): void {
  go({ params: { sel: undefined } });
}
