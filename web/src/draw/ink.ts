// Text on a fill: near-black or white, read from the tokens of the theme in force.
import { inkOn } from "../base/scale.ts";

let known = new Map<string, string>();
let of = "";

/** The ink for `var(--name)`. */
export function inkFor(fill: string): string {
  const theme = document.documentElement.dataset.theme ?? "";
  if (theme !== of) {
    known = new Map();
    of = theme;
  }
  let ink = known.get(fill);
  if (!ink) {
    const name = fill.match(/--[\w-]+/)?.[0];
    const hex = name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : "";
    ink = /^#[0-9a-f]{6}/i.test(hex) ? inkOn(hex) : "var(--t1)";
    known.set(fill, ink);
  }
  return ink;
}
