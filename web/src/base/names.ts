// Names of kernels and operators, short enough for a cell. The full name stays on hover and copy.

const WRAPPERS = /(^|::)(Kernel2?|device_kernel|kernel_entry)$/;

/** Parts between commas outside every bracket. */
function splitTop(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if ("<({[".includes(c)) depth++;
    else if (">)}]".includes(c) && text[i - 1] !== "-") depth--;
    else if (c === "," && depth === 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "<") depth++;
    else if (text[i] === ">" && text[i - 1] !== "-" && --depth === 0) return i;
  }
  return text.length;
}

const lastScope = (text: string) => text.split("::").pop() ?? text;

function simpleArgument(text: string): string {
  const bare = text.replace(/\(anonymous namespace\)::/g, "");
  const end = bare.search(/[<({]/);
  const head = end < 0 ? bare : bare.slice(0, end).replace(/::$/, "");
  return lastScope(head).trim();
}

/** The scopes of a mangled name (`_ZN7cutlass6KernelI…`), and what follows its template. */
function mangledScopes(text: string, from: number): { scopes: string[]; end: number } {
  const scopes: string[] = [];
  let i = text[from] === "N" ? from + 1 : from;
  while (text[i] === "K" || text[i] === "V" || text[i] === "r") i++;
  // A scope that was there before (`S_`, `S1_`) or of the standard library (`St`) says nothing new.
  i += /^(S[\dA-Z]*_|S[tabsiod])?/.exec(text.slice(i))?.[0].length ?? 0;
  for (let found = /^\d+/.exec(text.slice(i)); found; found = /^\d+/.exec(text.slice(i))) {
    const start = i + found[0].length;
    i = start + Number(found[0]);
    scopes.push(text.slice(start, i));
  }
  return { scopes, end: i };
}

/** A mangled C++ name as far as it says something: its scopes and the first argument of its template. */
function demangled(name: string): string {
  if (!/^_ZN?\d/.test(name)) return name;
  const { scopes, end } = mangledScopes(name, 2);
  const shown = scopes.filter((s) => !s.startsWith("_GLOBAL__N_")).join("::");
  if (name[end] !== "I") return shown;
  const inner = mangledScopes(name, end + 1).scopes.join("::");
  return `${shown}<${inner || "…"}>`;
}

/** `void at::native::f<A<B>, 4>(int)` becomes `f<A, 4>`; a wrapper is replaced by what it
 * wraps. */
export function foldKernel(name: string): string {
  const text = demangled(name)
    .replace(/^(void|auto) /, "")
    .replace(/\(anonymous namespace\)::/g, "");
  const open = text.indexOf("<");
  const paren = text.indexOf("(");
  if (open < 0 || (paren >= 0 && paren < open)) return lastScope(paren > 0 ? text.slice(0, paren) : text);
  const base = text.slice(0, open);
  const parts = splitTop(text.slice(open + 1, closing(text, open)));
  if (WRAPPERS.test(base) && parts[0] && parts[0] !== "…") return foldKernel(parts[0]);
  const shown = parts
    .slice(0, 2)
    .map(simpleArgument)
    .filter((p) => p !== "");
  return `${lastScope(base)}<${shown.join(", ")}${parts.length > shown.length ? ", …" : ""}>`;
}

/** Cut in the middle, because the ends of names differ. */
export function cutMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.ceil((limit - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}

export const kernelLabel = (name: string, limit = 46): string => cutMiddle(foldKernel(name), limit);

/** A name as it is read: what is inside the brackets of a kernel is left out. */
export const shownName = (name: string): string => (/<|^void /.test(name) ? foldKernel(name) : name);

/** Without the prefix nearly every name has. */
export const operatorLabel = (name: string): string =>
  name.replace(/^autograd::engine::evaluate_function: /, "").replace(/^aten::/, "");

/** `[[4096, 768], [768, 50257]]` as `[4096, 768] × [768, 50257]`; scalars are left out. */
export function shapesLabel(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value)) return text;
    const shapes = value.filter((s) => !Array.isArray(s) || s.length > 0).map((s) => JSON.stringify(s).replace(/,/g, ", "));
    return shapes.length ? shapes.join(" × ") : "[]";
  } catch {
    return text;
  }
}

/** A sentence with the mangled names among its values as people write them; the sentence may have them shortened. */
export function unmangled(text: string, values: Record<string, unknown>): string {
  const names = Object.values(values).filter((v): v is string => typeof v === "string" && v.startsWith("_Z"));
  return names.reduce((said, name) => said.replace(/_Z[\w…]+/, kernelLabel(name, 60)), text);
}
