// What every question of the memory view carries: the range and the device.
import { param, windowQuery } from "../../model/route.ts";

/** The range chosen on the curve, else the window. */
export function rangeQuery() {
  const [from, to] = param("range").split("..");
  return from && to ? { from, to, step: undefined } : windowQuery.value;
}

/** Rows of one device that fit what was typed. */
export const onDevice = (device: string, words = ""): string | undefined =>
  [device ? `device:"${device}"` : "", words].filter(Boolean).join(" ") || undefined;
