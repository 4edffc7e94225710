// What is above the page: palette, trust drawer, keys, the choice of a window. One at a time.
import { signal } from "@preact/signals";

type Layer = "palette" | "trust" | "keys" | "range";

export const layer = signal<Layer | undefined>(undefined);

export const openLayer = (l: Layer): void => {
  layer.value = l;
};

export const closeLayer = (): void => {
  layer.value = undefined;
};
