// Words in boxes: what is left out of a name, and how much of it fits.

/** Narrowest box with words, room at each side, and the box that has room for its duration, in CSS pixels. */
export const LABEL = { least: 30, inside: 4, withTime: 160, letters: 3 } as const;

const PREFIXES = ["aten::", "autograd::engine::evaluate_function: ", "autograd::engine::evaluate_function:", "void "];

/** A name without what many names share: prefixes, namespaces, the insides of templates. */
export function shortName(name: string): string {
  let s = name;
  for (const p of PREFIXES) if (s.startsWith(p)) s = s.slice(p.length);
  s = s.replace(/\(anonymous namespace\)::/g, "");
  const paren = s.indexOf("(");
  const bracket = s.indexOf("<");
  const head = bracket < 0 ? (paren < 0 ? s.length : paren) : paren < 0 ? bracket : Math.min(bracket, paren);
  const colon = s.lastIndexOf("::", head - 1);
  if (colon > 0 && /^[A-Za-z_]\w*(::[A-Za-z_(]\w*\)?)*$/.test(s.slice(0, colon))) s = s.slice(colon + 2);
  return s.trim() || name;
}

const STEP = /^(?:ProfilerStep#|Step )(\d+)$/;

/** As much of a text as fits, with "…" when cut; nothing when less than three letters would be left. A step's
 * number says as much as its name. */
export function fitText(text: string, room: number, widthOf: (text: string) => number): string {
  const whole = widthOf(text);
  if (whole <= room) return text;
  const step = STEP.exec(text)?.[1];
  if (step) return widthOf(step) <= room ? step : "";
  const dots = widthOf("…");
  let n = Math.floor((text.length * (room - dots)) / whole);
  while (n >= LABEL.letters && widthOf(text.slice(0, n)) + dots > room) n--;
  if (n < LABEL.letters) return "";
  return `${text.slice(0, n).trimEnd()}…`;
}

/** A measure that remembers: labels repeat from frame to frame. */
export function remembered(measure: (text: string) => number, most = 20000): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    let w = known.get(text);
    if (w === undefined) {
      if (known.size >= most) known.clear();
      w = measure(text);
      known.set(text, w);
    }
    return w;
  };
}
