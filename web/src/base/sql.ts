// SQL for eyes and fingers: the parts of a text that have a color, and what the word at the cursor could become. Not a
// parser: what is wrong with a question, the server says.
import type { Token } from "./highlight.ts";

const KEYWORDS = new Set(
  (
    "SELECT FROM WHERE GROUP BY ORDER HAVING LIMIT OFFSET JOIN LEFT INNER OUTER CROSS ON USING AS AND OR NOT IN IS NULL LIKE GLOB " +
    "BETWEEN CASE WHEN THEN ELSE END WITH RECURSIVE UNION ALL DISTINCT ASC DESC OVER PARTITION EXISTS VALUES CAST"
  ).split(" "),
);

/** Functions of SQL and of tacho (docs/QUERY.md). */
export const FUNCTIONS = (
  "count sum avg min max total round abs coalesce ifnull nullif substr instr replace lower upper length printf row_number lag lead " +
  "short_name format_time format_bytes stack path overlap overlaps union_time percentile median"
).split(" ");

const TOKEN =
  /(?<comment>--.*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^']|'')*'?|"[^"]*"?)|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<name>[A-Za-z_]\w*)|(?<other>[\s\S])/g;

/** The parts of a text; together they are the text. */
export function sqlTokens(text: string, tables: ReadonlySet<string> = new Set()): Token[] {
  const parts: Token[] = [];
  for (const found of text.matchAll(TOKEN)) {
    const g = found.groups ?? {};
    const ink: Token["ink"] = g.comment
      ? "comment"
      : g.string
        ? "string"
        : g.number
          ? "number"
          : g.name && KEYWORDS.has(g.name.toUpperCase())
            ? "keyword"
            : g.name && (tables.has(g.name) || FUNCTIONS.includes(g.name.toLowerCase()))
              ? "definition"
              : "plain";
    const last = parts[parts.length - 1];
    if (last?.ink === ink) last.text += found[0];
    else parts.push({ text: found[0], ink });
  }
  return parts;
}

export interface SchemaColumn {
  table: string;
  column: string;
  what: string; // its type and unit
}

export interface Completion {
  text: string;
  detail: string;
}

const MOST = 10;

/** The tables a text names, with the short names it gives them. */
function namedTables(text: string, tables: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  for (const m of text.matchAll(/\b(?:from|join|,)\s+([A-Za-z_]\w*)(?:\s+(?:as\s+)?([A-Za-z_]\w*))?/gi)) {
    const [, table = "", short = ""] = m;
    if (!tables.has(table)) continue;
    found.set(table, table);
    if (short && !KEYWORDS.has(short.toUpperCase())) found.set(short, table);
  }
  return found;
}

/** What the word before the cursor could become, and how many letters of it are there. */
export function completions(
  text: string,
  cursor: number,
  schema: readonly SchemaColumn[],
): { list: Completion[]; typed: number } {
  const before = text.slice(0, cursor);
  const [, owner, word = ""] = /(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w*)?$/.exec(before) ?? [];
  const tables = new Set(schema.map((c) => c.table));
  const named = namedTables(text, tables);
  const low = word.toLowerCase();
  const fits = (name: string) => name.toLowerCase().startsWith(low) && name.toLowerCase() !== low;
  const columns = (of: ReadonlySet<string>) =>
    schema.filter((c) => of.has(c.table) && fits(c.column)).map((c) => ({ text: c.column, detail: `${c.table} · ${c.what}` }));
  const once = (list: Completion[]) => list.filter((c, i) => list.findIndex((d) => d.text === c.text) === i).slice(0, MOST);
  if (owner !== undefined) return { list: once(columns(new Set([named.get(owner) ?? owner]))), typed: word.length };
  if (/\b(?:from|join)\s+[A-Za-z_]*$/i.test(before))
    return { list: once([...tables].filter(fits).map((name) => ({ text: name, detail: "" }))), typed: word.length };
  if (word === "") return { list: [], typed: 0 };
  const known = named.size ? new Set(named.values()) : tables;
  const functions = FUNCTIONS.filter(fits).map((name) => ({ text: `${name}(`, detail: "" }));
  const words = [...KEYWORDS].filter(fits).map((name) => ({ text: name, detail: "" }));
  const others = [...tables].filter(fits).map((name) => ({ text: name, detail: "" }));
  return { list: once([...columns(known), ...functions, ...words, ...others]), typed: word.length };
}
