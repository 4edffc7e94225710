// Whether the rail shows its words: without them a timeline has 128 pixels more. Kept for the next time.
import { signal } from "@preact/signals";

const KEPT = "tacho.rail";

export const narrowRail = signal(globalThis.localStorage?.getItem(KEPT) === "narrow");

export function turnRail(): void {
  narrowRail.value = !narrowRail.value;
  localStorage.setItem(KEPT, narrowRail.value ? "narrow" : "wide");
}
