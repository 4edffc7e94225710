// Values and plurals in a sentence: "{n} {n|step|steps}" is "1 step" and "2 steps".

/** The form of a word that goes with a count; "1" may have been written as text. */
export function plural(n: string | number | undefined, one: string, other: string): string {
  return String(n) === "1" ? one : other;
}

/** `{name}` becomes the value of that name, `{name|one|other}` the form that fits it. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (all, name: string, one?: string, other?: string) =>
    one === undefined || other === undefined ? String(values[name] ?? all) : plural(values[name], one, other),
  );
}
