// The parts of Python source that have a color: a tokenizer for eyes, not for a compiler. What it does not understand is
// plain text, so nothing of the source is ever lost: the parts of a line are the line.

export type Ink = "keyword" | "string" | "comment" | "number" | "definition" | "decorator" | "plain";

export interface Token {
  text: string;
  ink: Ink;
}

const KEYWORDS = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield"
  ).split(" "),
);

const PREFIX = "(?:[rRuUbBfFtT]{0,2})";
const NUMBER =
  "0[xX][\\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\\d[\\d_]*(?:\\.[\\d_]*)?|\\.\\d[\\d_]*)(?:[eE][+-]?\\d[\\d_]*)?[jJ]?";
const TOKEN = new RegExp(
  [
    "(?<comment>#.*)",
    `(?<long>${PREFIX}(?:"""|'''))`,
    `(?<string>${PREFIX}(?:"(?:[^"\\\\]|\\\\.)*(?:"|\\\\?$)|'(?:[^'\\\\]|\\\\.)*(?:'|\\\\?$)))`,
    `(?<number>${NUMBER})`,
    "(?<decorator>(?<=^\\s*)@[\\w.]+)",
    "(?<name>[\\p{L}_][\\p{L}\\p{N}_]*)",
    "(?<space>\\s+)",
    "(?<other>.)",
  ].join("|"),
  "gu",
);

/** The lines of a text; an end of line at its end begins no further one. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** What a string leaves open at the end of a line: the quote that ends it. */
type Open = "" | '"""' | "'''" | '"' | "'";

/** Where an open string ends in a line; -1: not in it. */
function endOf(line: string, quote: Open, from: number): number {
  for (let i = from; i < line.length; i++) {
    if (line[i] === "\\") i++;
    else if (line.startsWith(quote, i)) return i + quote.length;
  }
  return -1;
}

/** Whether a string of one line continues on the next: its last character is a backslash that is not escaped. */
const goesOn = (text: string): boolean => (text.match(/\\+$/)?.[0].length ?? 0) % 2 === 1;

const inkOf = (found: Record<string, string | undefined>, before: string): Ink => {
  if (found.comment !== undefined) return "comment";
  if (found.string !== undefined) return "string";
  if (found.number !== undefined) return "number";
  if (found.decorator !== undefined) return "decorator";
  if (found.name === undefined) return "plain";
  if (KEYWORDS.has(found.name)) return "keyword";
  return before === "def" || before === "class" ? "definition" : "plain";
};

/** Neighbors of one color are one part. */
function put(parts: Token[], text: string, ink: Ink): void {
  const last = parts[parts.length - 1];
  if (last && last.ink === ink) last.text += text;
  else if (text) parts.push({ text, ink });
}

function tokensOfLine(line: string, before: Open): { parts: Token[]; open: Open } {
  const parts: Token[] = [];
  let at = 0;
  let open = before;
  let word = ""; // the last name
  while (at < line.length || open) {
    if (open) {
      const end = endOf(line, open, at);
      put(parts, line.slice(at, end < 0 ? line.length : end), "string");
      if (end < 0) return { parts, open: open.length === 3 || goesOn(line) ? open : "" };
      at = end;
      open = "";
      continue;
    }
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(line);
    if (!found) break;
    const text = found[0];
    const groups = found.groups ?? {};
    at += text.length;
    if (groups.long !== undefined) {
      put(parts, text, "string");
      open = text.slice(-3) as Open;
      if (at === line.length) return { parts, open };
      continue;
    }
    put(parts, text, inkOf(groups, word));
    if (groups.string !== undefined && at === line.length && goesOn(text)) return { parts, open: quoteOf(text) };
    if (groups.space === undefined) word = groups.name ?? "";
  }
  return { parts, open };
}

const quoteOf = (text: string): Open => (text.replace(/^\w+/, "")[0] ?? "") as Open;

/** The parts of every line. */
export function tokensOf(lines: readonly string[]): Token[][] {
  let open: Open = "";
  return lines.map((line) => {
    const found = tokensOfLine(line, open);
    open = found.open;
    return found.parts;
  });
}

/** The same without colors, for what is not Python. */
export const plainTokens = (lines: readonly string[]): Token[][] => lines.map((text) => (text ? [{ text, ink: "plain" }] : []));
